"""Due instants that pass while nothing can fire: the server is killed, or stopped for over a second."""

from outages import GAP, stand_still, stay_down
from timers import duration, instant, now, shown, types


def fires(events):
    return [event for event in events if event["type"] == "fired"]


def first_fires(api, id, since, count):
    with api.stream(f"/v1/timers/{id}/events?since={since}&types=fired&limit={count}").expect(200) as stream:
        return stream.rest()


def check_misfire(before, after, every):
    """`after` begins with the one misfire that stands for every due instant in the gap."""
    assert [event["reason"] for event in after].count("misfire") == 1
    misfire = next(event for event in after if event["reason"] == "misfire")
    assert misfire["missed"] >= 3
    chain = [before, *after]
    for last, event in zip(chain, chain[1:]):
        assert instant(event["scheduledAt"]) - instant(last["scheduledAt"]) == every * (event["missed"] + 1), event
    assert [event["fire"] for event in chain] == list(range(before["fire"], before["fire"] + len(chain)))


def test_downtime_is_one_misfire_a_timer(new_server):
    server = new_server()
    api = server.client
    api.create(id="grid", every="200ms")
    api.create(id="delay", every="200ms", mode="fixedDelay")
    api.create(id="far", after="1h")
    left = api.create(id="asleep", after="1h")
    left = api.command("asleep", "suspend").expect(200).json
    far = api.timer("far")
    api.first_fire("grid")
    api.first_fire("delay")
    due = now() + 2000
    api.create(id="at", at=shown(due))
    server.kill9()
    killed = now()
    api = stay_down(server, max(GAP, (due - killed) / 1000 + 0.1))
    last = {}
    for id in ("grid", "delay"):
        events = api.history_of(id)
        last[id] = [event for event in fires(events) if event["reason"] != "misfire" and instant(event["at"]) < killed][-1]
    check_misfire(last["grid"], first_fires(api, "grid", last["grid"]["id"], 3), 200)
    delayed = first_fires(api, "delay", last["delay"]["id"], 2)
    assert [(event["reason"], event["missed"]) for event in delayed] == [("misfire", 0), ("due", 0)]
    assert instant(delayed[1]["scheduledAt"]) >= instant(delayed[0]["at"]) + 200
    once = first_fires(api, "at", 0, 1)[0]
    assert (once["reason"], once["missed"], instant(once["scheduledAt"])) == ("misfire", 0, due)
    assert types(api.history_of("at")) == ["created", "activated", "fired", "completed"]
    assert api.timer("asleep") == left
    assert abs(instant(api.timer("far")["nextFireAt"]) - instant(far["nextFireAt"])) <= 5
    assert duration(api.timer("far")["remaining"]) <= 3_600_000 - GAP * 1000


def test_a_stopped_process_misfires_once(new_server):
    server = new_server()
    api = server.client
    api.create(id="grid", every="100ms")
    api.first_fire("grid")
    stand_still(server, GAP)
    with api.stream("/v1/timers/grid/events?since=0&types=fired").expect(200) as stream:
        seen = []
        while not seen or seen[-1]["reason"] != "misfire":
            seen.append(stream.next())
            assert len(seen) < 200, "no misfire came"
        seen += stream.take(2)
    check_misfire(seen[0], seen[1:], 100)
    assert api.timer("grid")["missedCount"] == sum(event["missed"] for event in seen)
