"""Event streams as NDJSON: what events say, history, live, filters, resuming."""

import pytest

from timers import INSTANT, instant, timer_in, types

BASE = {"id", "type", "timer", "at", "version", "labels"}


def test_what_each_event_says(api, name):
    id = api.create(id=name, after="1h", labels={"a": "b"}, payload={"x": [1]})["id"]
    for command, *body in (("suspend",), ("reschedule", {"after": "2h"}), ("resume",), ("fire",)):
        api.command(id, command, *body).expect(200)
    api.patch(f"/v1/timers/{id}", {"payload": 2}).expect(200)
    events = api.history_of(id)
    assert types(events) == ["created", "activated", "suspended", "rescheduled", "resumed", "fired", "completed", "updated"]
    fired = {"payload", "scheduledAt", "latenessUs", "fire", "missed", "reason"}
    planned = {"nextFireAt"}
    extra = {"created": planned | {"payload"}, "updated": planned | {"payload"}, "fired": planned | fired, "activated": planned, "resumed": planned,
             "rescheduled": planned}
    for event in events:
        assert set(event) == BASE | extra.get(event["type"], set()), event
        assert (event["timer"], event["labels"]) == (name, {"a": "b"})
        assert INSTANT.fullmatch(event["at"])
    assert [event["payload"] for event in events if "payload" in event] == [{"x": [1]}, {"x": [1]}, 2]
    versions = [event["version"] for event in events]
    assert versions == sorted(versions) and versions[0] == versions[1] and versions[5] == versions[6]
    assert len(set(versions)) == 6


def test_a_manual_fire_is_told_as_such(api):
    id = api.create(every="1h")["id"]
    api.command(id, "fire").expect(200)
    api.command(id, "fire").expect(200)
    fires = [event for event in api.history_of(id) if event["type"] == "fired"]
    assert [(event["fire"], event["missed"], event["reason"]) for event in fires] == [(1, 0, "manual"), (2, 0, "manual")]


def test_a_fire_that_came_due(api):
    timer = api.create(after="30ms")
    with api.stream(f"/v1/timers/{timer['id']}/events?since=0").expect(200) as stream:
        events = stream.until("completed")
    assert types(events) == ["created", "activated", "fired", "completed"]
    fired = events[2]
    assert (fired["fire"], fired["missed"], fired["reason"]) == (1, 0, "due")
    assert fired["scheduledAt"] == timer["nextFireAt"] and fired["latenessUs"] >= 0
    assert instant(fired["at"]) >= instant(fired["scheduledAt"])


def test_ids_are_decimal_strings_of_one_width_that_grow(api):
    id = timer_in(api, "completed")["id"]
    events = [event["id"] for event in api.history_of(id)]
    assert all(isinstance(event, str) and event.isdecimal() for event in events)
    assert len({len(event) for event in events}) == 1 and events == sorted(set(events))


def test_the_answer_of_a_stream(api):
    id = api.create()["id"]
    with api.stream(f"/v1/timers/{id}/events").expect(200) as stream:
        assert stream.headers["content-type"].split(";")[0] == "application/x-ndjson"
        assert stream.headers["cache-control"] == "no-store" and stream.headers["x-accel-buffering"] == "no"
        assert stream.headers["transfer-encoding"] == "chunked"
        assert stream.headers["event-id"].isdecimal() and stream.headers["request-id"]


def test_a_live_stream_starts_now(api):
    id = api.create()["id"]
    with api.stream(f"/v1/timers/{id}/events").expect(200) as stream:
        api.command(id, "suspend").expect(200)
        api.command(id, "cancel").expect(200)
        assert types(stream.take(2)) == ["suspended", "cancelled"]


def test_since_replays_and_then_goes_on_live(api):
    id = api.create()["id"]
    first = api.history_of(id)[0]["id"]
    with api.stream(f"/v1/timers/{id}/events?since={first}").expect(200) as stream:
        api.command(id, "suspend").expect(200)
        assert types(stream.take(2)) == ["activated", "suspended"]


def test_last_event_id_wins_over_since(api):
    id = api.create()["id"]
    newest = api.history_of(id)[-1]["id"]
    with api.stream(f"/v1/timers/{id}/events?since=0", headers={"Last-Event-ID": newest}).expect(200) as stream:
        api.command(id, "suspend").expect(200)
        assert stream.next()["type"] == "suspended"


def test_history_ends_by_itself(api):
    id = timer_in(api, "cancelled")["id"]
    for query in ("follow=false", "follow=false&since=0"):
        with api.stream(f"/v1/timers/{id}/events?{query}").expect(200) as stream:
            assert types(stream.rest()) == ["created", "activated", "cancelled"]
    newest = api.history_of(id)[-1]["id"]
    assert api.get(f"/v1/timers/{id}/events?follow=false&since={newest}").expect(200).lines == []


def test_list_then_watch_has_no_gap(api, name):
    listed = api.get("/v1/timers?limit=1").headers["Event-Id"]
    id = api.create(labels={"watch": name})["id"]
    with api.stream(f"/v1/events?since={listed}&label=watch%3D{name}").expect(200) as stream:
        api.command(id, "cancel").expect(200)
        assert types(stream.take(3)) == ["created", "activated", "cancelled"]


def test_filters(api, name):
    one = api.create(labels={"filter": name, "n": "1"})["id"]
    two = api.create(labels={"filter": name, "n": "2"})["id"]
    for id in (one, two):
        api.command(id, "suspend").expect(200)
        api.command(id, "cancel").expect(200)
    assert types(api.history(f"&label=filter%3D{name}&types=suspended,cancelled")) == ["suspended", "cancelled"] * 2
    assert {event["timer"] for event in api.history(f"&label=filter%3D{name}&label=n%3D2")} == {two}
    assert {event["timer"] for event in api.history(f"&timer={one}")} == {one}
    assert types(api.history_of(one)) == types(api.history(f"&timer={one}"))


def test_a_filtered_live_stream_shows_only_what_matches(api, name):
    with api.stream(f"/v1/events?label=filter%3D{name}&types=fired,cancelled").expect(200) as stream:
        api.create(after="1ms", labels={"filter": "other"})
        id = api.create(labels={"filter": name})["id"]
        api.command(id, "fire").expect(200)
        other = api.create(labels={"filter": name})["id"]
        api.command(other, "cancel").expect(200)
        assert [(event["type"], event["timer"]) for event in stream.take(2)] == [("fired", id), ("cancelled", other)]


def test_limit_counts_after_the_filters_and_ends_the_stream(api, name):
    id = api.create(labels={"limit": name})["id"]
    with api.stream(f"/v1/events?label=limit%3D{name}&types=suspended,resumed&limit=3").expect(200) as stream:
        for command in ("suspend", "resume", "suspend", "resume"):
            api.command(id, command).expect(200)
        assert types(stream.rest()) == ["suspended", "resumed", "suspended"]
    assert types(api.history(f"&timer={id}&limit=1")) == ["created"]


def test_a_bad_parameter_is_named(api):
    assert api.get("/v1/events?types=exploded").problem(400)["parameter"] == "types"


def test_an_id_used_again_has_one_history(api, name):
    api.create(id=name)
    first = api.history_of(name)[-1]["id"]
    api.delete(f"/v1/timers/{name}").expect(204)
    api.create(id=name)
    events = api.get(f"/v1/timers/{name}/events?follow=false&since={first}").expect(200).lines
    assert types(events) in (["deleted", "created", "activated"], ["created", "activated"])


def test_heartbeats_are_empty_lines(new_server):
    api = new_server("--heartbeat", "50ms").client
    with api.stream("/v1/events").expect(200) as stream:
        lines = stream.lines()
        assert [next(lines) for _ in range(3)] == [b"", b"", b""]


def test_what_is_no_longer_kept_is_410(new_server):
    """The retention is tiny; writes go on until the oldest event is gone."""
    api = new_server("--retain-events", "100ms,1MiB").client
    first = api.history_of(api.create(id="first")["id"])[0]["id"]
    for _ in range(150):
        api.batch([{"after": "1h", "retain": "0s", "payload": "x" * 1000}] * 100, query="?results=brief").expect(200)
        reply = api.get(f"/v1/events?follow=false&types=created&limit=1&since={first}")
        if reply.status == 410:
            break
    problem = reply.problem(410, "events-expired")
    assert first < problem["oldest"] <= problem["newest"]
    oldest = api.get("/v1/events?follow=false&since=0&limit=1").expect(200).lines
    assert oldest == [] or oldest[0]["id"] >= problem["oldest"]
    assert api.timer("first")["state"] == "running"


@pytest.mark.parametrize("is_empty", [True, False])
def test_an_id_of_another_log_is_410(new_server, is_empty):
    """A client that followed a server whose data were then lost gets 410, instead of missing events."""
    api = new_server().client
    known = api.get("/v1/timers").headers["Event-Id"] if is_empty else "0"
    if not is_empty:
        api.create(id="first")
    older = "1900000000000000000"  # given in January 2026, by a log that began before this one
    assert api.get(f"/v1/events?since={older}").problem(410, "events-expired")["oldest"] > older
    with api.stream(f"/v1/events?since={known}").expect(200) as stream:
        api.create(id="next")
        assert stream.next()["timer"] == ("next" if is_empty else "first")
