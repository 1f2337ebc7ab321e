"""Watchdogs: they fire after a period without a kick, and a kick prevents that."""

import pytest

from timers import duration, instant, now, poll, shown, types

SHAPE = {"id", "watchdog", "start", "stop", "clock", "leeway", "jitter", "misses", "repeatAlarm", "maxFires", "until", "restartable", "retain",
         "labels", "payload", "webhook", "state", "kind", "createdAt", "updatedAt", "version", "nextFireAt", "remaining", "lastFiredAt",
         "fireCount", "missedCount", "health", "lastKickedAt", "kickCount", "allowed"}


def stalled(api, **fields):
    """A watchdog that has just fired."""
    id = api.create(watchdog="30ms", **fields)["id"]
    api.get(f"/v1/timers/{id}/wait?since=0&timeout=8s").expect(200)
    return api.timer(id)


def refused(api, name, fields):
    problem = api.post("/v1/timers", {"id": name, "watchdog": "1h", **fields}).problem(400)
    api.get(f"/v1/timers/{name}").problem(404, "not-found")
    return problem


def test_the_shape_and_the_defaults(api):
    timer = api.create(watchdog="30s")
    assert set(timer) == SHAPE
    assert {field: timer[field] for field in ("watchdog", "clock", "misses", "repeatAlarm", "kind", "health", "lastKickedAt", "kickCount")} == {
        "watchdog": "30s", "clock": "suspending", "misses": 1, "repeatAlarm": False, "kind": "watchdog", "health": "ok",
        "lastKickedAt": None, "kickCount": 0}
    assert set(timer["allowed"]) == {"suspend", "cancel", "kick", "fire", "reschedule"}
    assert 29_000 < duration(timer["remaining"]) <= 30_000


def test_silence_makes_it_fire_once(api):
    timer = api.create(watchdog="20ms", misses=2, payload={"page": "me"})
    fired = api.get(f"/v1/timers/{timer['id']}/wait?since=0&timeout=8s").expect(200).json
    assert (fired["reason"], fired["fire"], fired["missed"], fired["payload"]) == ("stalled", 1, 0, {"page": "me"})
    assert instant(fired["scheduledAt"]) >= instant(timer["createdAt"]) + 40
    after = api.timer(timer["id"])
    assert (after["state"], after["health"], after["nextFireAt"], after["remaining"]) == ("running", "stalled", None, None)
    assert set(after["allowed"]) == {"suspend", "cancel", "kick", "fire", "reschedule"}
    api.get(f"/v1/timers/{timer['id']}/wait?since={fired['id']}&timeout=150ms").expect(204)


def test_a_kick_gives_the_full_period_anew_and_no_event(api):
    timer = api.create(watchdog="1h")
    reply = api.command(timer["id"], "kick").expect(200)
    kicked = reply.json
    assert (kicked["kickCount"], kicked["health"], kicked["state"]) == (1, "ok", "running")
    assert kicked["version"] > timer["version"] and reply.etag == f'"v{kicked["version"]}"'
    assert instant(kicked["lastKickedAt"]) == instant(kicked["updatedAt"]) >= instant(timer["createdAt"])
    assert 0 <= instant(kicked["nextFireAt"]) - instant(kicked["lastKickedAt"]) - 3_600_000 <= 1
    assert types(api.history_of(timer["id"])) == ["created", "activated"]


def test_kicks_keep_it_quiet(api):
    timer = api.create(watchdog="2s")
    kicks = 0
    start = instant(timer["createdAt"])

    def kick():
        nonlocal kicks
        kicks += 1
        return instant(api.command(timer["id"], "kick").expect(200).json["lastKickedAt"]) - start > 3000
    poll(kick, pause=0.1)
    after = api.timer(timer["id"])
    assert (after["fireCount"], after["health"], after["kickCount"]) == (0, "ok", kicks)


def test_a_kick_after_a_stall_recovers_it(api):
    timer = stalled(api)
    kicked = api.command(timer["id"], "kick").expect(200).json
    assert kicked["health"] == "ok" and kicked["nextFireAt"] is not None
    with api.stream(f"/v1/timers/{timer['id']}/events?since=0&types=fired,recovered&limit=2").expect(200) as stream:
        alarm, recovered = stream.rest()
    assert (recovered["type"], recovered["version"]) == ("recovered", kicked["version"])
    assert recovered.keys() == {"id", "type", "timer", "at", "version", "labels", "stalledFor", "silentFor"}
    passed = instant(recovered["at"]) - instant(alarm["scheduledAt"])
    assert abs(duration(recovered["stalledFor"]) - passed) <= 2
    # It was never kicked before, so it was silent since it started.
    assert abs(duration(recovered["silentFor"]) - (instant(recovered["at"]) - instant(timer["createdAt"]))) <= 5


def test_silence_counts_from_the_kick_before(api):
    timer = api.create(watchdog="60ms", misses=2)
    before = api.command(timer["id"], "kick").expect(200).json["lastKickedAt"]
    poll(lambda: api.timer(timer["id"])["health"] == "stalled")
    api.command(timer["id"], "kick").expect(200)
    recovered = api.history_of(timer["id"])[-1]
    assert duration(recovered["silentFor"]) == instant(recovered["at"]) - instant(before)
    assert duration(recovered["silentFor"]) >= duration(recovered["stalledFor"]) + 119


def test_repeat_alarm_fires_each_further_period(api):
    timer = api.create(watchdog="40ms", misses=2, repeatAlarm=True)
    with api.stream(f"/v1/timers/{timer['id']}/events?since=0&types=fired&limit=4").expect(200) as stream:
        fires = stream.rest()
    assert {event["reason"] for event in fires} == {"stalled"}
    for last, event in zip(fires, fires[1:]):
        assert instant(event["scheduledAt"]) - instant(last["scheduledAt"]) == 40 * (event["missed"] + 1)
    after = api.timer(timer["id"])
    assert after["health"] == "stalled" and after["nextFireAt"] is not None
    api.command(timer["id"], "kick").expect(200)
    assert types(api.history_of(timer["id"])).count("recovered") == 1
    api.delete(f"/v1/timers/{timer['id']}").expect(204)


def test_max_fires_completes_it(api):
    timer = api.create(watchdog="20ms", repeatAlarm=True, maxFires=3)
    with api.stream(f"/v1/timers/{timer['id']}/events?since=0").expect(200) as stream:
        events = stream.until("completed")
    assert types(events) == ["created", "activated", "fired", "fired", "fired", "completed"]


def test_a_suspended_one_is_quiet_and_resumes_with_its_full_period(api):
    timer = stalled(api)
    suspended = api.command(timer["id"], "suspend").expect(200).json
    assert (suspended["nextFireAt"], suspended["remaining"]) == (None, None)
    assert set(suspended["allowed"]) == {"resume", "cancel", "kick", "reschedule"}
    kicked = api.command(timer["id"], "kick").expect(200)
    assert kicked.json == suspended
    api.patch(f"/v1/timers/{timer['id']}", {"watchdog": "1h"}).expect(200)
    resumed = api.command(timer["id"], "resume").expect(200).json
    assert resumed["health"] == "ok" and duration(resumed["remaining"]) > 3_590_000


def test_a_manual_fire_leaves_its_health(api):
    timer = api.create(watchdog="1h")
    fired = api.command(timer["id"], "fire").expect(200).json
    assert (fired["health"], fired["fireCount"], fired["nextFireAt"]) == ("ok", 1, timer["nextFireAt"])


@pytest.mark.parametrize("state", ["idle", "cancelled"])
def test_where_a_kick_is_illegal(api, state):
    timer = api.create(watchdog="1h", start="manual" if state == "idle" else "now")
    if state == "cancelled":
        api.command(timer["id"], "cancel").expect(200)
    problem = api.command(timer["id"], "kick").problem(409, "illegal-transition")
    assert (problem["state"], problem["command"], "kick" in problem["allowed"]) == (state, "kick", False)


@pytest.mark.parametrize("fields", [{"after": "1h"}, {"every": "1h"}, {"cron": "@daily"}])
def test_other_kinds_can_not_be_kicked(api, fields):
    timer = api.create(**fields)
    assert "kick" not in timer["allowed"] and "health" not in timer
    problem = api.command(timer["id"], "kick").problem(409, "not-a-watchdog")
    assert problem["timer"] == timer["id"] and "kick" not in problem["allowed"]


@pytest.mark.parametrize("fields, pointer", [
    ({"after": "1h"}, "/watchdog"), ({"every": "1h"}, "/watchdog"), ({"watchdog": "0s"}, "/watchdog"), ({"watchdog": 5}, "/watchdog"),
    ({"misses": 0}, "/misses"), ({"misses": 1.5}, "/misses"), ({"misses": "2"}, "/misses"), ({"repeatAlarm": 1}, "/repeatAlarm"),
    ({"misses": 36_525 * 24 + 1}, "/misses"), ({"misses": 2 ** 62}, "/misses"), ({"onResume": "skip"}, "/onResume"),
    ({"onResume": "deadline"}, "/onResume"), ({"misfire": "all"}, "/misfire"), ({"misfireGrace": "0s"}, "/misfireGrace"),
    ({"mode": "fixedDelay"}, "/mode"), ({"timeZone": "Europe/Paris"}, "/timeZone"), ({"from": "2099-01-01T00:00:00Z"}, "/from"),
])
def test_what_does_not_go_with_a_watchdog(api, name, fields, pointer):
    assert refused(api, name, fields)["pointer"] == pointer


def test_defaults_and_limits_are_fine(api):
    api.create(watchdog="1ms", start="manual", onResume="remaining", misfire="once", misfireGrace=None, mode="fixedRate", timeZone="UTC")
    assert api.create(watchdog="1h", misses=36_525 * 24)["remaining"].startswith(("36525d", "36524d23h"))
    assert api.create(watchdog="1h", clock="wall")["clock"] == "wall"


def test_a_preview_of_silence_is_empty(api):
    assert api.post("/v1/schedules/preview", {"watchdog": "1s"}).expect(200).json == {"fires": []}
    assert api.get(f"/v1/timers/{api.create(watchdog='1h')['id']}/next").expect(200).json == {"fires": []}


def test_what_get_gave_can_be_put_and_patched_back(api, name):
    timer = api.create(id=name, watchdog="1h", misses=3, repeatAlarm=True, jitter="1s")
    assert api.patch(f"/v1/timers/{name}", timer).expect(200).json["version"] == timer["version"]
    again = api.put(f"/v1/timers/{name}", timer).expect(200).json
    changing = {"version", "createdAt", "updatedAt", "remaining", "nextFireAt"}
    assert {field: again[field] for field in SHAPE - changing} == {field: timer[field] for field in SHAPE - changing}


def test_a_change_of_kind_takes_along_what_only_the_old_one_used(api):
    id = api.create(watchdog="1h", misses=3, repeatAlarm=True)["id"]
    target = f"/v1/timers/{id}"
    assert api.patch(target, {"watchdog": None, "after": "1h", "repeatAlarm": True}).problem(400)["pointer"] == "/repeatAlarm"
    one_shot = api.patch(target, {"watchdog": None, "after": "1h", "onResume": "skip"}).expect(200).json
    assert (one_shot["kind"], one_shot["clock"], one_shot["onResume"]) == ("oneShot", "continuous", "skip")
    assert not {"misses", "repeatAlarm", "health", "kickCount"} & one_shot.keys()
    assert api.patch(target, {"after": None, "watchdog": "1h", "onResume": "skip"}).problem(400)["pointer"] == "/onResume"
    back = api.patch(target, {"after": None, "watchdog": "1h"}).expect(200).json
    assert (back["misses"], back["repeatAlarm"], back["clock"], "onResume" in back) == (1, False, "suspending", False)


def walked(api, query):
    found, cursor = [], ""
    while cursor is not None:  # a page may be empty
        page = api.get(f"/v1/timers?{query}{cursor and '&cursor=' + cursor}").expect(200).json
        found += [timer["id"] for timer in page["timers"]]
        cursor = page["next"]
    return found


def test_one_without_a_planned_fire_is_not_among_the_due(api, name):
    quiet = stalled(api, labels={"dog": name})["id"]
    alert = api.create(watchdog="1h", labels={"dog": name})["id"]
    for query in ("sort=nextFireAt", "dueBefore=2099-01-01T00:00:00Z"):
        assert walked(api, f"label=dog%3D{name}&{query}") == [alert]
    assert set(walked(api, f"label=dog%3D{name}&kind=watchdog")) == {quiet, alert}


def test_until_ends_it_without_a_fire(api):
    end = now() + 700
    id = api.create(watchdog="500ms", until=shown(end))["id"]
    poll(lambda: now() > end - 450)
    kicked = api.command(id, "kick").expect(200).json
    assert (kicked["state"], kicked["nextFireAt"], kicked["remaining"]) == ("running", None, None)  # the period would end too late
    with api.stream(f"/v1/timers/{id}/events?since=0").expect(200) as stream:
        events = stream.until("completed")
    assert "fired" not in types(events) and instant(events[-1]["at"]) >= end


def test_kicks_in_a_batch(api, name):
    lines = [{"id": name, "watchdog": "1h"}, {"command": "kick", "id": name}, {"command": "kick", "id": name}]
    results = api.batch(lines).expect(200).lines
    assert [result["status"] for result in results] == [201, 200, 200]
    assert results[-1]["timer"]["kickCount"] == 2


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
    import json
    from server import run
    server = new_server()
    server.client.create(id="w", watchdog="1h", misses=2, repeatAlarm=True)
    server.client.command("w", "kick").expect(200)
    server.stop()
    dump = run("log", "dump", "--data", server.data)
    lines = [json.loads(line) for line in dump.stdout.splitlines()]
    definition = next(line["definition"] for line in lines if "definition" in line)
    assert (definition["watchdog"], definition["misses"], definition["repeatAlarm"], definition["clock"]) == ("1h", 2, True, "suspending")
    assert any(line["kickCount"] == 1 for line in lines if "kickCount" in line)


def test_the_problem_and_the_timer_say_the_same_is_legal(api, name):
    api.create(id=name, watchdog="1h")
    problem = api.command(name, "resume").problem(409, "illegal-transition")
    assert problem["allowed"] == api.timer(name)["allowed"]
    assert "kick" in problem["allowed"]
    api.command(name, "suspend").expect(200)
    problem = api.command(name, "activate").problem(409, "illegal-transition")
    assert problem["allowed"] == api.timer(name)["allowed"]
    assert "kick" in problem["allowed"]


def test_one_that_ended_stalled_is_shown_as_it_ended(api, name):
    api.create(id=name, watchdog="50ms", maxFires=1)
    api.get(f"/v1/timers/{name}/wait?since=0&timeout=8s").expect(200)
    timer = api.timer(name)
    assert (timer["state"], timer["health"]) == ("completed", "stalled")


def test_until_can_not_be_moved_behind_now(api, name):
    api.create(id=name, watchdog="1h")
    problem = api.patch(f"/v1/timers/{name}", {"until": "2020-01-01T00:00:00Z"}).problem(400, "invalid-schedule")
    assert problem["pointer"] == "/until"
    assert api.timer(name)["state"] == "running"
