"""Dead letters of timers that are deleted, perhaps with a later timer of the same id."""

import pytest

from receiver import Answer
from server import run
from webhooks import deliveries, event, fire, fired, hooked

ANSWER = Answer(200, {"Timer-Command": "cancel"})
QUICK = {"initial": "10ms", "max": "20ms", "maxAttempts": 2}


def metric(api, outcome):
    name = f'timerd_webhook_commands_total{{outcome="{outcome}"}} '
    return int(next(line for line in api.get("/metrics").expect(200).body.decode().splitlines() if line.startswith(name)).removeprefix(name))


def deleted(api, receiver, name):
    """A dead letter of a timer that was deleted after its webhook had moved; its id."""
    id = hooked(api, receiver.script("/first", 500), name, retry=QUICK, timer={"labels": {"life": "first"}})
    fire(api, id)
    event(api, id, "deliveryDead")
    [letter] = fired(api, id)
    assert "timerDeleted" not in deliveries(api, f"timer={id}")[0]
    api.patch(f"/v1/timers/{id}", {"webhook": {"url": receiver.script("/last", 200)}, "labels": {"life": "moved"}}).expect(200)
    assert "timerDeleted" not in deliveries(api, f"timer={id}")[0]
    api.delete(f"/v1/timers/{id}").expect(204)
    return letter


@pytest.mark.parametrize("is_restarted", [False, True], ids=["", "after kill -9"])
@pytest.mark.parametrize("has_later", [False, True], ids=["alone", "with a later timer"])
def test_a_redrive_goes_to_the_webhook_as_it_stood_at_the_delete(new_server, receiver, has_later, is_restarted):
    server = new_server()
    api = server.client
    letter = deleted(api, receiver, "t")
    if has_later:
        hooked(api, receiver.script("/later", 200), "t", timer={"labels": {"life": "later"}})
    if is_restarted:
        server.kill9()
        server.start()
        api = server.client
    [found] = deliveries(api, "timer=t&state=dead")
    assert found["id"] == letter and found["timerDeleted"] is True and found["labels"] == {"life": "first"}
    assert deliveries(api, "label=life%3Dlater") == []
    receiver.script("/last", ANSWER)
    shown = api.post(f"/v1/deliveries/{letter}/redrive").expect(200).json
    assert shown["timerDeleted"] is True and shown["state"] == "pending"
    assert receiver.wait_for(1, "/last")[0].id == letter
    with api.stream("/v1/events?since=0&types=delivered&limit=1").expect(200) as stream:
        [done] = stream.rest()
    assert done["delivery"] == letter and done["labels"] == {"life": "first"}
    assert not receiver.on("/later")
    assert (metric(server.owner, "illegal"), metric(server.owner, "applied")) == (1, 0)
    if has_later:
        assert api.timer("t")["state"] == "running"
        fire(api, "t")
        assert receiver.wait_for(1, "/later"), "the later one delivers as it did"


@pytest.mark.parametrize("selector", [{"timer": "t"}, {"labels": {"life": "first"}}])
def test_selectors_find_it_by_what_it_had(new_server, receiver, selector):
    api = new_server().client
    letter = deleted(api, receiver, "t")
    hooked(api, receiver.script("/later", 200), "t", timer={"labels": {"life": "later"}})
    assert api.post("/v1/deliveries/redrive", {"labels": {"life": "later"}}).expect(200).json["matched"] == 0
    assert api.post("/v1/deliveries/redrive", selector).expect(200).json == {"matched": 1, "changed": 1, "skipped": 0}
    assert [request.id for request in receiver.wait_for(1, "/last")] == [letter]


def test_a_timer_whose_webhook_was_taken_away_leaves_none(new_server, receiver):
    server = new_server()
    api = server.client
    id = hooked(api, receiver.script("/first", 500), "t", retry=QUICK)
    fire(api, id)
    event(api, id, "deliveryDead")
    [letter] = fired(api, id)
    api.patch("/v1/timers/t", {"webhook": None}).expect(200)
    api.delete("/v1/timers/t").expect(204)
    hooked(api, receiver.script("/later", 200), "t")
    api.post(f"/v1/deliveries/{letter}/redrive").problem(409, "illegal-transition")
    assert api.post("/v1/deliveries/redrive", {"timer": "t"}).expect(200).json == {"matched": 1, "changed": 0, "skipped": 1}
    server.stop()
    assert '"kind":"will"' in run("log", "dump", "--data", server.data).stdout


def test_lives_come_and_go_while_letters_are_redriven(new_server, receiver):
    """Each letter goes to the last URL of its own life's webhook, however often the id is used again."""
    api = new_server().client
    expected = {}
    for life in range(6):
        hooked(api, receiver.script(f"/{life}", 500), "t", retry=QUICK)
        fire(api, "t", 2)
        letters = fired(api, "t")[-2:]
        with api.stream(f"/v1/timers/t/events?since={letters[-1]}&types=deliveryDead&limit=2").expect(200) as deaths:
            assert len(deaths.rest()) == 2
        receiver.script(f"/{life}", 200)
        expected[f"/{life}"] = letters
        api.delete("/v1/timers/t").expect(204)
        if life % 2:
            api.post("/v1/deliveries/redrive", {"timer": "t"}).expect(200)
    api.post("/v1/deliveries/redrive", {"timer": "t"}).expect(200)
    for path, letters in expected.items():
        assert {request.id for request in receiver.wait_for(6, path)[4:]} == set(letters), path
