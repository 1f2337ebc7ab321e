"""The wall clock is set while the server runs and while it is down, and drifts as over a smeared leap second.

libfaketime wakes no waiting thread, so that the kernel reports a step at once is not tested here, only that the fire loop
looks each second. The rest is in CalendarTests, ServiceClockTests and the simulation, which steps its clocks at random.
"""

import pytest

import wallclock
from timers import duration, instant, poll, shown
from wallclock import DAY, HOUR

NEAR = 60_000  # milliseconds by which two readings may differ on a slow machine; a step is an hour or more
SOON = 3000


@pytest.fixture(scope="session")
def preload(tmp_path_factory):
    return wallclock.build(tmp_path_factory.mktemp("wallclock"))


@pytest.fixture
def clock(preload, tmp_path):
    return wallclock.WallClock(preload, tmp_path)


def fires(api, id):
    return [event for event in api.history_of(id) if event["type"] == "fired"]


def fired(api, id, count=1):
    """The timer's fires, once there are so many."""
    return poll(lambda: len(found := fires(api, id)) >= count and found)


def check_elapsed(api, created, step):
    """Timers that count elapsed time have not seen the step, but are shown by the new calendar."""
    soon = fired(api, "soon")[0]
    assert abs(instant(soon["scheduledAt"]) - created - SOON - step) <= NEAR
    assert soon["missed"] == 0
    for id in ("later", "dog"):
        timer = api.timer(id)
        assert timer["state"] == "running" and timer["fireCount"] == 0, timer
        assert 5 * HOUR - 60_000 < duration(timer["remaining"]) <= 5 * HOUR, timer
        assert abs(instant(timer["nextFireAt"]) - created - 5 * HOUR - step) <= SOON + NEAR
    assert api.timer("dog")["health"] == "ok"


def create_elapsed(api):
    api.create(id="later", after="5h")
    api.create(id="dog", watchdog="5h")
    return instant(api.create(id="soon", after=f"{SOON}ms")["createdAt"])


@pytest.mark.not_forwarded("of two servers whose calendars step, the first to notice releases the timers to the other")
@pytest.mark.parametrize("step", [HOUR, DAY])
def test_a_step_forward_is_a_gap_of_the_wall_clock_alone(new_server, clock, step):
    api = new_server(env=clock.env).client
    begin = clock.now()
    grid = step // 8
    api.create(id="at", at=shown(begin + step // 2))
    api.create(id="dropped", at=shown(begin + step // 2), misfire="skip")
    api.create(id="beyond", at=shown(begin + step + HOUR))
    api.create(id="grid", every=f"{grid}ms", at=shown(begin + grid // 2))
    api.create(id="all", every=f"{grid}ms", at=shown(begin + grid // 2), misfire="all")
    api.create(id="cron", cron="*/5 * * * *")
    created = create_elapsed(api)
    clock.set(step)
    at = fired(api, "at")
    assert [(event["reason"], event["missed"], instant(event["scheduledAt"])) for event in at] == [("misfire", 0, begin + step // 2)]
    once = fired(api, "grid")
    assert [(event["reason"], event["missed"], instant(event["scheduledAt"])) for event in once] == [
        ("misfire", 7, begin + grid // 2 + 7 * grid)]
    assert instant(api.timer("grid")["nextFireAt"]) == begin + grid // 2 + 8 * grid
    each = fired(api, "all", 8)
    assert [instant(event["scheduledAt"]) for event in each] == [begin + grid // 2 + n * grid for n in range(8)]
    cron = fired(api, "cron")[0]
    assert cron["reason"] == "misfire" and cron["missed"] >= step // (5 * 60_000) - 2
    dropped = poll(lambda: (timer := api.timer("dropped"))["state"] == "completed" and timer)
    assert (dropped["fireCount"], dropped["missedCount"]) == (0, 1)
    check_elapsed(api, created, step)
    assert api.timer("beyond")["fireCount"] == 0


@pytest.mark.undivided
@pytest.mark.parametrize("step", [HOUR, -HOUR])
def test_after_any_step_the_soonest_due_are_listed_in_order_from_any_place(new_server, clock, step):
    api = new_server(env=clock.env).client
    ids = [f"t{number:03}" for number in range(600)]
    api.batch([{"id": id, "after": f"{5 * HOUR + number}ms"} for number, id in enumerate(ids)]).expect(200)
    clock.set(step)
    seen, cursor = [], ""
    while cursor is not None:
        page = api.get(f"/v1/timers?sort=nextFireAt&limit=70{cursor}").expect(200).json
        seen += [timer["id"] for timer in page["timers"]]
        cursor = page["next"] and f"&cursor={page['next']}"
    assert seen == ids
    for due, found in (("8000000000000000", ids[:1]), ("0000000000000000", ids[:1]), ("7fffffffffffffff", [])):
        page = api.get(f"/v1/timers?sort=nextFireAt&limit=1&cursor={due}-0000000000000000").expect(200).json
        assert [timer["id"] for timer in page["timers"]] == found


@pytest.mark.thorough
@pytest.mark.undivided
@pytest.mark.parametrize("step", [HOUR, DAY])
def test_after_a_step_back_the_wall_clock_waits_and_repeats_nothing(new_server, clock, step):
    api = new_server(env=clock.env).client
    begin = clock.now()
    api.create(id="grid", every="200ms", at=shown(begin - 1000))
    before = fired(api, "grid", 3)
    api.create(id="at", at=shown(clock.now() + SOON))
    created = create_elapsed(api)
    clock.set(-step)
    # By elapsed time the first fire was due after the step, and it comes later than the instant of `at`.
    check_elapsed(api, created, -step)
    api.create(id="sooner", at=shown(clock.now() + 300))
    assert fired(api, "sooner")[0]["missed"] == 0
    assert fires(api, "at") == [] and api.timer("at")["state"] == "running"
    held = fires(api, "grid")
    clock.set(0)
    assert instant(fired(api, "at")[0]["scheduledAt"]) > begin
    after = fired(api, "grid", len(held) + 3)
    due = [instant(event["scheduledAt"]) for event in after]
    assert due[:len(before)] == [instant(event["scheduledAt"]) for event in before]
    assert [later - earlier for earlier, later in zip(due, due[1:])] == [200 * (event["missed"] + 1) for event in after[1:]]
    ids = [event["id"] for event in api.history()]
    assert ids == sorted(set(ids))


# Servers that share a database may run on several machines: what passed between two of them is told by the calendar alone.
@pytest.mark.not_on_postgres("elapsed time goes on by the calendar there")
@pytest.mark.parametrize("step", [HOUR, -HOUR, DAY, -DAY])
def test_a_step_while_the_server_is_down(new_server, clock, step):
    server = new_server(env=clock.env)
    api = server.client
    begin = clock.now()
    api.create(id="at", at=shown(begin + HOUR // 2))
    api.create(id="ended", after="0s", retain="30m")
    fired(api, "ended")
    key = {"Idempotency-Key": "once"}
    first = api.post("/v1/timers", {"after": "9h"}, headers=key).expect(201).json
    created = create_elapsed(api)
    ids = [event["id"] for event in api.history()]
    server.stop()
    clock.set(step)
    api = server.start().client
    check_elapsed(api, created, step)
    if step > 0:
        assert [(event["reason"], event["missed"]) for event in fired(api, "at")] == [("misfire", 0)]
    else:
        assert api.timer("at")["fireCount"] == 0
        assert instant(api.timer("at")["nextFireAt"]) == begin + HOUR // 2
    # `retain` is elapsed time; keys and events are kept for a day of the calendar.
    assert api.timer("ended")["state"] == "completed"
    again = api.post("/v1/timers", {"after": "9h"}, headers=key).expect(201)
    assert (again.json["id"] == first["id"]) == ("Idempotency-Replayed" in again.headers) == (step < DAY)
    history = [event["id"] for event in api.history()]
    assert history == sorted(set(history))
    assert set(ids) <= set(history) or step == DAY


@pytest.mark.thorough
@pytest.mark.parametrize("rate", ["1.00001", "0.99999", "1.02", "0.98"])
def test_a_drift_skips_nothing_and_fires_nothing_early(new_server, clock, rate):
    """A leap second smeared over a day is 1.0000116; a drift a thousand times as large shows within seconds."""
    clock.drift(rate)
    api = new_server(env=clock.env).client
    start = instant(api.create(id="mark", start="manual")["createdAt"])
    api.create(id="wall", every="50ms", at=shown(start))
    api.create(id="elapsed", every="50ms")
    for id in ("wall", "elapsed"):
        seen = fired(api, id, 60)
        assert [event["fire"] for event in seen] == list(range(1, len(seen) + 1))
        for event in seen:
            assert event["latenessUs"] >= 0 and instant(event["at"]) >= instant(event["scheduledAt"]), event
    events = fires(api, "wall")
    due = [instant(event["scheduledAt"]) for event in events]
    missed = [event["missed"] for event in events]
    assert [later - earlier for earlier, later in zip(due, due[1:])] == [50 * (count + 1) for count in missed[1:]]
