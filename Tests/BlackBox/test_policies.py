"""Due instants of each misfire policy that pass while the server is stopped. Policies are for the tests of TimerCore."""

from outages import GAP, stand_still
from timers import instant, now, shown, types


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
