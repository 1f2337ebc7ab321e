"""Writes begin to fail in the middle of a run of several steps, by a file-size limit on the running process."""

import subprocess

import pytest

from timers import poll


def limit_writes(server, size):
    """Lets no file of the server grow beyond `size` bytes; None lifts that."""
    value = "unlimited" if size is None else str(size)
    subprocess.run(["prlimit", "--pid", str(server.process.pid), f"--fsize={value}:unlimited"], check=True)


@pytest.fixture
def failing(new_server):
    """A server, and a way to make its writes fail."""
    server = new_server()
    server.client.create(id="warm", after="1h")
    yield server
    if server.process.poll() is None:
        limit_writes(server, None)


@pytest.mark.parametrize("size", [
    600_000, *(pytest.param(size, marks=pytest.mark.heavy) for size in (200_000, 1_500_000)),
])
def test_a_batch_answers_for_no_timer_that_is_gone(failing, size):
    limit_writes(failing, size)
    lines = [{"id": f"b{n}", "after": "1h", "payload": "x" * 200} for n in range(6000)]
    reply = failing.client.batch(lines, query="?results=brief", timeout=30)
    claimed = [line["id"] for line in reply.lines if line.get("status") == 201] if reply.status == 200 else []
    if reply.status != 200:
        assert reply.problem(503, "storage-unavailable")["outcome"] == "unknown"
    limit_writes(failing, None)
    poll(lambda: failing.client.get("/readyz").status == 200)
    assert [name for name in claimed if failing.client.get(f"/v1/timers/{name}").status != 200] == []


@pytest.mark.thorough
@pytest.mark.undivided
def test_a_stored_answer_is_told_while_writes_fail(failing):
    headers = {"Idempotency-Key": "once"}
    first = failing.client.post("/v1/timers", {"id": "keyed", "after": "1h"}, headers=headers).expect(201)
    limit_writes(failing, 1000)
    failing.client.post("/v1/timers", {"after": "1h"}).problem(503, "storage-unavailable")
    again = failing.client.post("/v1/timers", {"id": "keyed", "after": "1h"}, headers=headers).expect(201)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.json["version"] == first.json["version"]
    failing.client.get("/v1/timers?limit=10").expect(200)


@pytest.mark.undivided
def test_the_metrics_tell_that_writes_fail(failing):
    def told(value):
        text = failing.client.get("/metrics").expect(200).body.decode().splitlines()
        return f"timerd_storage_writable {value}" in text and f"timerd_ready {value}" in text

    assert told(1)
    limit_writes(failing, 1000)
    failing.client.post("/v1/timers", {"after": "1h"}).problem(503, "storage-unavailable")
    poll(lambda: told(0))
    limit_writes(failing, None)
    poll(lambda: told(1))


def test_interval_answers_repeat_and_histories_end(new_server):
    api = new_server("--durability", "interval=1s").client
    api.create(id="calm", after="1h")
    headers = {"Idempotency-Key": "soon"}
    for _ in range(2):
        api.post("/v1/timers", {"id": "keyed", "after": "1h"}, headers=headers).expect(201)
    api.create(after="1h")
    assert [event["type"] for event in api.get("/v1/timers/calm/events?follow=false").expect(200).lines] == ["created", "activated"]
