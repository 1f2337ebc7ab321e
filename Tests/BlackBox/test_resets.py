"""Clients that leave at every possible byte: an incomplete request has no effect, and no resource is left behind."""

import json
import os
import resource
import socket
import struct
from pathlib import Path

import pytest

from test_http import head, one_answer
from test_operations import samples, value
from timers import poll

pytestmark = pytest.mark.alone

CONNECTIONS = int(os.environ.get("CONNECTIONS", 100_000))
RESET = struct.pack("ii", 1, 0)  # SO_LINGER with time 0: close() sends RST


def leave(sock, how):
    """Closes with FIN or RST, at once."""
    if how == "reset":
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    sock.close()


def read_until(sock, is_enough, most=65536):
    """Reads until is_enough(what was read), but `most` bytes at the most."""
    received = b""
    while not is_enough(received):
        piece = sock.recv(most - len(received))
        assert piece, "the server closed"
        received += piece
    return received


def create(id):
    body = json.dumps({"id": id, "after": "1h"}).encode()
    return head("POST", "/v1/timers", "Content-Type: application/json", f"Content-Length: {len(body)}") + body


def open_files(server):
    return len(os.listdir(f"/proc/{server.pid}/fd"))


def resident(server):
    """Bytes of memory that the server has in use."""
    return int(Path(f"/proc/{server.pid}/statm").read_text().split()[1]) * resource.getpagesize()


@pytest.fixture
def watched(new_server):
    """A server that must end with as many descriptors as it began with, and as many timers as the test says it made."""
    server = new_server()
    server.client.create(id="calm")
    before = open_files(server)
    yield server
    poll(lambda: open_files(server) <= before)
    assert server.client.timer("calm")["state"] == "running"


@pytest.mark.parametrize("how", ["reset", pytest.param("end", marks=pytest.mark.heavy)])
def test_a_request_cut_at_any_byte_has_no_effect(watched, how):
    length = len(create("cut-000"))
    for cut in range(length):
        sock = watched.client.socket()
        sock.sendall(create(f"cut-{cut:03}")[:cut])
        leave(sock, how)
    watched.client.create(id="whole")
    assert {timer["id"] for timer in watched.client.get("/v1/timers?limit=1000").expect(200).json["timers"]} == {"calm", "whole"}


@pytest.mark.heavy
@pytest.mark.parametrize("how", ["end", "reset"])
def test_the_request_before_one_that_is_cut_is_answered(watched, how):
    second = create("cut-000")
    for cut in range(0, len(second), 3):
        with watched.client.socket() as sock:
            sock.sendall(create(f"one-{cut:03}") + create(f"cut-{cut:03}")[:cut])
            assert one_answer(sock)[0] == 201
            leave(sock, how)
    ids = {timer["id"] for timer in watched.client.get("/v1/timers?limit=1000").expect(200).json["timers"]}
    assert ids == {"calm"} | {f"one-{cut:03}" for cut in range(0, len(second), 3)}


@pytest.mark.heavy
def test_a_client_that_leaves_at_any_byte_of_its_answer_has_its_timer(watched):
    with watched.client.socket() as sock:
        sock.sendall(create("ans-000"))
        length = len(sock.recv(65536))
    cuts = range(1, length, 5)
    for cut in cuts:
        sock = watched.client.socket()
        sock.sendall(create(f"ans-{cut:03}"))
        read_until(sock, lambda bytes: len(bytes) >= cut, most=cut)
        leave(sock, "reset")
    ids = {timer["id"] for timer in watched.client.get("/v1/timers?limit=1000").expect(200).json["timers"]}
    assert ids == {"calm", "ans-000"} | {f"ans-{cut:03}" for cut in cuts}


def test_a_client_that_leaves_after_its_request_has_its_timer_or_not_but_whole(watched):
    for number in range(100):
        sock = watched.client.socket()
        sock.sendall(create(f"fin-{number:03}"))
        leave(sock, "end")
        sock = watched.client.socket()
        sock.sendall(create(f"rst-{number:03}"))
        leave(sock, "reset")
    # A client that closes with FIN has sent the whole request, so it is carried out.
    poll(lambda: all(watched.client.get(f"/v1/timers/fin-{number:03}").status == 200 for number in (0, 50, 99)))
    timers = watched.client.get("/v1/timers?limit=1000").expect(200).json["timers"]
    assert {f"fin-{number:03}" for number in range(100)} <= {timer["id"] for timer in timers}
    assert {timer["state"] for timer in timers} == {"running"}


@pytest.mark.heavy
@pytest.mark.parametrize("how", ["end", "reset"])
@pytest.mark.parametrize("accept", ["application/x-ndjson", "text/event-stream"])
def test_a_follower_that_leaves_at_any_byte_of_its_stream_is_forgotten(watched, how, accept):
    request = head("GET", "/v1/events?since=0", f"Accept: {accept}")
    with watched.client.stream("/v1/events?since=0&types=created,cancelled") as honest:
        # Both of the timer's events name it: a follower is sent at least so many bytes at once.
        with watched.client.socket() as sock:
            sock.sendall(request)
            shown = read_until(sock, lambda bytes: bytes.count(b'"timer":"calm"') == 2)
        for cut in range(0, len(shown), 7):
            sock = watched.client.socket()
            sock.sendall(request)
            read_until(sock, lambda bytes: len(bytes) >= cut, most=cut)
            leave(sock, how)
        watched.client.create(id="last")
        watched.client.command("last", "cancel").expect(200)
        assert [honest.next()["timer"] for _ in range(3)] == ["calm", "last", "last"]
        poll(lambda: value(samples(watched.client), "timerd_streams") == 1)


def hammer(server, count):
    """Opens and closes connections, every second one with a request whose answer is not read."""
    for number in range(count):
        sock = server.client.socket()
        if number % 2:
            sock.send(head("GET", "/healthz"))
        leave(sock, "reset")  # which leaves no TIME_WAIT behind: they would exhaust the ports
        if number % 5000 == 0:
            server.client.get("/healthz").expect(200)


@pytest.mark.heavy
def test_many_connections_opened_and_closed_leave_nothing(watched):
    hammer(watched, 2000)
    before = resident(watched)
    hammer(watched, CONNECTIONS)
    # What the allocator keeps for later connections does not grow with their number: a connection that leaked is a thousand bytes.
    assert resident(watched) - before < 1000 * CONNECTIONS
