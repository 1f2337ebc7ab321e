"""Watchdogs on real clocks, in the log and over a crash. What they do, and show, is for the Swift tests."""

import json

from server import run
from timers import instant, types


def test_silence_makes_it_fire_once(api):
    timer = api.create(watchdog="20ms", misses=2, payload={"page": "me"})
    fired = api.first_fire(timer["id"])
    assert (fired["reason"], fired["fire"], fired["missed"], fired["payload"]) == ("stalled", 1, 0, {"page": "me"})
    assert instant(fired["scheduledAt"]) >= instant(timer["createdAt"]) + 40
    after = api.timer(timer["id"])
    assert (after["state"], after["health"], after["nextFireAt"], after["remaining"]) == ("running", "stalled", None, None)
    assert set(after["allowed"]) == {"suspend", "cancel", "kick", "fire", "reschedule"}
    # Once a watchdog made now has fired, this one has been silent for as long again.
    api.first_fire(api.create(watchdog="20ms", misses=2)["id"])
    assert types(api.history_of(timer["id"])).count("fired") == 1


def test_other_kinds_can_not_be_kicked(api):
    timer = api.create(after="1h")
    problem = api.command(timer["id"], "kick").problem(409, "not-a-watchdog")
    assert problem["timer"] == timer["id"] and "kick" not in problem["allowed"]


def test_kicks_survive_a_crash(new_server):
    server = new_server()
    api = server.client
    api.create(id="w", watchdog="1h")
    for _ in range(5):
        kicked = api.command("w", "kick").expect(200).json
    server.kill9()
    again = server.start().client.timer("w")
    assert [again[field] for field in ("version", "kickCount", "lastKickedAt", "health")] == [
        kicked[field] for field in ("version", "kickCount", "lastKickedAt", "health")]
    # The outage does not count; uptime that went uncounted makes the alarm late, never early.
    assert instant(again["nextFireAt"]) >= instant(kicked["nextFireAt"])


def test_the_log_shows_definition_and_kicks(new_server):
    server = new_server()
    server.client.create(id="w", watchdog="1h", misses=2, repeatAlarm=True)
    server.client.command("w", "kick").expect(200)
    server.stop()
    dump = run("log", "dump", "--data", server.data)
    lines = [json.loads(line) for line in dump.stdout.splitlines()]
    definition = next(line["definition"] for line in lines if "definition" in line)
    assert (definition["watchdog"], definition["misses"], definition["repeatAlarm"], definition["clock"]) == ("1h", 2, True, "suspending")
    assert any(line["kickCount"] == 1 for line in lines if "kickCount" in line)
