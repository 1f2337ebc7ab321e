"""Idempotency-Key on POSTs: the first 2xx answer again, also after a restart."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from patience import PATIENCE


def keyed(key):
    return {"headers": {"Idempotency-Key": key}}


def same(first, again):
    assert again.headers["Idempotency-Replayed"] == "true", again
    assert (again.status, again.body) == (first.status, first.body)
    for header in ("Location", "ETag", "Content-Type", "Event-Id"):
        assert again.headers[header] == first.headers[header]


def test_a_create_is_done_once(api, name):
    body = {"after": "1h", "labels": {"key": name}}
    first = api.post("/v1/timers", body, **keyed(name)).expect(201)
    assert "Idempotency-Replayed" not in first.headers
    same(first, api.post("/v1/timers", body, **keyed(name)))
    assert len(api.get(f"/v1/timers?label=key%3D{name}").json["timers"]) == 1


def test_other_bytes_are_a_mismatch(api, name):
    api.post("/v1/timers", {"id": name, "after": "1h"}, **keyed(name)).expect(201)
    api.post("/v1/timers", {"id": name, "after": "2h"}, **keyed(name)).problem(422, "idempotency-mismatch")
    api.post("/v1/timers", body='{"id":"%s",  "after":"1h"}' % name, **keyed(name)).problem(422, "idempotency-mismatch")
    assert api.timer(name)["after"] == "1h"


def test_of_many_at_once_one_creates(api, name):
    body = {"after": "1h", "labels": {"key": name}}
    barrier = threading.Barrier(8)

    def attempt(_):
        barrier.wait(PATIENCE)
        return api.post("/v1/timers", body, **keyed(name))

    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(attempt, range(8)))
    for reply in replies:
        if reply.status != 201:
            reply.problem(409, "idempotency-in-progress")
    made = [reply for reply in replies if reply.status == 201]
    assert len({reply.body for reply in made}) == 1
    assert sum("Idempotency-Replayed" not in reply.headers for reply in made) == 1
    assert len(api.get(f"/v1/timers?label=key%3D{name}").json["timers"]) == 1


@pytest.mark.parametrize("end", ["stop", "kill9"])
def test_replays_survive_the_server(new_server, end):
    server = new_server()
    api = server.client
    create = api.post("/v1/timers", {"id": "kept", "after": "1h"}, **keyed("a")).expect(201)
    suspend = api.command("kept", "suspend", **keyed("b")).expect(200)
    api.command("kept", "suspend", **keyed("c")).problem(409)
    batch = api.batch([{"id": "lot", "after": "1h"}], **keyed("d")).expect(200)
    getattr(server, end)()
    server.start()
    api = server.client
    same(create, api.post("/v1/timers", {"id": "kept", "after": "1h"}, **keyed("a")))
    same(suspend, api.command("kept", "suspend", **keyed("b")))
    again = api.batch([{"id": "lot", "after": "1h"}], **keyed("d")).expect(200)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.lines == [{"status": 201, "id": "lot", "version": batch.lines[0]["timer"]["version"]}]
    api.post("/v1/timers", {"id": "kept", "after": "2h"}, **keyed("a")).problem(422, "idempotency-mismatch")
    api.command("kept", "resume", **keyed("c")).expect(200)
