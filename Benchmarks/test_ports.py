"""A benchmark starts only if its ports are free, and says which is not."""

import os
import socket
import subprocess
from pathlib import Path

import pytest

import ports

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def occupied():
    """A port at which this process listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


@pytest.fixture
def free():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    return port


def test_a_port_in_use_is_named_with_who_listens_there(occupied, free):
    line, = ports.taken([("redis", occupied), ("timerd", free)])
    assert line.startswith(f"port {occupied}, of redis, is in use")
    assert line.endswith(("in use", f"process {os.getpid()}"))


def test_a_port_whose_connections_have_ended_is_free():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as client:
            served, _ = listener.accept()
            served.close()  # the side that closes first waits
            assert client.recv(1) == b""
    assert ports.taken([("timerd", port)]) == []


@pytest.mark.parametrize("script, offset, name", [
    ("run.sh", 0, "timerd"), ("run.sh", 3, "redis"), ("run.sh", 6, "the receiver of webhooks"), ("compare.sh", 1, "the new build"),
    ("alarms.sh", 1, "timerd with dispatch"), ("streams.sh", 1, "bare"),
])
def test_a_script_says_which_port_is_in_use_before_it_measures(occupied, script, offset, name):
    environment = {**os.environ, "PORT": str(occupied - offset), "TIMERD": "/bin/true", "QUICK": "1"}
    arguments = ["/bin/true", "/bin/true"] if script == "compare.sh" else []
    done = subprocess.run([ROOT / "Benchmarks" / script, *arguments], env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1, done
    assert f"port {occupied}, of {name}, is in use" in done.stderr and "kill" not in done.stderr, done.stderr
