"""Flags, TIMERD_ variables, exit codes, and one clear line when the server refuses to start."""

import socket

import pytest

from server import run


def refuse(*flags, env=None, data):
    """Runs a `timerd serve` that must refuse to start; returns (exit code, stderr)."""
    listen = [] if any("--listen" in str(flag) for flag in flags) or (env and "TIMERD_LISTEN" in env) else ["--listen", "127.0.0.1:0"]
    done = run("serve", *listen, "--data", data, *flags, env=env)
    assert done.stdout == "", done
    return done.returncode, done.stderr


def one_line(stderr):
    lines = [line for line in stderr.splitlines() if line.strip()]
    assert len(lines) == 1, stderr
    assert "fatal error" not in stderr.lower() and len(lines[0]) < 400
    return lines[0]


@pytest.mark.parametrize("flags", [["--listen", "nonsense"], ["--heartbeat", "0s"], ["extra"]], ids=" ".join)
def test_nonsense_flags_are_refused_by_name(tmp_path, flags):
    code, stderr = refuse(*flags, data=tmp_path / "data")
    assert code in (64, 78)
    first = stderr.splitlines()[0]
    assert flags[0].lstrip("-") in first or flags[-1] in first, stderr
    assert not (tmp_path / "data").exists() or not any((tmp_path / "data").iterdir())


def test_nonsense_in_the_environment_is_refused_by_name(tmp_path):
    code, stderr = refuse(env={"TIMERD_STORE": "punchcards"}, data=tmp_path / "data")
    assert code == 64 and "TIMERD_STORE" in stderr


@pytest.mark.undivided
def test_the_environment_configures(new_server, tmp_path):
    data = tmp_path / "from-env"
    server = new_server(listen=[], env={"TIMERD_LISTEN": "127.0.0.1:0", "TIMERD_DATA": str(data), "TIMERD_MAX_TIMERS": "1"})
    server.client.create()
    server.client.post("/v1/timers", {"after": "1h"}).problem(429, "timer-limit")
    assert data.is_dir()


def test_a_flag_wins_over_the_environment(new_server):
    server = new_server("--max-timers", "5", env={"TIMERD_MAX_TIMERS": "1", "TIMERD_LISTEN": "nonsense"})
    server.client.create()
    server.client.create()


def test_a_second_server_on_the_same_data_is_refused_in_one_line(new_server):
    server = new_server()
    code, stderr = refuse(data=server.data)
    assert code == 78 and str(server.data) in one_line(stderr)
    server.client.create()


def test_a_taken_port_is_refused_in_one_line(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        code, stderr = refuse("--listen", address, data=tmp_path / "data")
    assert code in (1, 78) and address in one_line(stderr)


def test_data_that_is_a_file_is_refused_in_one_line(tmp_path):
    path = tmp_path / "file"
    path.write_text("not a directory")
    code, stderr = refuse(data=path)
    assert code == 78 and str(path) in one_line(stderr)
    assert path.read_text() == "not a directory"


def test_data_that_is_not_ours_is_refused_and_left_alone(new_server):
    server = new_server()
    server.client.create()
    server.stop()
    databases = [path for path in server.data.iterdir() if path.is_file() and path.stat().st_size > 4096]
    assert databases, "nothing of size in the data directory"
    damaged = {path: b"\x00" * 4096 + path.read_bytes()[4096:] for path in databases}
    for path, content in damaged.items():
        path.write_bytes(content)
    code, stderr = refuse(data=server.data)
    assert code == 78 and "fatal error" not in stderr.lower()
    assert {path: path.read_bytes() for path in databases} == damaged
