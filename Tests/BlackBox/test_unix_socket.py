"""Listening on Unix sockets, alone and beside TCP."""

import stat
import subprocess
import tempfile
from pathlib import Path

import pytest

from client import Client
from patience import PATIENCE
from timers import types


@pytest.fixture
def path():
    """A short path: a socket's name is bounded to about 100 bytes."""
    with tempfile.TemporaryDirectory(prefix="td-") as directory:
        yield Path(directory) / "s"


def test_a_socket_is_private_and_serves_everything(new_server, path):
    server = new_server(listen=[f"unix:{path}"])
    assert server.addresses == [f"unix:{path}"]
    mode = path.stat().st_mode
    assert stat.S_ISSOCK(mode) and stat.S_IMODE(mode) == 0o600
    api = Client(unix=str(path), host="localhost")
    id = api.create()["id"]
    with api.stream(f"/v1/timers/{id}/events").expect(200) as stream:
        api.command(id, "suspend").expect(200)
        api.delete(f"/v1/timers/{id}").expect(204)
        assert types(stream.rest()) == ["suspended", "deleted"]


def test_real_curl_over_the_socket(new_server, path):
    new_server(listen=[f"unix:{path}"])
    command = ["curl", "-sS", "--unix-socket", str(path), "--json", '{"after":"1h","id":"c"}', "http://localhost/v1/timers",
               "-w", "%{http_code}", "-o", "/dev/null"]
    assert subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True).stdout == "201"


def test_both_listeners_see_the_same_timers(new_server, path):
    server = new_server(listen=["127.0.0.1:0", f"unix:{path}"])
    assert server.addresses[0].startswith("http://127.0.0.1:") and server.addresses[1] == f"unix:{path}"
    server.client.create(id="shared")
    assert Client(unix=str(path), host="localhost").timer("shared")["state"] == "running"


def test_a_socket_left_by_a_crash_is_replaced(new_server, path):
    server = new_server(listen=[f"unix:{path}"])
    server.kill9()
    assert path.exists()
    server.start()
    Client(unix=str(path), host="localhost").get("/healthz").expect(200)


def test_a_plain_file_is_never_replaced(path, tmp_path):
    from server import run
    path.write_text("precious")
    done = run("serve", "--listen", f"unix:{path}", "--data", tmp_path / "data")
    assert done.returncode in (1, 78) and str(path) in done.stderr
    assert path.read_text() == "precious"
