"""Clients send commands for one timer at the same time: every command is one atomic step in one order."""

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from patience import PATIENCE
from timers import types

CLIENTS = 12
ROUNDS = 10


@pytest.fixture(scope="module")
def pool():
    with ThreadPoolExecutor(CLIENTS) as pool:
        yield pool


def race(pool, *calls):
    """Runs the calls at once, each on a connection of its own; returns their replies in order."""
    barrier = threading.Barrier(len(calls))

    def run(call):
        barrier.wait(PATIENCE)
        return call()
    return list(pool.map(run, calls))


def tally(replies):
    return Counter(reply.status for reply in replies)


def test_of_many_that_suspend_one_wins(api, pool):
    for _ in range(ROUNDS):
        id = api.create()["id"]
        replies = race(pool, *[lambda: api.command(id, "suspend")] * CLIENTS)
        assert tally(replies) == {200: 1, 409: CLIENTS - 1}
        for reply in replies:
            if reply.status == 409:
                problem = reply.problem(409, "illegal-transition")
                assert (problem["state"], set(problem["allowed"])) == ("suspended", {"resume", "cancel", "reschedule"})
        assert types(api.history_of(id)) == ["created", "activated", "suspended"]


@pytest.mark.parametrize("command, winner, loser", [("cancel", 200, 409), ("fire", 200, 409)])
def test_of_many_that_end_a_one_shot_one_wins(api, pool, command, winner, loser):
    for _ in range(ROUNDS):
        id = api.create()["id"]
        replies = race(pool, *[lambda: api.command(id, command)] * CLIENTS)
        assert tally(replies) == {winner: 1, loser: CLIENTS - 1}


def test_of_many_that_delete_one_wins(api, pool, name):
    for _ in range(ROUNDS):
        id = api.create(labels={"race": name})["id"]
        assert tally(race(pool, *[lambda: api.delete(f"/v1/timers/{id}")] * CLIENTS)) == {204: 1, 404: CLIENTS - 1}
    assert types(api.history(f"&label=race%3D{name}")).count("deleted") == ROUNDS


def test_of_many_that_create_one_wins(api, pool, name):
    for n in range(ROUNDS):
        body = {"id": f"{name}-{n}", "after": "1h"}
        assert tally(race(pool, *[lambda: api.post("/v1/timers", body)] * CLIENTS)) == {201: 1, 409: CLIENTS - 1}
        put = [lambda: api.put(f"/v1/timers/{name}-put-{n}", {"after": "1h"}, headers={"If-None-Match": "*"})] * CLIENTS
        assert tally(race(pool, *put)) == {201: 1, 412: CLIENTS - 1}


def test_of_many_that_saw_the_same_version_one_wins(api, pool):
    for _ in range(ROUNDS):
        timer = api.create()
        match = {"If-Match": f'"v{timer["version"]}"'}
        calls = [lambda n=n: api.patch(f"/v1/timers/{timer['id']}", {"labels": {"by": str(n)}}, headers=match) for n in range(CLIENTS)]
        replies = race(pool, *calls)
        assert tally(replies) == {200: 1, 412: CLIENTS - 1}
        winner = next(n for n, reply in enumerate(replies) if reply.status == 200)
        assert api.timer(timer["id"])["labels"] == {"by": str(winner)}


def test_no_update_is_lost(api, pool):
    id = api.create()["id"]
    keys = [f"k{n}" for n in range(CLIENTS)]
    replies = race(pool, *[lambda key=key: api.patch(f"/v1/timers/{id}", {"labels": {key: "x"}}) for key in keys])
    assert tally(replies) == {200: CLIENTS}
    assert api.timer(id)["labels"] == dict.fromkeys(keys, "x")
    assert len({reply.json["version"] for reply in replies}) == CLIENTS


def test_mixed_commands_are_some_order_of_steps(api, pool):
    """suspend, resume and cancel race; the events tell the order, and every answer fits it."""
    after = {"suspend": "suspended", "resume": "resumed", "cancel": "cancelled"}
    for _ in range(ROUNDS):
        id = api.create()["id"]
        commands = ["suspend", "resume", "cancel"] * (CLIENTS // 3)
        replies = race(pool, *[lambda command=command: api.command(id, command) for command in commands])
        won = Counter(after[command] for command, reply in zip(commands, replies) if reply.status == 200)
        events = types(api.history_of(id))[2:]
        assert Counter(events) == won and won["cancelled"] == 1 and events[-1] == "cancelled"
        assert all(event == ("suspended", "resumed")[n % 2] for n, event in enumerate(events[:-1]))
        assert {reply.status for reply in replies} <= {200, 409}


@pytest.mark.thorough
def test_no_fire_comes_after_an_answered_stop(api, pool):
    for _ in range(3):
        ids = [api.create(every="1ms")["id"] for _ in range(CLIENTS)]
        replies = race(pool, *[lambda id=id, n=n: api.command(id, ("cancel", "suspend")[n % 2]) for n, id in enumerate(ids)])
        assert tally(replies) == {200: CLIENTS}
        before = [api.history_of(id) for id in ids]
        assert all(types(events)[-1] in ("cancelled", "suspended") for events in before)
        api.first_fire(api.create(after="20ms")["id"])
        assert [api.history_of(id) for id in ids] == before


def test_readers_see_each_timer_whole(api, pool):
    """A reader beside a writer never sees a state that does not fit its version and commands."""
    id = api.create()["id"]
    seen = {}

    def write():
        for _ in range(40):
            for command in ("suspend", "resume"):
                api.command(id, command).expect(200)

    def read():
        for _ in range(60):
            timer = api.timer(id)
            shape = (timer["state"], tuple(timer["allowed"]), timer["nextFireAt"] is None, timer["updatedAt"])
            assert seen.setdefault(timer["version"], shape) == shape
            assert ("suspend" in timer["allowed"]) == (timer["state"] == "running")

    race(pool, write, read, read, read)
