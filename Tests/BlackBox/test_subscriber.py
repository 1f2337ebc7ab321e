"""start: subscriber — idle until the first client that follows the timer's events."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from patience import PATIENCE
from timers import poll, types

SUBSCRIBERS = 20


def waiting(api, **fields):
    timer = api.create(start="subscriber", **fields)
    assert (timer["state"], timer["start"], timer["nextFireAt"], timer["allowed"]) == ("idle", "subscriber", None, ["activate"])
    return timer


def events_of(timer):
    return f"/v1/timers/{timer['id']}/events"


def still_idle(api, timer):
    assert api.timer(timer["id"])["state"] == "idle"
    assert types(api.history_of(timer["id"])) == ["created"]


def test_the_first_subscriber_activates_and_sees_it_first(api):
    timer = waiting(api, every="20ms", maxFires=2)
    with api.stream(events_of(timer)).expect(200) as stream:
        events = stream.until("completed")
    assert types(events) == ["activated", "fired", "fired", "completed"]
    assert api.history_of(timer["id"])[1:] == events


def test_event_id_is_where_the_stream_begins(api):
    timer = waiting(api)
    with api.stream(events_of(timer)).expect(200) as stream:
        since = stream.headers["event-id"]
        activated = stream.next()
    again = api.get(f"{events_of(timer)}?since={since}&follow=false").expect(200).lines
    assert again == [activated]


@pytest.mark.parametrize("since", ["0", "created"])
def test_with_since_the_history_comes_before(api, since):
    timer = waiting(api)
    created = api.history_of(timer["id"])[0]
    api.patch(f"/v1/timers/{timer['id']}", {"labels": {"a": "b"}}).expect(200)
    with api.stream(f"{events_of(timer)}?since={'0' if since == '0' else created['id']}").expect(200) as stream:
        assert types(stream.until("activated")) == ["created", "updated", "activated"][since != "0":]


def test_sse_types_and_labels_are_no_hindrance(api):
    timer = waiting(api, after="30ms")
    with api.stream(f"{events_of(timer)}?types=fired", {"Accept": "text/event-stream"}).expect(200) as stream:
        text = b""
        for chunk in stream:
            text += chunk
            if b"\n\n" in text:
                break
    assert b"event: fired" in text
    assert types(api.history_of(timer["id"])) == ["created", "activated", "fired", "completed"]


def test_what_does_not_follow_its_events_does_not_activate(api):
    timer = waiting(api)
    id = timer["id"]
    api.head(events_of(timer)).expect(200)
    api.get(f"{events_of(timer)}?follow=false").expect(200)
    api.get(f"/v1/timers/{id}/wait?timeout=20ms").expect(204)
    api.get(f"/v1/timers/{id}/next").expect(200)
    for target in ("/v1/events", f"/v1/events?timer={id}"):
        with api.stream(target).expect(200):
            pass
    still_idle(api, timer)


def test_a_refused_stream_changes_nothing(api):
    timer = waiting(api)
    api.get(f"{events_of(timer)}?since=9223372036854775807").problem(410)
    still_idle(api, timer)


@pytest.mark.not_on_postgres("no row goes within ten minutes of a take-over there")
def test_history_that_is_gone_changes_nothing(new_server):
    api = new_server("--retain-events", "1ms,1KiB").client
    timer, younger = waiting(api), api.create()
    created = [api.history_of(each["id"])[0]["id"] for each in (timer, younger)]
    for each in (timer, younger):
        for n in range(3):
            api.patch(f"/v1/timers/{each['id']}", {"labels": {"n": str(n)}}).expect(200)
    # Compaction begins once there are some megabytes of garbage.
    filler = [{"id": f"filler-{n}", "after": "1h", "payload": "x" * 20_000} for n in range(100)]

    def expired():
        api.batch(filler + [{"command": "delete", "id": line["id"]} for line in filler]).expect(200)
        return api.get(f"{events_of(younger)}?since={created[1]}&limit=1").status == 410
    poll(expired, timeout=30, pause=0.1)
    api.get(f"{events_of(timer)}?since={created[0]}&limit=1").problem(410, "events-expired")
    assert api.timer(timer["id"])["state"] == "idle"
    with api.stream(events_of(timer)).expect(200) as stream:
        assert stream.next()["type"] == "activated"


def test_a_full_house_changes_nothing(new_server):
    api = new_server("--max-streams", "2").client
    timer = waiting(api)
    with api.stream("/v1/events").expect(200), api.stream("/v1/events").expect(200):
        api.get(events_of(timer)).problem(503, "stream-limit")
        assert api.timer(timer["id"])["version"] == timer["version"]

    def room():
        with api.stream(events_of(timer)) as stream:
            return stream.status == 200 and stream.next()
    assert poll(room)["type"] == "activated"


def test_of_many_subscribers_one_activates_and_all_see_it(api):
    with ThreadPoolExecutor(SUBSCRIBERS) as pool:
        for _ in range(5):
            timer = waiting(api, after="200ms")
            barrier = threading.Barrier(SUBSCRIBERS)

            def subscribe(_):
                barrier.wait(PATIENCE)
                with api.stream(events_of(timer)).expect(200) as stream:
                    return stream.until("completed")
            seen = list(pool.map(subscribe, range(SUBSCRIBERS)))
            history = api.history_of(timer["id"])
            assert types(history) == ["created", "activated", "fired", "completed"]
            # Each sees a whole tail of the one history; the subscriber that activated the timer sees all of it.
            for events in seen:
                assert events == history[-len(events):]
            assert any(types(events)[0] == "activated" for events in seen)


def test_put_makes_it_wait_again(api, name):
    for round in range(2):
        timer = api.put(f"/v1/timers/{name}", {"after": "1h", "start": "subscriber"}).json
        assert timer["state"] == "idle"
        with api.stream(f"/v1/timers/{name}/events").expect(200) as stream:
            assert stream.next()["type"] == "activated"
        assert api.timer(name)["state"] == "running"


def test_it_is_activated_once_and_not_from_its_end(api):
    timer = waiting(api, restartable=True)
    with api.stream(events_of(timer)).expect(200) as stream:
        stream.next()
    api.command(timer["id"], "cancel").expect(200)
    with api.stream(f"{events_of(timer)}?since=0&limit=3").expect(200) as stream:
        assert types(stream.rest()) == ["created", "activated", "cancelled"]
    assert api.timer(timer["id"])["state"] == "cancelled"


def test_it_can_be_activated_by_hand(api):
    timer = waiting(api)
    assert api.command(timer["id"], "activate").expect(200).json["state"] == "running"


def test_one_whose_until_passed_completes_under_its_subscriber(api):
    import timers
    lead = 50
    # A request that arrives later than that is refused.
    while (made := api.post("/v1/timers", {"start": "subscriber", "after": "1ms",
                                           "until": timers.shown(timers.now() + lead)})).status == 400:
        lead *= 2
    timer = made.expect(201).json
    poll(lambda: timers.now() > timers.instant(timer["until"]))
    with api.stream(events_of(timer)).expect(200) as stream:
        assert types(stream.until("completed")) == ["activated", "completed"]


def test_activation_is_durable_before_the_stream_begins(new_server):
    server = new_server()
    api = server.client
    timer = waiting(api)
    with api.stream(events_of(timer)).expect(200):
        server.kill9()
    assert server.start().client.timer(timer["id"])["state"] == "running"


def test_at_a_stop_streams_are_told_or_nothing_was_changed(new_server):
    server = new_server()
    api = server.client
    waiting_timers = [waiting(api) for _ in range(40)]
    outcomes = {}
    started = threading.Barrier(9)

    def subscribe(part):
        started.wait(PATIENCE)
        for timer in part:
            try:
                with api.stream(events_of(timer)) as stream:
                    outcomes[timer["id"]] = (stream.status, stream.until_cut() if stream.status == 200 else [])
            except (ConnectionError, OSError):
                outcomes[timer["id"]] = (None, [])

    with ThreadPoolExecutor(8) as pool:
        runs = [pool.submit(subscribe, waiting_timers[n::8]) for n in range(8)]
        started.wait(PATIENCE)
        server.asked.terminate()
        for each in runs:
            each.result(60)
    assert server.asked.wait() == 0
    api = server.restart().client
    for id, (status, events) in outcomes.items():
        state = api.timer(id)["state"]
        if status == 503:
            assert state == "idle", id
        if status == 200:
            assert state == "running" and types(events) == ["activated"], (id, events)
