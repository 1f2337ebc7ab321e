"""The calendar is set at the very moment at which the alarm is armed to be told of that: nothing goes wrong."""

import shutil
import subprocess
from pathlib import Path

import pytest

from timers import poll

SOURCE = Path(__file__).with_name("calendar_set.c")


@pytest.fixture(scope="session")
def preload(tmp_path_factory):
    library = tmp_path_factory.mktemp("calendar") / "calendar_set.so"
    compiler = shutil.which("gcc") or shutil.which("clang")
    assert compiler, "neither gcc nor clang is there to compile calendar_set.c"
    subprocess.run([compiler, "-Wall", "-Wextra", "-Werror", "-O2", "-shared", "-fPIC", "-o", library, SOURCE], check=True)
    return library


def test_a_step_while_the_alarm_is_armed_is_a_step_like_any_other(new_server, preload):
    api = new_server(env={"LD_PRELOAD": str(preload)}).client
    api.create(id="shot", after="10ms")
    poll(lambda: api.timer("shot")["state"] == "completed")
    api.get("/healthz").expect(200)
