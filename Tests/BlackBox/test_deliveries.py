"""The deliveries API: pending deliveries, dead letters, and what clients can do with them."""

from receiver import Answer, Gate
from timers import instant, poll
from test_operations import samples, value
from webhooks import FAST, LATER, attempts, deliveries, event, events, fire, fired, hooked

FIELDS = {"id", "timer", "type", "at", "state", "attempts", "nextAttemptAt", "diedAt", "expiresAt", "reason", "lastStatus", "error",
          "lastAttemptAt"}
DAY = 86_400_000
ONCE = FAST | {"maxAttempts": 1}


def page(api, query=""):
    return api.get(f"/v1/deliveries?{query}").expect(200).json


def delivery(api, id):
    return api.get(f"/v1/deliveries/{id}").expect(200).json


def dead(api, receiver, name, count=1, **timer):
    """Makes a timer with that many dead letters; returns their ids."""
    hooked(api, receiver.script(f"/{name}", 500), name, retry=ONCE, timer=timer)
    fire(api, name, count)
    events(api, name, "deliveryDead", count=count)
    return fired(api, name)


def test_a_delivery_from_pending_to_dead(api, receiver, name):
    receiver.script("/", first := Gate(500), second := Gate(500))
    id = hooked(api, receiver.url("/"), name, retry=FAST | {"maxAttempts": 2}, timeout="1m")
    fire(api, id, 2)
    receiver.wait_for(1)
    one, other = (delivery(api, of) for of in fired(api, id))
    assert set(one) >= FIELDS and (one["state"], one["timer"], one["type"]) == ("inFlight", id, "fired")
    assert one["at"] == event(api, id, "fired")["at"] and one["attempts"] == 1
    assert (other["state"], other["attempts"]) == ("pending", 0)
    assert [other[field] for field in ("diedAt", "expiresAt", "reason", "lastStatus", "error", "lastAttemptAt")] == [None] * 6
    first.open()
    receiver.wait_for(2)
    last = {"lastStatus": 500, "error": "status", "lastAttemptAt": event(api, id, "deliveryFailed")["at"]}
    assert delivery(api, one["id"]) | {"nextAttemptAt": None} == one | {"attempts": 2, "nextAttemptAt": None} | last
    second.open()
    told = event(api, id, "deliveryDead")
    gone = delivery(api, one["id"])
    assert (gone["state"], gone["attempts"], gone["reason"], gone["lastStatus"]) == ("dead", 2, "attempts", 500)
    assert gone["nextAttemptAt"] is None and gone["diedAt"] == told["at"]
    assert instant(gone["expiresAt"]) - instant(gone["diedAt"]) == 7 * DAY


def test_what_was_delivered_is_no_more(api, receiver, name):
    id = hooked(api, receiver.url("/"), name)
    fire(api, id)
    done = attempts(api, id, 1)[0]["delivery"]
    api.get(f"/v1/deliveries/{done}").problem(404, "not-found")
    assert deliveries(api, f"timer={id}") == []


def test_a_dead_letter_is_driven_again(api, receiver, name):
    id = dead(api, receiver, name)[0]
    receiver.script(f"/{name}", gate := Gate())
    shown = api.post(f"/v1/deliveries/{id}/redrive").expect(200).json
    assert shown["id"] == id and shown["state"] in ("pending", "inFlight")
    assert [shown[field] for field in ("diedAt", "expiresAt", "reason")] == [None] * 3
    again = receiver.wait_for(2, f"/{name}")
    assert (again[1].id, again[1].body) == (id, again[0].body)
    gate.open()
    done = event(api, name, "delivered")
    assert (done["delivery"], done["attempt"]) == (id, 1)
    api.get(f"/v1/deliveries/{id}").problem(404)


def test_a_redriven_one_has_all_its_attempts_before_it(api, receiver, name):
    hooked(api, receiver.script("/", 500), name, retry=FAST)
    fire(api, name)
    id = event(api, name, "deliveryDead")["delivery"]
    api.post(f"/v1/deliveries/{id}/redrive", {}).expect(200)
    ends = [(found["type"], found["attempt"]) for found in attempts(api, name, 6)]
    assert ends == [("deliveryFailed", 1), ("deliveryFailed", 2), ("deliveryDead", 3)] * 2
    assert receiver.ids() == [id] * 6


def test_redriven_over_a_crash(new_server, receiver):
    server = new_server()
    id = dead(server.client, receiver, "t")[0]
    receiver.script("/t", gate := Gate())
    server.client.post(f"/v1/deliveries/{id}/redrive").expect(200)
    server.kill9()
    receiver.settle()
    gate.open()
    server.start()
    assert event(server.client, "t", "delivered")["delivery"] == id


def test_a_deleted_one_is_gone_for_good(api, receiver, name):
    dead_one = dead(api, receiver, f"{name}-dead")[0]
    hooked(api, receiver.script("/waits", 500), name, retry=LATER)
    fire(api, name, 2)
    attempts(api, name, 1)
    waiting, pending = fired(api, name)
    receiver.script("/waits", 200)
    for id in (dead_one, waiting):
        api.delete(f"/v1/deliveries/{id}").expect(204)
        api.get(f"/v1/deliveries/{id}").problem(404, "not-found")
        api.delete(f"/v1/deliveries/{id}").problem(404, "not-found")
    # Now the next delivery is first in the queue.
    assert event(api, name, "delivered")["delivery"] == pending
    assert receiver.ids("/waits") == [waiting, pending]


def test_dead_letters_outlive_their_timer_and_go_where_it_pointed(api, receiver, name):
    id = dead(api, receiver, name)[0]
    before = len(receiver.on())
    api.delete(f"/v1/timers/{name}").expect(204)
    assert delivery(api, id)["state"] == "dead"
    assert [found["id"] for found in deliveries(api, f"timer={name}")] == [id]
    api.post(f"/v1/deliveries/{id}/redrive").expect(200)
    assert receiver.wait_for(before + 1)[-1].id == id


def test_no_redrive_where_as_many_as_may_be_are_pending(new_server, receiver):
    api = new_server("--webhook-backlog", "1").client
    id = dead(api, receiver, "dead")[0]
    receiver.script("/full", gate := Gate())
    fire(api, hooked(api, receiver.url("/full"), "full"))
    receiver.wait_for(1, "/full")
    problem = api.post(f"/v1/deliveries/{id}/redrive").problem(409, "illegal-transition")
    assert "--webhook-backlog" in problem["detail"] and delivery(api, id)["state"] == "dead"
    answer = api.post("/v1/deliveries/redrive", {"timer": "dead"}).expect(200).json
    assert answer == {"matched": 1, "changed": 0, "skipped": 1}
    gate.open()
    event(api, "full", "delivered")
    api.post(f"/v1/deliveries/{id}/redrive").expect(200)


def test_what_a_deleted_timer_still_owes_is_found_by_its_name(api, receiver, name):
    """The event `deleted` is delivered too; by then its delivery belongs to no timer any more."""
    hooked(api, receiver.script("/", gate := Gate()), name, types=["deleted"])
    api.delete(f"/v1/timers/{name}").expect(204)
    receiver.wait_for(1)
    (found,) = deliveries(api, f"timer={name}&state=pending")
    assert (found["type"], found["timer"], found["state"]) == ("deleted", name, "inFlight")
    gate.open()
    poll(lambda: deliveries(api, f"timer={name}") == [])


def test_above_the_bound_of_dead_letters_the_oldest_is_dropped(new_server, receiver):
    api = new_server("--webhook-dead-letters", "3").client
    ids = dead(api, receiver, "t", 5)
    assert [found["id"] for found in deliveries(api, "state=dead")] == ids[-3:]
    api.get(f"/v1/deliveries/{ids[0]}").problem(404, "not-found")


def test_metrics_count_deliveries(new_server, receiver):
    server = new_server()
    api = server.client
    receiver.script("/", 200, 500, 500, 410)
    hooked(api, receiver.url("/"), "t", retry=FAST | {"maxAttempts": 2})
    fire(api, "t", 3)
    attempts(api, "t", 4)
    hooked(api, receiver.script("/waits", 500), "waits", retry=LATER)
    fire(api, "waits", 2)
    attempts(api, "waits", 1)
    hooked(api, receiver.script("/told", Answer(200, {"Timer-Command": "cancel"})), "told")
    fire(api, "told")
    attempts(api, "told", 1)
    wanted = {("attempts", "delivered"): 2, ("attempts", "failed"): 2, ("attempts", "dead"): 1, ("attempts", "gone"): 1,
              ("commands", "applied"): 1}

    def counted():
        found = samples(server.owner)
        return all(value(found, f"timerd_webhook_{kind}_total", outcome=outcome) == count for (kind, outcome), count in wanted.items()) \
            and value(found, "timerd_webhook_pending") == 2 and value(found, "timerd_webhook_dead") >= 1
    poll(counted)
    outcomes = {labels["outcome"] for labels, _ in samples(server.owner)["timerd_webhook_attempts_total"]}
    assert outcomes == {"delivered", "failed", "dead", "gone"}


def test_thousands_are_walked_through(new_server, receiver):
    api = new_server().client
    ids = [hooked(api, receiver.script("/", 500), f"t{n}", retry=LATER) for n in range(50)]
    lines = [{"command": "fire", "id": id} for id in ids for _ in range(100)]
    api.batch(lines, "?results=brief").expect(200)
    assert len(page(api, "state=pending&limit=1000")["deliveries"]) <= 1000
    assert len(deliveries(api, "state=pending&limit=1000")) == 5000
