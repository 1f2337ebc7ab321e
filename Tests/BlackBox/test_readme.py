"""README.md is true: the commands of its tour print what it shows, up to ids, instants and versions."""

import json
import os
import re
import shutil
import subprocess

import pytest

from server import ROOT, binary, environment
from timers import INSTANT, STATES, transitions

README = ROOT / "README.md"
VOLATILE = {"version": "<version>", "latenessUs": "<us>", "requestId": "<request>", "remaining": "<duration>",
            "stalledFor": "<duration>", "silentFor": "<duration>"}
EVENT_ID = re.compile(r"\d{12,}")


def blocks(language):
    """The fenced blocks of a language, as (line number, text)."""
    text = README.read_text()
    for match in re.finditer(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield text[:match.start()].count("\n") + 1, match[1]


def steps():
    """The tour: (line number, command, shown output lines) for each `$ command` in a console block."""
    found = []
    for number, text in blocks("console"):
        for offset, line in enumerate(text.splitlines(), 1):
            if line.startswith("$ "):
                found.append((number + offset, line[2:], []))
            else:
                found[-1][2].append(line)
    return found


def normal(value, key=None):
    """A shown value with everything that changes from run to run replaced by its kind."""
    if isinstance(value, dict):
        return [(name, normal(item, name)) for name, item in value.items()]  # a list: the order of keys is shown too
    if isinstance(value, list):
        return [normal(item) for item in value]
    if value is not None and key in VOLATILE:
        return VOLATILE[key]
    if isinstance(value, str) and INSTANT.fullmatch(value) and not value.startswith("2030-"):
        return "<instant>"
    if isinstance(value, str) and key == "id" and EVENT_ID.fullmatch(value):
        return "<event>"
    return value


def comparable(line):
    try:
        return normal(json.loads(line))
    except ValueError:
        return line.rstrip()


def test_the_tour_is_real(new_server, tmp_path):
    tour = steps()
    assert len(tour) >= 5, "README.md has no tour to run"
    server = new_server()
    path = tmp_path / "bin"
    path.mkdir()
    (path / "timerd").symlink_to(binary())
    env = environment({"PATH": f"{path}:{os.environ['PATH']}", "TIMERD_SERVER": server.url})
    for number, command, shown in tour:
        command = command.replace(":8080", f":{server.port}")
        done = subprocess.run(["bash", "-c", command], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=20)
        told = f"README.md:{number}: {command}\n{done.stdout}{done.stderr}"
        assert done.returncode == 0, told
        assert [comparable(line) for line in done.stdout.splitlines()] == [comparable(line) for line in shown], told


def test_every_shell_block_is_valid_and_names_what_exists():
    found = list(blocks("sh"))
    assert found
    for number, text in found:
        checked = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True, timeout=10)
        assert checked.returncode == 0, f"README.md:{number}: {checked.stderr}"
        for target in re.findall(r"^make (\w+)", text, re.MULTILINE):
            assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE), f"README.md:{number}: no target {target}"
        if "docker build" in text:
            assert (ROOT / "Dockerfile").is_file()


def test_every_local_link_leads_somewhere():
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", README.read_text()):
        assert (ROOT / target).exists(), target


def test_the_table_of_commands_is_the_one_that_runs():
    rows = re.findall(r"^\| `(\w+)`.*?\|(.*)\|$", README.read_text(), re.MULTILINE)
    table = {command: [cell.strip() for cell in cells.split("|")] for command, cells in rows if command in transitions()}
    assert table.keys() == transitions().keys()
    for command, cells in table.items():
        if command == "kick":  # only for watchdogs; the tests' table is for other kinds
            continue
        for state, cell in zip(STATES, cells, strict=True):
            plain, restartable = (transitions()[command][state, flag] for flag in (False, True))
            assert cell.startswith("409") == (plain is None), (command, state)
            assert ("restartable" in cell) == (plain != restartable), (command, state)


@pytest.mark.skipif(not shutil.which("curl"), reason="no curl")
def test_curl_is_new_enough_for_the_tour():
    version = re.search(r"curl (\d+)\.(\d+)", subprocess.run(["curl", "--version"], capture_output=True, text=True).stdout)
    assert (int(version[1]), int(version[2])) >= (7, 82)
