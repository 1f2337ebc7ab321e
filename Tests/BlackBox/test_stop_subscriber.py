"""stop: subscriber — suspended once no client follows the timer's events, resumed by the next one that does."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from timers import duration, instant, now, poll, types


def watched(api, **fields):
    timer = api.create(start="subscriber", stop="subscriber", **fields)
    assert (timer["state"], timer["stop"]) == ("idle", "subscriber")
    return timer["id"]


def events_of(id):
    return f"/v1/timers/{id}/events"


def is_suspended(api, id):
    return api.timer(id)["state"] == "suspended"


def test_it_is_suspended_two_seconds_after_the_last_left_and_resumed_by_the_next(api):
    id = watched(api, after="1h")
    with api.stream(events_of(id)).expect(200) as first, api.stream(events_of(id)).expect(200):
        assert first.next()["type"] == "activated"
    left = now()
    poll(lambda: is_suspended(api, id))
    event = api.history_of(id)[-1]
    assert (event["type"], event["reason"]) == ("suspended", "unsubscribed")
    assert instant(event["at"]) - left >= 1900
    remaining = duration(api.timer(id)["remaining"])
    with api.stream(events_of(id)).expect(200) as stream:
        resumed = stream.next()
        assert resumed["type"] == "resumed"
        assert abs(instant(resumed["nextFireAt"]) - instant(resumed["at"]) - remaining) <= 3
    assert types(api.history_of(id)) == ["created", "activated", "suspended", "resumed"]


@pytest.mark.thorough
def test_on_resume_applies(api):
    id = watched(api, every="1s", onResume="deadline")
    with api.stream(events_of(id)).expect(200) as stream:
        stream.next()
    poll(lambda: is_suspended(api, id))
    due = instant(api.history_of(id)[1]["nextFireAt"])
    poll(lambda: now() > due + 5000)
    with api.stream(events_of(id)).expect(200) as stream:
        events = stream.take(2)
    assert types(events) == ["resumed", "fired"] and events[1]["reason"] == "resumed" and events[1]["missed"] >= 1


def test_what_counts_as_no_subscriber(api):
    id = watched(api, after="1h")
    with api.stream(events_of(id)).expect(200) as stream:
        stream.next()
    with api.stream("/v1/events").expect(200), api.stream(f"/v1/events?timer={id}").expect(200):
        poll(lambda: is_suspended(api, id))
        api.head(events_of(id)).expect(200)
        api.get(f"{events_of(id)}?follow=false").expect(200)
        api.get(f"/v1/timers/{id}/wait?timeout=20ms").expect(204)
        assert is_suspended(api, id)


def test_what_a_command_suspended_is_not_resumed(api):
    id = watched(api, after="1h")
    with api.stream(events_of(id)).expect(200) as stream:
        stream.next()
        api.command(id, "suspend").expect(200)
    with api.stream(f"{events_of(id)}?since=0").expect(200) as stream:
        assert "reason" not in stream.take(3)[-1]
        assert is_suspended(api, id)
        api.command(id, "resume").expect(200)
    poll(lambda: is_suspended(api, id))
    api.command(id, "cancel").expect(200)
    with api.stream(f"{events_of(id)}?since=0&limit=6").expect(200) as stream:
        assert types(stream.rest()) == ["created", "activated", "suspended", "resumed", "suspended", "cancelled"]
    assert api.timer(id)["state"] == "cancelled"


def test_a_crowd_comes_and_goes(api):
    id = watched(api, every="1h")

    def visit(_):
        with api.stream(events_of(id)).expect(200):
            pass
    with api.stream(events_of(id)).expect(200) as stays:
        stays.next()
        with ThreadPoolExecutor(16) as pool:
            list(pool.map(visit, range(500)))
        assert types(api.history_of(id)) == ["created", "activated"]
    poll(lambda: is_suspended(api, id))
    assert types(api.history_of(id)) == ["created", "activated", "suspended"]


@pytest.mark.thorough
@pytest.mark.parametrize("is_kill", [True, False], ids=["kill", "stop"])
def test_after_a_restart_it_is_suspended_as_of_the_last_uptime_unless_one_comes(new_server, is_kill):
    server = new_server()
    api = server.client
    kept, lost = watched(api, after="1h"), watched(api, after="1h")
    streams = [api.stream(events_of(id)).expect(200) for id in (kept, lost)]
    for stream in streams:
        assert stream.next()["type"] == "activated"
    if is_kill:
        # Within the two seconds.
        streams[1].close()
        server.kill9()
    else:
        server.stop()
    for stream in streams:
        stream.close()
    api = server.start().client
    assert api.timer(kept)["state"] == api.timer(lost)["state"] == "running"
    with api.stream(events_of(kept)).expect(200):
        poll(lambda: is_suspended(api, lost), pause=0.1)
        assert types(api.history_of(kept)) == ["created", "activated"]
        event = api.history_of(lost)[-1]
        assert (event["type"], event["reason"]) == ("suspended", "unsubscribed")
        # The ten seconds, and the downtime before them, are not counted.
        activated = instant(api.history_of(lost)[1]["at"])
        assert duration(api.timer(lost)["remaining"]) > 3_600_000 - (instant(event["at"]) - activated) + 9000
        with api.stream(events_of(lost)).expect(200) as stream:
            assert stream.next()["type"] == "resumed"
