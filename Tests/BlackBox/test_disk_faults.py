"""A disk that fails while requests are under way: changes wait with 503, reads and streams go on, and nothing answered is lost."""

import errno
import re
import threading

import pytest

from faults import ANY, DATABASE
from patience import PATIENCE
from server import run
from steadfast import Follower, Load
from test_crash import everything
from test_startup import one_line
from timers import now, poll, shown, types

FAULTS = {
    "no-space": [("write", {"error": errno.ENOSPC})],
    "write-error": [("write", {"error": errno.EIO})],
    "torn-write": [("write", {"error": errno.EIO, "partial": 700})],
    "sync-error": [("sync", {"error": errno.EIO})],
    "sync-error-and-lost-pages": [("sync", {"error": errno.EIO, "lose": 1})],
    "read-only": [(call, {"error": errno.EROFS, "files": ANY}) for call in ("open", "truncate", "write")],
}


def break_disk(faults, name):
    for call, fields in FAULTS[name]:
        faults.set(call, **fields)


def verify(server):
    """Every row of the log is whole, and the chain of rows too."""
    done = run("log", "verify", "--data", server.data)
    assert done.returncode == 0, done


def begin(server, faults, name):
    """Starts the load; from here on the fault that loses pages records them."""
    faults.clear()
    faults.rule("sync").lose = int(any(fields.get("lose") for _, fields in FAULTS[name]))
    load = Load()
    load.begin(server)
    poll(lambda: load.alive() and load.answers >= 40)
    return load


def check_restart(server, load, follower):
    """After kill -9 everything that was answered is there, and what the stream showed is the history."""
    server.kill9()
    follower.thread.join(PATIENCE)
    seen = follower.seen
    assert seen, "the stream showed nothing"
    verify(server)
    server.start()
    for worker in load.workers:
        worker.api.port = server.port
    load.check(everything(server.client))
    history = server.client.history()
    ids = [event["id"] for event in history]
    assert ids == sorted(set(ids)), "event ids repeat or go back"
    assert history[:len(seen)] == seen, "what the stream showed is not what stands"


@pytest.mark.parametrize("name", [
    "no-space", *(pytest.param(name, marks=pytest.mark.heavy) for name in FAULTS if name != "no-space"),
])
def test_a_failing_disk_refuses_changes_and_recovers_by_itself(faulty_server, faults, name):
    server = faulty_server("--heartbeat", "200ms")
    api = server.client
    api.create(id="calm")
    # The first that is not due before the disk fails is the one to look at, however slow the machine is.
    instants = {f"soon-{number}": now() + 1500 * 2**number for number in range(7)}
    for id, due in instants.items():
        api.create(id=id, at=shown(due))
    follower = Follower(api)
    load = begin(server, faults, name)

    break_disk(faults, name)
    poll(lambda: load.alive() and api.get("/readyz").status == 503)
    refused = api.post("/v1/timers", {"after": "1h"})
    assert refused.problem(503, "storage-unavailable")["outcome"] == "none" and int(refused.headers["Retry-After"]) >= 0
    soon, due = next((id, due) for id, due in instants.items() if due > now())
    assert api.get("/readyz").status == 503
    api.get("/healthz").expect(200)
    assert api.timer("calm")["state"] == "running"
    # A read from before the server had gone back to what is surely on disk rests on rows in doubt.
    poll(lambda: "storage still fails" in server.log_text())
    api.get("/v1/timers?limit=10").expect(200)
    api.get("/v1/timers/no-such-timer").problem(404, "not-found")
    api.get("/metrics").expect(200)
    with api.stream("/v1/events?since=0&types=created").expect(200) as stream:
        assert stream.next()["timer"] == "calm"
        assert b"" in stream.lines(), "no heartbeat"
    poll(lambda: load.alive() and now() > due + 1200)
    assert types(api.history_of(soon)) == ["created", "activated"]
    assert api.get("/readyz").status == 503

    faults.clear()
    before = load.answers
    poll(lambda: load.alive() and api.get("/readyz").status == 200 and load.answers >= before + 20)
    fired = api.first_fire(soon)
    assert (fired["reason"], fired["missed"], fired["fire"]) == ("misfire", 0, 1)
    load.end()
    # It is tried four times a second; the operator is told when the reason changes.
    assert 1 <= server.log_text().count("storage still fails") <= 4
    load.check(everything(api))
    poll(lambda: follower.reaches(api.history()[-1]))
    check_restart(server, load, follower)


@pytest.mark.thorough
@pytest.mark.parametrize("name", [
    "sync-error-and-lost-pages", *(pytest.param(name, marks=pytest.mark.heavy) for name in ("torn-write", "sync-error")),
])
def test_a_crash_of_the_server_while_the_disk_fails_loses_nothing_answered(faulty_server, faults, name):
    server = faulty_server()
    follower = Follower(server.client)
    load = begin(server, faults, name)
    break_disk(faults, name)
    poll(lambda: load.alive() and server.client.get("/readyz").status == 503)
    server.kill9()
    load.end()
    faults.clear()
    check_restart(server, load, follower)


@pytest.mark.thorough
@pytest.mark.parametrize("every", [3, *(pytest.param(every, marks=pytest.mark.heavy) for every in (2, 7))])
def test_a_disk_that_fails_now_and_then_costs_time_not_truth(faulty_server, faults, every):
    server = faulty_server()
    follower = Follower(server.client)
    load = begin(server, faults, "sync-error-and-lost-pages")
    faults.set("sync", error=errno.EIO, lose=1, every=every)
    poll(lambda: load.alive() and faults.rule("sync").failed >= 8)
    faults.clear()
    load.end()
    poll(lambda: server.client.get("/readyz").status == 200)
    load.check(everything(server.client))
    check_restart(server, load, follower)


class Asked:
    """A request that is under way in a thread of its own."""

    def __init__(self, request):
        self.request, self.reply = request, None
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        self.reply = self.request()

    def answer(self):
        self.thread.join(PATIENCE)
        assert self.reply, "no answer"
        return self.reply


def asked_while_held(api, faults, request):
    """Begins a request and returns it once its commit waits for the disk.

    A stream is open meanwhile: a loop that has one client alone, and nothing else, would wait for the disk itself.
    """
    stream = api.stream("/v1/events").expect(200)
    faults.set("sync", hold=1)
    asked = Asked(request)
    asked.beside = stream
    poll(lambda: faults.rule("sync").waiting == 1)
    return asked


def counted(api):
    """How many timers there are in each state."""
    samples = re.findall(r'^timerd_timers{state="(\w+)"} (\d+)$', api.get("/metrics").expect(200).body.decode(), re.M)
    return {state: int(count) for state, count in samples if int(count)}


def keyed(api, id, key):
    return api.post("/v1/timers", {"id": id, "after": "1h"}, headers={"Idempotency-Key": key})


@pytest.mark.thorough
@pytest.mark.parametrize("lost", [True, pytest.param(False, marks=pytest.mark.heavy)])
def test_the_disk_decides_what_a_request_under_way_is_told(faulty_server, faults, lost):
    """After a failed sync a fresh read of the disk says whether the change is there; changes after it surely are not."""
    server = faulty_server()
    api = server.client
    faults.rule("sync").lose = int(lost)
    for id in ("a", "b"):
        api.create(id=id)
    # Idle, so that its deletion is told from a creation that is still to come.
    api.create(id="c", start="manual")
    first = asked_while_held(api, faults, lambda: api.command("a", "suspend"))
    behind = [Asked(request) for request in (
        lambda: keyed(api, "new", "key"), lambda: api.command("b", "cancel"), lambda: api.delete("/v1/timers/c"),
        lambda: api.batch([{"id": "in-batch", "after": "1h"}], query="?results=brief"),
    )]
    reader = Asked(lambda: api.get("/v1/timers/a"))
    # A timer's answer waits for the disk, the count of timers does not: so the count tells that all of these are decided.
    poll(lambda: counted(api) == {"suspended": 1, "cancelled": 1, "running": 2})
    faults.rule("sync").error = errno.EIO
    faults.rule("sync").hold = 0
    # The log is closed before it is read anew, and SQLite's last close empties the WAL where that can be synced: what was
    # written and not synced would be gone as well, of which the change would be told the truth.
    poll(lambda: faults.rule("sync").failed >= 2)
    faults.clear()

    state = "running" if lost else "suspended"
    if lost:
        assert first.answer().problem(503, "storage-unavailable")["outcome"] == "none"
    else:
        assert first.answer().expect(200).json["state"] == state
    outcomes = [asked.answer().problem(503, "storage-unavailable")["outcome"] for asked in behind]
    # A batch is not one step: its outcome never says that none of it was done.
    assert outcomes == ["none", "none", "none", "unknown"]
    # A read that the server met only after the failure rests on what was surely on disk before.
    assert reader.answer().status == 503 or reader.reply.expect(200).json["state"] in {"running", state}

    for _ in range(2):
        found = everything(server.client)
        assert {id: timer["state"] for id, timer in found.items()} == {"a": state, "b": "running", "c": "idle"}
        server.kill9()
        server.start()
    keyed(server.client, "new", "key").expect(201)


@pytest.mark.thorough
@pytest.mark.parametrize("lost", [True, pytest.param(False, marks=pytest.mark.heavy)])
def test_a_sync_that_hangs_is_an_unknown_outcome_and_a_key_settles_it(faulty_server, faults, lost):
    server = faulty_server()
    api = server.client
    faults.rule("sync").lose = int(lost)
    api.create(id="calm")
    asked = asked_while_held(api, faults, lambda: keyed(api, "new", "key"))
    assert asked.answer().problem(503, "storage-unavailable")["outcome"] == "unknown"
    assert int(asked.reply.headers["Retry-After"]) >= 0
    api.get("/healthz").expect(200)
    assert api.timer("calm")["state"] == "running"
    if lost:
        faults.rule("sync").error = errno.EIO
        faults.rule("sync").hold = 0
        poll(lambda: faults.rule("sync").failed)
    faults.clear()
    # The server learns of the failure after the disk has reported it, so the first repeats may be refused.
    repeats = []
    poll(lambda: repeats.append(keyed(api, "new", "key")) or repeats[-1].status != 503)
    again = repeats[-1].expect(201)
    assert again.headers["Idempotency-Replayed"] == (None if lost else "true")
    server.kill9()
    server.start()
    assert server.client.timer("new")["version"] == again.json["version"]
    assert len(everything(server.client)) == 2


@pytest.mark.thorough
def test_slow_syncs_are_shared(faulty_server, faults):
    """A disk that takes a second for each sync: requests that come meanwhile share the next one."""
    server = faulty_server()
    api = server.client
    api.create(id="calm")
    fires = api.create(id="soon", after="1500ms")["nextFireAt"]
    faults.set("sync", delay=1000)
    asked = [Asked(lambda n=n: api.post("/v1/timers", {"id": f"t{n}", "after": "1h"})) for n in range(40)]
    assert api.timer("calm")["state"] == "running"
    assert api.get("/healthz").status == api.get("/readyz").status == 200
    for request in asked:
        request.answer().expect(201)
    assert faults.rule("sync").calls < 40, "creates do not share their syncs"
    fired = api.first_fire("soon")
    assert (fired["scheduledAt"], fired["fire"], fired["missed"]) == (fires, 1, 0)
    server.kill9()
    faults.clear()
    server.start()
    assert {f"t{n}" for n in range(40)} < everything(server.client).keys()


@pytest.mark.thorough
def test_short_writes_are_completed(faulty_server, faults):
    faults.set("write", partial=1000)
    server = faulty_server()
    made = {server.client.create(payload="x" * 5000)["id"] for _ in range(20)}
    assert faults.rule("write").failed > 20
    server.kill9()
    verify(server)
    server.start()
    assert everything(server.client).keys() == made


BATCH = [{"every": "1h", "payload": "x" * 60_000} for _ in range(120)]


@pytest.mark.heavy
def test_a_checkpoint_that_fails_costs_nothing(faulty_server, faults):
    """The thread that copies the log's newest part into the database meets a fault; commits do not."""
    server = faulty_server()
    api = server.client
    faults.set("write", files=DATABASE, error=errno.EIO)
    made = [line["id"] for line in api.batch(BATCH, query="?results=brief").expect(200).lines]
    # The thread runs beside the commits, so it may not have begun yet.
    poll(lambda: made.append(api.create()["id"]) or faults.rule("write").failed)
    made.append(api.create()["id"])
    assert api.get("/readyz").status == 200
    server.kill9()
    faults.clear()
    verify(server)
    server.start()
    assert everything(server.client).keys() == set(made)


@pytest.mark.thorough
def test_what_a_failed_sync_of_the_database_loses_is_written_again(faulty_server, faults):
    """Later syncs succeed, though the disk lacks what the failed one was to write. The log's newest part still has it."""
    server = faulty_server()
    api = server.client
    # Commits go on all the time, so that a checkpoint copies a part of the log.
    load = begin(server, faults, "sync-error-and-lost-pages")
    made = set()

    def make():
        """Makes 7 MB of timers, of which a failing disk may refuse some or all. Returns whether any were made."""
        reply = api.batch(BATCH, query="?results=brief")
        ids = {line["id"] for line in reply.lines if line["status"] == 201} if reply.status == 200 else set()
        made.update(ids)
        return bool(ids)
    for _ in range(3):
        faults.set("sync", files=DATABASE, error=errno.EIO)
        poll(lambda: (make(), faults.rule("sync").failed)[1])
        faults.clear()
        # The log's newest part starts over on the way.
        for _ in range(4):
            poll(make)
    load.end()
    found = everything(api)
    load.check(found)
    assert made <= found.keys()
    server.kill9()
    verify(server)
    server.start()
    assert made <= everything(server.client).keys()


@pytest.mark.heavy
def test_a_log_that_can_not_be_checkpointed_at_all_refuses_changes_and_recovers(faulty_server, faults):
    """If it is never copied into the database, the newest part of the log may not grow for ever: at 64 MiB changes are refused."""
    server = faulty_server()
    api = server.client
    faults.set("write", files=DATABASE, error=errno.EIO)
    made = []
    for _ in range(20):
        reply = api.batch(BATCH, query="?results=brief")
        if reply.status != 200:
            break
        made += [line["id"] for line in reply.lines if line["status"] == 201]
    assert reply.problem(503, "storage-unavailable")["outcome"] in ("none", "unknown")
    poll(lambda: api.get("/readyz").status == 503)
    assert (server.data / "timers.db-wal").stat().st_size < 100 << 20
    faults.clear()
    poll(lambda: api.get("/readyz").status == 200)
    made.append(api.create()["id"])
    assert set(made) <= everything(api).keys()


@pytest.mark.heavy
def test_compaction_goes_on_over_a_disk_that_fails_now_and_then(faulty_server, faults):
    server = faulty_server("--retain-events", "1s,64KiB")
    api = server.client
    faults.rule("sync").lose = 1
    kept = {id: api.create(id=id, payload="x" * 1000)["version"] for id in (f"kept-{n}" for n in range(20))}
    faults.set("sync", error=errno.EIO, every=13)

    def churn():
        """Fills the log with garbage, until timers that no client touches were written anew."""
        for n in range(30):
            api.put(f"/v1/timers/churned-{n % 10}", {"after": "1h", "payload": "y" * 50_000})
        return faults.rule("sync").failed >= 5 and '"kind":"snapshot"' in run("log", "dump", "--data", server.data).stdout
    poll(churn)
    faults.clear()
    poll(lambda: api.get("/readyz").status == 200)
    found = everything(api)
    server.kill9()
    verify(server)
    server.start()
    for timers in (found, everything(server.client)):
        assert {id: timer["version"] for id, timer in timers.items() if id in kept} == kept
        assert timers.keys() == found.keys()


AT_START = {
    "no-space": {"write": errno.ENOSPC}, "write-error": {"write": errno.EIO}, "sync-error": {"sync": errno.EIO},
    "read-only": {"write": errno.EROFS, "truncate": errno.EROFS, "open": errno.EROFS},
}


@pytest.mark.parametrize("name, is_new", [
    ("no-space", False), ("read-only", True),
    *(pytest.param(name, is_new, marks=pytest.mark.heavy) for name in ("write-error", "sync-error") for is_new in (False, True)),
    *(pytest.param(name, is_new, marks=pytest.mark.heavy) for name, is_new in (("no-space", True), ("read-only", False))),
])
def test_a_disk_that_fails_at_start_is_named_and_the_next_start_finds_everything(faulty_server, faults, name, is_new):
    made = set()
    if not is_new:
        server = faulty_server()
        made = {server.client.create()["id"] for _ in range(5)}
        server.kill9()
    for call, error in AT_START[name].items():
        faults.set(call, files=ANY, error=error)
    done = run("serve", "--listen", "127.0.0.1:0", "--data", faults.data, env=faults.env)
    assert done.returncode in (1, 78) and done.stdout == "", done
    assert str(faults.data) in one_line(done.stderr)
    faults.clear()
    assert everything(faulty_server().client).keys() == made
