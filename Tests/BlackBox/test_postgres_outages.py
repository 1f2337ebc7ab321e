"""A PostgreSQL that restarts, stands still or goes away under a server: nothing answered is lost, nothing happens twice."""

import threading

import pytest

from server import run
from timers import poll
from webhooks import hooked

pytestmark = pytest.mark.xdist_group("postgres")
# Until a server has found out what became of its appends and is ready again, on a busy machine.
BACK = 30.0


class Creators:
    """Clients that create timers, one after the other, through whatever happens, and note which were answered."""

    def __init__(self, api, count=4):
        self.api, self.answered, self.refused, self.failures = api, [], [], []
        self._stop = threading.Event()
        self.threads = [threading.Thread(target=self.run, args=(number,), daemon=True) for number in range(count)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        for thread in self.threads:
            thread.join(60)

    def run(self, number):
        try:
            made = 0
            while not self._stop.is_set():
                id = f"c{number}-{made}"
                made += 1
                reply = self.api.post("/v1/timers", {"id": id, "after": "1h"}, timeout=40)
                if reply.status == 201:
                    self.answered.append(id)
                else:
                    reply.problem(503)
                    self.refused.append(id)
        except Exception as failure:
            self.failures.append(failure)

    def more(self, count):
        """Waits until so many more were answered."""
        wanted = len(self.answered) + count
        poll(lambda: self.failures or len(self.answered) >= wanted, BACK)
        assert not self.failures, self.failures

    def check(self, uri):
        """What was answered is there, each event once, and the logs are whole."""
        assert not self.failures, self.failures
        created = [event["timer"] for event in self.api.history() if event["type"] == "created"]
        assert len(set(created)) == len(created)
        assert set(self.answered) <= set(created) <= {*self.answered, *self.refused}
        done = run("log", "verify", "--store", uri, timeout=60)
        assert done.returncode == 0 and f"{len(created)} timers" in done.stdout, done


@pytest.mark.thorough
@pytest.mark.parametrize("how", ["immediate", pytest.param("fast", marks=pytest.mark.heavy)])
def test_a_restart_of_the_database_loses_nothing_and_folds_nothing_anew(postgres, database, new_node, how):
    server = new_node()
    api = server.client
    with api.stream("/v1/events?since=0") as stream, Creators(api) as creators:
        for _ in range(2):
            creators.more(20)
            postgres.restart(how)
        creators.more(20)
        last = creators.answered[-1]
        seen = [event["id"] for event in stream.until_timer(last)]
    creators.check(database)
    assert seen == [event["id"] for event in api.history()][:len(seen)]
    log = server.log_text()
    assert "the log was read again" not in log, log
    # Each restart is reported once.
    begun = [line for line in log.splitlines() if "storage took no write" in line]
    ended = [line for line in log.splitlines() if "storage works again" in line]
    assert 1 <= len(begun) == len(ended) <= 2, log
    assert "timerd_takeovers_total 1" in api.get("/metrics").body.decode().splitlines()


@pytest.mark.thorough
def test_a_database_that_stands_still_past_the_lease_shows_nothing_and_moves_nothing(postgres, database, new_node, receiver):
    owner, standby = new_node("--heartbeat", "100ms"), new_node("--heartbeat", "100ms")
    api = owner.client
    api.create(id="tea")
    hooked(api, receiver.url(), "beat", timer={"every": "1h"})
    with api.stream("/v1/events?since=0") as stream:
        before = stream.take(4)
        answers = []
        waiter = threading.Thread(target=lambda: answers.append(api.get("/v1/timers/tea/wait?timeout=40s", timeout=60)), daemon=True)
        waiter.start()
        poll(lambda: 'timerd_streams 2' in api.get("/metrics").body.decode())
        postgres.pause()
        try:
            poll(lambda: api.get("/readyz").status == 503, BACK)
            poll(lambda: api.get("/v1/timers/tea").status == 503, BACK)
            assert api.get("/v1/timers/tea").problem(503, "storage-unavailable")["outcome"] == "none"
            api.get("/v1/timers").problem(503, "storage-unavailable")
            api.get("/v1/events").problem(503, "storage-unavailable")
            assert api.get("/healthz").status == 200
            # The stream goes on with heartbeats.
            lines = stream.lines()
            assert [next(lines) for _ in range(5)] == [b""] * 5
            assert waiter.is_alive()
        finally:
            postgres.resume()
        poll(lambda: api.get("/readyz").status == 200, BACK)
        api.command("tea", "fire").expect(200)
        waiter.join(BACK)
        assert answers and answers[0].expect(200).json["type"] == "fired"
        seen = before + stream.until_timer("tea")
    assert [event["id"] for event in seen] == [event["id"] for event in api.history()][:len(seen)]
    assert standby.client.get("/readyz").json["owner"] == owner.url
    assert "a node's beats have stopped" not in standby.log_text()
