"""Idempotency-Key on POSTs: the first 2xx answer again, also after a restart."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from timers import types


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


def test_a_command_is_done_once(api, name):
    id = api.create()["id"]
    first = api.command(id, "suspend", **keyed(name)).expect(200)
    same(first, api.command(id, "suspend", **keyed(name)))
    api.command(id, "resume").expect(200)
    same(first, api.command(id, "suspend", **keyed(name)))
    assert types(api.history_of(id)) == ["created", "activated", "suspended", "resumed"]


def test_the_replay_comes_before_404_and_conditions(api, name):
    id = api.create()["id"]
    first = api.command(id, "cancel", **keyed(name)).expect(200)
    api.delete(f"/v1/timers/{id}").expect(204)
    same(first, api.command(id, "cancel", **keyed(name)))


def test_other_bytes_are_a_mismatch(api, name):
    api.post("/v1/timers", {"id": name, "after": "1h"}, **keyed(name)).expect(201)
    api.post("/v1/timers", {"id": name, "after": "2h"}, **keyed(name)).problem(422, "idempotency-mismatch")
    api.post("/v1/timers", body='{"id":"%s",  "after":"1h"}' % name, **keyed(name)).problem(422, "idempotency-mismatch")
    assert api.timer(name)["after"] == "1h"


@pytest.mark.parametrize("status, bad", [(400, {"after": "x"}), (409, None)])
def test_a_refusal_frees_the_key(api, name, status, bad):
    if status == 409:
        bad = {"id": api.create()["id"], "after": "1h"}
    api.post("/v1/timers", bad, **keyed(name)).problem(status)
    api.post("/v1/timers", {"after": "1h"}, **keyed(name)).expect(201)


@pytest.mark.parametrize("key", ["k" * 129, "", "a b", "\u00e9"])
def test_a_key_is_1_to_128_visible_ascii(api, name, key):
    headers = {"Idempotency-Key": key.encode("latin-1")}
    api.post("/v1/timers", {"id": name, "after": "1h"}, headers=headers).problem(400)
    api.get(f"/v1/timers/{name}").expect(404)
    api.post("/v1/timers", {"id": name, "after": "1h"}, **keyed(name.ljust(128, "!"))).expect(201)


def test_a_batch_replays_its_brief_lines(api, name):
    lines = [{"after": "1h", "labels": {"key": name}}, {"after": "nonsense"}]
    first = api.batch(lines, **keyed(name)).expect(200)
    again = api.batch(lines, **keyed(name)).expect(200)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert [line["status"] for line in again.lines] == [201, 400]
    assert again.lines[0]["id"] == first.lines[0]["timer"]["id"]
    assert again.lines[0]["version"] == first.lines[0]["timer"]["version"]
    assert len(api.get(f"/v1/timers?label=key%3D{name}").json["timers"]) == 1


def test_a_bulk_step_is_done_once(api, name):
    api.create(labels={"key": name})
    first = api.post("/v1/timers/bulk/suspend", {"labels": {"key": name}}, **keyed(name)).expect(200)
    same(first, api.post("/v1/timers/bulk/suspend", {"labels": {"key": name}}, **keyed(name)))


def test_of_many_at_once_one_creates(api, name):
    body = {"after": "1h", "labels": {"key": name}}
    barrier = threading.Barrier(8)

    def attempt(_):
        barrier.wait(5)
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
