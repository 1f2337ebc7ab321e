"""Event ids and versions are given once, whatever happens to the log that held them."""

import shutil

import pytest

import wallclock
from server import run
from timers import poll
from webhooks import hooked

MINUTE = 60_000
LONG = ("--durability", "interval=60s")


@pytest.fixture
def clock(tmp_path_factory, tmp_path):
    return wallclock.WallClock(wallclock.build(tmp_path_factory.mktemp("wallclock")), tmp_path)


def version(etag):
    return int(etag.strip('"').removeprefix("v"))


def gone(api, id, lost):
    """A lost id is 410 wherever a request can name it, and the answer says what to do."""
    for target in ("/v1/events?follow=false&since=", f"/v1/timers/{id}/events?since=", f"/v1/timers/{id}/wait?timeout=0s&since="):
        problem = api.get(target + lost).problem(410, "events-expired")
        assert problem["oldest"] and problem["newest"]
    api.get(f"/v1/timers/{id}/events?follow=false", headers={"Last-Event-ID": lost}).problem(410, "events-expired")


def toggle(api, id, times):
    """Suspends and resumes; returns the entity tags that were answered."""
    tags = []
    for _ in range(times):
        for command in ("suspend", "resume"):
            tags.append(api.command(id, command).expect(200).etag)
    return tags


def test_quick_restarts_without_a_log_on_disk_give_no_id_again(new_server, name):
    seen = []
    server = new_server("--store", "memory")
    for _ in range(4):
        for number in range(50):
            server.client.create(id=f"{name}-{number}", after="1h")
        ids = [event["id"] for event in server.client.history()]
        assert len(ids) == 100 and ids == sorted(ids)
        assert not seen or seen[-1] < ids[0]
        seen += ids
        server.kill9()
        server.start()
    assert len(set(seen)) == len(seen)


@pytest.mark.parametrize("setback", [0, MINUTE])
def test_a_lost_tail_gives_neither_ids_nor_versions_again(new_server, clock, setback):
    server = new_server(*LONG, env=clock.env)
    # The first change is on disk when it is answered, as no mark covers it yet.
    server.client.batch([{"id": "untouched", "after": "1h"}, {"id": "a", "after": "1h"}]).expect(200)
    tags, known = toggle(server.client, "a", 5), server.client.timer("untouched")["version"]
    shown = [event["id"] for event in server.client.history()]
    newest = server.client.get("/v1/timers/a").headers["Event-Id"]
    server.kill9()
    clock.set(-setback)
    server.start()
    api = server.client
    assert api.timer("a")["version"] < version(tags[-1]), "nothing was lost, so this shows nothing"
    assert api.timer("untouched")["version"] == known
    kept = [event["id"] for event in api.history()]
    lost = [id for id in [*shown, newest] if id not in kept]
    assert lost and kept == shown[:len(kept)]
    gone(api, "a", lost[-1])
    again = toggle(api, "a", 2)
    assert min(map(version, again)) > max(map(version, tags))
    assert version(api.post("/v1/timers", {"id": "new", "after": "1h"}).expect(201).etag) > max(map(version, tags))
    api.command("a", "suspend", headers={"If-Match": tags[-1]}).problem(412, "version-mismatch")
    fresh = [event["id"] for event in api.history() if event["id"] not in kept]
    assert min(fresh) > max(shown + [newest])
    for id in lost:
        gone(api, "a", id)
    # After a clean stop, versions go on one by one, and lost ids are still known as lost.
    server.restart()
    for id in (lost[0], lost[-1]):
        gone(server.client, "a", id)
    assert [version(tag) for tag in toggle(server.client, "a", 1)] == [version(again[-1]) + 1, version(again[-1]) + 2]
    for id in kept[1:] + fresh:
        server.client.get(f"/v1/events?follow=false&since={id}").expect(200)


def test_with_an_interval_events_and_webhooks_leave_at_once(new_server, receiver):
    server = new_server(*LONG)
    api = server.client
    with api.stream("/v1/events") as stream:
        events = stream.events()
        api.create(id="first")
        assert [next(events)["type"] for _ in range(2)] == ["created", "activated"]
        hooked(api, receiver.url("/"), id="hook")
        api.command("hook", "fire").expect(200)
        types = [next(events)["type"] for _ in range(3)]
        assert types == ["created", "activated", "fired"]
        receiver.wait_for(1)
        assert next(events)["type"] == "delivered"
        key = {"Idempotency-Key": "once"}
        answer = api.post("/v1/timers", {"after": "1h"}, headers=key).expect(201)
        assert api.post("/v1/timers", {"after": "1h"}, headers=key).expect(201).json["id"] == answer.json["id"]
    server.kill9()
    server.start()
    # None of it was on disk, except changes from before the first mark.
    assert server.client.get("/v1/timers/hook").status == 404


def test_a_dead_letter_that_is_not_on_disk_yet_can_be_read(new_server, receiver):
    receiver.script("/bad", 500)
    api = new_server(*LONG).client
    api.create(id="first")
    hooked(api, receiver.url("/bad"), id="hook", retry={"maxAttempts": 1})
    api.command("hook", "fire").expect(200)
    dead = poll(lambda: api.get("/v1/deliveries?state=dead").expect(200).json["deliveries"])
    assert api.get(f"/v1/deliveries/{dead[0]['id']}").expect(200).json["timer"] == "hook"


def test_a_restored_backup_begins_above_all_that_was_given_since(new_server, clock, tmp_path):
    source = new_server()
    source.client.create(id="a")
    before = source.client.get("/v1/timers/a").headers["Event-Id"]
    copy = tmp_path / "copy"
    assert run("backup", "--data", source.data, "--to", copy).returncode == 0
    tags = toggle(source.client, "a", 20)
    shown = [event["id"] for event in source.client.history()]
    source.stop()
    clock.set(-MINUTE)
    restored = new_server(data=copy, env=clock.env)
    api = restored.client
    assert api.get("/v1/timers/a").etag == '"v1"'
    gone(api, "a", shown[-1])
    again = toggle(api, "a", 1)
    assert min(map(version, again)) > max(map(version, tags))
    assert version(again[-1]) < 1 << 53
    fresh = [event["id"] for event in api.history() if event["id"] > before]
    assert len(fresh) == 2 and min(fresh) > max(shown)
    for id in shown[2:]:
        gone(api, "a", id)
    # After its new beginning it is a log like any other.
    restored.restart()
    for id in shown[2:]:
        gone(restored.client, "a", id)
    assert [version(tag) for tag in toggle(restored.client, "a", 1)] == [version(again[-1]) + 1, version(again[-1]) + 2]
    restored.kill9()
    shutil.rmtree(copy)
