"""Makes a data directory that has every kind of record, and what the API says of it: `Fixtures/format-<N>`.

Run it once for each version of the log's format, with a program of that version; CONTRIBUTING.md says when. Nothing in the fixture
depends on when it is opened: planned instants lie far ahead, and ended timers are kept for a century.
"""

import gzip
import json
import sqlite3
import sys
import tempfile
import time
from pathlib import Path

from receiver import Receiver
from server import Server, run
from timers import poll
from webhooks import FAST, SECRET, hooked

FIXTURES = Path(__file__).parent / "Fixtures"
CENTURY = "36525d"
TOKEN = "a-token-of-the-fixture"
KEEP_EVENTS = ("--retain-events", f"{CENTURY},1GiB")
# Records that every fixture has, and records that fixtures have from formats 2, 3 and 5 on.
KINDS = {"event", "snapshot", "answer", "versionFloor", "kick", "condensed", "delivery"}
SINCE_FORMAT_2 = {"answerPart", "timerAnswer", "will", "mark"}
SINCE_FORMAT_3 = {"drain", "import"}
SINCE_FORMAT_5 = {"key"}


def dumped(data):
    """Every record of the log, as `timerd log dump` shows it."""
    done = run("log", "dump", "--data", data)
    assert done.returncode == 0, done
    return [json.loads(line) for line in done.stdout.splitlines()]


def kinds(data):
    return {record["kind"] for record in dumped(data)}


def everything(api):
    """What a client can read that does not depend on when it asks."""
    timers = api.get("/v1/timers?limit=1000").expect(200).json["timers"]
    for timer in timers:
        timer.pop("remaining")
        if timer["clock"] != "wall":
            timer.pop("nextFireAt")
    ids = [timer["id"] for timer in timers]
    keys = api.get("/v1/keys").expect(200).json["keys"]
    return {
        "keys": [{name: value for name, value in key.items() if name != "lastUsedAt"} for key in keys],
        "timers": {timer["id"]: timer for timer in timers},
        "order": ids,
        "blue": [timer["id"] for timer in api.get("/v1/timers?label=team%3Dblue").expect(200).json["timers"]],
        "soonest": api.get("/v1/timers?kind=cron&sort=nextFireAt").expect(200).json["timers"][0]["id"],
        "next": {id: api.get(f"/v1/timers/{id}/next?count=3").expect(200).json for id in ids if id.startswith("cron")},
    }


def compact(data):
    """A first run with a short retention: it leaves snapshots, and condensed kicks."""
    with Server("--retain-events", "1s,64KiB", "--durability", "interval=10ms", data=data) as server:
        api = server.client
        api.create(id="snapshot", after=CENTURY, labels={"team": "blue"}, payload={"kept": [1, 2.50, "é"]})
        hooked(api, "http://127.0.0.1:1/", id="carried", retry={"initial": "1d", "max": "1d"}, timer={"every": CENTURY})
        api.command("carried", "fire").expect(200)
        api.create(id="old-dog", watchdog=CENTURY)

        def add_until(add, many, holds):
            """Adds that much garbage, then a little at a time, until the server has just compacted its log and `holds()`."""
            for _ in range(many):
                add()
            while not holds():
                add()
                time.sleep(1.2)  # as long as the compactor pauses, and as events are kept here

        def put():
            api.put("/v1/timers/churn", {"after": CENTURY, "payload": "x" * 60_000})

        def kick(count=1000):
            api.batch([{"command": "kick", "id": "old-dog"}] * count, "?results=brief").expect(200)
        add_until(put, 68, lambda: "snapshot" in kinds(data))
        api.delete("/v1/timers/churn").expect(204)
        for _ in range(6):
            kick(10_000)
        add_until(kick, 0, lambda: "condensed" in kinds(data))
        server.stop()


def fill(api, receiver):
    """Every event, every shape of a definition."""
    api.create(id="idle", start="manual", every=CENTURY, mode="fixedDelay", jitter="10s", leeway="5s", misfire="all", misfireGrace="1h")
    api.create(id="subscriber", start="subscriber", after=CENTURY)
    api.create(id="unsubscribed", start="subscriber", stop="subscriber", after=CENTURY)
    with api.stream("/v1/timers/unsubscribed/events").expect(200) as stream:
        stream.next()
    poll(lambda: api.timer("unsubscribed")["state"] == "suspended")
    api.create(id="at", at="2099-12-31T23:59:59.999Z", labels={"team": "blue"}, payload=None)
    api.create(id="grid", every="36500d", at="2099-01-01T00:00:00Z", until="2500-01-01T00:00:00Z", maxFires=9, onResume="skip")
    api.create(id="cron-berlin", cron="30 2 29 2 *", timeZone="Europe/Berlin", **{"from": "2096-01-01T00:00:00Z"})
    api.create(id="cron-utc", cron="0 0 0 L-3 JAN MON#2", misfire="skip", **{"from": "2098-06-01T00:00:00Z"})
    api.create(id="grid-brussels", every="36400d", at="2099-07-01T14:00:00Z", timeZone="Europe/Brussels")
    api.create(id="dog-nightly", watchdog="1h", cron="0 3 * * *", timeZone="Europe/Berlin", **{"from": "2098-06-01T00:00:00Z"})
    api.command("dog-nightly", "kick").expect(200)
    api.create(id="01890a5d-ac96-774b-bcce-b302099a8057", after=CENTURY, retain="1d", clock="suspending")
    api.create(id="suspended", after=CENTURY, onResume="deadline", labels={"team": "blue", "a/b": "ä"})
    api.command("suspended", "suspend").expect(200)
    api.create(id="resumed", every=CENTURY)
    for command in ("suspend", "resume"):
        api.command("resumed", command).expect(200)
    api.command("resumed", "reschedule", {"at": "2098-01-01T00:00:00Z"}).expect(200)
    api.patch("/v1/timers/resumed", {"payload": {"n": 1e3}, "labels": {"team": "red"}}).expect(200)
    api.create(id="cancelled", after=CENTURY, retain=CENTURY, restartable=True)
    api.command("cancelled", "cancel").expect(200)
    api.create(id="completed", after="1ms", retain=CENTURY)
    trace = {"traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "tracestate": "rojo=00f067aa0ba902b7"}
    api.post("/v1/timers", {"id": "traced", "after": CENTURY, "labels": {"team": "blue"}}, headers=trace).expect(201)
    api.command("traced", "suspend").expect(200)
    api.create(id="fired", every=CENTURY, maxFires=2, retain=CENTURY)
    for _ in range(2):
        api.command("fired", "fire").expect(200)
    api.create(id="deleted", after=CENTURY)
    api.delete("/v1/timers/deleted").expect(204)
    api.create(id="expired", after="1ms", retain="0s")
    api.create(id="dog", watchdog="10ms", misses=2, repeatAlarm=False)
    poll(lambda: api.timer("dog")["health"] == "stalled")
    api.command("dog", "kick").expect(200)
    api.patch("/v1/timers/dog", {"watchdog": CENTURY, "misses": 1}).expect(200)
    api.command("dog", "kick").expect(200)
    for key in ("first", "second"):
        api.post("/v1/timers", {"id": f"keyed-{key}", "after": CENTURY}, headers={"Idempotency-Key": key}).expect(201)
    api.post("/v1/schedules/preview", {"every": "1h"}, headers={"Idempotency-Key": "preview"}).expect(200)
    lines = [{"id": "lot", "after": CENTURY}, {"command": "kick", "id": "lot"}, {"after": "nonsense"}]
    api.batch(lines, headers={"Idempotency-Key": "lot"}).expect(200)
    api.post("/v1/timers/bulk/cancel", {"labels": {"no": "such"}}, headers={"Idempotency-Key": "bulk"}).expect(200)

    receiver.script("/gone", 410)
    receiver.script("/bad", 500)
    every = {"timer": {"every": CENTURY}, "secret": SECRET}
    final = FAST | {"giveUpOn": ["4xx", 500], "maxAge": "1d"}
    for id, path, retry in (("hook", "/", FAST), ("hook-gone", "/gone", FAST), ("hook-dead", "/bad", FAST), ("hook-left", "/bad", final)):
        hooked(api, receiver.url(path), id=id, retry=retry, headers={"X-A": "b", "X-Key": "k"}, secretHeaders=["X-Key"], **every)
        api.command(id, "fire").expect(200)
    wanted = {("hook", "delivered"), ("hook-gone", "deliveryDead"), ("hook-dead", "deliveryDead"), ("hook-left", "deliveryDead")}
    poll(lambda: wanted <= {(event["timer"], event["type"]) for event in api.history()})
    api.delete("/v1/timers/hook-left").expect(204)
    for name in ("kept", "rotated", "revoked"):
        key = api.post("/v1/keys", {"name": name, "scopes": ["read", "kick"], "idPrefix": "dog", "expiresAt": "2099-01-01T00:00:00Z"}).expect(201).json
        if name == "rotated":
            api.post(f"/v1/keys/{key['id']}/rotate", {"overlap": CENTURY}).expect(200)
        if name == "revoked":
            api.delete(f"/v1/keys/{key['id']}").expect(204)
    move(api)
    poll(lambda: {"completed"} <= {event["type"] for event in api.history("&timer=completed")})
    poll(lambda: api.get("/v1/timers/expired").status == 404)


def move(api):
    """A drain, and the import of a timer and of a delivery, that its receiver had refused, from another server."""
    api.post("/v1/drain").expect(200)
    api.delete("/v1/drain").expect(200)
    export, made = "0123456789abcdef0123456789abcdef", {"version": 41, "createdAt": "2026-01-02T03:04:05.678Z", "updatedAt": "2026-02-03T04:05:06.789Z"}
    timer = {"id": "imported", "after": CENTURY, "webhook": {"url": "http://127.0.0.1:1/", "retry": {"initial": "1d", "max": "1d"}}}
    event = {"id": "1898231250945671168", "type": "fired", "timer": "imported", "at": "2026-02-03T04:05:06.789Z", "version": 40, "labels": {},
             "payload": None, "scheduledAt": "2026-02-03T04:05:06.789Z", "latenessUs": 5, "fire": 1, "missed": 0, "nextFireAt": None, "reason": "manual"}
    state = made | {"state": "running", "dueAt": "2120-01-01T00:00:00.000Z", "fireCount": 1, "lastFiredAt": "2026-02-03T04:05:06.789Z"}
    lines = [{"export": export, "format": 1, "drained": True, "versionFloor": 40}, {"timer": timer, "state": state, "held": True},
             {"delivery": {"state": "dead", "attempts": 12, "createdAt": made["createdAt"], "dueAt": "2120-01-01T00:00:00.000Z"}, "event": event},
             {"timer": timer, "state": state, "again": True}, {"end": True, "lines": 4}]
    api.post(f"/v1/import?export={export}&part=0", body="".join(json.dumps(line) + "\n" for line in lines),
             content_type="application/x-ndjson").expect(200)


def make(directory):
    data = directory / "data"
    compact(data)
    (directory / "tokens").write_text(TOKEN + "\n")
    with Server(*KEEP_EVENTS, "--token-file", directory / "tokens", data=data, token=TOKEN) as server, Receiver() as receiver:
        api = server.client
        since = api.get("/v1/timers?limit=1").headers["Event-Id"]
        fill(api, receiver)
        answers = everything(api) | {"since": since, "events": api.history(f"&since={since}")}
        server.stop()
    wanted = KINDS | SINCE_FORMAT_2 | SINCE_FORMAT_3 | SINCE_FORMAT_5
    assert kinds(data) == wanted, kinds(data) ^ wanted
    with sqlite3.connect(data / "timers.db") as database:
        database.execute("VACUUM")
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return data / "timers.db", answers


def main():
    place = FIXTURES / f"format-{sys.argv[1]}"
    assert not place.exists(), f"{place} is there: what an earlier version wrote is never made anew"
    with tempfile.TemporaryDirectory() as scratch:
        database, answers = make(Path(scratch))
        place.mkdir(parents=True)
        # Most of it is filler beside the records that make up all kinds, so it packs well.
        (place / "timers.db.gz").write_bytes(gzip.compress(database.read_bytes(), mtime=0))
        (place / "answers.json").write_text(json.dumps(answers, indent=1, ensure_ascii=False, sort_keys=True) + "\n")
    print(f"{place}: {(place / 'timers.db.gz').stat().st_size} bytes, {len(answers['timers'])} timers, {len(answers['events'])} events")


if __name__ == "__main__":
    main()
