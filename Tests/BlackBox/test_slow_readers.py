"""Slow, stalled or vanished readers: their cost is bounded, others are not delayed, and a returning reader loses nothing."""

import ctypes
import re
import socket
import struct

import pytest

from load import GONE_AT_ONCE, write_events
from stream import Stream
from timers import poll

pytestmark = pytest.mark.alone

# struct sock_filter with the one instruction "accept 0 bytes": the kernel drops every packet for the socket.
SO_ATTACH_FILTER = 26
DROP_ALL = struct.pack("HBBI", 0x06, 0, 0, 0)
RECEIVE_BUFFER = 4096


def small_socket(server):
    """A connection whose kernel takes little ahead of its reader."""
    sock = socket.socket()
    sock.settimeout(30)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
    sock.connect(("127.0.0.1", server.port))
    return server.client.over(sock)


def stream(server, target, headers=None, sock=None):
    return Stream(sock or small_socket(server), "127.0.0.1", target, headers or {}).expect(200)


def vanish(sock):
    """From now on nothing that is sent to the socket arrives, as when its machine has lost the network."""
    program = ctypes.create_string_buffer(DROP_ALL)
    sock.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("HL", 1, ctypes.addressof(program)))


def resident(server):
    """Bytes of memory that the server occupies."""
    with open(f"/proc/{server.pid}/status") as status:
        return int(re.search(r"VmRSS:\s+(\d+) kB", status.read())[1]) * 1024


def streams(api):
    return api.get("/v1/stats").json["streams"]


@pytest.mark.heavy
@pytest.mark.parametrize("headers", [{}, {"Accept": "text/event-stream"}])
def test_a_stalled_reader_falls_back_to_the_log_and_comes_live_again(new_server, headers):
    """More than the server keeps in memory passes while it does not read."""
    server = new_server()
    api = server.client
    with stream(server, "/v1/events", headers) as stalled, api.stream("/v1/events?types=deleted") as other:
        write_events(api, 24)
        api.create(id="live")
        api.delete("/v1/timers/live").expect(204)
        assert other.next()["timer"] == "live"
        assert streams(api) == 2
        expected = [event["id"] for event in api.history()]
        seen = []
        for line in stalled.lines():
            if headers and line.startswith(b"id: "):
                seen.append(line[4:].decode())
            elif not headers and line:
                seen.append(re.match(rb'\{"id":"(\d+)"', line)[1].decode())
            if len(seen) >= len(expected):
                break
        assert seen == expected
        api.create(id="again")
        assert any(b'"timer":"again"' in line for line in stalled.lines())


def settled_memory(server):
    """Bytes of memory once ten samples in a row show no growth."""
    seen = []

    def rests():
        seen.append(resident(server))
        return len(seen) > 10 and seen[-1] <= seen[-11]
    poll(rests, timeout=30, pause=0.05)
    return seen[-1]


@pytest.mark.heavy
def test_stalled_readers_cost_little_and_hold_up_nobody(new_server):
    server = new_server("--heartbeat", "100ms")
    api = server.client
    write_events(api, 20)  # more than the server keeps of the log in memory
    before = settled_memory(server)
    readers = [stream(server, "/v1/events?since=0") for _ in range(400)]
    try:
        assert settled_memory(server) - before < 1 << 30  # all that they asked for would be 8 GB
        with api.stream("/v1/events?types=deleted") as other:
            api.create(id="seen")
            api.delete("/v1/timers/seen").expect(204)
            assert other.next()["timer"] == "seen"
        poll(lambda: streams(api) == 400)
    finally:
        for reader in readers:
            reader.close()
    poll(lambda: streams(api) == 0, timeout=30)


@pytest.mark.heavy
def test_a_reader_whose_place_is_no_longer_kept_is_told_where_it_was(new_server):
    server = new_server("--retain-events", "100ms,64KiB")
    api = server.client
    with stream(server, "/v1/events") as stalled:
        write_events(api, 2, **GONE_AT_ONCE)
        mark = api.get("/v1/timers?limit=1").headers["Event-Id"]  # the stream surely has not come so far
        write_events(api, 20, **GONE_AT_ONCE)  # rows in memory are behind the mark

        def expired():
            write_events(api, 1, **GONE_AT_ONCE)
            kept = api.history("&limit=1")
            return kept and kept[0]["id"] > mark
        poll(expired, timeout=30)
        events = stalled.rest()
        assert events[-1] == {"type": "gap", "since": events[-2]["id"]}
        ids = [event["id"] for event in events[:-1]]
        assert ids == sorted(set(ids))


def test_a_client_that_vanished_is_noticed_and_one_that_stalls_is_not(new_server):
    server = new_server("--heartbeat", "300ms")
    api = server.client
    with small_socket(server) as gone, small_socket(server) as quiet:
        stream(server, "/v1/events?types=fired", sock=gone)
        stream(server, "/v1/events", sock=quiet)
        write_events(api, 4)  # more than the buffers of `quiet` take; it reads none of it
        assert streams(api) == 2
        vanish(gone)
        poll(lambda: streams(api) == 1, timeout=30)
        write_events(api, 1)
        assert streams(api) == 1


@pytest.mark.heavy
def test_a_client_that_vanished_while_it_stalled_is_noticed_too(new_server):
    server = new_server("--heartbeat", "300ms")
    api = server.client
    with small_socket(server) as gone:
        stream(server, "/v1/events", sock=gone)
        write_events(api, 4)
        vanish(gone)
        poll(lambda: streams(api) == 0, timeout=30)


@pytest.mark.heavy
def test_a_poll_whose_client_vanished_is_closed_by_the_kernel(new_server):
    server = new_server("--heartbeat", "1s")
    api = server.client
    api.create(id="slow")
    with small_socket(server) as gone:
        gone.sendall(b"GET /v1/timers/slow/wait?timeout=10m HTTP/1.1\r\nHost: localhost\r\n\r\n")
        poll(lambda: streams(api) == 1, timeout=30)
        vanish(gone)
        poll(lambda: streams(api) == 0, timeout=30)


@pytest.mark.thorough
def test_a_history_that_is_being_read_is_told_to_its_end_before_the_server_stops(new_server):
    server = new_server()
    api = server.client
    write_events(api, 8)
    expected = [event["id"] for event in api.history()]
    with stream(server, "/v1/events?follow=false") as reader, stream(server, "/v1/events") as follower:
        first = reader.next()["id"]
        server.terminate()
        assert follower.rest() == []
        assert [first] + [event["id"] for event in reader.rest()] == expected
    assert server.wait() == 0


def test_a_history_that_nobody_reads_on_is_cut_at_the_drains_end(new_server):
    server = new_server("--drain", "1s")
    api = server.client
    write_events(api, 8)
    with stream(server, "/v1/events?follow=false") as reader:
        reader.next()
        server.terminate()
        assert server.wait() == 0
        reader.until_cut()
        assert not reader.ended_properly
