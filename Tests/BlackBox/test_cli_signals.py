"""SIGINT and SIGTERM end a client command at once, also as the first process of a container."""

import json
import os
import select
import signal
import socket
import subprocess

import pytest

from namespaces import can_unshare
from patience import PATIENCE
from server import binary, environment
from timers import poll

ENDS = [(signal.SIGINT, 130), (signal.SIGTERM, 143)]


def defaults():
    """A job in the background ignores SIGINT, and what it starts does too."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def start(*words, before=(), stdout=subprocess.PIPE):
    return subprocess.Popen([*before, binary(), *words], bufsize=0, stdout=stdout, stderr=subprocess.PIPE,
                            env=environment(), preexec_fn=defaults)


def ended(process, number, code, pid=None):
    pid = pid or process.pid
    os.kill(pid, number)
    try:
        out, err = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        os.kill(pid, signal.SIGKILL)
        out, err = process.communicate()
    assert (process.returncode, err) == (code, b""), (process.returncode, err)
    return out


@pytest.fixture
def silent():
    """A server that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(PATIENCE)
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
    reader, writer = os.pipe()
    process = start("watch", name, "--json", "--server", server.url, stdout=writer)
    try:
        poll(lambda: is_full(writer))
        os.kill(process.pid, number)
        assert process.wait(PATIENCE) == code
    finally:
        process.kill()
        process.stderr.close()
        os.close(reader)
        os.close(writer)
    server.client.delete(f"/v1/timers/{name}").expect(204)


def is_full(pipe):
    """Whether a write to the pipe would wait."""
    return not select.select([], [pipe], [], 0)[1]


@pytest.mark.skipif(not can_unshare("--pid", "--fork", "--mount-proc"), reason="a namespace of processes needs root")
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
