"""leeway, jitter, misfire and the clocks: shown as given, refused with a pointer, and obeyed."""

import pytest

from outages import GAP, stand_still
from timers import duration, instant, now, shown, types

GIVEN = {"leeway": "2s", "jitter": "1m30s", "misfire": "all", "misfireGrace": "1h"}


@pytest.mark.parametrize("schedule", [{"after": "1h"}, {"at": "2099-01-01T00:00:00Z"}, {"every": "1h"}, {"cron": "@daily"}])
def test_policies_are_shown_as_given(api, name, schedule):
    timer = api.create(id=name, **schedule, **GIVEN)
    assert {field: timer[field] for field in GIVEN} == GIVEN
    again = api.put(f"/v1/timers/{name}", timer).expect(200).json
    assert {field: again[field] for field in GIVEN} == GIVEN
    nothing = api.patch(f"/v1/timers/{name}", dict.fromkeys(GIVEN)).expect(200).json
    assert [nothing[field] for field in GIVEN] == ["0s", "0s", "once", None]


@pytest.mark.parametrize("field, value", [
    ("leeway", "-1s"), ("leeway", 5), ("leeway", "0.1ms"), ("jitter", "1y"), ("jitter", []), ("misfire", "never"), ("misfire", True),
    ("misfireGrace", "soon"), ("misfireGrace", 1), ("clock", "sundial"), ("start", "later"),
])
def test_policies_that_make_no_sense(api, name, field, value):
    problem = api.post("/v1/timers", {"id": name, "every": "1h", field: value}).problem(400)
    assert problem["pointer"] == f"/{field}"
    api.get(f"/v1/timers/{name}").expect(404)


@pytest.mark.parametrize("schedule", [{"after": "1h"}, {"every": "1h"}, {"every": "1h", "after": "2h"}, {"watchdog": "1h"}])
@pytest.mark.parametrize("clock", ["wall", "continuous", "suspending"])
def test_every_clock_that_is_no_calendars(api, schedule, clock):
    timer = api.create(**schedule, clock=clock)
    assert timer["clock"] == clock
    assert duration(timer["remaining"]) > 3_590_000


def test_a_patch_of_the_schedule_keeps_the_policies(api):
    timer = api.create(every="1h", **GIVEN)
    changed = api.patch(f"/v1/timers/{timer['id']}", {"every": None, "cron": "@daily"}).expect(200).json
    assert {field: changed[field] for field in GIVEN} == GIVEN


def test_a_clock_that_the_new_schedule_does_not_allow_goes(api):
    timer = api.create(after="1h", clock="suspending")
    changed = api.patch(f"/v1/timers/{timer['id']}", {"after": None, "cron": "@daily"}).expect(200).json
    assert changed["clock"] == "wall"


@pytest.mark.parametrize("delay", [{"leeway": "80ms"}, {"jitter": "80ms"}])
def test_leeway_and_jitter_delay_within_their_bounds(api, delay):
    timer = api.create(every="100ms", maxFires=5, **delay)
    with api.stream(f"/v1/timers/{timer['id']}/events?since=0").expect(200) as stream:
        fires = [event for event in stream.until("completed") if event["type"] == "fired"]
    for last, event in zip(fires, fires[1:]):
        assert instant(event["scheduledAt"]) - instant(last["scheduledAt"]) == 100 * (event["missed"] + 1)
        assert event["latenessUs"] >= 0
    assert timer["nextFireAt"] == fires[0]["scheduledAt"]  # the nominal instant is what is shown


def test_jitter_is_stable_for_an_id_and_a_due_instant(api, name):
    """Equal ids and due instants are delayed alike; different ids spread timers that are due together."""
    due = now() + 300
    ids = [f"{name}-{n}" for n in range(8)]
    for id in ids:
        api.create(id=id, at=shown(due), jitter="400ms")
    at = {}
    for id in ids:
        fired = api.get(f"/v1/timers/{id}/wait?since=0&timeout=8s").expect(200).json
        assert fired["scheduledAt"] == shown(due) and fired["latenessUs"] >= 0
        at[id] = fired["latenessUs"]
    assert len({lateness // 1000 for lateness in at.values()}) > 1, at


def test_all_fires_each_one_that_was_missed(new_server):
    server = new_server()
    api = server.client
    api.create(id="all", every="200ms", misfire="all")
    api.get("/v1/timers/all/wait?since=0&timeout=8s").expect(200)
    stand_still(server, GAP)
    with api.stream("/v1/timers/all/events?since=0&types=fired&limit=10").expect(200) as stream:
        fires = stream.rest()
    assert sum(event["reason"] == "misfire" for event in fires) >= 4
    assert all(event["missed"] == 0 for event in fires)
    for last, event in zip(fires, fires[1:]):
        assert instant(event["scheduledAt"]) - instant(last["scheduledAt"]) == 200


def test_skip_and_grace_drop_and_count(new_server):
    server = new_server()
    api = server.client
    api.create(id="skip", every="200ms", misfire="skip")
    api.create(id="grace", every="200ms", misfire="all", misfireGrace="500ms")
    due = now() + 700
    api.create(id="once", at=shown(due), misfire="skip")
    for id in ("skip", "grace"):
        api.get(f"/v1/timers/{id}/wait?since=0&timeout=8s").expect(200)
    stand_still(server, GAP)
    fires = {}
    for id in ("skip", "grace"):
        with api.stream(f"/v1/timers/{id}/events?since=0&types=fired&limit=9").expect(200) as stream:
            fires[id] = stream.rest()
    assert not [event for event in fires["skip"] if event["reason"] == "misfire"]
    assert api.timer("skip")["missedCount"] >= 4
    late = [event for event in fires["grace"] if event["reason"] == "misfire"]
    assert 1 <= len(late) <= 4 and sum(event["missed"] for event in late) >= 2
    once = api.timer("once")
    assert (once["state"], once["fireCount"], once["missedCount"]) == ("completed", 0, 1)
    assert types(api.history_of("once")) == ["created", "activated", "completed"]
