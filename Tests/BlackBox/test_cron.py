"""Cron timers on the clocks and the time zone files of the machine. What expressions mean is for the tests of TimerCore."""

import pytest

from timers import instant, now, types


def refused(api, name, fields):
    problem = api.post("/v1/timers", {"id": name, **fields}).problem(400, "invalid-schedule")
    api.get(f"/v1/timers/{name}").problem(404, "not-found")
    return problem


def test_it_fires_on_whole_seconds_and_completes(api):
    timer = api.create(cron="* * * * * *", maxFires=2)
    with api.stream(f"/v1/timers/{timer['id']}/events?since=0").expect(200) as stream:
        events = stream.until("completed")
    assert types(events) == ["created", "activated", "fired", "fired", "completed"]
    first, second = events[2:4]
    assert first["scheduledAt"] == timer["nextFireAt"] and first["reason"] == second["reason"] == "due"
    for event in (first, second):
        assert instant(event["scheduledAt"]) % 1000 == 0 and instant(event["at"]) >= instant(event["scheduledAt"])
    assert instant(second["scheduledAt"]) - instant(first["scheduledAt"]) == 1000 * (second["missed"] + 1)


def test_a_local_time_that_the_clock_skips_fires_at_the_end_of_the_gap(api):
    fields = {"cron": "30 2 * * *", "timeZone": "Europe/Berlin", "from": "2031-03-29T00:00:00Z"}
    fires = api.post("/v1/schedules/preview?count=3", fields).expect(200).json["fires"]
    assert fires == ["2031-03-29T01:30:00.000Z", "2031-03-30T01:00:00.000Z", "2031-03-31T00:30:00.000Z"]


@pytest.mark.parametrize("fields, pointer, told", [
    ({"cron": "61 * * * *"}, "/cron", "minute"),
    ({"cron": "@daily", "timeZone": "europe/berlin"}, "/timeZone", "did you mean Europe/Berlin"),
    ({"cron": "@daily", "timeZone": "../../etc/passwd"}, "/timeZone", "there is no time zone"),
    ({"cron": "@daily", "timeZone": "localtime"}, "/timeZone", "differs from machine to machine"),
])
def test_what_can_not_be_is_pointed_at(api, name, fields, pointer, told):
    problem = refused(api, name, fields)
    assert problem["pointer"] == pointer and told in problem["detail"], problem


def test_it_is_the_same_after_a_crash(new_server):
    server = new_server()
    timer = server.client.create(id="c", cron="0 9 * * MON-FRI", timeZone="America/New_York")
    server.kill9()
    again = server.start().client.timer("c")
    assert {**again, "remaining": 0} == {**timer, "remaining": 0}
    assert instant(again["nextFireAt"]) > now()
