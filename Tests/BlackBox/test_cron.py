"""Cron timers: what they show, when they fire, what is refused."""

import pytest

from timers import instant, now, shown, types

SHAPE = {"id", "cron", "timeZone", "from", "start", "stop", "clock", "leeway", "jitter", "onResume", "misfire", "misfireGrace", "maxFires",
         "until", "restartable", "retain", "labels", "payload", "webhook", "state", "kind", "createdAt", "updatedAt", "version",
         "nextFireAt", "remaining", "lastFiredAt", "fireCount", "missedCount", "allowed"}
HOUR = 3_600_000
DAY = 24 * HOUR


def preview(api, count=3, **fields):
    return api.post(f"/v1/schedules/preview?count={count}", fields).expect(200).json["fires"]


def refused(api, name, fields):
    problem = api.post("/v1/timers", {"id": name, **fields}).problem(400, "invalid-schedule")
    api.get(f"/v1/timers/{name}").problem(404, "not-found")
    return problem


def test_the_shape_and_the_defaults(api):
    timer = api.create(cron="0 9 * * MON-FRI")
    assert set(timer) == SHAPE
    assert (timer["cron"], timer["timeZone"], timer["from"], timer["clock"], timer["kind"]) == (
        "0 9 * * MON-FRI", "UTC", None, "wall", "cron")
    assert timer["state"] == "running" and instant(timer["nextFireAt"]) > instant(timer["createdAt"])


def test_the_next_fires_are_those_of_the_preview(api):
    fields = {"cron": "*/7 */3 * * *", "timeZone": "America/New_York"}
    timer = api.create(**fields)
    fires = api.get(f"/v1/timers/{timer['id']}/next?count=20").expect(200).json["fires"]
    assert fires[0] == timer["nextFireAt"] and len(fires) == 20 and fires == sorted(set(fires))
    assert preview(api, 20, **fields) in (fires, fires[1:] + preview(api, 20, **fields)[-1:])


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


@pytest.mark.parametrize("expression, zone, start, fires", [
    # Clocks go forward at 02:00 on the 30th: local times that the gap skips fire once, at its end.
    ("30 2 * * *", "Europe/Berlin", "2031-03-29T00:00:00Z", ["2031-03-29T01:30", "2031-03-30T01:00", "2031-03-31T00:30"]),
    # They go back at 03:00 on the 26th of October: local times that come twice fire the first time.
    ("30 2 * * *", "Europe/Berlin", "2031-10-25T12:00:00Z", ["2031-10-26T00:30", "2031-10-27T01:30"]),
    # An hour of `*` follows elapsed time.
    ("30 * * * *", "Europe/Berlin", "2031-10-26T00:00:00Z", ["2031-10-26T00:30", "2031-10-26T01:30", "2031-10-26T02:30"]),
    # So does a range that covers the field.
    ("30 0-23 * * *", "Europe/Berlin", "2031-10-26T00:00:00Z", ["2031-10-26T00:30", "2031-10-26T01:30", "2031-10-26T02:30"]),
    ("0 12 L * *", "UTC", "2032-02-01T00:00:00Z", ["2032-02-29T12:00", "2032-03-31T12:00"]),
    ("0 0 * * FRI#3", "Asia/Tokyo", "2031-01-01T00:00:00Z", ["2031-01-16T15:00", "2031-02-20T15:00"]),
    ("0 0 13 * FRI", "UTC", "2031-06-10T00:00:00Z", ["2031-06-13T00:00", "2031-06-20T00:00"]),
    ("@yearly", "UTC", "2031-06-01T00:00:00Z", ["2032-01-01T00:00", "2033-01-01T00:00"]),
])
def test_when_it_fires(api, expression, zone, start, fires):
    shown = preview(api, len(fires), cron=expression, timeZone=zone, **{"from": start})
    assert shown == [fire + ":00.000Z" for fire in fires]


def test_nothing_is_due_before_from(api):
    start = "2035-06-15T12:30:00.000Z"
    timer = api.create(cron="0 * * * *", **{"from": start})
    assert (timer["from"], timer["nextFireAt"]) == (start, "2035-06-15T13:00:00.000Z")
    on_time = api.create(cron="30 12 * * *", **{"from": start})
    assert on_time["nextFireAt"] == start


@pytest.mark.parametrize("expression", ["", "x", "* * * *", "61 * * * *", "* 24 * * *", "* * 0 * *", "* * * 13 *", "5-1/0 * * * *",
                                        "*/0 * * * *", "* * * * * * *", "@never", "0 0 30 2 *", "* * * * MON#6", "é * * * *"])
def test_a_bad_expression_is_pointed_at(api, name, expression):
    problem = refused(api, name, {"cron": expression})
    assert problem["pointer"] == "/cron" and problem["detail"]


@pytest.mark.parametrize("fields, pointer, told", [
    ({"cron": "CRON_TZ=Europe/Berlin 0 9 * * *"}, "/cron", "`timeZone`"),
    ({"cron": "@every 1h30m"}, "/cron", "`every`"),
    ({"cron": "0 0 12 1 1 ? 2030"}, "/cron", "`until`"),
    ({"cron": "0 9 * * 1\u20135"}, "/cron", "'1\u20135'"),
    ({"cron": "0 0 12 ? * 2-6"}, "/cron", "MON-FRI"),
    ({"cron": "@daily", "timeZone": "europe/berlin"}, "/timeZone", "did you mean Europe/Berlin"),
    ({"cron": "@daily", "timeZone": "W. Europe Standard Time"}, "/timeZone", "IANA names, not those of Windows: Europe/Berlin"),
    ({"cron": "@daily", "timeZone": "UTC+2"}, "/timeZone", "Etc/GMT-2"),
])
def test_what_other_schedulers_take_is_told_what_to_write(api, name, fields, pointer, told):
    problem = refused(api, name, fields)
    assert problem["pointer"] == pointer and told in problem["detail"], problem


@pytest.mark.parametrize("zone", ["", "Europe/Pariss", "../../etc/passwd", "/etc/localtime", "Europe/Paris\u0000", "Europe", "utc", "x" * 300])
def test_an_unknown_time_zone_is_pointed_at(api, name, zone):
    assert refused(api, name, {"cron": "@daily", "timeZone": zone})["pointer"] == "/timeZone"


@pytest.mark.parametrize("fields, pointer", [
    ({"after": "1h"}, "/cron"), ({"at": "2099-01-01T00:00:00Z"}, "/cron"), ({"every": "1h"}, "/cron"),
    ({"clock": "continuous"}, "/clock"), ({"clock": "suspending"}, "/clock"), ({"mode": "fixedDelay"}, "/mode"), ({"misses": 2}, "/misses"),
    ({"repeatAlarm": True}, "/repeatAlarm"), ({"until": "2001-01-01T00:00:00Z"}, "/until"), ({"from": "soon"}, "/from"),
])
def test_what_does_not_go_with_cron(api, name, fields, pointer):
    assert refused(api, name, {"cron": "@hourly", **fields})["pointer"] == pointer


@pytest.mark.parametrize("field, value", [("cron", 5), ("cron", ["@daily"]), ("timeZone", 1), ("from", 1)])
def test_wrong_types(api, name, field, value):
    assert api.post("/v1/timers", {"id": name, "cron": "@daily", field: value}).problem(400)["pointer"] == f"/{field}"


def test_what_get_gave_can_be_put_and_patched_back(api, name):
    timer = api.create(id=name, cron="0 9 * * 1-5", timeZone="Europe/Berlin", misfire="skip", leeway="1s", **{"from": "2035-01-01T00:00:00Z"})
    assert api.patch(f"/v1/timers/{name}", timer).expect(200).json["version"] == timer["version"]
    again = api.put(f"/v1/timers/{name}", timer).expect(200).json
    changing = {"version", "createdAt", "updatedAt", "remaining"}
    assert {field: again[field] for field in SHAPE - changing} == {field: timer[field] for field in SHAPE - changing}


def test_a_change_of_time_zone_plans_anew(api):
    timer = api.create(cron="0 9 * * *")
    moved = api.patch(f"/v1/timers/{timer['id']}", {"timeZone": "Asia/Tokyo"}).expect(200).json
    assert moved["timeZone"] == "Asia/Tokyo" and types(api.history_of(timer["id"]))[-1] == "rescheduled"
    assert instant(moved["nextFireAt"]) % DAY == 0  # 09:00 there is midnight UTC, all the year


def test_another_spelling_keeps_the_pending_fire(api):
    timer = api.create(cron="0 0 * * *")
    same = api.patch(f"/v1/timers/{timer['id']}", {"cron": "@daily"}).expect(200).json
    assert (same["cron"], same["nextFireAt"]) == ("@daily", timer["nextFireAt"])
    assert types(api.history_of(timer["id"]))[-1] == "updated"


def test_a_change_of_kind_takes_the_zone_along(api):
    timer = api.create(cron="0 9 * * *", timeZone="Asia/Tokyo", **{"from": "2035-01-01T00:00:00Z"})
    target = f"/v1/timers/{timer['id']}"
    api.patch(target, {"every": "1h"}).problem(400, "invalid-schedule")
    assert api.patch(target, {"cron": None, "every": "1h", "timeZone": "Asia/Tokyo"}).problem(400)["pointer"] == "/timeZone"
    changed = api.patch(target, {"cron": None, "every": "1h"}).expect(200).json
    assert (changed["kind"], changed["clock"], "timeZone" in changed, "from" in changed) == ("repeating", "continuous", False, False)


def test_suspend_keeps_the_calendar(api):
    timer = api.create(cron="0 0 1 1 *")
    suspended = api.command(timer["id"], "suspend").expect(200).json
    assert (suspended["nextFireAt"], suspended["remaining"]) == (None, None)  # on the calendar `remaining` means `deadline`
    assert api.command(timer["id"], "resume").expect(200).json["nextFireAt"] == timer["nextFireAt"]


def test_a_list_by_kind_and_due(api, name):
    timer = api.create(id=name, cron="0 0 1 1 *", labels={"cron": name})
    api.create(after="1h", labels={"cron": name})
    for query in ("kind=cron", f"kind=cron&dueBefore={shown(instant(timer['nextFireAt']) + 1)}", "kind=cron,watchdog&sort=nextFireAt"):
        found, cursor = [], ""
        while cursor is not None:  # a page may be empty
            page = api.get(f"/v1/timers?label=cron%3D{name}&{query}{cursor and '&cursor=' + cursor}").expect(200).json
            found += [timer["id"] for timer in page["timers"]]
            cursor = page["next"]
        assert found == [name]


def test_it_is_the_same_after_a_crash(new_server):
    server = new_server()
    timer = server.client.create(id="c", cron="0 9 * * MON-FRI", timeZone="America/New_York")
    server.kill9()
    again = server.start().client.timer("c")
    assert {**again, "remaining": 0} == {**timer, "remaining": 0}
    assert instant(again["nextFireAt"]) > now()
