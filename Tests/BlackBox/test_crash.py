"""kill -9 again and again under load; everything that was answered is checked afterwards."""

import random
import threading

import pytest

from patience import PATIENCE
from timers import instant

ROUNDS = 5
WORKERS = 4
ANSWERS_A_ROUND = 150
BEATS = {"beat-7": 7, "beat-11": 11}


class Worker:
    """Changes timers of its own until the connection breaks, and keeps a ledger of what was answered.

    ledger: {id: (version, state)} as answered, or None once deleted. doubt: {id: operation} of requests whose answers never came.
    """

    def __init__(self, number, seed):
        self.number, self.random = number, random.Random(seed)
        self.ledger, self.doubt, self.made, self.answers, self.failure = {}, {}, 0, 0, None

    def begin(self, api):
        self.api, self.thread = api, threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        try:
            while True:
                self.step()
        except OSError:
            pass
        except Exception as failure:  # raised by the test, in the main thread
            if type(failure).__module__ != "http.client":
                self.failure = failure

    def step(self):
        alive = [id for id, entry in self.ledger.items() if entry and id not in self.doubt]
        operation = self.random.choice(["create", "batch", "toggle", "toggle", "patch", "delete"]) if alive else "create"
        getattr(self, operation)(*([self.random.choice(alive)] if operation in ("toggle", "patch", "delete") else []))
        self.answers += 1

    def new_id(self):
        self.made += 1
        return f"w{self.number}-{self.made}"

    def note(self, timer):
        self.ledger[timer["id"]] = (timer["version"], timer["state"])
        self.doubt.pop(timer["id"], None)

    def create(self):
        id = self.new_id()
        self.doubt[id] = "create"
        self.note(self.api.create(id=id, after="1h"))

    def batch(self):
        ids = [self.new_id() for _ in range(5)]
        self.doubt.update(dict.fromkeys(ids, "create"))
        for line in self.api.batch([{"id": id, "every": "1h"} for id in ids]).expect(200).lines:
            self.note(line["timer"])

    def toggle(self, id):
        self.doubt[id] = "change"
        self.note(self.api.command(id, "suspend" if self.ledger[id][1] == "running" else "resume").expect(200).json)

    def patch(self, id):
        self.doubt[id] = "change"
        self.note(self.api.patch(f"/v1/timers/{id}", {"labels": {"n": str(self.answers)}}).expect(200).json)

    def delete(self, id):
        self.doubt[id] = "delete"
        self.api.delete(f"/v1/timers/{id}").expect(204)
        self.ledger[id] = None
        del self.doubt[id]

    def check(self, found):
        """Compares what the server shows ({id: timer}) with the ledger, then settles the doubts by it."""
        for id in self.ledger.keys() | self.doubt.keys():
            entry, timer, doubt = self.ledger.get(id), found.get(id), self.doubt.get(id)
            if doubt is None:
                assert (timer and (timer["version"], timer["state"])) == entry, (id, entry, timer)
            elif timer is None:
                assert doubt in ("create", "delete"), f"{id} was answered and is gone"
            elif entry:
                assert timer["version"] >= entry[0], (id, entry, timer)
            self.ledger[id] = timer and (timer["version"], timer["state"])
        self.doubt.clear()


def everything(api):
    """{id: timer} through the cursor."""
    found, cursor = {}, ""
    while True:
        page = api.get(f"/v1/timers?limit=1000{cursor}").expect(200).json
        found.update((timer["id"], timer) for timer in page["timers"])
        if page["next"] is None:
            return found
        cursor = f"&cursor={page['next']}"


def follow(api, seen):
    """Reads the whole stream from the last seen event on, in a thread that ends when the stream is cut."""
    stream = api.stream(f"/v1/events?since={seen[-1]['id'] if seen else 0}").expect(200)

    def read():
        with stream:
            for event in stream.until_cut():
                seen.append(event)
    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    return thread


def check_beat(events, every):
    """Every due instant of the grid fires once, over all crashes."""
    fired = [event for event in events if event["type"] == "fired"]
    assert [event["fire"] for event in fired] == list(range(1, len(fired) + 1))
    for last, event in zip(fired, fired[1:]):
        assert instant(event["scheduledAt"]) - instant(last["scheduledAt"]) == every * (event["missed"] + 1), event


@pytest.mark.thorough
def test_nothing_answered_is_lost_and_no_event_repeats(new_server):
    server = new_server()
    workers = [Worker(number, seed=number) for number in range(WORKERS)]
    dice, seen, shown_before = random.Random(1), [], 0
    for name, every in BEATS.items():
        server.client.create(id=name, every=f"{every}ms")
    for _ in range(ROUNDS):
        follower = follow(server.client, seen)
        enough = sum(worker.answers for worker in workers) + ANSWERS_A_ROUND + dice.randrange(50)
        for worker in workers:
            worker.begin(server.client)
        while sum(worker.answers for worker in workers) < enough and all(worker.thread.is_alive() for worker in workers):
            workers[0].thread.join(0.002)
        server.kill9()
        for thread in [*[worker.thread for worker in workers], follower]:
            thread.join(PATIENCE)
            assert not thread.is_alive()
        for worker in workers:
            assert worker.failure is None, worker.failure
        assert sum(worker.answers for worker in workers) >= enough, "the load ended before the kill"
        assert len(seen) > shown_before, "the stream showed nothing in a whole round"
        shown_before = len(seen)

        server.start()
        found = everything(server.client)
        for worker in workers:
            worker.check(found)
        for id in [id for worker in workers for id, entry in worker.ledger.items() if entry is None][-5:]:
            server.client.get(f"/v1/timers/{id}").expect(404)

    api = server.client
    for name in BEATS:
        api.command(name, "cancel").expect(200)
    history = api.history()
    ids = [event["id"] for event in history]
    assert ids == sorted(set(ids)), "event ids repeat or go back"
    assert history[:len(seen)] == seen, "what the stream showed over all crashes is not what stands"
    rest = api.history(f"&since={seen[-1]['id']}")
    assert seen + rest == history
    for name, every in BEATS.items():
        check_beat([event for event in history if event["timer"] == name], every)


def test_an_idle_server_is_as_it_was(new_server):
    server = new_server()
    api = server.client
    for n in range(20):
        id = api.create(id=f"t{n}", after="1h", labels={"n": str(n)}, payload={"n": n})["id"]
        if n % 2:
            api.command(id, "suspend").expect(200)
    before, history = everything(api), api.history()
    for _ in range(3):
        server.kill9()
        server.start()
    after = everything(server.client)
    for id, timer in before.items():
        assert after[id] | {"remaining": 0} == timer | {"remaining": 0}
        if timer["state"] == "suspended":
            assert after[id] == timer
    assert server.client.history() == history


def test_retries_with_own_ids_make_one_timer_each(new_server):
    """A client that repeats a create after a lost connection, with an id that it chose, makes exactly one timer."""
    server = new_server()
    pending = [f"mine-{n}" for n in range(60)]
    for _ in range(3):
        killer = threading.Timer(0.03, server.kill9)
        killer.start()
        try:
            while pending:
                reply = server.client.post("/v1/timers", {"id": pending[0], "after": "1h"})
                assert reply.status in (201, 409), reply
                pending.pop(0)
        except OSError:
            pass
        except Exception as lost:
            assert type(lost).__module__ == "http.client", lost
        killer.join(PATIENCE)
        server.start()
    for id in pending:
        assert server.client.post("/v1/timers", {"id": id, "after": "1h"}).status in (201, 409)
    created = [event["timer"] for event in server.client.history("&types=created")]
    assert sorted(created) == sorted(f"mine-{n}" for n in range(60))
