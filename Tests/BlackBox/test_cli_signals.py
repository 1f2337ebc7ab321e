"""SIGINT and SIGTERM end a client command at once, also as the first process of a container."""

import array
import fcntl
import json
import os
import shutil
import signal
import socket
import subprocess
import termios
import time

import pytest

from server import binary, environment
from timers import poll

ENDS = [(signal.SIGINT, 130), (signal.SIGTERM, 143)]


def defaults():
    """A job in the background ignores SIGINT, and what it starts does too."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def start(*words, before=()):
    return subprocess.Popen([*before, binary(), *words], bufsize=0, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env=environment(), preexec_fn=defaults)


def ended(process, number, code, pid=None):
    pid = pid or process.pid
    os.kill(pid, number)
    try:
        out, err = process.communicate(timeout=30)
    except subprocess.TimeoutExpired:
        os.kill(pid, signal.SIGKILL)
        out, err = process.communicate()
    assert (process.returncode, err) == (code, b""), (process.returncode, err)
    return out


@pytest.fixture
def silent():
    """A server that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(30)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", lambda: listener.accept()[0]


@pytest.mark.parametrize("number, code", ENDS)
@pytest.mark.parametrize("words", ["get tea", "watch", "list"])
def test_a_command_that_waits_for_its_server_ends(silent, words, number, code):
    url, accepted = silent
    process = start(*words.split(), "--server", url)
    with accepted() as connection:
        connection.recv(1)
        assert ended(process, number, code) == b""


@pytest.mark.parametrize("number, code", ENDS)
def test_the_last_line_is_complete(server, name, number, code):
    server.client.create(id=name, every="1ms", payload={"text": "x" * 2000})
    process = start("watch", name, "--json", "--server", server.url)
    first = process.stdout.readline()
    out = ended(process, number, code)
    server.client.delete(f"/v1/timers/{name}").expect(204)
    assert (first + out).endswith(b"\n")
    for line in (first + out).splitlines():
        json.loads(line)


@pytest.mark.parametrize("number, code", ENDS)
def test_a_reader_that_takes_nothing_does_not_keep_it(server, name, number, code):
    server.client.create(id=name, every="1ms", payload={"text": "x" * 2000})
    process = start("watch", name, "--json", "--server", server.url)
    poll(lambda: is_full(process.stdout), timeout=30)
    os.kill(process.pid, number)
    assert process.wait(30) == code
    server.client.delete(f"/v1/timers/{name}").expect(204)
    process.stdout.close()
    process.stderr.close()


def is_full(pipe):
    """Whether nothing has come into a pipe for a while that is nearly full."""
    before = in_pipe(pipe)
    time.sleep(0.2)
    return before == in_pipe(pipe) > 20_000


def in_pipe(pipe):
    """How many bytes wait in a pipe."""
    count = array.array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, count)
    return count[0]


def can_unshare():
    return os.geteuid() == 0 and shutil.which("unshare") and subprocess.run(
        ["unshare", "--pid", "--fork", "--mount-proc", "true"], capture_output=True).returncode == 0


@pytest.mark.skipif(not can_unshare(), reason="a namespace of processes needs root")
@pytest.mark.parametrize("number, code", ENDS)
@pytest.mark.parametrize("words", ["get tea", "watch"])
def test_the_first_process_of_a_container_ends_too(silent, words, number, code):
    url, accepted = silent
    process = start(*words.split(), "--server", url, before=("unshare", "--pid", "--fork", "--mount-proc"))
    with accepted() as connection:
        connection.recv(1)
        with open(f"/proc/{process.pid}/task/{process.pid}/children") as file:
            first, = file.read().split()
        assert ended(process, number, code, pid=int(first)) == b""


def test_a_signal_that_is_ignored_stays_ignored(silent):
    url, accepted = silent
    process = subprocess.Popen([binary(), "get", "tea", "--server", url], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(),
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
    with accepted() as connection:
        connection.recv(1)
        process.send_signal(signal.SIGINT)
        ended(process, signal.SIGTERM, 143)
