"""Watchdogs with a cron schedule, and grids that keep a local time. What they do over time is for the unit tests."""

import pytest

NIGHTLY = {"watchdog": "1h", "cron": "0 3 * * *", "timeZone": "Europe/Brussels", "from": "2035-03-24T12:00:00.000Z"}
WEEKLY = {"every": "7d", "at": "2035-03-22T15:00:00.000Z", "timeZone": "Europe/Brussels"}


def preview(api, fields, count=2):
    return api.post(f"/v1/schedules/preview?count={count}", fields).expect(200).json["fires"]


@pytest.mark.parametrize("fields, fires", [
    (NIGHTLY, ["2035-03-25T01:00:00.000Z", "2035-03-26T01:00:00.000Z"]), (WEEKLY, ["2035-03-22T15:00:00.000Z", "2035-03-29T14:00:00.000Z"]),
], ids=["watchdog", "every"])
def test_the_next_instants_are_those_of_the_preview(api, fields, fires):
    assert preview(api, fields) == fires
    timer = api.create(**fields)
    assert api.get(f"/v1/timers/{timer['id']}/next?count=2").expect(200).json["fires"] == fires


@pytest.mark.parametrize("fields, kind", [(NIGHTLY, "watchdog"), (WEEKLY, "repeating")], ids=["watchdog", "every"])
def test_what_get_gave_can_be_put_and_patched_back(api, fields, kind):
    timer = api.create(**fields)
    assert timer["kind"] == kind and {**timer, **fields} == timer
    target = f"/v1/timers/{timer['id']}"
    again = api.put(target, timer).expect(200).json
    assert {**again, **fields} == again and again["nextFireAt"] == timer["nextFireAt"]
    assert api.patch(target, timer).expect(200).json["version"] == again["version"]


def test_the_alarm_is_due_the_grace_after_the_next_instant(api):
    timer = api.create(**NIGHTLY)
    assert (timer["nextFireAt"], timer["health"], timer["clock"]) == ("2035-03-25T02:00:00.000Z", "ok", "suspending")
    kicked = api.post(f"/v1/timers/{timer['id']}/kick").expect(200).json
    assert (kicked["nextFireAt"], kicked["kickCount"]) == ("2035-03-25T02:00:00.000Z", 1)


def test_a_schedule_comes_and_goes_by_patch(api):
    target = f"/v1/timers/{api.create(watchdog='1h', misses=2)['id']}"
    scheduled = api.patch(target, {"cron": "0 3 * * *", "from": "2035-03-24T12:00:00Z"}).expect(200).json
    assert (scheduled["kind"], scheduled["nextFireAt"], scheduled["timeZone"]) == ("watchdog", "2035-03-26T04:00:00.000Z", "UTC")
    plain = api.patch(target, {"cron": None}).expect(200).json
    assert (plain["kind"], plain["watchdog"], plain["misses"]) == ("watchdog", "1h", 2) and "timeZone" not in plain
    assert api.patch(target, {"cron": "0 3 * * *", "watchdog": None}).expect(200).json["kind"] == "cron"


@pytest.mark.parametrize("change, pointer", [
    ({"clock": "wall"}, "/clock"), ({"onResume": "skip"}, "/onResume"), ({"misfire": "all"}, "/misfire"), ({"after": "1h"}, "/cron"),
    ({"timeZone": "Mars/Base"}, "/timeZone"), ({"misses": 10 ** 12}, "/misses"), ({"cron": "0 0 31 2 *"}, "/cron"),
])
def test_what_does_not_go_with_a_scheduled_watchdog(api, change, pointer):
    assert api.post("/v1/timers", {**NIGHTLY, **change}).problem(400, "invalid-schedule")["pointer"] == pointer


def test_it_alarms_and_recovers(api):
    timer = api.create(watchdog="100ms", cron="* * * * * *")
    target = f"/v1/timers/{timer['id']}"
    fired = api.get(f"{target}/wait?since=0&timeout=30s").expect(200).json
    assert (fired["type"], fired["reason"]) == ("fired", "stalled")
    assert api.timer(timer["id"])["health"] == "stalled"
    assert api.post(f"{target}/kick").expect(200).json["health"] == "ok"
