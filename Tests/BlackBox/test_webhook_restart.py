"""Deliveries over a clean stop and over kill -9: none is lost, and each is sent as it was."""

import pytest

from free_ports import free_port
from receiver import Gate, Receiver
from timers import instant
from webhooks import LATER, SECRET, attempts, deliveries, event, fire, fired, hooked

SOON = {"initial": "300ms", "max": "1s", "maxAttempts": 20}


def end(server, how):
    server.kill9() if how == "kill -9" else server.stop()


@pytest.fixture(params=["stop", "kill -9"])
def how(request):
    return request.param


def test_waiting_and_pending_ones_are_delivered_afterwards(new_server, receiver, how):
    server = new_server()
    hooked(server.client, receiver.script("/", 500), "t", retry=SOON, secret=SECRET, timer={"payload": {"n": 1.0}})
    fire(server.client, "t", 3)
    attempts(server.client, "t", 1)
    end(server, how)
    receiver.settle()
    before = receiver.on()
    receiver.script("/", 200)
    api = server.start().client
    ids = fired(api, "t")
    receiver.wait_until(lambda found: [request.id for request in found if request.answer == 200] == ids)
    assert len(ids) == 3 and [request.id for request in before] == ids[:1] * len(before)
    assert receiver.ids() == sorted(receiver.ids())
    first = receiver.on()[len(before)]
    assert (first.id, first.body) == (before[0].id, before[0].body)
    told = [found for found in api.history_of("t") if found["type"] == "fired"]
    assert [request.json for request in receiver.on()[len(before):]] == told


def test_one_under_way_is_sent_again(new_server, receiver, how):
    server = new_server("--drain", "500ms")
    receiver.script("/", gate := Gate())
    hooked(server.client, receiver.url("/"), "t", timeout="10m")
    fire(server.client, "t", 2)
    first = receiver.wait_for(1)[0]
    end(server, how)
    receiver.settle()
    gate.open()
    receiver.script("/", 200)
    api = server.start().client
    receiver.wait_for(3)
    assert receiver.ids() == [first.id, first.id, fired(api, "t")[1]] and receiver.on()[1].body == first.body


def test_the_next_attempt_keeps_its_time_and_number(new_server, receiver, how):
    server = new_server()
    hooked(server.client, receiver.script("/", 500), "t", retry=LATER)
    fire(server.client, "t")
    failed = attempts(server.client, "t", 1)[0]
    end(server, how)
    api = server.start().client
    delivery = api.get(f"/v1/deliveries/{failed['delivery']}").expect(200).json
    assert (delivery["state"], delivery["attempts"]) == ("waiting", 1)
    assert delivery["nextAttemptAt"] == failed["nextAttemptAt"]
    fire(api, hooked(api, receiver.url("/barrier"), "other"))
    receiver.wait_for(1, "/barrier")
    assert len(receiver.on("/")) == 1


def test_attempts_go_on_counting(new_server, receiver, how):
    server = new_server()
    hooked(server.client, receiver.script("/", 500), "t", retry=SOON | {"maxAttempts": 3})
    fire(server.client, "t")
    attempts(server.client, "t", 1)
    end(server, how)
    api = server.start().client
    dead = event(api, "t", "deliveryDead")
    assert (dead["attempt"], dead["reason"], dead["status"]) == (3, "attempts", 500)
    assert 3 <= len(receiver.on()) <= 4  # an attempt that a crash interrupted is made again


def test_dead_letters_stay_and_delivered_ones_do_not_come_again(new_server, receiver, how):
    server = new_server()
    api = server.client
    hooked(api, receiver.script("/dead", 500), "dead", retry=SOON | {"maxAttempts": 1})
    hooked(api, receiver.url("/fine"), "fine")
    fire(api, "dead")
    fire(api, "fine", 3)
    event(api, "dead", "deliveryDead")
    attempts(api, "fine", 3)
    before = deliveries(api, "state=dead")
    end(server, how)
    api = server.start().client
    assert deliveries(api, "state=dead") == before and len(before) == 1
    fire(api, "fine")
    receiver.wait_for(4, "/fine")
    assert receiver.ids("/fine") == fired(api, "fine") and len(receiver.on("/dead")) == 1


def test_what_was_fired_while_the_receiver_was_down_comes_when_both_are_back(new_server, how):
    port, server = free_port(), new_server()
    for n in range(5):
        hooked(server.client, f"http://127.0.0.1:{port}/{n}", f"t{n}", retry=SOON)
        fire(server.client, f"t{n}", 4)
    event(server.client, "t4", "deliveryFailed")
    end(server, how)
    with Receiver(port=port) as receiver:
        api = server.start().client
        receiver.wait_for(20)
        for n in range(5):
            assert receiver.ids(f"/{n}") == fired(api, f"t{n}")
            assert [instant(found["at"]) for found in attempts(api, f"t{n}", 5)]


def test_commands_of_a_client_hold_over_a_crash_before_the_delivery(new_server, receiver):
    """PATCHed before the crash, delivered after it: to the present webhook, with the body of that time."""
    server = new_server()
    hooked(server.client, receiver.script("/old", 500), "t", retry=SOON, timer={"payload": "old"})
    fire(server.client, "t")
    old = receiver.wait_for(1, "/old")[0]
    attempts(server.client, "t", 1)
    server.client.patch("/v1/timers/t", {"payload": "new", "webhook": {"url": receiver.url("/new")}}).expect(200)
    server.kill9()
    server.start()
    new = receiver.wait_for(1, "/new")[0]
    assert (new.id, new.body) == (old.id, old.body)
