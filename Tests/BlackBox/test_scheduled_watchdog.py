"""Watchdogs with a cron schedule, and grids that keep a local time: with the zones of the machine and on real clocks."""

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


def test_it_alarms_and_recovers(api):
    timer = api.create(watchdog="100ms", cron="* * * * * *")
    target = f"/v1/timers/{timer['id']}"
    fired = api.first_fire(timer["id"])
    assert (fired["type"], fired["reason"]) == ("fired", "stalled")
    assert api.timer(timer["id"])["health"] == "stalled"
    assert api.post(f"{target}/kick").expect(200).json["health"] == "ok"
