"""--config: a TOML file whose keys are the flags; --check prints what would be used and from where."""

import os
import tomllib

import pytest

from server import run


@pytest.fixture
def config(tmp_path):
    def write(text):
        path = tmp_path / "timerd.toml"
        path.write_text(text)
        return path
    return write


def check(*flags, env=None):
    return run("serve", "--check", *flags, env=env)


def checked(*flags, env=None):
    """What --check prints: the values, and where each comes from."""
    done = check(*flags, env=env)
    assert done.returncode == 0 and done.stderr == "", done
    places = dict(line.split("  # ") for line in done.stdout.splitlines() if not line.startswith("#"))
    return tomllib.loads(done.stdout), {line.split(" = ")[0]: place for line, place in places.items()}


def refusal(*flags, env=None, code=78):
    """The one line with which --check refuses."""
    done = check(*flags, env=env)
    assert done.returncode == code and done.stdout == "" and len(done.stderr.splitlines()) == 1, done
    return done.stderr


def test_a_flag_wins_over_a_variable_and_a_variable_over_the_file(config):
    path = config('max-timers = 1\nmax-streams = 2\nheartbeat = "3s"\nwebhook-deny = ["10.0.0.1", "10.0.0.2"]\n')
    values, places = checked("--config", path, "--max-timers", "7", "--webhook-deny", "10.0.0.9",
                             env={"TIMERD_MAX_TIMERS": "8", "TIMERD_MAX_STREAMS": "9", "TIMERD_ALLOW_HOST": "a.example,b.example"})
    assert (values["max-timers"], values["max-streams"], values["heartbeat"], values["drain"]) == (7, 9, "3s", "10s")
    assert values["webhook-deny"] == ["10.0.0.9"] and values["allow-host"] == ["a.example", "b.example"]
    assert [places[key] for key in ("max-timers", "max-streams", "heartbeat", "drain", "allow-host")] == [
        "--max-timers", "TIMERD_MAX_STREAMS", f"{path}:3", "default", "TIMERD_ALLOW_HOST"]


def test_the_file_configures_a_server(config, new_server):
    path = config("max-timers = 1\nlisten = ['127.0.0.1:0', '127.0.0.1:0']\nallow-host = 'timers.example'\n")
    server = new_server("--config", path, listen=[], data=path.parent / "data")
    server.client.create()
    server.client.post("/v1/timers", {"after": "1h"}, headers={"Host": "timers.example"}).problem(429, "timer-limit")


def test_check_opens_neither_data_nor_sockets(tmp_path, new_server):
    server = new_server()
    checked("--data", tmp_path / "data", "--listen", f"127.0.0.1:{server.port}")
    assert not (tmp_path / "data").exists()


def test_a_bad_line_is_refused_by_its_number(config):
    path = config("max-timers = 5\n\nheart-beat = '1s'\n")
    told = refusal("--config", path)
    assert f"{path}:3: " in told and "heart-beat" in told
    done = run("serve", "--config", path, "--data", path.parent / "data")
    assert done.returncode == 78 and done.stderr == told and not (path.parent / "data").exists()


def test_a_value_that_makes_no_sense_is_refused_as_usage(tmp_path):
    said = refusal("--listen", "*:8080", code=64)
    assert said.startswith("timerd: --listen: ") and "0.0.0.0" in said
    assert run("serve", "--listen", "*:8080", "--data", tmp_path / "data").stderr == said
    assert "TIMERD_HEARTBEAT" in refusal(env={"TIMERD_HEARTBEAT": "bogus"}, code=64)


def test_files_that_can_not_be_used(tmp_path):
    """A pipe would wait for a writer, and a large file would fill the memory."""
    os.mkfifo(tmp_path / "pipe")
    with open(tmp_path / "large", "wb") as file:
        file.truncate(1 << 30)
    for path in (tmp_path / "pipe", tmp_path / "large"):
        assert str(path) in refusal("--config", path)
