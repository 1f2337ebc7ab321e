"""Event streams as server-sent events, read by a parser and a client of other projects."""

import json

import ld_eventsource
import pytest
from ld_eventsource.config import ErrorStrategy
from sseclient import SSEClient

from timers import poll, timer_in, types

SSE = {"Accept": "text/event-stream"}


def sse(api, target, headers=None):
    return api.stream(target, headers={**SSE, **(headers or {})}).expect(200)


def test_events_carry_id_name_and_data(api):
    id = timer_in(api, "cancelled", labels={"a": "ü"}, payload="line\nbreak \u2028 é")["id"]
    with sse(api, f"/v1/timers/{id}/events?follow=false") as stream:
        assert stream.headers["content-type"].split(";")[0] == "text/event-stream"
        assert stream.headers["cache-control"] == "no-store"
        seen = list(SSEClient(stream).events())
        assert stream.ended_properly
    expected = api.history_of(id)
    assert [json.loads(event.data) for event in seen] == expected
    assert [event.event for event in seen] == types(expected) == ["created", "activated", "cancelled"]
    assert [event.id for event in seen] == [event["id"] for event in expected]
    assert expected[0]["payload"] == "line\nbreak \u2028 é"


def test_a_live_stream_and_its_resumption(api):
    id = api.create()["id"]
    with sse(api, f"/v1/timers/{id}/events") as stream:
        api.command(id, "suspend").expect(200)
        event = next(SSEClient(stream).events())
        assert event.event == "suspended"
    api.command(id, "resume").expect(200)
    with sse(api, f"/v1/timers/{id}/events", {"Last-Event-ID": event.id}) as stream:
        api.command(id, "fire").expect(200)
        events = SSEClient(stream).events()
        assert [next(events).event for _ in range(3)] == ["resumed", "fired", "completed"]


def test_accept_chooses_sse(api):
    id = api.create()["id"]
    with api.stream(f"/v1/timers/{id}/events?follow=false", headers={"Accept": "text/html, text/event-stream;q=0.5"}).expect(200) as stream:
        assert stream.headers["content-type"].split(";")[0] == "text/event-stream"


def test_filters_and_limit(api, name):
    id = api.create(labels={"sse": name})["id"]
    with sse(api, f"/v1/events?label=sse%3D{name}&types=suspended&limit=1") as stream:
        api.command(id, "suspend").expect(200)
        assert [event.event for event in SSEClient(stream).events()] == ["suspended"]
        assert stream.ended_properly


def test_a_heartbeat_moves_the_cursor_of_a_reader_that_nothing_matches(new_server):
    api = new_server("--heartbeat", "50ms").client
    with sse(api, "/v1/events?types=fired") as stream:
        start = stream.headers["event-id"]
        api.create()
        newest = api.get("/v1/timers").headers["Event-Id"]
        assert newest > start
        for line in stream.lines():
            assert not line.startswith((b"data:", b"event:"))
            if line.startswith(b"id:") and line[3:].strip().decode() >= newest:
                break
    with sse(api, "/v1/events?types=fired", {"Last-Event-ID": newest}) as stream:
        id = api.create(after="1ms")["id"]
        assert json.loads(next(SSEClient(stream).events()).data)["timer"] == id


def test_the_id_of_a_heartbeat_of_an_empty_log_is_one_to_resume_from(new_server):
    server = new_server("--heartbeat", "50ms")
    with server.client.stream("/v1/events?since=0", headers={"Accept": "text/event-stream"}).expect(200) as stream:
        id = next(line for line in stream.lines() if line.startswith(b"id: "))[4:].decode()
    created = server.client.create(after="1h")["id"]
    server.restart()
    assert [event["timer"] for event in server.client.history(f"&since={id}") if event["type"] == "created"] == [created]


def test_a_browsers_own_stream_is_let_in(server):
    same = {"Origin": server.url, "Host": f"127.0.0.1:{server.port}", "Sec-Fetch-Site": "same-origin"}
    reply = server.client.get("/v1/events?follow=false&limit=1", headers={**SSE, **same}).expect(200)
    assert reply.headers["Content-Type"].split(";")[0] == "text/event-stream"


@pytest.fixture
def follow():
    """A factory of clients that reconnect by themselves with the last id they saw; gives their actions as they happen."""
    clients = []

    def start(url):
        clients.append(ld_eventsource.SSEClient(url, initial_retry_delay=0.05, error_strategy=ErrorStrategy.always_continue()))
        return clients[-1].all
    yield start
    for client in clients:
        client.close()


def take(actions, count):
    """The next events, without faults and reconnections."""
    events = (action for action in actions if isinstance(action, ld_eventsource.actions.Event))
    return [next(events) for _ in range(count)]


def check(seen, expected):
    assert [json.loads(event.data) for event in seen] == expected
    assert [(event.event, event.last_event_id) for event in seen] == [(event["type"], event["id"]) for event in expected]


def test_a_client_sees_each_change_live(server, api, name, follow):
    actions = follow(f"{server.url}/v1/events?label=live%3D{name}")
    assert isinstance(next(actions), ld_eventsource.actions.Start)
    id = api.create(labels={"live": name})["id"]
    seen = take(actions, 2)
    for command in ("suspend", "resume", "cancel"):
        api.command(id, command).expect(200)
        seen += take(actions, 1)
    api.create(after="1ms", labels={"live": name})
    seen += take(actions, 4)
    check(seen, api.history(f"&label=live%3D{name}"))
    assert [event.event for event in seen] == ["created", "activated", "suspended", "resumed", "cancelled",
                                               "created", "activated", "fired", "completed"]


@pytest.mark.parametrize("end", ["stop", "kill9"])
def test_a_client_misses_and_repeats_nothing_over_a_restart(new_server, follow, end):
    server = new_server()
    api = server.client
    actions = follow(f"{server.url}/v1/events")
    assert isinstance(next(actions), ld_eventsource.actions.Start)
    id = api.create()["id"]
    api.create(after="300ms")
    seen = take(actions, 4)
    getattr(server, end)()
    server.restart(same_port=True)
    api.command(id, "suspend").expect(200)
    poll(lambda: api.get("/v1/timers?state=completed").json["timers"])
    seen += take(actions, 3)
    api.command(id, "resume").expect(200)
    seen += take(actions, 1)
    check(seen, api.history())
    assert {event.event for event in seen} == {"created", "activated", "fired", "completed", "suspended", "resumed"}
