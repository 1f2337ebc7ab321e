"""One timer's deliveries go in order, those of several timers concurrently; commands and bounds affect pending ones."""

import random
import threading

import pytest

from receiver import Answer, Gate, Receiver, hang
from timers import duration, poll, types
from webhooks import FAST, STUBBORN, attempts, deliveries, event, events, fire, fired, hooked

TIMERS, FIRES = 12, 12
PENDING = 1000  # of one timer


def failing(part, seed):
    """A behaviour that fails a part of the requests, the same ones of each path in each run."""
    dice, lock = {}, threading.Lock()

    def answer(request):
        with lock:
            return 500 if dice.setdefault(request.path, random.Random(f"{seed}{request.path}")).random() < part else 200
    return answer


def fire_all(api, ids, count):
    """Fires timers that many times, in turn."""
    lines = [{"command": "fire", "id": id} for _ in range(count) for id in ids]
    assert {line["status"] for line in api.batch(lines, "?results=brief").expect(200).lines} == {200}


def test_a_timers_deliveries_go_in_order(api, name):
    with Receiver(answer=failing(1 / 3, 1)) as receiver:
        ids = [hooked(api, receiver.url(f"/{n}"), f"{name}-{n}", retry=STUBBORN) for n in range(TIMERS)]
        fire_all(api, ids, FIRES)
        receiver.wait_until(lambda found: len({request.id for request in found if request.answer == 200}) == TIMERS * FIRES, timeout=40)
        for n, id in enumerate(ids):
            wanted, taken = fired(api, id), []
            for request in receiver.on(f"/{n}"):
                assert request.id == wanted[len(taken)], f"{request} came before its turn"
                if request.answer == 200:
                    taken.append(request.id)
            assert taken == wanted
            told = [found["delivery"] for found in events(api, id, "delivered", count=FIRES)]
            assert told == wanted


def test_a_later_one_waits_until_the_earlier_is_delivered_or_dead(api, name):
    with Receiver(answer=failing(0.6, 2)) as receiver:
        ids = [hooked(api, receiver.url(f"/{n}"), f"{name}-{n}", retry=FAST | {"maxAttempts": 2}) for n in range(4)]
        fire_all(api, ids, FIRES)
        for n, id in enumerate(ids):
            ends = events(api, id, "delivered", "deliveryDead", count=FIRES)
            assert [end["delivery"] for end in ends] == fired(api, id)
            seen = list(dict.fromkeys(receiver.ids(f"/{n}")))
            assert seen == fired(api, id) and receiver.ids(f"/{n}") == sorted(receiver.ids(f"/{n}"))
            dead = [end["delivery"] for end in ends if end["type"] == "deliveryDead"]
            assert all(receiver.ids(f"/{n}").count(delivery) == 2 for delivery in dead)
        assert {request.answer for request in receiver.on()} == {200, 500}


def test_timers_go_side_by_side(api, receiver, name):
    receiver.script("/held", gate := Gate())
    ids = [hooked(api, receiver.url("/held"), f"{name}-{n}", timeout="1m") for n in range(8)]
    fire_all(api, ids, 2)
    assert len({request.json["timer"] for request in receiver.wait_for(8, "/held")}) == 8
    gate.open()
    receiver.wait_for(16, "/held")


@pytest.mark.thorough
def test_a_hanging_host_does_not_delay_others(new_server, receiver):
    api = new_server().client
    with Receiver("127.0.0.3", answer=hang) as hanging:
        stuck = [hooked(api, hanging.url(), f"stuck-{n}", timeout="5m") for n in range(300)]
        fire_all(api, stuck, 3)
        hanging.wait_for(10)
        ids = [hooked(api, receiver.url(), f"quick-{n}") for n in range(10)]
        fire_all(api, ids, 10)
        receiver.wait_for(100)
        assert all(request.answer is None for request in hanging.on())


def test_one_host_gets_so_many_at_once(new_server, receiver):
    api = new_server("--webhook-per-host", "2").client
    gates = [Gate() for _ in range(6)]
    receiver.script("/held", *gates)
    ids = [hooked(api, receiver.url("/held"), f"t{n}", timeout="1m") for n in range(6)]
    fire_all(api, ids, 1)
    for n, gate in enumerate(gates):
        # Any further request to this host would have come by the time that another host has its own.
        receiver.wait_for(min(n + 2, 6), "/held")
        with Receiver("127.0.0.4") as other:
            fire(api, hooked(api, other.url()))
            other.wait_for(1)
        assert len(receiver.on("/held")) == min(n + 2, 6)
        gate.open()


def held(api, receiver, name, count=3, timer=None, **webhook):
    """A timer with fires, the first of which is under way and held by a gate."""
    receiver.script("/", gate := Gate())
    id = hooked(api, receiver.url("/"), name, timer=timer, timeout="1m", **webhook)
    fire(api, id, count)
    receiver.wait_for(1, "/")
    return id, gate


def test_suspend_and_cancel_keep_what_is_pending(api, receiver, name):
    id, gate = held(api, receiver, name)
    api.command(id, "suspend").expect(200)
    api.command(id, "cancel").expect(200)
    gate.open()
    receiver.wait_for(3, "/")
    assert receiver.ids("/") == fired(api, id)
    assert [found["type"] for found in attempts(api, id, 3)] == ["delivered"] * 3


def test_completion_keeps_what_is_pending(api, receiver, name):
    id, gate = held(api, receiver, name, timer={"maxFires": 3})
    assert api.timer(id)["state"] == "completed"
    gate.open()
    receiver.wait_for(3, "/")
    assert receiver.ids("/") == fired(api, id)


def test_put_keeps_what_is_pending(api, receiver, name):
    id, gate = held(api, receiver, name)
    api.put(f"/v1/timers/{id}", {"every": "2h", "webhook": receiver.url("/new")}).expect(200)
    gate.open()
    assert [request.id for request in receiver.wait_for(2, "/new")] == fired(api, id)[1:] and receiver.ids("/") == fired(api, id)[:1]


def test_delete_drops_what_is_pending(api, receiver, name):
    id, gate = held(api, receiver, name)
    ids = fired(api, id)
    api.delete(f"/v1/timers/{id}").expect(204)
    assert deliveries(api, f"timer={id}") == []
    for delivery in ids:
        api.get(f"/v1/deliveries/{delivery}").expect(404)
    gate.open()
    fire(api, hooked(api, receiver.url("/barrier"), f"{name}-other"))
    receiver.wait_for(1, "/barrier")
    assert len(receiver.on("/")) == 1
    # A later timer of the same id does not get them either.
    fire(api, hooked(api, receiver.url("/"), name))
    assert receiver.wait_for(2, "/")[1].id not in ids


def test_a_timer_is_kept_while_something_is_pending(api, receiver, name):
    id, gate = held(api, receiver, name, timer={"maxFires": 2, "retain": "50ms"}, count=2)
    other = api.create(after="1ms", retain="50ms", id=f"{name}-other")["id"]
    with api.stream(f"/v1/timers/{other}/events?since=0").expect(200) as stream:
        assert stream.until("deleted")[-1]["reason"] == "expired"
    assert api.timer(id)["state"] == "completed"
    with api.stream(f"/v1/timers/{id}/events?since=0").expect(200) as stream:
        gate.open()
        seen = stream.until("deleted")
    assert types(seen)[-3:] == ["delivered", "delivered", "deleted"] and seen[-1]["reason"] == "expired"


@pytest.mark.thorough
def test_above_the_bound_of_one_timer_the_oldest_is_dead(api, receiver, name):
    id, gate = held(api, receiver, name, count=1)
    over = 100
    fire(api, id, PENDING + over)
    ids = fired(api, id)
    # The attempt under way can't be taken back; the contract does not say whether it counts.
    dead = events(api, id, "deliveryDead", count=over)
    assert [found["delivery"] for found in dead[:over]] == ids[1:1 + over]
    assert {found["reason"] for found in dead} == {"backlog"}
    gate.open()
    receiver.wait_until(lambda found: found and found[-1].id == ids[-1], "/", timeout=50)
    all_dead = [found["delivery"] for found in api.history_of(id) if found["type"] == "deliveryDead"]
    assert len(all_dead) - over in (0, 1) and receiver.ids("/") == [ids[0], *ids[1 + len(all_dead):]]


@pytest.mark.undivided
def test_above_the_backlog_the_oldest_of_all_is_dead(new_server, receiver):
    api = new_server("--webhook-backlog", "5").client
    receiver.script("/", gate := Gate())
    for id in ("t0", "t1"):
        fire(api, hooked(api, receiver.url("/"), id, timeout="1m"))
    receiver.wait_for(2, "/")
    fire(api, "t0", 2)
    fire(api, "t1", 4)
    with api.stream("/v1/events?since=0&types=deliveryDead").expect(200) as stream:
        dead = stream.next()
    assert dead["delivery"] == fired(api, "t0")[1] and dead["reason"] == "backlog"
    gate.open()


# Commands of the receiver.

def commanding(api, receiver, name, command, timer=None, status=200):
    id = hooked(api, receiver.script("/", Answer(status, {"Timer-Command": command}), 200), name, timer=timer)
    fire(api, id)
    attempts(api, id, 1)
    return id


def test_cancel_and_suspend_are_commands(api, receiver, name):
    for command, state in (("cancel", "cancelled"), ("suspend", "suspended")):
        id = commanding(api, receiver, f"{name}-{command}", command)
        assert api.timer(id)["state"] == state
        told = types(api.history_of(id))
        assert sorted(told[3:]) == sorted(["delivered", state]) and told[:3] == ["created", "activated", "fired"]


def test_reschedule_is_a_command(api, receiver, name):
    id = commanding(api, receiver, name, "reschedule=3h")
    timer = api.timer(id)
    assert timer["state"] == "running" and 10_700_000 < duration(timer["remaining"]) <= 10_800_000
    assert event(api, id, "rescheduled")["version"] == timer["version"]


def test_reschedule_runs_a_completed_restartable_timer_again(api, receiver, name):
    id = commanding(api, receiver, name, "reschedule=3h", timer={"every": None, "after": "1h", "restartable": True})
    timer = api.timer(id)
    assert timer["state"] == "running" and 10_700_000 < duration(timer["remaining"]) <= 10_800_000


def test_only_success_commands(api, receiver, name):
    for status in (500, 301, 410):
        assert api.timer(commanding(api, receiver, f"{name}-{status}", "cancel", status=status))["state"] == "running"


def test_illegal_commands_are_counted_and_change_nothing(new_server, receiver):
    server = new_server()
    api = server.client
    for n, (command, timer) in enumerate([("suspend", {"maxFires": 1}), ("cancel", {"maxFires": 1}), ("reschedule=1h", {"maxFires": 1}),
                                          ("explode", {}), ("reschedule=soon", {})]):
        id = commanding(api, receiver, f"t{n}", command, timer=timer)
        assert attempts(api, id, 1)[0]["type"] == "delivered"
        assert api.timer(id)["state"] == ("completed" if timer else "running")
    commanding(api, receiver, "legal", "cancel")
    counted = 'timerd_webhook_commands_total{outcome="%s"} %d'
    poll(lambda: counted % ("illegal", 5) in (text := server.owner.get("/metrics").body.decode()) and counted % ("applied", 1) in text)


def test_a_command_of_the_receiver_stops_further_fires(api, receiver, name):
    receiver.script("/", Answer(200, {"Timer-Command": "cancel"}))
    hooked(api, receiver.url("/"), name, timer={"every": "20ms"})
    with api.stream(f"/v1/timers/{name}/events?since=0").expect(200) as stream:
        stream.until("cancelled")
    seen = [found["type"] for found in api.history_of(name) if found["type"] in ("fired", "cancelled")]
    assert seen[-1] == "cancelled" and seen.count("cancelled") == 1
