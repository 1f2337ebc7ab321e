"""Listeners are open while the log is read: probes learn that it makes progress, other clients are told to retry."""

import json
import os
import signal
import socket
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

from client import Client
from faults import DATABASE
from server import Server
from timers import poll

ASKED = [("GET", "/v1/timers"), ("POST", "/v1/timers"), ("GET", "/v1/events"), ("GET", "/v1/timers/x/wait"), ("DELETE", "/v1/timers/x"),
         ("GET", "/metrics"), ("GET", "/v1/stats"), ("GET", "/"), ("GET", "/nowhere"), ("OPTIONS", "/v1/timers"), ("GET", "/openapi.yaml"),
         ("POST", "/healthz"), ("PUT", "/v1/timers/x")]


@pytest.fixture
def path():
    with tempfile.TemporaryDirectory(prefix="td-") as directory:
        yield Path(directory) / "s"


@contextmanager
def recovering(faults, path, *flags, env=None, **fault):
    """A server that reads its log while reads fail or are slow, and a client that already reaches it."""
    lines = [{"id": f"t{n:05}", "after": "1h", "payload": "x" * 500} for n in range(10_000)]
    with Server(*flags, data=faults.data) as filled:
        filled.client.batch(lines, "?results=brief").expect(200)
        filled.stop()
    server = Server(*flags, data=faults.data, env={**faults.env, **(env or {})}, listen=[f"unix:{path}"])
    try:
        faults.set("read", DATABASE, **fault)
        server.launch()
        client = Client(unix=str(path), host="localhost")
        poll(lambda: faults.rule("read").calls > 0)
        yield server, client
    finally:
        faults.clear()
        server.__exit__()


def refused(client, method, target):
    body = {"after": "1h"} if method in ("POST", "PUT") else {}
    reply = client.request(method, target, **({"json": body} if body else {}))
    problem = reply.problem(503, "storage-unavailable")
    assert reply.headers["Retry-After"] == "1" and problem["outcome"] == "none"


def test_a_slow_recovery_is_healthy_and_serves_nothing_yet(faults, path):
    with recovering(faults, path, delay=20) as (server, client):
        before = faults.rule("read").calls
        for method, target in ASKED:
            client.get("/healthz").expect(200)
            refused(client, method, target)
        reply = client.get("/readyz").expect(503)
        assert reply.json == {"status": "recovering"} and reply.headers["Retry-After"] == "1"
        client.head("/healthz").expect(200)
        poll(lambda: faults.rule("read").calls > before + 50)
        client.get("/healthz").expect(200)
        faults.clear()
        server.come_up()
        client.get("/readyz").expect(200)
        assert client.timer("t09999")["state"] == "running"
        client.create()


@pytest.mark.thorough
def test_a_recovery_that_stands_still_is_not_healthy(faults, path):
    with recovering(faults, path, hold=1) as (server, client):
        client.get("/healthz").expect(200)
        poll(lambda: client.get("/healthz").status == 503)
        assert client.get("/healthz").expect(503).json == {"status": "stalled", "stalled": ["recovery"]}
        refused(client, "GET", "/v1/timers")
        faults.clear()
        server.come_up()
        client.get("/healthz").expect(200)


@pytest.mark.thorough
def test_a_connection_goes_over_to_the_service(faults, path):
    with recovering(faults, path, hold=1) as (server, client):
        connection = client.connection()
        connection.request("POST", "/v1/timers", b'{"after": "1h"}', {"Content-Type": "application/json"})
        answer = connection.getresponse()
        assert answer.status == 503 and json.loads(answer.read())["outcome"] == "none"
        with client.socket() as sock:
            # The first handler answers the head, even where the body arrives under the second.
            sock.sendall(b"POST /v1/timers HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 15\r\n\r\n{")
            client.get("/healthz").expect(200)
            faults.clear()
            server.come_up()
            sock.sendall(b'"after": "1h"}')
            assert sock.makefile("rb").readline().split()[1] in (b"503", b"201")
        connection.request("POST", "/v1/timers", b'{"after": "1h"}', {"Content-Type": "application/json"})
        assert connection.getresponse().status == 201
        connection.close()


@pytest.mark.thorough
def test_sigterm_ends_a_recovery_cleanly(faults, path):
    with recovering(faults, path, hold=1) as (server, client):
        client.get("/healthz").expect(200)
        server.stop()
        assert not path.exists() and "error" not in server.log_text()
    with Server(data=faults.data) as server:
        assert server.client.timer("t00000")["state"] == "running"


def test_a_refused_start_leaves_no_socket(tmp_path, path):
    (tmp_path / "data").write_text("not a directory")
    server = Server(data=tmp_path / "data", listen=[f"unix:{path}"])
    server.launch()
    assert server.wait() == 78 and not path.exists()
    assert len(server.log_text().splitlines()) == 1
