"""Timers that go by calendars: working time, closed days, and calendars that change."""

import pytest

from moving import export, move, send
from server import run

# 2031-03-07 is a Friday.
BERLIN = {"timeZone": "Europe/Berlin", "week": {"mon-fri": ["09:00-12:30", "13:30-18:00"], "sat": ["10:00-14:00"]},
          "dates": {"2031-03-10": []}}
ALWAYS = {"timeZone": "UTC", "week": {"mon-sun": ["00:00-24:00"]}}
NOON = {"timeZone": "UTC", "week": {"mon-sun": ["11:30-12:30"]}}


@pytest.fixture
def berlin(api):
    """The name of a calendar that more tests use and none changes."""
    api.put("/v1/calendars/shared-berlin", BERLIN)
    return "shared-berlin"


def calendar(api, name, body):
    return api.put(f"/v1/calendars/{name}", body)


def preview(api, body, count=3):
    """The fires that a timer would have."""
    return api.post(f"/v1/schedules/preview?count={count}", body).expect(200).json["fires"]


def test_a_timer_counts_working_time(api, name):
    calendar(api, name, ALWAYS).expect(201)
    timer = api.create(id=name, after="27h", clock="working", calendar=name, every="100h")
    assert (timer["after"], timer["every"], timer["clock"], timer["calendar"]) == ("27h", "100h", "working", name)
    assert timer["remaining"] == "27h" and "onClosed" not in timer
    suspended = api.command(name, "suspend").expect(200).json
    assert suspended["remaining"] <= "27h" and suspended["nextFireAt"] is None
    assert api.command(name, "resume").expect(200).json["remaining"] <= "27h"
    # A timer that was read can be sent back.
    same = api.put(f"/v1/timers/{name}?apply=true&dryRun=true", api.timer(name)).expect(200)
    assert same.json == {"differs": []}
    api.command(name, "reschedule", {"after": "1d"}).problem(400, "invalid-schedule")
    assert api.command(name, "reschedule", {"after": "48h"}).expect(200).json["remaining"] == "48h"


def test_working_time_stops_where_the_calendar_closes(api, name):
    # Open one second a week, and on one day far away.
    calendar(api, name, {"timeZone": "UTC", "week": {"mon": ["00:00:00-00:00:01"]},
                         "dates": {"2031-01-02": ["09:00-17:00"]}}).expect(201)
    fires = preview(api, {"every": "4h", "clock": "working", "calendar": name}, 2)
    assert fires[0][:10] == "2031-01-02" and "12:50" < fires[0][11:16] < "13:00"
    timer = api.create(id=name, after="4h", clock="working", calendar=name)
    assert timer["remaining"] == "4h" and timer["nextFireAt"] == fires[0]
    moved = api.command(name, "reschedule", {"at": "2031-01-02T03:00:00Z"}).expect(200).json
    assert moved["nextFireAt"] == "2031-01-02T09:00:00.000Z"


@pytest.mark.parametrize("policy, last", [
    ("skip", "2031-03-11T11:00:00.000Z"), ("next", "2031-03-11T08:00:00.000Z"), ("nextDay", "2031-03-11T11:00:00.000Z"),
])
def test_closed_days_shape_each_kind_of_schedule(api, berlin, policy, last):
    expected = ["2031-03-07T11:00:00.000Z", "2031-03-08T11:00:00.000Z", last]
    shape = {"calendar": berlin, "onClosed": policy}
    start = {"timeZone": "Europe/Berlin", "from": "2031-03-07T11:00:00Z"}
    assert preview(api, {"cron": "0 12 * * *", **start, **shape}) == expected
    assert preview(api, {"rrule": "FREQ=DAILY", **start, **shape}) == expected
    grid = {"every": "1d", "at": "2031-03-07T11:00:00Z", "timeZone": "Europe/Berlin", **shape}
    assert preview(api, grid) == expected
    assert preview(api, {**grid, "timeZone": None}) == expected
    assert preview(api, {"watchdog": "1h", "cron": "0 12 * * *", **start, **shape}) == expected


def test_one_instant_moves_to_the_next_opening(api, name, berlin):
    timer = api.create(id=name, at="2031-03-09T10:00:00Z", calendar=berlin)
    assert timer["nextFireAt"] == "2031-03-11T08:00:00.000Z" and timer["onClosed"] == "next"
    assert timer["at"] == "2031-03-09T10:00:00.000Z"
    before = api.patch(f"/v1/timers/{name}", {"onClosed": "previousDay"}).expect(200).json
    assert before["nextFireAt"] == "2031-03-08T10:00:00.000Z"
    without = api.patch(f"/v1/timers/{name}", {"calendar": None}).expect(200).json
    assert without["nextFireAt"] == timer["at"] and without["calendar"] is None and without["onClosed"] == "next"


@pytest.mark.parametrize("body, pointer", [
    ({"after": "8h", "clock": "working"}, "/calendar"),
    ({"after": "8h", "clock": "working", "calendar": "nowhere"}, "/calendar"),
    ({"after": "8h", "clock": "working", "calendar": "a b"}, "/calendar"),
    ({"after": "8h", "calendar": "BERLIN"}, "/calendar"),
    ({"watchdog": "8h", "calendar": "BERLIN"}, "/calendar"),
    ({"after": "1d", "clock": "working", "calendar": "BERLIN"}, "/after"),
    ({"every": "P1D", "clock": "working", "calendar": "BERLIN"}, "/every"),
    ({"every": "P2W", "clock": "working", "calendar": "BERLIN"}, "/every"),
    ({"watchdog": "8h", "clock": "working", "calendar": "BERLIN"}, "/clock"),
    ({"cron": "0 9 * * *", "clock": "working", "calendar": "BERLIN"}, "/clock"),
    ({"at": "2031-03-09T10:00:00Z", "calendar": "BERLIN", "onClosed": "skip"}, "/onClosed"),
    ({"cron": "0 9 * * *", "onClosed": "next"}, "/onClosed"),
    ({"cron": "0 9 * * *", "calendar": "BERLIN", "onClosed": "never"}, "/onClosed"),
    ({"cron": "0 3 * * *", "calendar": "BERLIN"}, "/calendar"),
    ({"after": "8h", "clock": "working", "calendar": "BERLIN", "onClosed": "next"}, "/onClosed"),
])
def test_a_body_that_makes_no_sense_is_refused(api, berlin, body, pointer):
    if body.get("calendar") == "BERLIN":
        body = {**body, "calendar": berlin}
    problem = api.post("/v1/timers", body).expect(400).json
    assert problem["pointer"] == pointer, problem


def test_a_calendar_is_kept_while_timers_go_by_it(api, name):
    calendar(api, name, BERLIN).expect(201)
    api.create(id=f"{name}-a", after="8h", clock="working", calendar=name, restartable=True)
    api.create(id=f"{name}-b", cron="0 12 * * *", calendar=name, start="manual")
    assert api.delete(f"/v1/calendars/{name}").problem(409, "calendar-in-use")["timers"] == 2
    api.delete(f"/v1/timers/{name}-b").expect(204)
    api.command(f"{name}-a", "cancel").expect(200)
    api.delete(f"/v1/calendars/{name}").expect(204)
    refused = api.command(f"{name}-a", "activate").problem(409, "illegal-transition")
    assert "calendar" in refused["detail"]
    assert api.timer(f"{name}-a")["calendar"] == name


def test_a_changed_calendar_plans_its_timers_again(api, name):
    calendar(api, name, ALWAYS).expect(201)
    timers = {kind: f"{name}-{kind}" for kind in ("ticket", "noon", "paused")}
    api.create(id=timers["ticket"], after="27h", clock="working", calendar=name)
    api.create(id=timers["noon"], cron="0 18 * * *", calendar=name, onClosed="next")
    api.create(id=timers["paused"], after="27h", clock="working", calendar=name)
    api.command(timers["paused"], "suspend").expect(200)
    paused = api.timer(timers["paused"])
    with api.stream(f"/v1/timers/{timers['ticket']}/events") as stream:
        calendar(api, name, NOON).expect(200)
        event = stream.next("rescheduled")
    assert event["reason"] == "calendar" and "by" not in event
    ticket = api.timer(timers["ticket"])
    assert ticket["nextFireAt"] == event["nextFireAt"] and ticket["remaining"] > "26h"
    assert api.timer(timers["noon"])["nextFireAt"][11:] == "11:30:00.000Z"
    assert api.timer(timers["paused"]) == paused


def test_a_crash_in_the_middle_of_a_change_goes_on_with_it(new_server):
    server = new_server()
    calendar(server.client, "shop", ALWAYS).expect(201)
    server.client.batch({"id": f"t{number}", "after": "27h", "clock": "working", "calendar": "shop"} for number in range(2000)).expect(200)
    calendar(server.client, "shop", NOON).expect(200)
    server.kill9()
    timers = server.start().client.get("/v1/timers?limit=1000").expect(200).json["timers"]
    # An hour a day is open, so that 27 hours take some 27 days.
    late = {timer["id"] for timer in timers if timer["nextFireAt"][:10] <= timer["createdAt"][:10] or timer["remaining"] < "26h"}
    assert len(timers) == 1000 and not late
    due = server.client.timer("t7")["nextFireAt"]
    server.restart()
    assert server.client.timer("t7")["nextFireAt"] == due


def test_previews_of_the_program_know_a_calendar(api, tmp_path):
    file = tmp_path / "berlin.json"
    file.write_text('{"timeZone": "Europe/Berlin", "week": {"mon-fri": ["09:00-18:00"]}}')
    arguments = ["--time-zone", "Europe/Berlin", "--from", "2031-03-07T00:00:00Z", "--count", "2", "--calendar", str(file)]
    done = run("preview", "0 12 * * *", *arguments)
    assert done.stdout.splitlines() == ["every day at 12:00, Europe/Berlin; closed times of berlin are left out",
                                        "2031-03-07T12:00:00+01:00  2031-03-07T11:00:00Z",
                                        "2031-03-10T12:00:00+01:00  2031-03-10T11:00:00Z"], done
    moved = run("preview", "0 12 * * SUN", *arguments, "--on-closed", "next")
    assert moved.stdout.splitlines()[1] == "2031-03-10T09:00:00+01:00  2031-03-10T08:00:00Z", moved
    assert run("preview", "0 12 * * SUN", *arguments).returncode == 64
    assert run("preview", "0 12 * * SUN", "--on-closed", "next").returncode == 64


def test_a_timer_moves_with_its_calendar(new_server):
    source, target, other = new_server(), new_server(), new_server()
    calendar(source.client, "berlin", BERLIN).expect(201)
    source.client.create(id="ticket", after="8h", clock="working", calendar="berlin")
    before = source.client.timer("ticket")
    move(source.client, target.client)
    after = target.client.timer("ticket")
    assert after["nextFireAt"] == before["nextFireAt"] and after["calendar"] == "berlin"
    assert target.client.delete("/v1/calendars/berlin").problem(409, "calendar-in-use")["timers"] == 1
    lines = [line for line in export(target.client, "?secrets=true") if "calendar" not in line]
    lines[-1]["lines"] -= 1
    problem = send(other.client, lines, query="&copy=true").problem(400, "invalid-schedule")
    assert problem["pointer"] == "/calendar" and problem["line"] == 2
