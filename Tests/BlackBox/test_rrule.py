"""Timers with recurrence rules on the real server. What rules mean is for the tests of TimerCore."""

import datetime

import pytest

import contract
from timers import instant, now, types

FUTURE = "2031-03-03T09:00:00+01:00"
BERLIN = {"timeZone": "Europe/Berlin", "from": FUTURE}


def preview(api, fields, count=3):
    return api.post(f"/v1/schedules/preview?count={count}", fields).expect(200).json["fires"]


def rfc3339(milliseconds):
    """An instant as RFC 3339 text, of whole seconds."""
    return datetime.datetime.fromtimestamp(milliseconds // 1000, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def test_it_is_shown_as_it_was_given(api):
    timer = api.create(rrule="RRULE:freq=weekly;interval=2", rdates=["2031-03-05T08:00:00Z", "2031-03-04T08:00:00Z"], **BERLIN)
    contract.check("Timer", timer)
    assert timer["kind"] == "recurrence" and timer["clock"] == "wall"
    assert timer["rrule"] == "RRULE:freq=weekly;interval=2" and timer["from"] == "2031-03-03T08:00:00.000Z"
    assert timer["rdates"] == ["2031-03-04T08:00:00.000Z", "2031-03-05T08:00:00.000Z"] and timer["exdates"] == []
    assert timer["nextFireAt"] == "2031-03-03T08:00:00.000Z"
    assert [t["id"] for t in api.get("/v1/timers?kind=recurrence&limit=1000").expect(200).json["timers"]].count(timer["id"]) == 1
    assert api.put(f"/v1/timers/{timer['id']}", timer).expect(200).json["nextFireAt"] == timer["nextFireAt"]


def test_local_times_and_dates_added_and_taken_away(api):
    fields = {"rrule": "FREQ=WEEKLY;BYDAY=MO", **BERLIN, "rdates": ["2031-03-12T08:00:00Z"], "exdates": ["2031-03-17T08:00:00Z"]}
    assert preview(api, fields, 6) == [f"2031-{day}:00:00.000Z" for day in (
        "03-03T08", "03-10T08", "03-12T08", "03-24T08", "03-31T07", "04-07T07")]


def test_without_from_it_begins_with_the_request_and_a_patch_keeps_that(api):
    before = now()
    timer = api.create(rrule="FREQ=DAILY")
    begin = instant(timer["from"])
    assert before <= begin <= now() + 1000 and begin % 1000 == 0
    assert instant(timer["nextFireAt"]) in (begin, begin + 86_400_000)
    patched = api.patch(f"/v1/timers/{timer['id']}", {"rrule": "FREQ=DAILY;INTERVAL=2"}).expect(200).json
    assert patched["from"] == timer["from"] and instant(patched["nextFireAt"]) in (begin, begin + 2 * 86_400_000)


def test_a_declaration_without_from_keeps_the_one_that_is_stored(api, name):
    # One that runs would fire at once, and so be another version.
    target, idle = f"/v1/timers/{name}?apply=true", {"start": "manual"}
    body = {**idle, "rrule": "FREQ=DAILY", "rdates": ["2031-03-05T08:00:00Z"]}
    made = api.put(target, body).expect(201)
    assert api.put(target, body).expect(200).etag == made.etag
    assert api.put(f"{target}&dryRun=true", {**body, "from": FUTURE}).expect(200).json == {"differs": ["/from"]}
    changed = api.put(target, {**idle, "rrule": "FREQ=WEEKLY", "exdates": ["2031-03-05T08:00:00Z"]}).expect(200)
    assert api.put(f"{target}&dryRun=true", {**idle, "every": "1h"}).expect(200).json == {
        "differs": ["/rrule", "/timeZone", "/from", "/exdates", "/onClosed", "/every"]}
    assert changed.etag != made.etag and changed.json["from"] == made.json["from"] and changed.json["rdates"] == []


def test_it_fires_and_completes_with_the_last(api):
    begin = rfc3339(now() + 2000)
    sixty, hours = (",".join(map(str, range(count))) for count in (60, 24))
    timer = api.create(rrule=f"FREQ=DAILY;COUNT=2;BYHOUR={hours};BYMINUTE={sixty};BYSECOND={sixty}", **{"from": begin})
    with api.stream(f"/v1/timers/{timer['id']}/events?since=0").expect(200) as stream:
        events = stream.until("completed")
    assert types(events)[:2] == ["created", "activated"] and events[2]["scheduledAt"] == timer["nextFireAt"]
    assert sum(1 + event["missed"] for event in events if event["type"] == "fired") == 2


def test_a_rule_that_is_over_is_refused_and_completes_at_activate(api, name):
    over = {"rrule": "FREQ=DAILY;COUNT=2", "from": "2020-01-01T00:00:00Z"}
    problem = api.post("/v1/timers", {"id": name, **over}).problem(400, "invalid-schedule")
    assert problem["pointer"] == "/rrule" and "no instant is left" in problem["detail"]
    api.get(f"/v1/timers/{name}").problem(404, "not-found")


def test_a_watchdog_expects_its_kicks_at_the_instants(api):
    timer = api.create(watchdog="1h", rrule="FREQ=MONTHLY;BYDAY=-1FR", **BERLIN)
    contract.check("Timer", timer)
    assert timer["kind"] == "watchdog" and timer["nextFireAt"] == "2031-03-28T09:00:00.000Z"
    assert api.get(f"/v1/timers/{timer['id']}/next?count=2").expect(200).json["fires"] == [
        "2031-03-28T08:00:00.000Z", "2031-04-25T07:00:00.000Z"]


@pytest.mark.parametrize("fields, pointer, told", [
    ({"rrule": "FREQ=HOURLY"}, "/rrule", "`every`"),
    ({"rrule": "FREQ=DAILY;COUNT=1;UNTIL=20310101"}, "/rrule", "UNTIL"),
    ({"rrule": "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30"}, "/rrule", "no instant is left"),
    ({"rrule": "DTSTART:20310101T000000Z"}, "/rrule", "DTSTART"),
    ({"rrule": "FREQ=DAILY", "rdates": ["2031-01-01T00:00:00Z"] * 1001}, "/rdates", "1000"),
])
def test_what_can_not_be_is_pointed_at(api, name, fields, pointer, told):
    problem = api.post("/v1/timers", {"id": name, **fields}).problem(400, "invalid-schedule")
    assert problem["pointer"] == pointer and told in problem["detail"], problem


def test_it_is_the_same_after_a_crash(new_server):
    server = new_server()
    timer = server.client.create(id="r", rrule="FREQ=YEARLY;BYDAY=2MO;BYMONTH=5", rdates=["2031-03-05T08:00:00Z"],
                                 exdates=["2032-05-10T07:00:00Z"], **BERLIN)
    server.kill9()
    again = server.start().client.timer("r")
    assert {**again, "remaining": 0} == {**timer, "remaining": 0}
