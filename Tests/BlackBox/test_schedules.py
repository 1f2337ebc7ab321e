"""When timers fire: never early, in order, once for each due instant. Lateness is not tested here."""

import time

import pytest

from timers import duration, instant, now, shown, types


def fires(events):
    return [event for event in events if event["type"] == "fired"]


def until_completed(api, timer):
    """Every event of a timer from the beginning to its completion."""
    with api.stream(f"/v1/timers/{timer['id']}/events?since=0").expect(200) as stream:
        return stream.until("completed")


def let_pass(api, period):
    """Lets time pass, by waiting for a timer of that duration."""
    id = api.create(after=period, retain="1m")["id"]
    api.get(f"/v1/timers/{id}/wait?since=0&timeout=9s").expect(200)


def check_never_early(events):
    for event in fires(events):
        assert event["latenessUs"] >= 0 and instant(event["at"]) >= instant(event["scheduledAt"]), event


def check_grid(events, every):
    """Each due instant of a grid has its own fire, or is counted in the fire that stands for it."""
    fired = fires(events)
    assert [event["fire"] for event in fired] == list(range(fired[0]["fire"], fired[0]["fire"] + len(fired)))
    for last, event in zip(fired, fired[1:]):
        assert instant(event["scheduledAt"]) - instant(last["scheduledAt"]) == every * (event["missed"] + 1), event


@pytest.mark.parametrize("clock", ["continuous", "wall"])
@pytest.mark.parametrize("period", ["0s", "1ms", "50ms", "200ms"])
def test_after_is_one_fire_and_never_early(api, period, clock):
    started = time.monotonic_ns()
    timer = api.create(after=period, clock=clock)
    events = until_completed(api, timer)
    assert time.monotonic_ns() - started >= duration(period) * 1_000_000
    assert types(events) == ["created", "activated", "fired", "completed"]
    check_never_early(events)
    done = api.timer(timer["id"])
    assert (done["state"], done["fireCount"], done["missedCount"], done["nextFireAt"], done["remaining"]) == ("completed", 1, 0, None, None)
    assert instant(done["lastFiredAt"]) >= instant(events[2]["scheduledAt"])
    assert done["version"] == events[-1]["version"] == events[-2]["version"]


def test_at_is_never_before_its_instant(api):
    due = now() + 120
    events = until_completed(api, api.create(at=shown(due)))
    assert now() >= due and instant(fires(events)[0]["scheduledAt"]) == due
    check_never_early(events)


@pytest.mark.parametrize("first, offset", [({}, 20), ({"after": "70ms"}, 70)])
def test_every_keeps_its_grid(api, first, offset):
    timer = api.create(every="20ms", maxFires=6, **first)
    events = until_completed(api, timer)
    assert len(fires(events)) == 6
    assert fires(events)[0]["scheduledAt"] == timer["nextFireAt"]
    assert instant(timer["nextFireAt"]) >= instant(timer["createdAt"]) + offset
    check_grid(events, 20)
    check_never_early(events)


def test_every_beside_a_past_at_starts_on_its_grid(api):
    timer = api.create(every="40ms", at="2020-01-01T00:00:00.007Z", maxFires=3)
    first = instant(timer["nextFireAt"])
    assert (first - instant("2020-01-01T00:00:00.007Z")) % 40 == 0
    assert 0 <= first - instant(timer["createdAt"]) <= 40
    events = until_completed(api, timer)
    assert instant(fires(events)[0]["scheduledAt"]) == first
    check_grid(events, 40)


def test_a_fast_grid_misses_nothing(api):
    events = until_completed(api, api.create(every="1ms", maxFires=100))
    assert sum(event["missed"] + 1 for event in fires(events)) >= 100
    check_grid(events, 1)
    check_never_early(events)


def test_fixed_delay_counts_from_the_fire(api):
    events = until_completed(api, api.create(every="20ms", mode="fixedDelay", maxFires=5))
    fired = fires(events)
    assert len(fired) == 5
    for last, event in zip(fired, fired[1:]):
        assert instant(event["scheduledAt"]) >= instant(last["at"]) + 20
    check_never_early(events)


def test_until_takes_the_fire_that_is_due_at_it(api):
    start = now() + 100
    timer = api.create(every="50ms", at=shown(start), until=shown(start + 100))
    events = until_completed(api, timer)
    assert [instant(event["scheduledAt"]) for event in fires(events)][-1] == start + 100
    check_grid(events, 50)
    assert events[-1]["version"] == events[-2]["version"]


def test_activation_past_until_completes_unfired(api):
    timer = api.create(after="1ms", start="manual", until=shown(now() + 60))
    let_pass(api, "80ms")
    done = api.command(timer["id"], "activate").expect(200).json
    assert (done["state"], done["fireCount"]) == ("completed", 0)


def test_manual_fires_count_and_leave_the_schedule(api):
    timer = api.create(every="1h", maxFires=2)
    once = api.command(timer["id"], "fire").expect(200).json
    assert (once["state"], once["fireCount"], once["nextFireAt"]) == ("running", 1, timer["nextFireAt"])
    assert api.command(timer["id"], "fire").expect(200).json["state"] == "completed"


def test_max_fires_counts_from_the_last_activation(api):
    timer = api.create(every="10ms", maxFires=2, restartable=True)
    until_completed(api, timer)
    since = api.history_of(timer["id"])[-1]["id"]
    api.command(timer["id"], "activate").expect(200)
    with api.stream(f"/v1/timers/{timer['id']}/events?since={since}").expect(200) as stream:
        events = stream.until("completed")
    assert [event["fire"] for event in fires(events)] == [3, 4]


def test_remaining_stands_still_while_suspended(api):
    timer = api.create(after="10m")
    suspended = api.command(timer["id"], "suspend").expect(200).json
    let_pass(api, "100ms")
    assert api.timer(timer["id"])["remaining"] == suspended["remaining"]
    resumed = api.command(timer["id"], "resume").expect(200).json
    left = instant(resumed["nextFireAt"]) - instant(resumed["updatedAt"])
    assert abs(left - duration(suspended["remaining"])) <= 2
    assert instant(resumed["nextFireAt"]) >= instant(timer["nextFireAt"]) + 90


def test_a_suspended_timer_does_not_fire_and_resumes_with_what_was_left(api):
    id = api.create(after="1h")["id"]
    api.command(id, "suspend").expect(200)
    api.command(id, "reschedule", {"after": "40ms"}).expect(200)
    let_pass(api, "80ms")
    assert "fired" not in types(api.history_of(id))
    resumed = api.command(id, "resume").expect(200).json
    events = until_completed(api, resumed)
    assert instant(fires(events)[0]["scheduledAt"]) >= instant(resumed["updatedAt"]) + 39
    assert fires(events)[0]["reason"] == "due"


def test_a_repeating_grid_shifts_by_the_pause(api):
    id = api.create(every="30ms", maxFires=20)["id"]
    fired = api.get(f"/v1/timers/{id}/wait?since=0&timeout=8s").expect(200).json
    api.command(id, "suspend").expect(200)
    let_pass(api, "100ms")
    resumed = api.command(id, "resume").expect(200).json
    events = until_completed(api, resumed)
    after = [event for event in fires(events) if event["version"] > resumed["version"]]
    assert after[0]["scheduledAt"] == resumed["nextFireAt"] and after[0]["reason"] == "due"
    assert instant(after[0]["scheduledAt"]) > instant(fired["scheduledAt"]) + 100
    check_grid(after, 30)


def pause_over_dues(api, mode):
    """A 20 ms grid suspended over several due instants; returns the last fire before, the resumed timer and the events after it."""
    id = api.create(every="20ms", onResume=mode)["id"]
    api.get(f"/v1/timers/{id}/wait?since=0&timeout=8s").expect(200)
    api.command(id, "suspend").expect(200)
    before = fires(api.history_of(id))[-1]
    let_pass(api, "110ms")
    resumed = api.command(id, "resume").expect(200).json
    since = next(event["id"] for event in reversed(api.history_of(id)) if event["type"] == "resumed")
    with api.stream(f"/v1/timers/{id}/events?since={since}&types=fired&limit=3").expect(200) as stream:
        after = stream.rest()
    api.delete(f"/v1/timers/{id}").expect(204)
    return before, resumed, after


def test_deadline_brings_the_missed_fires_as_one(api):
    before, resumed, after = pause_over_dues(api, "deadline")
    assert [event["reason"] for event in after] == ["resumed", "due", "due"]
    assert after[0]["missed"] >= 3
    assert instant(after[0]["scheduledAt"]) <= instant(resumed["updatedAt"]) < instant(after[1]["scheduledAt"]) + 1
    check_grid([before, *after], 20)


def test_skip_drops_and_counts_them(api):
    before, resumed, after = pause_over_dues(api, "skip")
    assert [event["reason"] for event in after] == ["due"] * 3
    assert resumed["missedCount"] >= 4
    gap = instant(after[0]["scheduledAt"]) - instant(before["scheduledAt"])
    assert gap == 20 * (resumed["missedCount"] + 1) and instant(after[0]["scheduledAt"]) >= instant(resumed["updatedAt"])
    check_grid(after, 20)


@pytest.mark.parametrize("mode, fields, expected", [
    ("deadline", {"after": "1h"}, ["resumed", "fired", "completed"]),
    ("skip", {"after": "1h"}, ["resumed", "completed"]),
    ("remaining", {"at": "2099-01-01T00:00:00Z"}, ["resumed", "fired", "completed"]),
])
def test_a_one_shot_whose_due_passed_while_suspended(api, mode, fields, expected):
    id = api.create(onResume=mode, **fields)["id"]
    api.command(id, "suspend").expect(200)
    api.command(id, "reschedule", {"after": "1ms"}).expect(200)
    let_pass(api, "20ms")
    since = api.history_of(id)[-1]["id"]
    api.command(id, "resume").expect(200)
    with api.stream(f"/v1/timers/{id}/events?since={since}").expect(200) as stream:
        events = stream.until("completed")
    assert types(events) == expected
    assert [event["reason"] for event in fires(events)] == ["resumed"] * expected.count("fired")
    assert api.timer(id)["missedCount"] == (mode == "skip")


def test_a_grid_goes_on_from_a_rescheduled_fire(api):
    id = api.create(every="1h")["id"]
    due = api.command(id, "reschedule", {"after": "20ms"}).expect(200).json["nextFireAt"]
    fired = api.get(f"/v1/timers/{id}/wait?since=0&timeout=8s").expect(200).json
    assert fired["scheduledAt"] == due
    assert instant(api.timer(id)["nextFireAt"]) == instant(due) + 3_600_000


def test_a_reschedule_into_the_past_fires_at_once(api):
    id = api.create(after="1h")["id"]
    api.command(id, "reschedule", {"at": "2001-01-01T00:00:00Z"}).expect(200)
    fired = api.get(f"/v1/timers/{id}/wait?since=0&timeout=8s").expect(200).json
    assert fired["fire"] == 1


@pytest.mark.parametrize("command, event", [("cancel", "cancelled"), ("suspend", "suspended")])
def test_no_fire_follows_once_stopped(api, command, event):
    ids = [api.create(every=f"{n}ms")["id"] for n in range(1, 9)]
    let_pass(api, "30ms")
    for id in ids:
        api.command(id, command).expect(200)
        assert types(api.history_of(id))[-1] == event
    let_pass(api, "30ms")
    for id in ids:
        events = api.history_of(id)
        assert types(events)[-1] == event
        check_grid(events, ids.index(id) + 1)


def test_many_timers_each_fire_once(api, name):
    periods = [(n * 37) % 150 for n in range(300)]
    with api.stream(f"/v1/events?label=many%3D{name}&types=fired&limit=300").expect(200) as stream:
        made = api.batch([{"after": f"{period}ms", "labels": {"many": name}} for period in periods], query="?results=brief").expect(200)
        events = stream.rest()
    assert sorted(event["timer"] for event in events) == sorted(line["id"] for line in made.lines)
    check_never_early(events)
