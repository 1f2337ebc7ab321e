"""Completion in shells: commands, flags, words and ids."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from server import binary, environment, run

BASH = r"""
source <(timerd completion bash)
COMP_LINE=$1; read -ra COMP_WORDS <<< "$1"; [[ $1 == *' ' ]] && COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMP_POINT=${#COMP_LINE}
_timerd timerd "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\n' "${COMPREPLY[@]}"
"""


def path():
    return f"{Path(binary()).parent}:{os.environ['PATH']}"


def bash(line, server=None):
    """What bash offers at the end of a line."""
    env = environment({"PATH": path(), "TIMERD_SERVER": server or "http://127.0.0.1:1"})
    done = subprocess.run(["bash", "--norc", "-c", BASH, "bash", line], env=env, capture_output=True, text=True, timeout=30)
    assert (done.returncode, done.stderr) == (0, ""), done
    return done.stdout.split()


def test_commands_and_flags():
    assert bash("timerd ca") == ["cancel", "calendars"]
    assert bash("timerd deliveries dr") == ["drop"]
    assert bash("timerd list --lab") == ["--label"]


@pytest.mark.parametrize("line, words", [
    ("timerd list --state ", "idle running suspended cancelled completed"), ("timerd bulk res", "resume reschedule"),
])
def test_words_of_an_enumeration(line, words):
    assert bash(line) == words.split()


def test_ids_are_asked_of_the_server(server, name):
    lines = "".join('{"id": "%s-%d", "after": "1h"}\n' % (name, number) for number in range(200))
    server.client.post("/v1/timers/batch", body=lines, content_type="application/x-ndjson").expect(200)
    sevens = {f"{name}-7"} | {f"{name}-7{digit}" for digit in range(10)}
    for command in ("events --timer", f"cancel {name}-1 --server {server.url}"):
        assert set(bash(f"timerd {command} {name}-7", server.url)) == sevens, command
    assert bash(f"timerd get {name}-178", server.url) == [f"{name}-178"]
    assert len(bash(f"timerd get {name}-", server.url)) == 50
    server.client.put(f"/v1/calendars/{name}", {"timeZone": "UTC", "week": {"mon": ["09:00-17:00"]}}).expect(201)
    assert bash(f"timerd calendars get {name}", server.url) == [name]


def test_a_server_that_is_not_there_offers_nothing():
    assert bash("timerd get te") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_accepts_its_script(shell, tmp_path):
    script = run("completion", shell)
    assert script.returncode == 0 and "timerd" in script.stdout
    if not shutil.which(shell):
        pytest.skip(f"there is no {shell} here")
    file = tmp_path / "script"
    file.write_text(script.stdout)
    done = subprocess.run([shell, "-n", file], capture_output=True, text=True, timeout=30)
    assert (done.returncode, done.stderr) == (0, ""), done
