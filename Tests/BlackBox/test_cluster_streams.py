"""Streams and long polls that clients hold at one server while others own the timers, die, and take over."""

import json
import re
import resource
import signal
import socket
import threading

import pytest

from client import Client
from test_cluster_standby import TAKE_OVER, metric
from test_cluster_handover import followed
from test_forwarding import forwarder, owner_of  # noqa: F401 (a fixture)
from timers import poll

pytestmark = pytest.mark.xdist_group("postgres")

LINES, SSE = {"Accept": "application/x-ndjson"}, {"Accept": "text/event-stream"}
PATIENT = 4 * TAKE_OVER


class Poller:
    """A client that waits for `count` fires of a timer one after the other, each long poll behind the last, from an event on."""

    def __init__(self, server, id, count, begin):
        self.api, self.id, self.count, self.begin = Client(server.port), id, count, begin
        self.fires, self.statuses = [], []
        self.thread = threading.Thread(target=self.wait)

    def wait(self):
        since = self.begin
        while len(self.fires) < self.count:
            reply = self.api.get(f"/v1/timers/{self.id}/wait?timeout=10m&since={since}")
            self.statuses.append(reply.status)
            if reply.status != 200:
                return
            self.fires.append(reply.json["fire"])
            since = reply.headers["Event-Id"]


def insisted(request):
    """The answer of a server whose owner was killed before: no owner has carried out what is sent again."""
    return poll(lambda: reply if (reply := request()).status != 503 else None, TAKE_OVER)


def history(api, query, headers):
    """The text of the events that are kept."""
    reply = api.get(f"/v1/events?follow=false&{query}", headers=headers).expect(200)
    return reply.body.decode()


def read(stream, end):
    """The text of a stream up to the block or line that has `end`, without heartbeats of NDJSON."""
    text = ""
    for chunk in stream:
        text += chunk.decode()
        if end in text and text.endswith("\n"):
            return text
    raise AssertionError(f"the stream ended: {text[-500:]}")


@pytest.mark.parametrize("deaths", [2, pytest.param(20, marks=pytest.mark.heavy)])
@pytest.mark.timeout(900)
def test_streams_and_waits_outlive_their_owners(forwarder, deaths):  # noqa: F811
    """Killed with kill -9 is always another server than the one that holds the streams, which owns the timers now and then."""
    servers = [forwarder("--heartbeat", "1s") for _ in range(3)]
    held, api = servers[1], servers[1].client
    api.put("/v1/timers/beat", {"every": "1h"}).expect(201)
    begin = api.get("/v1/events?follow=false").expect(200).headers["event-id"]
    poller = Poller(held, "beat", deaths, begin)
    with api.stream("/v1/events", LINES, PATIENT) as lines, api.stream("/v1/events", SSE, PATIENT) as blocks, \
            api.stream("/v1/timers/beat/events?types=fired", SSE, PATIENT) as one, \
            api.stream("/v1/events?types=deleted", LINES, PATIENT) as rare, \
            api.stream(f"/v1/events?types=fired&limit={deaths}", LINES, PATIENT) as limited:
        poller.thread.start()
        for n in range(deaths):
            owner = poll(lambda: next((server for server in servers if owner_of(held) == server.url), None), TAKE_OVER)
            if owner is held:
                followed(*servers)
                owner = servers[0]
                api.post(f"/v1/cluster/promote?url={owner.url}").expect(200)
            api.put(f"/v1/timers/t{n}", {"after": "1h"}).expect(201)
            owner.kill9()
            insisted(lambda: api.put(f"/v1/timers/u{n}", {"after": "1h"})).expect(201)
            insisted(lambda: api.post("/v1/timers/beat/fire")).expect(200)
            owner.start()
            poll(lambda: owner.client.get("/readyz").status == 200, TAKE_OVER)
        api.delete("/v1/timers/t0").expect(204)
        poller.thread.join(PATIENT)
        assert limited.rest() and limited.ended_properly
        texts = [read(stream, '"deleted"') for stream in (lines, blocks, rare)]
        told = read(one, f'"fire":{deaths}')
    since = f"since={begin}"
    assert [line for line in texts[0].split("\n") if line] == history(api, since, LINES).splitlines()
    # Heartbeats name ids alone.
    assert "".join(block + "\n\n" for block in texts[1].split("\n\n") if "data:" in block) == history(api, since, SSE)
    assert [json.loads(line)["timer"] for line in texts[2].splitlines() if line] == ["t0"]
    assert [block for block in told.split("\n\n") if "data:" in block] == history(
        api, f"{since}&types=fired&timer=beat", SSE).split("\n\n")[:-1]
    assert (poller.fires, set(poller.statuses)) == (list(range(1, deaths + 1)), {200})


@pytest.mark.heavy
@pytest.mark.not_by_tls("its clients are bare sockets")
def test_ten_thousand_streams_outlive_their_owner(forwarder):  # noqa: F811
    """At a server that takes changes from other clients meanwhile."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    owner, entry = forwarder(), forwarder()
    clients = []
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 12_000), hard))
        for _ in range(10_000):
            clients.append(client := socket.create_connection(("127.0.0.1", entry.port), PATIENT))
            client.settimeout(PATIENT)
            client.sendall(b"GET /v1/events HTTP/1.1\r\nHost: a\r\n\r\n")
        poll(lambda: metric(owner.client, "timerd_streams") == 10_000)
        entry.client.put("/v1/timers/one", {"after": "1h"}).expect(201)
        owner.kill9()
        insisted(lambda: entry.client.put("/v1/timers/two", {"after": "1h"})).expect(201)
        texts = set()
        for client in clients:
            text = b""
            while b'"two"' not in text or not text.endswith(b"}\n\r\n") or text.count(b"activated") < 2:
                text += client.recv(65536) or pytest.fail("a stream was closed")
            texts.add(tuple(re.findall(rb'"id":"(\d+)","type":"(\w+)","timer":"(\w+)"', text)))
        assert [[(type, id) for _, type, id in events] for events in texts] == [
            [(b"created", b"one"), (b"activated", b"one"), (b"created", b"two"), (b"activated", b"two")]]
    finally:
        for client in clients:
            client.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_hand_over_cuts_no_stream_of_any_server(forwarder):  # noqa: F811
    servers = first, second, third = forwarder(), forwarder(), forwarder()
    first.client.put("/v1/timers/t", {"after": "1h"}).expect(201)
    followed(*servers)
    streams = [server.client.stream("/v1/events?since=0", LINES) for server in servers]
    waits = [server.client.stream("/v1/timers/t/wait?timeout=10m", wait_for_head=False) for server in servers]
    poll(lambda: metric(first.client, "timerd_streams") == 6)
    first.client.post(f"/v1/cluster/promote?url={second.url}").expect(200)
    third.client.post("/v1/timers/t/fire").expect(200)
    for stream in streams:
        with stream:
            assert [event["type"] for event in stream.until("fired")] == ["created", "activated", "fired"]
    for wait in waits:
        with wait:
            assert wait.read_head() == 200


def test_a_stop_of_an_owner_without_a_successor_ends_no_stream_of_another_server(forwarder):  # noqa: F811
    owner, entry = forwarder(), forwarder("--standby", "cold")
    owner.client.put("/v1/timers/t", {"after": "1h"}).expect(201)
    with entry.client.stream("/v1/events?since=0", LINES) as stream, \
            entry.client.stream("/v1/timers/t/wait?timeout=10m", wait_for_head=False) as wait:
        poll(lambda: metric(owner.client, "timerd_streams") == 2)
        owner.stop()
        insisted(lambda: entry.client.post("/v1/timers/t/fire")).expect(200)
        assert [event["type"] for event in stream.until("fired")] == ["created", "activated", "fired"]
        assert wait.read_head() == 200


def test_a_stream_goes_on_where_its_owner_stood_still_until_another_took_over(forwarder):  # noqa: F811
    owner, entry = forwarder(), forwarder("--standby", "cold")
    owner.client.put("/v1/timers/t", {"after": "1h"}).expect(201)
    with entry.client.stream("/v1/events?since=0", LINES, PATIENT) as stream, \
            owner.client.stream("/v1/events?since=0", LINES, PATIENT) as stopped:
        assert [event["type"] for event in stream.take(2)] == ["created", "activated"]
        owner.process.send_signal(signal.SIGSTOP)
        try:
            poll(lambda: owner_of(entry) == entry.url, TAKE_OVER)
            insisted(lambda: entry.client.post("/v1/timers/t/suspend")).expect(200)
            assert stream.next()["type"] == "suspended"
        finally:
            owner.process.send_signal(signal.SIGCONT)
        assert [event["type"] for event in stopped.take(3)] == ["created", "activated", "suspended"]
