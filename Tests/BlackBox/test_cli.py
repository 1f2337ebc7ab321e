"""The program besides `serve`: client commands, health, version, log and backup."""

import json
import os
import re
import select
import shutil
import signal
import subprocess
import time

import pytest

from load import GONE_AT_ONCE, write_events
from patience import PATIENCE
from server import Server, binary, environment, run
from timers import poll


def client(server, *arguments):
    """Runs a client command against a server."""
    return run(*arguments, "--server", server.url)


def answered(done):
    """The JSON that a client command printed with --json."""
    assert done.returncode == 0, done
    return json.loads(done.stdout)


def test_help_names_the_commands():
    done = run("--help")
    assert done.returncode == 0
    for command in "serve health version log backup create list get activate suspend resume cancel fire reschedule delete watch".split():
        assert re.search(rf"\b{command}\b", done.stdout), command


def test_health(server):
    assert client(server, "health").returncode == 0
    assert run("health", env={"TIMERD_SERVER": server.url}).returncode == 0
    assert run("health", "--server", "http://127.0.0.1:1").returncode not in (0, 64)


def test_a_timers_life_from_the_shell(server, name):
    timer = answered(client(server, "create", "--id", name, "--after", "10m", "--json"))
    assert (timer["id"], timer["state"], timer["after"]) == (name, "running", "10m")
    assert client(server, "suspend", name).stdout.startswith(f"{name}: suspended, ")
    assert client(server, "delete", name).returncode == 0
    assert client(server, "get", name).returncode not in (0, 64)
    assert server.client.get(f"/v1/timers/{name}").status == 404


def next_line(process):
    """One line of an unbuffered pipe: select sees every unread byte."""
    line = b""
    while not line.endswith(b"\n"):
        ready, _, _ = select.select([process.stdout], [], [], PATIENCE)
        assert ready, "watch says nothing"
        byte = os.read(process.stdout.fileno(), 1)
        if not byte:
            break
        line += byte
    return line.decode()


def watch_until(process, type):
    """Reads watch's output up to the first event of a type; returns all events read."""
    events, deadline = [], time.monotonic() + PATIENCE
    while not events or events[-1]["type"] != type:
        assert time.monotonic() < deadline, events
        line = next_line(process)
        assert line, "watch ended"
        if line.strip():
            events.append(json.loads(line))
    return events


def test_watch_shows_events_and_reconnects_without_a_gap(new_server):
    server = new_server()
    server.client.create(id="watched", after="1h")
    process = subprocess.Popen([binary(), "watch", "--server", server.url, "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               env=environment(), bufsize=0,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # a job in the background ignores it
    try:
        # Watch shows no event from before it connected: keep toggling until it prints one.
        def prints():
            for command in ("suspend", "resume"):
                server.client.command("watched", command).expect(200)
            return select.select([process.stdout], [], [], 0)[0]
        poll(prints)
        server.client.patch("/v1/timers/watched", {"labels": {"mark": "1"}}).expect(200)
        before = watch_until(process, "updated")
        server.kill9()
        server.restart(same_port=True)
        server.client.command("watched", "fire").expect(200)
        after = watch_until(process, "completed")
        ids = [event["id"] for event in before + after]
        history = [event["id"] for event in server.client.history()]
        assert ids == history[history.index(ids[0]):]
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) in (0, 130, -signal.SIGINT)
    finally:
        process.kill()
        process.wait(PATIENCE)
        process.stdout.close()


@pytest.fixture(scope="module")
def stopped():
    """A stopped server with some history."""
    with Server() as server:
        api = server.client
        for n in range(5):
            api.create(id=f"t{n}", after="1h", payload={"n": n})
        api.command("t1", "suspend").expect(200)
        api.delete("/v1/timers/t2").expect(204)
        server.stop()
        yield server


@pytest.mark.not_on_postgres("a take-over takes longer than events are kept here")
def test_watch_that_nothing_concerned_for_long_still_comes_back(new_server):
    """The position that it began at is no longer kept when the server restarts; heartbeats have moved its cursor on."""
    server = new_server("--heartbeat", "50ms", "--retain-events", "100ms,64KiB")
    api = server.client
    api.create(id="watched", after="1h")
    process = subprocess.Popen([binary(), "watch", "--server", server.url, "--json", "--type", "resumed"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), bufsize=0)
    try:
        poll(lambda: api.get("/v1/stats").json["streams"] == 1)
        begun = api.get("/v1/timers?limit=1").headers["Event-Id"]

        def is_gone():
            write_events(api, 1, **GONE_AT_ONCE)
            return api.get(f"/v1/events?follow=false&limit=1&since={begun}").status == 410
        poll(is_gone)
        # An event after the heartbeats would be one that watch may not have been told of before the server dies.
        poll(lambda: len(api.get("/v1/timers?limit=2").json["timers"]) == 1)
        with api.stream("/v1/events?types=resumed") as other:
            lines = other.lines()
            assert [next(lines) for _ in range(4)] == [b""] * 4  # heartbeats on this stream: the other had at least one meanwhile
        server.kill9()
        server.restart(same_port=True)
        poll(lambda: server.client.get("/v1/stats").json["streams"] == 1)
        for command in ("suspend", "resume"):
            server.client.command("watched", command).expect(200)
        assert [event["timer"] for event in watch_until(process, "resumed")] == ["watched"]
    finally:
        process.kill()
        process.wait(PATIENCE)


def test_log_verify(stopped):
    done = run("log", "verify", "--data", stopped.data)
    assert done.returncode == 0, done


def database(directory):
    """The largest file of a data directory."""
    files = [path for path in directory.iterdir() if path.is_file() and not path.name.endswith(("-wal", "-shm"))]
    return max(files, key=lambda path: path.stat().st_size)


def test_log_verify_finds_a_flipped_byte(stopped, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(stopped.data, copy)
    path = database(copy)
    content = bytearray(path.read_bytes())
    at = content.find(b'{"n":3}')
    assert at > 0, "the payload is not in the file"
    content[at + 5] ^= 1
    path.write_bytes(content)
    done = run("log", "verify", "--data", copy)
    assert done.returncode not in (0, 64), done
    serve = run("serve", "--listen", "127.0.0.1:0", "--data", copy)
    assert serve.returncode == 78 and "fatal error" not in serve.stderr.lower()


def test_a_backup_of_a_running_server_restores(new_server, tmp_path):
    server = new_server()
    api = server.client
    for n in range(30):
        api.create(id=f"t{n}", after="1h", payload="x" * 500)
    api.command("t7", "suspend").expect(200)
    newest = api.history()[-1]["id"]
    copy = tmp_path / "copy"
    done = run("backup", "--data", server.data, "--to", copy)
    assert done.returncode == 0, done
    api.create(id="later")
    other = new_server(data=copy).client
    assert len(other.get("/v1/timers?limit=1000").json["timers"]) == 30
    assert (other.timer("t7")["state"], other.timer("t8")["state"]) == ("suspended", "running")
    other.create(id="new")
    assert other.history()[-1]["id"] > newest
