"""Due instants of each misfire policy that pass while the server is stopped. Policies are for the tests of TimerCore."""

from outages import GAP, stand_still
from timers import instant, now, poll, shown, types


def fires_until(api, id, is_enough):
    """The timer's fires, from the first one on, up to that with which `is_enough` is true of them."""
    with api.stream(f"/v1/timers/{id}/events?since=0&types=fired").expect(200) as stream:
        fires = [stream.next()]
        while not is_enough(fires):
            fires.append(stream.next())
    return fires


def test_all_fires_each_one_that_was_missed(new_server):
    server = new_server()
    api = server.client
    api.create(id="all", every="200ms", misfire="all")
    api.first_fire("all")
    stand_still(server, GAP)
    fires = fires_until(api, "all", lambda fires: sum(event["reason"] == "misfire" for event in fires) == 4)
    assert all(event["missed"] == 0 for event in fires)
    for last, event in zip(fires, fires[1:]):
        assert instant(event["scheduledAt"]) - instant(last["scheduledAt"]) == 200


def test_skip_and_grace_drop_and_count(new_server):
    server = new_server()
    api = server.client
    api.create(id="skip", every="200ms", misfire="skip")
    api.create(id="grace", every="200ms", misfire="all", misfireGrace="500ms")
    dues = {f"once-{number}": now() + 500 * 2**number for number in range(7)}
    for id, due in dues.items():
        api.create(id=id, at=shown(due), misfire="skip")
    for id in ("skip", "grace"):
        api.first_fire(id)
    passed = []

    def pass_a_due_instant():
        # The first that has not come when the process is stopped is the one to look at, however slow the machine is.
        passed.append(next(id for id, due in dues.items() if due > now()))
        poll(lambda: now() > dues[passed[0]])
    stand_still(server, GAP, pass_a_due_instant)
    poll(lambda: api.timer("skip")["missedCount"] >= 4)
    assert not [event for event in api.history_of("skip") if event.get("reason") == "misfire"]
    fires = fires_until(api, "grace", lambda fires: [event["reason"] for event in fires[-2:]] == ["misfire", "due"])
    late = [event for event in fires if event["reason"] == "misfire"]
    assert 1 <= len(late) <= 4 and sum(event["missed"] for event in late) >= 2
    once = api.timer(passed[0])
    assert (once["state"], once["fireCount"], once["missedCount"]) == ("completed", 0, 1)
    assert types(api.history_of(passed[0])) == ["created", "activated", "completed"]
