"""/v1/deliveries: clients list, read, redrive and drop pending and dead deliveries."""

import json
import re

import pytest

import receiver as told
from receiver import Answer, Gate, Receiver
from server import run
from timers import instant
from webhooks import LATER, event, events, fire, fired, hooked

QUICK = {"initial": "10ms", "max": "20ms", "maxAttempts": 2}
KEYS = ["id", "timer", "type", "at", "state", "attempts", "nextAttemptAt", "diedAt", "expiresAt", "reason", "lastStatus", "error", "lastAttemptAt", "labels"]
WEEK = 7 * 86_400_000
UNKNOWN = "0000000000000000042"


def deliveries(api, query=""):
    return api.get(f"/v1/deliveries{query}").expect(200).json["deliveries"]


def ids(found):
    return [delivery["id"] for delivery in found]


def shown(api, id):
    return api.get(f"/v1/deliveries/{id}").expect(200).json


def dead(api, receiver, name, count=1, answer=500, **timer):
    """A timer with that many dead letters; its id and theirs, oldest first. The receiver answers 200 from then on."""
    url = receiver.script(f"/{name}", answer)
    id = hooked(api, url, name, retry=QUICK, timer=timer)
    fire(api, id, count)
    events(api, id, "deliveryDead", count=count)
    receiver.script(f"/{name}", 200)
    return id, fired(api, id)


def test_a_dead_letter_is_shown_whole(api, receiver, name):
    timer, [id] = dead(api, receiver, name, labels={"team": name})
    found = shown(api, id)
    assert list(found) == KEYS
    told = event(api, timer, "fired")
    died = event(api, timer, "deliveryDead")
    assert found == {
        "id": id, "timer": timer, "type": "fired", "at": told["at"], "state": "dead", "attempts": 2, "nextAttemptAt": None,
        "diedAt": found["diedAt"], "expiresAt": found["expiresAt"], "reason": "attempts", "lastStatus": 500, "error": "status", "lastAttemptAt": found["diedAt"],
        "labels": {"team": name}}
    assert abs(instant(found["diedAt"]) - instant(died["at"])) <= 2
    assert instant(found["expiresAt"]) - instant(found["diedAt"]) == WEEK
    assert deliveries(api, f"?timer={timer}") == [found]


def test_one_that_got_no_answer_has_no_status(api, name):
    timer = hooked(api, "http://127.0.0.1:1/", name, retry=QUICK)
    fire(api, timer)
    event(api, timer, "deliveryDead")
    [found] = deliveries(api, f"?timer={timer}")
    assert (found["state"], found["lastStatus"], found["error"], found["reason"]) == ("dead", None, "unreachable", "attempts")
    assert found["lastAttemptAt"] == found["diedAt"]


@pytest.mark.parametrize("url, error", [
    ("http://127.0.0.1:1/", "unreachable"), ("http://169.254.169.254/", "refused-address"), ("http://127.0.0.1:PORT/hang", "timeout"),
    ("http://127.0.0.1:PORT/close", "interrupted"), ("http://127.0.0.1:PORT/500", "status"),
])
def test_a_waiting_one_says_why(api, receiver, name, url, error):
    receiver.script("/hang", told.hang)
    receiver.script("/close", told.close)
    receiver.script("/500", 500)
    timeout = "500ms" if error == "timeout" else "1m"
    timer = hooked(api, url.replace("PORT", str(receiver.port)), name, retry=LATER, timeout=timeout, timer={"labels": {"why": name}})
    fire(api, timer)
    failed = event(api, timer, "deliveryFailed")
    [found] = deliveries(api, f"?state=pending&label=why%3D{name}")
    assert (found["error"], found["lastStatus"]) == (error, 500 if error == "status" else None)
    assert found["lastAttemptAt"] == failed["at"] and found["nextAttemptAt"]
    assert deliveries(api, f"?label=why%3D{name}&label=other%3Dx") == []


def test_one_that_was_not_trusted_says_so(api, name):
    with Receiver(tls=True) as untrusted:
        timer = hooked(api, f"https://localhost:{untrusted.port}/", name, retry=LATER)
        fire(api, timer)
        event(api, timer, "deliveryFailed")
        assert deliveries(api, f"?timer={timer}")[0]["error"] == "tls"


def test_pending_ones_by_state(api, receiver, name):
    gate = Gate(Answer(200))
    timer = hooked(api, receiver.script(f"/{name}", 500, gate), name, retry={"initial": "1ms", "max": "1ms", "maxAttempts": 3})
    fire(api, timer, 2)
    receiver.wait_for(2, f"/{name}")
    first, second = deliveries(api, f"?timer={timer}&state=pending")
    assert (first["state"], first["attempts"], second["state"], second["attempts"]) == ("inFlight", 2, "pending", 0)
    for found in (first, second):
        assert all(found[key] is None for key in KEYS[6:10]), found
    assert (first["lastStatus"], first["error"]) == (500, "status") and second["lastStatus"] is second["error"] is second["lastAttemptAt"] is None
    assert deliveries(api, f"?timer={timer}&state=dead") == []
    gate.open()
    events(api, timer, "delivered", count=2)
    assert deliveries(api, f"?timer={timer}") == []
    api.get(f"/v1/deliveries/{first['id']}").problem(404, "not-found")


def test_a_waiting_one_says_when(api, receiver, name):
    timer = hooked(api, receiver.script(f"/{name}", 500), name, retry=LATER)
    fire(api, timer)
    failed = event(api, timer, "deliveryFailed")
    [found] = deliveries(api, f"?timer={timer}")
    assert (found["state"], found["attempts"]) == ("waiting", 1)
    assert abs(instant(found["nextAttemptAt"]) - instant(failed["nextAttemptAt"])) <= 2


def test_pages_are_oldest_first_and_complete(new_server, receiver):
    api = new_server().client
    one, first = dead(api, receiver, "one", 5)
    two, second = dead(api, receiver, "two", 5)
    slow = hooked(api, receiver.script("/slow", 500), "slow", retry=LATER)
    fire(api, slow, 6)
    event(api, slow, "deliveryFailed")
    everything = first + second + fired(api, slow)
    assert ids(deliveries(api)) == everything == sorted(everything)
    assert ids(deliveries(api, "?state=dead")) == first + second
    assert ids(deliveries(api, "?state=pending")) == everything[10:]
    assert ids(deliveries(api, "?state=pending,dead&timer=two")) == second
    for query, wanted in (("limit=3", everything), ("limit=2&state=dead", first + second), ("limit=4&timer=slow", everything[10:])):
        seen, target = [], f"/v1/deliveries?{query}"
        for _ in range(20):
            reply = api.get(target).expect(200)
            assert re.fullmatch(r"\d{19}", reply.headers["Event-Id"])
            seen += ids(reply.json["deliveries"])
            if reply.json["next"] is None:
                assert "Link" not in reply.headers
                break
            target = re.fullmatch(r'<([^>]+)>; rel="next"', reply.headers["Link"])[1]
        assert seen == wanted
    assert deliveries(api, "?timer=nobody") == []
    assert api.get("/v1/deliveries?timer=nobody").json["next"] is None


@pytest.mark.thorough
def test_many_are_gathered_and_redriven_in_pieces(new_server, receiver):
    """More deliveries than one hold of the lock looks at, and than one read of events takes."""
    api = new_server().client
    timers = []
    for number in range(3):
        id = hooked(api, receiver.script(f"/{number}", 500), f"t{number}", retry={"initial": "1ms", "max": "1ms", "maxAttempts": 1},
                    timer={"labels": {"number": str(number)}})
        fire(api, id, 300)
        timers.append(id)
    for id in timers:
        events(api, id, "deliveryDead", count=300)
    page = api.get("/v1/deliveries?state=dead&limit=1000").expect(200).json
    assert len(page["deliveries"]) == 900 and page["next"] is None
    assert ids(page["deliveries"]) == sorted(ids(page["deliveries"]))
    for number in range(3):
        receiver.script(f"/{number}", 200)
    assert redrive(api, {"labels": {"number": "1"}}, "?dryRun=true") == (300, 300, 0)
    assert redrive(api, {"labels": {"number": "1"}}) == (300, 300, 0)
    events(api, "t1", "delivered", count=300)
    assert len(set(receiver.ids("/1"))) == 300 and receiver.ids("/1")[300:] == receiver.ids("/1")[:300]
    left = deliveries(api, "?limit=1000")
    assert {delivery["timer"] for delivery in left} == {"t0", "t2"} and len(left) == 600


def redrive(api, selector, query=""):
    answer = api.post(f"/v1/deliveries/redrive{query}", selector, timeout=30).expect(200).json
    return answer["matched"], answer["changed"], answer["skipped"]


def test_a_redrive_delivers_anew(api, receiver, name):
    timer, [id] = dead(api, receiver, name)
    answer = api.post(f"/v1/deliveries/{id}/redrive").expect(200).json
    assert list(answer) == KEYS
    assert (answer["id"], answer["state"], answer["attempts"], answer["reason"], answer["diedAt"]) == (id, "pending", 0, None, None)
    told = event(api, timer, "delivered")
    assert (told["delivery"], told["attempt"]) == (id, 1)
    assert len(receiver.on(f"/{name}")) == 3 and len(set(receiver.ids(f"/{name}"))) == 1
    api.post(f"/v1/deliveries/{id}/redrive").problem(404, "not-found")


def test_a_redrive_takes_nothing(api, receiver, name):
    _, [id] = dead(api, receiver, name)
    path = f"/v1/deliveries/{id}/redrive"
    assert api.post(path, {"now": True}).problem(400, "unknown-field")["pointer"] == "/now"
    api.post(path, {}, content_type="text/plain").problem(415)
    api.post(path, {}, headers={"If-Match": "*"}).problem(400)
    assert api.post(f"{path}?dryRun=true").problem(400)["parameter"] == "dryRun"
    assert shown(api, id)["state"] == "dead"
    api.post(path, {}).expect(200)


def test_only_dead_ones_are_redriven(api, receiver, name):
    timer = hooked(api, receiver.script(f"/{name}", 500), name, retry=LATER)
    fire(api, timer)
    event(api, timer, "deliveryFailed")
    [found] = deliveries(api, f"?timer={timer}")
    assert "waiting" in api.post(f"/v1/deliveries/{found['id']}/redrive").problem(409, "illegal-transition")["detail"]


def test_no_redrive_without_a_webhook(api, receiver, name):
    timer, [id] = dead(api, receiver, name, labels={"team": name})
    api.patch(f"/v1/timers/{timer}", {"webhook": None}).expect(200)
    assert "webhook" in api.post(f"/v1/deliveries/{id}/redrive").problem(409, "illegal-transition")["detail"]
    assert redrive(api, {"timer": timer}, "?dryRun=true") == redrive(api, {"timer": timer}) == (1, 0, 1)
    assert shown(api, id)["state"] == "dead"


def test_no_redrive_after_410(api, receiver, name):
    timer, [id] = dead(api, receiver, name)
    receiver.script(f"/{name}", 410)
    fire(api, timer)
    events(api, timer, "deliveryDead", count=2)
    assert "410" in api.post(f"/v1/deliveries/{id}/redrive").problem(409, "illegal-transition")["detail"]


def test_a_dead_letter_outlives_its_timer(api, receiver, name):
    timer, [id] = dead(api, receiver, name)
    api.delete(f"/v1/timers/{timer}").expect(204)
    assert ids(deliveries(api, f"?timer={timer}")) == [id]
    api.post(f"/v1/deliveries/{id}/redrive").expect(200)
    receiver.wait_until(lambda requests: requests[-1].answer == 200, f"/{name}")


def test_a_redrive_is_repeated_safely(api, receiver, name):
    timer, [id] = dead(api, receiver, name)
    path, key = f"/v1/deliveries/{id}/redrive", {"Idempotency-Key": name}
    first = api.post(path, headers=key).expect(200)
    event(api, timer, "delivered")
    again = api.post(path, headers=key).expect(200)
    assert again.headers["Idempotency-Replayed"] == "true" and again.body == first.body
    api.post("/v1/deliveries/redrive", {"timer": timer}, headers=key).problem(422, "idempotency-mismatch")
    assert len(receiver.on(f"/{name}")) == 3


def test_a_refused_redrive_frees_its_key(api, receiver, name):
    timer, [id] = dead(api, receiver, name)
    key = {"Idempotency-Key": name}
    api.patch(f"/v1/timers/{timer}", {"webhook": None}).expect(200)
    api.post(f"/v1/deliveries/{id}/redrive", headers=key).problem(409)
    api.post(f"/v1/deliveries/{UNKNOWN}/redrive", headers=key).problem(404)
    api.patch(f"/v1/timers/{timer}", {"webhook": receiver.url(f"/{name}")}).expect(200)
    api.post(f"/v1/deliveries/{id}/redrive", headers=key).expect(200)
    event(api, timer, "delivered")


def test_many_are_redriven_by_timer_and_labels(api, receiver, name):
    one, first = dead(api, receiver, f"{name}-1", 3, labels={"team": name, "tier": "gold"})
    two, second = dead(api, receiver, f"{name}-2", 2, labels={"team": name})
    assert redrive(api, {"labels": {"team": name, "tier": "tin"}}) == (0, 0, 0)
    assert redrive(api, {"labels": {"team": name}, "timer": "nobody"}) == (0, 0, 0)
    assert redrive(api, {"labels": {"team": name}}, "?dryRun=true") == (5, 5, 0)
    assert len(deliveries(api, f"?timer={one}&state=dead")) == 3
    assert redrive(api, {"labels": {"team": name}, "timer": one}) == (3, 3, 0)
    assert [told["delivery"] for told in events(api, one, "delivered", count=3)] == first
    assert redrive(api, {"timer": two, "labels": None}) == (2, 2, 0)
    assert [told["delivery"] for told in events(api, two, "delivered", count=2)] == second
    assert deliveries(api, f"?timer={one}") == deliveries(api, f"?timer={two}") == []


def test_many_at_once_are_repeated_safely(api, receiver, name):
    timer, _ = dead(api, receiver, name, 2)
    key = {"Idempotency-Key": name}
    first = api.post("/v1/deliveries/redrive", {"timer": timer}, headers=key).expect(200)
    again = api.post("/v1/deliveries/redrive", {"timer": timer}, headers=key).expect(200)
    assert first.body == again.body and again.headers["Idempotency-Replayed"] == "true"
    assert again.json == {"matched": 2, "changed": 2, "skipped": 0}


def test_an_empty_selector(api):
    api.post("/v1/deliveries/redrive", {"labels": {}}).problem(400, "invalid-request")


def test_dead_and_pending_ones_are_dropped(api, receiver, name):
    _, [id] = dead(api, receiver, name)
    assert api.delete(f"/v1/deliveries/{id}").expect(204).body == b""
    for reply in (api.get(f"/v1/deliveries/{id}"), api.delete(f"/v1/deliveries/{id}"), api.post(f"/v1/deliveries/{id}/redrive")):
        assert "timer" not in reply.problem(404, "not-found")
    timer = hooked(api, receiver.script(f"/{name}", 500, 200), f"{name}-w", retry=LATER)
    fire(api, timer, 2)
    event(api, timer, "deliveryFailed")
    waiting, pending = deliveries(api, f"?timer={timer}")
    api.delete(f"/v1/deliveries/{waiting['id']}").expect(204)
    assert event(api, timer, "delivered")["delivery"] == pending["id"]
    assert deliveries(api, f"?timer={timer}") == []


def test_a_drop_checks_what_comes_with_it(api, receiver, name):
    _, [id] = dead(api, receiver, name)
    api.delete(f"/v1/deliveries/{id}?force=true").problem(400)
    api.delete(f"/v1/deliveries/{id}", headers={"If-Match": "*"}).problem(400)
    api.delete(f"/v1/deliveries/{id}", json={"a": 1}).problem(400)
    api.delete(f"/v1/deliveries/{id}", body="x", content_type="text/plain").problem(415)
    api.delete(f"/v1/deliveries/{id}").expect(204)


def test_an_unknown_id_is_404_before_all_else(api):
    path = f"/v1/deliveries/{UNKNOWN}"
    for reply in (api.get(f"{path}?x=1"), api.delete(path, body="x", content_type="text/plain"), api.post(f"{path}/redrive", {"x": 1})):
        reply.problem(404, "not-found")


def test_a_bad_parameter_is_named(api):
    assert api.get("/v1/deliveries?state=inFlight").problem(400)["parameter"] == "state"


def test_head_and_metrics(api, receiver, name):
    _, [id] = dead(api, receiver, name)
    for path in ("/v1/deliveries?limit=1", f"/v1/deliveries/{id}"):
        assert api.head(path).expect(200).body == b""
    api.get(f"/v1/deliveries/{id}/nothing").problem(404)
    assert 'route="/v1/deliveries/{id}",method="HEAD"' in api.get("/metrics").body.decode()


@pytest.mark.parametrize("end", ["stop", "kill9"])
def test_all_of_it_survives_the_server(new_server, receiver, end):
    server = new_server()
    api = server.client
    _, first = dead(api, receiver, "kept", 3, labels={"a": "b"})
    before = deliveries(api)
    api.delete(f"/v1/deliveries/{first[0]}").expect(204)
    receiver.script("/kept", 503)
    api.patch("/v1/timers/kept", {"webhook": {"retry": {"initial": "1h", "max": "1h", "maxAttempts": 5}}}).expect(200)
    answered = api.post(f"/v1/deliveries/{first[1]}/redrive", headers={"Idempotency-Key": "k"}).expect(200)
    event(api, "kept", "deliveryDead")
    getattr(server, end)()
    api = server.start().client
    redriven, left = deliveries(api)
    assert redriven["id"] == first[1] and redriven["state"] in ("pending", "inFlight", "waiting")
    assert {**left, "diedAt": 0, "expiresAt": 0} == {**before[2], "diedAt": 0, "expiresAt": 0}
    assert abs(instant(left["diedAt"]) - instant(before[2]["diedAt"])) <= 2
    again = api.post(f"/v1/deliveries/{first[1]}/redrive", headers={"Idempotency-Key": "k"}).expect(200)
    assert again.body == answered.body and again.headers["Idempotency-Replayed"] == "true"


@pytest.mark.parametrize("flags", [("--store", "memory"), ("--durability", "interval=300ms")])
def test_events_not_yet_on_disk_are_found(new_server, receiver, flags):
    api = new_server(*flags).client
    timer, first = dead(api, receiver, "here", 2)
    assert ids(deliveries(api)) == first
    api.post(f"/v1/deliveries/{first[0]}/redrive").expect(200)
    assert redrive(api, {"timer": timer}) == (1, 1, 0)
    events(api, timer, "delivered", count=2)


# From the shell.

def client(server, *arguments):
    return run(*arguments, "--server", server.url)


def test_deliveries_from_the_shell(server, api, receiver, name):
    timer, first = dead(api, receiver, name, 3, labels={"shell": name})
    listed = client(server, "deliveries", "--timer", timer)
    assert listed.returncode == 0 and all(id in listed.stdout for id in first) and "500" in listed.stdout
    assert ids(json.loads(client(server, "deliveries", "--state", "dead", "--timer", timer, "--json").stdout)["deliveries"]) == first
    part = client(server, "deliveries", "--timer", timer, "--limit", "2")
    assert first[2] not in part.stdout and f"--cursor {first[1]}" in part.stderr
    whole = client(server, "deliveries", "--timer", timer, "--limit", "2", "--all")
    assert all(id in whole.stdout for id in first) and whole.stderr == ""
    one = client(server, "redrive", first[0])
    assert one.returncode == 0 and first[0] in one.stdout and "pending" in one.stdout
    assert json.loads(client(server, "redrive", first[1], "--json").stdout)["id"] == first[1]
    dry = client(server, "redrive", "--timer", timer, "--label", f"shell={name}", "--dry-run")
    assert dry.returncode == 0 and "1" in dry.stdout
    many = client(server, "redrive", "--label", f"shell={name}", "--json")
    assert json.loads(many.stdout) == {"matched": 1, "changed": 1, "skipped": 0}
    events(api, timer, "delivered", count=3)
    gone = client(server, "redrive", first[0])
    assert gone.returncode == 1 and "no delivery" in gone.stderr


@pytest.mark.parametrize("arguments", [(), (UNKNOWN, "--timer", "a"), (UNKNOWN, "--label", "a=b"), ("--label", "novalue"), (UNKNOWN, "--dry-run")])
def test_a_redrive_from_the_shell_names_one_or_a_selector(server, arguments):
    done = client(server, "redrive", *arguments)
    assert done.returncode == 64 and len(done.stderr.splitlines()) == 1
