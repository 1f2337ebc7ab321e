"""nextFireAt in events: a client can count down from events alone."""

import pytest

from timers import now, poll, shown, timer_in, types

PLANNING = {"created", "activated", "resumed", "rescheduled", "updated", "fired"}


def told(api, id):
    """`nextFireAt` in the events of the newest step, which the timer must show too; every event that should have it must."""
    events, timer = api.history_of(id), api.timer(id)
    for event in events:
        assert ("nextFireAt" in event) == (event["type"] in PLANNING), event
    said = {event["nextFireAt"] for event in events if event["version"] == timer["version"] and "nextFireAt" in event}
    if said:
        assert said == {timer["nextFireAt"]}, (said, timer)
    return timer["nextFireAt"]


SCHEDULES = [{"after": "1h"}, {"at": "2040-01-01T00:00:00Z"}, {"every": "1h"}, {"every": "1h", "after": "10m"}, {"cron": "0 9 * * MON"},
             {"every": "1h", "jitter": "10m", "leeway": "1m"}, {"after": "1h", "clock": "suspending"}, {"watchdog": "1h"}]


@pytest.mark.parametrize("schedule", SCHEDULES, ids=str)
def test_every_step_says_what_the_timer_shows(api, schedule):
    id = timer_in(api, "idle", **schedule, restartable=True)["id"]
    assert told(api, id) is None
    steps = ["activate", "suspend", "resume", "fire"] if schedule.keys() & {"every", "cron"} else ["activate", "suspend", "resume"]
    for command in steps:
        api.command(id, command).expect(200)
        assert (told(api, id) is None) == (command == "suspend")
    api.command(id, "reschedule", {"after": "3h"}).expect(200)
    assert told(api, id) is not None
    api.patch(f"/v1/timers/{id}", {"labels": {"a": "b"}}).expect(200)
    assert told(api, id) is not None
    api.put(f"/v1/timers/{id}", schedule).expect(200)
    assert told(api, id) is not None
    api.command(id, "cancel").expect(200)
    assert told(api, id) is None


def test_a_timer_that_starts_at_once_is_told_with_its_plan(api):
    timer = api.create(after="1h")
    assert [event["nextFireAt"] for event in api.history_of(timer["id"])] == [timer["nextFireAt"]] * 2


@pytest.mark.parametrize("fields", [{"after": "10ms"}, {"every": "10ms", "maxFires": 2}, {"watchdog": "10ms", "maxFires": 1}], ids=str)
def test_a_last_fire_says_that_none_follows(api, fields):
    id = api.create(**fields)["id"]
    with api.stream(f"/v1/timers/{id}/events?since=0").expect(200) as stream:
        events = stream.until("completed")
    fired = [event for event in events if event["type"] == "fired"]
    assert fired[-1]["nextFireAt"] is None
    for event, following in zip(fired, fired[1:]):
        assert event["nextFireAt"] == following["scheduledAt"]


def test_an_alarm_says_whether_another_follows(api):
    for repeats in (False, True):
        id = api.create(watchdog="1s", repeatAlarm=repeats, clock="continuous")["id"]
        api.command(id, "reschedule", {"after": "0s"}).expect(200)
        poll(lambda: "fired" in types(api.history_of(id)))
        fired = next(event for event in api.history_of(id) if event["type"] == "fired")
        assert (fired["nextFireAt"] is not None) == repeats
        api.delete(f"/v1/timers/{id}").expect(204)


def test_a_watchdog_that_ends_before_it_could_alarm_plans_none(api):
    until = now() + 3_600_500
    id = api.create(watchdog="1h", until=shown(until))["id"]
    assert told(api, id) is not None
    poll(lambda: now() > until - 3_600_000)
    api.command(id, "kick").expect(200)
    api.patch(f"/v1/timers/{id}", {"labels": {"a": "b"}}).expect(200)
    assert told(api, id) is None


def test_old_events_say_it_too_after_a_restart(new_server):
    server = new_server()
    api = server.client
    id = api.create(every="1h")["id"]
    api.command(id, "fire").expect(200)
    before = api.history_of(id)
    server.kill9()
    assert server.start().client.history_of(id) == before
