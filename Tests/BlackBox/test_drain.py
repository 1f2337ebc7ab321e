"""A drained server: nothing fires, nothing is sent and nothing changes until it is undrained, whatever happens to the process."""

import json

import pytest

from receiver import Gate
from server import run
from test_operations import samples
from timers import duration, instant, now, poll, types
from webhooks import LATER, deliveries, event, events, hooked


def drain(api):
    """Drains, and waits for the attempts that were under way."""
    poll(lambda: api.post("/v1/drain").expect(200).json == {"drained": True, "attemptsUnderWay": 0})


def undrain(api):
    assert api.delete("/v1/drain").expect(200).json["drained"] is False


def passed(instant_text, by=0):
    """Waits until the instant lies that many milliseconds back."""
    poll(lambda: now() > instant(instant_text) + by)


def test_changes_are_refused_and_reads_go_on(new_server):
    api = new_server().client
    api.create(id="a", labels={"k": "v"})
    api.create(id="w", watchdog="1h")
    drain(api)
    for refused in [api.post("/v1/timers", {"after": "1s"}), api.put("/v1/timers/a", {"after": "1s"}),
                    api.patch("/v1/timers/a", {"labels": None}), api.delete("/v1/timers/a"), api.command("a", "suspend"),
                    api.command("w", "kick"), api.post("/v1/timers/bulk/cancel", {"labels": {"k": "v"}}),
                    api.post("/v1/timers", {"after": "1s"}, headers={"Idempotency-Key": "k"})]:
        assert refused.problem(503, "drained")["outcome"] == "none"
        assert refused.headers["Retry-After"]
    (line,) = api.batch([{"command": "suspend", "id": "a"}]).expect(200).lines
    assert line["problem"]["type"] == "/problems/drained"
    assert api.timer("a")["state"] == "running" and len(api.get("/v1/timers").expect(200).json["timers"]) == 2
    assert types(api.history()) == ["created", "activated"] * 2
    assert api.get("/v1/timers/a/next").expect(200).json["fires"]
    api.post("/v1/schedules/preview", {"after": "1s"}).expect(200)
    undrain(api)
    api.command("a", "suspend").expect(200)
    api.command("w", "kick").expect(200)


def test_a_redrive_is_counted_and_not_made(new_server, receiver):
    api = new_server().client
    receiver.default = 500
    hooked(api, receiver.url("/a"), "a")
    api.command("a", "fire").expect(200)
    event(api, "a", "deliveryDead")
    drain(api)
    counted = api.post("/v1/deliveries/redrive?dryRun=true", {"timer": "a"}).expect(200).json
    assert counted == {"matched": 1, "changed": 1, "skipped": 0}
    assert api.post("/v1/deliveries/redrive", {"timer": "a"}).problem(503, "drained")["outcome"] == "none"
    undrain(api)


def test_its_health_says_so_without_alarm(new_server):
    server = new_server()
    api = server.client
    assert samples(server.owner)["timerd_drained"] == [({}, 0)] and api.get("/v1/stats").json["drained"] is False
    due = api.create(after="300ms")["nextFireAt"]
    drain(api)
    assert server.owner.get("/readyz").expect(503).json == {"status": "drained"}
    assert api.get("/healthz").expect(200).json == {"status": "ok"}
    passed(due)
    found = samples(server.owner)
    assert found["timerd_drained"] == [({}, 1)] and found["timerd_ready"] == [({}, 0)]
    assert found["timerd_storage_writable"] == [({}, 1)] and found["timerd_overdue_seconds"] == [({}, 0)]
    assert api.get("/v1/stats").json["drained"] is True
    assert run("health", "--server", server.url).returncode == 0
    undrain(api)
    server.owner.get("/readyz").expect(200)


@pytest.mark.parametrize("method", ["get", "put", "patch"])
def test_other_methods_are_refused(api, method):
    assert getattr(api, method)("/v1/drain").problem(405)
    assert api.options("/v1/drain").expect(204).headers["Allow"] == "POST, DELETE, OPTIONS"


def test_a_body_or_a_parameter_is_refused_and_drains_nothing(api):
    api.post("/v1/drain", {"why": "no"}).problem(400)
    api.post("/v1/drain?for=1s").problem(400)
    api.get("/readyz").expect(200)


def test_what_came_due_fires_once_by_its_policy_after_the_drain(new_server):
    api = new_server().client
    due = api.create(id="once", after="1s")["nextFireAt"]
    api.create(id="beat", every="100ms", after="1s")
    last = api.create(id="skip", every="100ms", after="1s", misfire="skip")["nextFireAt"]
    drain(api)
    # Over a second of stand-still makes misfires.
    passed(last, by=1200)
    assert [api.timer(id)["fireCount"] for id in ("once", "beat", "skip")] == [0, 0, 0]
    undrain(api)
    fired = event(api, "once", "fired")
    assert fired["reason"] == "misfire" and fired["scheduledAt"] == due and fired["missed"] == 0
    assert api.timer("once")["state"] == "completed"
    late, next = events(api, "beat", "fired", count=2)
    assert late["reason"] == "misfire" and late["missed"] >= 12 and next["reason"] == "due"
    first = event(api, "skip", "fired")
    assert first["reason"] == "due" and api.timer("skip")["missedCount"] >= 12


@pytest.mark.thorough
def test_watchdogs_and_other_suspending_timers_stand(new_server):
    api = new_server().client
    made = api.create(id="dog", watchdog="2s")
    api.create(id="slow", after="1h", clock="suspending")
    api.create(id="wall", after="1h")
    drain(api)
    left, elapsing = (duration(api.timer(id)["remaining"]) for id in ("slow", "wall"))
    passed(made["nextFireAt"], by=500)
    assert abs(duration(api.timer("slow")["remaining"]) - left) <= 1, "it goes by whole milliseconds"
    assert duration(api.timer("wall")["remaining"]) < elapsing, "the elapsed clock goes on"
    undrain(api)
    assert api.command("dog", "kick").expect(200).json["health"] == "ok"
    assert "fired" not in types(api.history_of("dog"))


@pytest.mark.parametrize("crash", [False, True])
def test_a_restart_stays_drained(new_server, crash):
    server = new_server()
    server.client.create(id="a", every="200ms")
    drain(server.client)
    held = server.client.timer("a")
    server.kill9() if crash else server.stop()
    passed(held["nextFireAt"])
    server.start()
    api = server.client
    assert server.owner.get("/readyz").expect(503).json == {"status": "drained"}
    api.post("/v1/timers", {"after": "1s"}).problem(503, "drained")
    assert api.timer("a")["fireCount"] == held["fireCount"]
    # It is the log that says so.
    server.stop()
    lines = [json.loads(line) for line in run("log", "dump", "--data", server.data).stdout.splitlines()]
    assert [line["drained"] for line in lines if line["kind"] == "drain"] == [True]
    server.start()
    undrain(server.client)
    poll(lambda: server.client.timer("a")["fireCount"] > held["fireCount"])
    server.restart()
    server.owner.get("/readyz").expect(200)


def test_webhooks_wait_and_those_under_way_end(new_server, receiver):
    gate = Gate(200)
    receiver.default = gate
    api = new_server().client
    hooked(api, receiver.url("/a"), "a")
    for _ in range(2):
        api.command("a", "fire").expect(200)
    receiver.wait_for(1)
    # The first is on its way: the drain tells so, and its outcome counts.
    assert api.post("/v1/drain").expect(200).json["attemptsUnderWay"] == 1
    gate.open()
    drain(api)
    assert types(api.history_of("a"))[-1] == "delivered"
    assert [delivery["state"] for delivery in deliveries(api)] == ["pending"]
    assert len(receiver.on()) == 1
    undrain(api)
    receiver.wait_for(2)
    assert len({request.id for request in receiver.on()}) == 2


def test_a_retry_waits_too(new_server, receiver):
    receiver.default = 500
    api = new_server().client
    hooked(api, receiver.url("/a"), "a", retry=LATER | {"initial": "300ms"})
    api.command("a", "fire").expect(200)
    failed = event(api, "a", "deliveryFailed")
    drain(api)
    passed(failed["nextAttemptAt"], by=200)
    assert len(receiver.on()) == 1
    undrain(api)
    receiver.wait_for(2)


def test_draining_twice_is_draining_once(new_server):
    api = new_server().client
    undrain(api)
    drain(api)
    drain(api)
    undrain(api)
    api.create()
