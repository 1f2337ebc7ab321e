"""SIGSTOP under load: nothing is lost, each gap follows its policy, and no watchdog alarms while its kick waits in a socket.

STOPPED sets another number of seconds, as 30.
"""

import json
import os

import pytest

from outages import stand_still
from timers import instant, poll

pytestmark = pytest.mark.alone

STOPPED = float(os.environ.get("STOPPED", "3"))  # a gap counts as misfires from 1 s on
TIMERS = 60
PERIOD = 200  # milliseconds
POLICIES = ("once", "all", "skip")
DOGS = 20


def kick(sock, dog):
    sock.sendall(f"POST /v1/timers/{dog}/kick HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())


def answer(sock):
    """The status and the body of an answer that ends with its connection."""
    received = b""
    while piece := sock.recv(65536):
        received += piece
    head, body = received.split(b"\r\n\r\n", 1)
    return int(head.split()[1]), json.loads(body)


def check_grid(policy, fires):
    """Every due instant has its fire, or is counted by the fire that stands for it, or by none if the policy drops it."""
    assert [event["fire"] for event in fires] == list(range(1, len(fires) + 1))
    due = [instant(event["scheduledAt"]) for event in fires]
    steps = [(later - earlier) // PERIOD - 1 for earlier, later in zip(due, due[1:])]
    assert all((later - earlier) % PERIOD == 0 < later - earlier for earlier, later in zip(due, due[1:])), due
    for event in fires:
        assert event["latenessUs"] >= 0
    told = [event["missed"] for event in fires[1:]]
    gap = int(STOPPED * 1000) // PERIOD
    if policy == "once":
        assert steps == told and max(told) >= gap - 2
    elif policy == "all":
        assert set(steps) == {0} and [event["reason"] for event in fires].count("misfire") >= gap - 2
    else:
        assert set(told) == {0} and max(steps) >= gap - 2


def test_a_stand_still_loses_nothing(new_server, receiver):
    server = new_server()
    api = server.client
    lines = [{"id": f"{policy}-{number}", "every": f"{PERIOD}ms", "misfire": policy} for policy in POLICIES for number in range(TIMERS)]
    api.batch(lines).expect(200)
    for number in range(10):
        api.create(id=f"hooked-{number}", after=f"{1000 + number}ms", webhook=receiver.url(f"/{number}"))
    # A period shorter than the gap, on the clock that stands still and on one that does not.
    for number in range(DOGS):
        api.create(id=f"dog-{number}", watchdog=f"{max(1.0, STOPPED / 2)}s", clock=("suspending", "continuous")[number % 2])
    sockets = [api.socket(timeout=30) for _ in range(DOGS)]
    with api.stream("/v1/events?since=0&types=fired", timeout=60) as stream:
        for number, sock in enumerate(sockets):
            api.command(f"dog-{number}", "kick").expect(200)
        poll(lambda: api.timer(f"skip-{TIMERS - 1}")["fireCount"] >= 2)
        stand_still(server, STOPPED, lambda: [kick(sock, f"dog-{number}") for number, sock in enumerate(sockets)])
        for number, sock in enumerate(sockets):
            with sock:
                status, dog = answer(sock)
            assert (status, dog["health"], dog["kickCount"], dog["fireCount"]) == (200, "ok", 2, 0), dog
        poll(lambda: api.get("/healthz").status == 200)
        mark = api.create(id="mark", after="1s")
        seen = []
        while not seen or seen[-1]["timer"] != "mark":
            seen.append(stream.next())
    assert seen == [event for event in api.history("&types=fired") if event["id"] <= seen[-1]["id"]]
    for policy in POLICIES:
        for number in range(TIMERS):
            check_grid(policy, [event for event in seen if event["timer"] == f"{policy}-{number}"])
    assert api.timer(mark["id"])["fireCount"] == 1
    receiver.wait_for(10)
    assert sorted(request.path for request in receiver.on()) == sorted(f"/{number}" for number in range(10))


LONGER = [(1.2, "1s", "suspending"), (1.2, "1s", "continuous"), (0.6, "500ms", "suspending"), (0.3, "250ms", "continuous")]
CROWD = 200  # so many that reading them takes the server longer than its alarm


@pytest.mark.parametrize("stopped, period, clock", [
    (0.3, "250ms", "suspending"), (0.6, "500ms", "continuous"),
    *(pytest.param(*case, marks=pytest.mark.heavy) for case in LONGER),
])
def test_kicks_that_wait_in_sockets_come_before_their_watchdogs_are_judged(new_server, stopped, period, clock):
    """However short the stand-still: kicks over connections that were open before, and over some that wait to be accepted."""
    server = new_server()
    api = server.client
    for number in range(CROWD):
        api.create(id=f"dog-{number}", watchdog=period, clock=clock, start="manual")
    kept = [api.socket(timeout=30) for _ in range(CROWD // 2)]
    # A request each, so that the server has accepted them.
    for sock in kept:
        sock.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert sock.recv(65536).startswith(b"HTTP/1.1 200")
    sockets = []

    def kick_all():
        sockets.extend(kept + [api.socket(timeout=30) for _ in range(CROWD - len(kept))])
        for number, sock in enumerate(sockets):
            kick(sock, f"dog-{number}")

    api.batch([{"command": "activate", "id": f"dog-{number}"} for number in range(CROWD)]).expect(200)
    stand_still(server, stopped, kick_all)
    for number, sock in enumerate(sockets):
        with sock:
            status, dog = answer(sock)
        assert (status, dog["health"], dog["kickCount"], dog["fireCount"]) == (200, "ok", 1, 0), dog
    # A watchdog that gets no kick then alarms.
    poll(lambda: api.timer("dog-0")["health"] == "stalled")
