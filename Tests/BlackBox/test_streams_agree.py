"""Many streams at once, with different filters, formats, beginnings and speeds: each shows exactly the events that match."""

import json
import random
import socket
import threading

import pytest
import sseclient

from stream import Stream

STREAMS = 60
CHANGES = 600
TIMERS = 12
LAST = "the-last"


class Reader(threading.Thread):
    """One stream, read to its end on a thread of its own."""

    def __init__(self, server, rng, number):
        super().__init__(daemon=True)
        self.server, self.number, self.failure, self.events = server, number, None, []
        self.timer = f"t{rng.randrange(TIMERS)}" if rng.random() < 0.4 else None
        self.types = rng.sample(["created", "suspended", "resumed", "fired", "updated"], 2) if rng.random() < 0.4 else None
        self.color = rng.choice(["red", "blue"]) if rng.random() < 0.3 else None
        self.limit = rng.randrange(1, 40) if rng.random() < 0.3 else None
        self.sse = rng.random() < 0.5
        self.slow = rng.random() < 0.3
        self.since = rng.choice(["0", None, "recent"])

    def target(self, recent):
        path = f"/v1/timers/{self.timer}/events?" if self.timer else "/v1/events?"
        if self.types:
            path += f"types={','.join(self.types)},deleted&"
        if self.color:
            path += f"label=color%3D{self.color}&"
        if self.limit:
            path += f"limit={self.limit}&"
        if self.since:
            path += f"since={recent if self.since == 'recent' else self.since}&"
        return path.rstrip("?&")

    def open(self, recent):
        sock = socket.socket()
        sock.settimeout(60)
        if self.slow:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        sock.connect(("127.0.0.1", self.server.port))
        headers = {"Accept": "text/event-stream"} if self.sse else {}
        self.stream = Stream(self.server.client.over(sock), "127.0.0.1", self.target(recent), headers).expect(200)
        self.begun = self.stream.headers["event-id"]

    def run(self):
        try:
            if self.sse:
                events = (json.loads(event.data) for event in sseclient.SSEClient(self.stream).events() if event.data)
            else:
                events = self.stream.events()
            for event in events:
                if event["timer"] == LAST and event["type"] == "deleted":
                    return
                self.events.append(event)
        except Exception as failure:  # raised by the test, in the main thread
            self.failure = failure

    def expected(self, history, recent):
        start = {"0": "", None: self.begun, "recent": recent}[self.since]
        shown = []
        for event in history:
            if event["id"] <= start or self.timer and event["timer"] != self.timer:
                continue
            if self.types and event["type"] not in [*self.types, "deleted"]:
                continue
            if self.color and event["labels"].get("color") != self.color:
                continue
            shown.append(event)
        return shown[:self.limit]


def change(api, rng):
    """One change of some timer; most are legal."""
    id = f"t{rng.randrange(TIMERS)}"
    kind = rng.random()
    if kind < 0.5:
        api.command(id, rng.choice(["suspend", "resume", "fire"]))
    elif kind < 0.7:
        api.request("PATCH", f"/v1/timers/{id}", {"payload": "x" * rng.randrange(4000)},
                    content_type="application/merge-patch+json").expect(200)
    elif kind < 0.9:
        ids = [f"t{rng.randrange(TIMERS)}" for _ in range(rng.randrange(1, 60))]
        lines = [{"command": "fire", "id": id} for id in ids]
        api.batch(lines, query="?results=brief").expect(200)
    else:
        api.create(after="1h", labels={"color": rng.choice(["red", "blue"])}, payload="y" * rng.randrange(20000))


@pytest.mark.alone
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.heavy)])
def test_every_stream_shows_what_it_asked_for_and_nothing_else(new_server, seed):
    rng = random.Random(seed)
    server = new_server("--heartbeat", "50ms")
    api = server.client
    for number in range(TIMERS):
        api.create(id=f"t{number}", every="1h", labels={"color": "red" if number % 2 else "blue"})
    for _ in range(50):
        change(api, rng)
    recent = api.get("/v1/timers?limit=1").headers["Event-Id"]
    readers = [Reader(server, rng, number) for number in range(STREAMS)]
    waiting = list(readers)
    for _ in range(CHANGES):
        change(api, rng)
        if waiting and rng.random() < 0.2:
            reader = waiting.pop()
            reader.open(recent)
            if not reader.slow:
                reader.start()
    for reader in waiting:
        reader.open(recent)
    for reader in readers:
        if reader.ident is None:
            reader.start()
    # Every open stream sees an end: a stream of one timer its deletion, the others the deletion of the last timer.
    for number in range(TIMERS):
        api.delete(f"/v1/timers/t{number}").expect(204)
    for color in ["red", "blue"]:
        api.put(f"/v1/timers/{LAST}", {"after": "1h", "labels": {"color": color}})
        api.delete(f"/v1/timers/{LAST}").expect(204)
    history = [event for event in api.history() if event["timer"] != LAST]
    for reader in readers:
        reader.join(60)
        assert not reader.is_alive() and reader.failure is None, (reader.target(recent), reader.failure)
        shown = [event for event in reader.events if event["timer"] != LAST]
        expected = reader.expected(history, recent)
        assert [event["id"] for event in shown] == [event["id"] for event in expected], reader.target(recent)
        assert shown == expected
        reader.stream.close()


@pytest.mark.heavy
def test_one_event_reaches_thousands_and_none_waits_for_the_next(new_server):
    """More events than a round of the server's loop has time for; nothing else happens that could wake it."""
    api = new_server().client
    streams = [api.stream("/v1/events") for _ in range(2000)]
    try:
        api.create(id="only")
        assert {stream.next()["timer"] for stream in streams} == {"only"}
    finally:
        for stream in streams:
            stream.close()


def test_a_long_history_is_the_same_from_memory_and_from_the_log(new_server):
    server = new_server()
    api = server.client
    for id in ["long", "other"]:
        api.create(id=id, every="1h")
    for count in [1, 3, 400, 1, 700, 2]:  # rows with many events, and rows with few
        api.batch([{"command": "fire", "id": id} for id in ["long", "other"] * count], query="?results=brief").expect(200)
    expected = [event for event in api.history() if event["timer"] == "long"]
    middle = expected[600]["id"]
    for _ in range(2):
        api = server.client
        assert api.history_of("long") == expected
        assert api.get(f"/v1/timers/long/events?follow=false&since={middle}").lines == expected[601:]
        with api.stream("/v1/timers/long/events?since=0") as stream:
            assert stream.take(len(expected)) == expected
            api.command("long", "suspend").expect(200)
            assert stream.next()["type"] == "suspended"
        api.command("long", "resume").expect(200)
        expected = [event for event in api.history() if event["timer"] == "long"]
        server.restart()


def test_an_id_used_again_shows_the_same_from_memory_and_from_the_log(new_server):
    server = new_server()
    api = server.client
    api.create(id="again", after="1h")
    first = api.history()[0]["id"]
    api.command("again", "fire").expect(200)
    api.delete("/v1/timers/again").expect(204)
    api.create(id="again", after="1h")
    for _ in range(2):
        api = server.client
        assert [event["type"] for event in api.history_of("again")] == ["created", "activated"]
        events = api.get(f"/v1/timers/again/events?follow=false&since={first}").lines
        assert [event["type"] for event in events] == [
            "activated", "fired", "completed", "deleted", "created", "activated"]
        assert api.get(f"/v1/timers/again/wait?since={first}&timeout=0s").expect(200).json["fire"] == 1
        server.restart()
