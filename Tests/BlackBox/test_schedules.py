"""When timers fire on real clocks: never early, in order, once for each due instant. Schedules are for the tests of TimerCore."""

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
    api.first_fire(api.create(after=period)["id"])


def check_never_early(events):
    for event in fires(events):
        assert event["latenessUs"] >= 0 and instant(event["at"]) >= instant(event["scheduledAt"]), event


def check_grid(events, every):
    """Each due instant of a grid has its own fire, or is counted in the fire that stands for it."""
    fired = fires(events)
    assert [event["fire"] for event in fired] == list(range(fired[0]["fire"], fired[0]["fire"] + len(fired)))
    for last, event in zip(fired, fired[1:]):
        assert instant(event["scheduledAt"]) - instant(last["scheduledAt"]) == every * (event["missed"] + 1), event


@pytest.mark.parametrize("period, clock", [("1ms", "continuous"), ("50ms", "wall")])
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


def test_every_keeps_its_grid(api):
    timer = api.create(every="20ms", maxFires=6, after="70ms")
    events = until_completed(api, timer)
    assert len(fires(events)) == 6
    assert fires(events)[0]["scheduledAt"] == timer["nextFireAt"]
    assert instant(timer["nextFireAt"]) >= instant(timer["createdAt"]) + 70
    check_grid(events, 20)
    check_never_early(events)


def test_a_fast_grid_misses_nothing(api):
    events = until_completed(api, api.create(every="1ms", maxFires=100))
    assert sum(event["missed"] + 1 for event in fires(events)) >= 100
    check_grid(events, 1)
    check_never_early(events)


def test_no_fire_follows_once_stopped(api):
    ids = [api.create(every=f"{n}ms")["id"] for n in range(1, 9)]
    let_pass(api, "30ms")
    for id in ids:
        api.command(id, "suspend").expect(200)
        assert types(api.history_of(id))[-1] == "suspended"
    let_pass(api, "30ms")
    for id in ids:
        events = api.history_of(id)
        assert types(events)[-1] == "suspended"
        check_grid(events, ids.index(id) + 1)


def test_many_timers_each_fire_once(api, name):
    periods = [(n * 37) % 150 for n in range(300)]
    with api.stream(f"/v1/events?label=many%3D{name}&types=fired&limit=300").expect(200) as stream:
        made = api.batch([{"after": f"{period}ms", "labels": {"many": name}} for period in periods], query="?results=brief").expect(200)
        events = stream.rest()
    assert sorted(event["timer"] for event in events) == sorted(line["id"] for line in made.lines)
    check_never_early(events)
