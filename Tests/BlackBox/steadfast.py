"""Workers that go on after a refused change, and check that each refusal tells the truth."""

import contextlib
import threading
import time

from client import Client
from patience import PATIENCE
from test_crash import Worker


BACK_OFF = 0.02  # seconds between a refusal and the next try, so that retries do not dominate the load


class Refused(Exception):
    """503 `storage-unavailable`: `outcome` is `none` (nothing was changed) or `unknown`."""

    def __init__(self, reply):
        self.outcome = reply.problem(503, "storage-unavailable")["outcome"]
        assert self.outcome in ("none", "unknown"), reply
        assert int(reply.headers["Retry-After"]) >= 0, reply


class RefusableClient(Client):
    """A client whose requests raise `Refused` while the disk takes no writes."""

    def request(self, *arguments, **options):
        reply = super().request(*arguments, **options)
        if reply.status == 503:
            raise Refused(reply)
        return reply


class SteadfastWorker(Worker):
    """Changes timers of its own until it is told to stop, or the server is gone.

    keys: those of requests that were refused; each is to be repeated until it is answered, and makes one timer.
    """

    def __init__(self, number):
        super().__init__(number, seed=number)
        self.refusals, self.keys = [], set()
        self.stopping = self.server_gone = False

    def begin(self, port):
        self.stopping = self.server_gone = False
        super().begin(RefusableClient(port))

    def run(self):
        try:
            while not self.stopping:
                self.step()
        except Exception as failure:  # raised by the test, in the main thread
            if isinstance(failure, OSError) or type(failure).__module__ == "http.client":
                self.server_gone = True
            else:
                self.failure = failure

    def step(self):
        before = dict(self.doubt)
        try:
            self.keyed() if self.random.random() < 0.2 else super().step()
        except Refused as refusal:
            self.refusals.append(refusal.outcome)
            if refusal.outcome == "none":
                self.doubt = before
            time.sleep(BACK_OFF)  # the pause of a refused client; it waits for no condition

    def keyed(self):
        """A create without an id of its own, told apart by its key."""
        self.made += 1
        self.repeat(f"key-{self.number}-{self.made}")

    def repeat(self, key):
        self.keys.add(key)
        headers = {"Idempotency-Key": key}
        self.note(self.api.post("/v1/timers", {"after": "1h", "labels": {"key": key}}, headers=headers).expect(201).json)
        self.keys.discard(key)

    def batch(self):
        ids = [self.new_id() for _ in range(5)]
        self.doubt.update(dict.fromkeys(ids, "create"))
        for id, line in zip(ids, self.api.batch([{"id": id, "every": "1h"} for id in ids]).expect(200).lines, strict=True):
            if line["status"] == 201:
                self.note(line["timer"])
            elif line["problem"]["outcome"] == "none":
                del self.doubt[id]

    def check(self, found):
        super().check(found)
        made = [timer["labels"].get("key") for timer in found.values()]
        for key in self.keys:
            assert made.count(key) <= 1, key


class Follower:
    """Reads every event from the first on, in a thread that ends when the stream is cut."""

    def __init__(self, api):
        self.seen, self.stream = [], api.stream("/v1/events?since=0").expect(200)
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        with self.stream, contextlib.suppress(ConnectionError, AssertionError):
            for event in self.stream.events_once():
                self.seen.append(event)

    def reaches(self, event):
        """True once this event was seen, on a stream that was never cut."""
        assert self.thread.is_alive(), "the stream was cut"
        return event in self.seen[-1:]


class Load:
    """Several workers at once, on one server after another."""

    def __init__(self, count=4):
        self.workers = [SteadfastWorker(number) for number in range(count)]

    def begin(self, server):
        for worker in self.workers:
            worker.begin(server.port)

    @property
    def answers(self):
        return sum(worker.answers for worker in self.workers)

    @property
    def refusals(self):
        return [outcome for worker in self.workers for outcome in worker.refusals]

    def alive(self):
        """Requires that no worker has failed."""
        for worker in self.workers:
            assert worker.failure is None, repr(worker.failure)
            assert not worker.server_gone, "the server answers no more"
        return True

    def end(self):
        """Lets each worker finish what is under way."""
        for worker in self.workers:
            worker.stopping = True
        for worker in self.workers:
            worker.thread.join(PATIENCE)
            assert not worker.thread.is_alive()
            assert worker.failure is None, repr(worker.failure)

    def check(self, found):
        """The server must show what it answered; afterwards each key that was refused makes exactly one timer."""
        for worker in self.workers:
            worker.check(found)
            for key in sorted(worker.keys):
                worker.repeat(key)
