"""kill -9 again and again while webhooks are delivered to a receiver that fails a third of the time.

Every fire arrives at least once, in its timer's order, under one id and with one body. A delivery that was answered 2xx
arrives again only because of a crash: it was its timer's last one before, and its outcome was not on disk yet.

DELIVERIES makes the test longer: DELIVERIES=20000 pytest test_webhook_crash.py
"""

import os
import random
import threading
from itertools import groupby

import pytest

from receiver import Receiver
from webhooks import STUBBORN, fire, fired, hooked

DELIVERIES = int(os.environ.get("DELIVERIES", "2000"))
TIMERS = 40
FIRES_A_ROUND = 5
ROUNDS = -(-DELIVERIES // (TIMERS * FIRES_A_ROUND))
RETRY = STUBBORN | {"initial": "5ms", "max": "20ms"}


class Flaky:
    """Answers a third of the requests with 500, and records in which life of the server each came."""

    def __init__(self):
        self.life, self.lives, self._taken = 0, {}, set()
        self._dice, self._changed = random.Random(3), threading.Condition()

    def __call__(self, request):
        with self._changed:
            self.lives[request.order] = self.life
            if self._dice.random() < 1 / 3:
                return 500
            self._taken.add(request.id)
            self._changed.notify_all()
            return 200

    def wait_for_taken(self, count, timeout):
        """Returns once that many deliveries were answered 200."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self._taken) >= count, timeout), f"{len(self._taken)} of {count} came"


def fire_all(api, ids, dice):
    """Fires each timer FIRES_A_ROUND times, in a random order."""
    lines = [{"command": "fire", "id": id} for id in ids] * FIRES_A_ROUND
    dice.shuffle(lines)
    assert {line["status"] for line in api.batch(lines, "?results=brief").expect(200).lines} == {200}


def check(requests, lives, wanted):
    """Compares the requests to one timer's path with the ids that it fired; returns how many were answered 2xx and came again."""
    ids = [request.id for request in requests]
    assert sorted(set(ids)) == wanted, "a fire was forgotten, or something came that never fired"
    assert [id for id, _ in groupby(ids)] == wanted, "out of order"
    answered_again = 0
    for id, group in groupby(requests, lambda request: request.id):
        group = list(group)
        assert len({request.body for request in group}) == 1, f"{id} changed"
        assert group[-1].answer == 200, f"{id} was left for the next one without an answer of 2xx"
        for request, following in zip(group, group[1:]):
            if request.answer == 200:
                answered_again += 1
                assert lives[request.order] < lives[following.order], f"{request} was sent again and no crash was between"
                # So it was its timer's last one of that life: a later one would have come between the two.
    return answered_again


@pytest.mark.thorough
@pytest.mark.timeout(60 + DELIVERIES // 20)
def test_no_fire_is_lost_over_kill_9(new_server):
    flaky, dice = Flaky(), random.Random(4)
    with Receiver(answer=flaky) as receiver:
        server = new_server()
        ids = [f"t{n:02}" for n in range(TIMERS)]
        for id in ids:
            hooked(server.client, receiver.url(f"/{id}"), id, retry=RETRY)
        for _ in range(ROUNDS):
            came = len(receiver.on())
            fire_all(server.client, ids, dice)
            receiver.wait_for(came + dice.randrange(20, TIMERS * FIRES_A_ROUND // 2), timeout=40)
            server.kill9()
            # Requests that the dead server had sent are read before the next life begins.
            receiver.settle()
            flaky.life += 1
            server.start()
        total = TIMERS * FIRES_A_ROUND * ROUNDS
        flaky.wait_for_taken(total, timeout=60 + total / 50)
        nothing_more_comes(server.client, receiver, total)
        again = 0
        for id in ids:
            wanted = fired(server.client, id)
            assert len(wanted) == ROUNDS * FIRES_A_ROUND
            again += check(receiver.on(f"/{id}"), flaky.lives, wanted)
        print(f"{total} deliveries, {len(receiver.on())} requests, {again} sent again though answered 2xx, {ROUNDS} crashes")


def nothing_more_comes(api, receiver, total):
    """Each outcome has one event; after all of them a further fire is the last request."""
    with api.stream("/v1/events?since=0&types=delivered").expect(200) as stream:
        delivered = [stream.next()["delivery"] for _ in range(total)]
    assert len(set(delivered)) == total, "an outcome was told twice"
    came = len(receiver.on())
    hooked(api, receiver.url("/last"), "last")
    fire(api, "last")
    receiver.wait_for(1, "/last")
    assert {request.path for request in receiver.on()[came:]} == {"/last"}
