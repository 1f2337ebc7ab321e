"""How `timerd health` finds the server, and what a server says that may not use its data directory."""

import os
import signal
import socket
import stat
import subprocess
import tempfile
from pathlib import Path

import pytest

from server import binary, environment, run
from timers import poll

pytestmark = [pytest.mark.undivided, pytest.mark.not_by_tls("the addresses are those of HTTP")]

NOBODY = 65534


def health(data, **env):
    """Runs the check as the image does: no flags, all by variables."""
    return run("health", env={"TIMERD_DATA": str(data), **env})


@pytest.fixture
def socket_path():
    """A short path: a socket's name is bounded to about 100 bytes."""
    with tempfile.TemporaryDirectory(prefix="td-") as directory:
        yield Path(directory) / "s"


def closed_port():
    """A port on which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


@pytest.mark.parametrize("listen, asked", [("0.0.0.0:0", "127.0.0.1"), ("[::]:0", "[::1]"), ("127.0.0.1:0", "127.0.0.1")])
def test_it_finds_the_port_that_the_kernel_chose(new_server, listen, asked):
    server = new_server(listen=[listen])
    done = health(server.data, TIMERD_LISTEN=listen)
    assert done.returncode == 0 and done.stdout == f"http://{asked}:{server.port} is healthy\n", done
    assert run("health", "--data", server.data).returncode == 0


def test_it_finds_a_unix_socket_from_any_directory(new_server, socket_path):
    server = new_server(listen=[f"unix:{os.path.relpath(socket_path)}"])
    done = run("health", "--data", server.data, cwd="/")
    assert done.returncode == 0 and socket_path.name in done.stdout, done


def test_the_list_is_private_and_names_every_listener_in_order(new_server, socket_path):
    server = new_server(listen=["127.0.0.1:0", f"unix:{socket_path}"])
    listed = server.data / "listeners"
    assert listed.read_text().splitlines() == server.addresses
    assert stat.S_IMODE(listed.stat().st_mode) == 0o600
    server.stop()
    assert not listed.exists()


def test_one_listener_that_answers_is_enough(new_server, socket_path):
    server = new_server(listen=["127.0.0.1:0", f"unix:{socket_path}"])
    listed = server.data / "listeners"
    listed.write_text(f"http://127.0.0.1:{closed_port()}\nunix:{socket_path}\n")
    assert run("health", "--data", server.data).stdout == f"unix:{socket_path} is healthy\n"


def test_the_list_of_a_killed_server_is_replaced(new_server):
    server = new_server()
    first = server.port
    server.kill9()
    assert (server.data / "listeners").exists()
    assert run("health", "--data", server.data).returncode == 1
    server.start()
    assert server.port != first
    assert run("health", "--data", server.data).stdout == f"http://127.0.0.1:{server.port} is healthy\n"


def test_a_server_that_is_refused_the_directory_leaves_the_list_alone(new_server):
    server = new_server()
    listed = (server.data / "listeners").read_text()
    refused = run("serve", "--listen", "127.0.0.1:0", "--data", server.data)
    assert refused.returncode == 78 and f"pid {server.pid}" in refused.stderr
    assert (server.data / "listeners").read_text() == listed
    assert run("health", "--data", server.data).returncode == 0


def test_without_a_list_the_variable_says_where(new_server, tmp_path):
    server = new_server()
    assert health(tmp_path, TIMERD_LISTEN=f"127.0.0.1:{server.port}").returncode == 0
    assert health(tmp_path, TIMERD_LISTEN=f"127.0.0.1:{closed_port()}").returncode == 1
    # Memory has no directory; a list that lies there is another server's.
    stopped = closed_port()
    (tmp_path / "listeners").write_text(f"http://127.0.0.1:{stopped}\n")
    assert health(tmp_path, TIMERD_LISTEN=f"127.0.0.1:{server.port}").returncode == 1
    assert health(tmp_path, TIMERD_LISTEN=f"127.0.0.1:{server.port}", TIMERD_STORE="memory").returncode == 0


def test_the_server_that_is_named_wins(new_server, tmp_path):
    server = new_server()
    (tmp_path / "listeners").write_text(f"http://127.0.0.1:{closed_port()}\n")
    assert health(tmp_path, TIMERD_SERVER=server.url).returncode == 0
    assert run("health", "--server", server.url, env={"TIMERD_DATA": str(tmp_path)}).returncode == 0
    # A flag wins over a variable, also over that of another setting.
    assert run("health", "--data", tmp_path, env={"TIMERD_SERVER": server.url}).returncode == 1


@pytest.mark.parametrize("text", ["", "\n\n", "nonsense\n", "http://\n", "http://127.0.0.1:99999\n", "\x00" * 100])
def test_a_damaged_list_counts_as_none(tmp_path, text):
    (tmp_path / "listeners").write_text(text)
    done = run("health", "--data", tmp_path)
    assert done.returncode == 1 and str(tmp_path / "listeners") in done.stderr, done
    unknown = health(tmp_path, TIMERD_LISTEN="127.0.0.1:0")
    assert unknown.returncode == 1 and "--server" in unknown.stderr, unknown


def test_what_makes_no_sense_is_refused(tmp_path):
    assert run("health", "--data", tmp_path, "--server", "http://127.0.0.1:1").returncode == 64
    assert health(tmp_path, TIMERD_LISTEN="nowhere").returncode == 64


def test_a_list_that_can_not_be_written_stops_no_server(new_server, tmp_path):
    data = tmp_path / "data"
    (data / "listeners").mkdir(parents=True)
    server = new_server(data=data)
    server.client.get("/readyz").expect(200)
    poll(lambda: str(data / "listeners") in server.log_text())
    server.stop()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can start a server as another user")
@pytest.mark.parametrize("name", ["data", "data/below"])
def test_a_directory_of_another_user_is_refused_with_both_uids(name):
    with tempfile.TemporaryDirectory(prefix="td-") as directory:
        os.chmod(directory, 0o755)
        data = Path(directory) / "data"
        data.mkdir(mode=0o755)
        done = subprocess.run([binary(), "serve", "--listen", "127.0.0.1:0", "--data", f"{directory}/{name}"], env=environment(),
                              user=NOBODY, group=NOBODY, capture_output=True, text=True, timeout=30)
    assert done.returncode == 78, done
    assert f"runs as uid {NOBODY}" in done.stderr and f"{data} belongs to uid 0" in done.stderr, done.stderr
    assert done.stderr.count("\n") == 1


def test_a_start_that_is_ended_takes_its_list_along(new_server):
    server = new_server()
    listed = server.data / "listeners"
    assert listed.exists()
    server.process.send_signal(signal.SIGINT)
    assert server.wait() == 0 and not listed.exists()
