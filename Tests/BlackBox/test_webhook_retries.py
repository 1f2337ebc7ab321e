"""The effect of each answer, and of no answer."""

import time
from email.utils import formatdate

import pytest

import receiver as told
from free_ports import free_port
from receiver import Answer, Gate, Receiver
from timers import instant, now
from webhooks import FAST, LATER, attempts, deliveries, event, fire, fired, hooked

CAUTIOUS = {"initial": "10ms", "max": "2h", "jitter": 0.2, "maxAttempts": 3}


def outcomes(found):
    return [(event["type"], event["attempt"], event.get("status", event.get("error"))) for event in found]


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
def test_2xx_delivers(api, receiver, name, status):
    id = hooked(api, receiver.script("/", status), name)
    fire(api, id)
    assert outcomes(attempts(api, id, 1)) == [("delivered", 1, status)]
    fire(api, id)
    assert receiver.wait_for(2) and receiver.ids() == fired(api, id)


@pytest.mark.parametrize("status", [300, 301, 302, 303, 307, 308, 304, 400, 401, 404, 409, 418, 429, 499, 500, 502, 503, 599])
def test_anything_else_is_tried_again_until_attempts_are_out(api, receiver, name, status):
    elsewhere = {"Location": receiver.url("/elsewhere")} if 300 <= status <= 399 else {}
    id = hooked(api, receiver.script("/", Answer(status, elsewhere)), name)
    fire(api, id)
    first, second, dead = attempts(api, id, 3)
    assert outcomes([first, second, dead]) == [("deliveryFailed", 1, status), ("deliveryFailed", 2, status), ("deliveryDead", 3, status)]
    assert dead["reason"] == "attempts"
    requests = receiver.on()
    assert {request.path for request in requests} == {"/"}, "a redirect was followed"
    assert [request.id for request in requests] == fired(api, id) * 3
    assert len({request.body for request in requests}) == 1
    for failed in (first, second):
        assert failed["delivery"] == requests[0].id and instant(failed["nextAttemptAt"]) >= instant(failed["at"])


def test_a_later_attempt_delivers(api, receiver, name):
    id = hooked(api, receiver.script("/", told.close, 500, 200), name)
    fire(api, id)
    assert outcomes(attempts(api, id, 3)) == [("deliveryFailed", 1, "interrupted"), ("deliveryFailed", 2, 500), ("delivered", 3, 200)]
    stamps = [int(request.header("webhook-timestamp")) for request in receiver.wait_for(3)]
    assert stamps == sorted(stamps)


def test_no_attempt_comes_before_its_time(api, receiver, name):
    id = hooked(api, receiver.script("/", 500), name, retry={"initial": "150ms", "multiplier": 2, "max": "10s", "jitter": 0, "maxAttempts": 3})
    fire(api, id)
    ends = attempts(api, id, 3)
    for wait, failed, following in ((150, *ends[:2]), (300, *ends[1:])):
        assert 0 < instant(failed["nextAttemptAt"]) - instant(failed["at"]) <= wait + 1
        assert instant(following["at"]) >= instant(failed["nextAttemptAt"]) - 1


def test_410_stops_the_webhook_for_good(api, receiver, name):
    id = hooked(api, receiver.script("/", 200, 410, 200), name)
    fire(api, id)
    attempts(api, id, 1)
    assert api.timer(id)["webhook"].get("stopped") is None
    fire(api, id)
    gone = attempts(api, id, 2)[1]
    assert (gone["type"], gone["reason"], gone["status"], gone["attempt"]) == ("deliveryDead", "gone", 410, 1)
    assert api.timer(id)["webhook"]["stopped"] is True and api.timer(id)["state"] == "running"
    fire(api, id, 3)
    assert nothing_more_comes(api, receiver, f"{name}-other") and len(receiver.on("/")) == 2
    assert len(fired(api, id)) == 5


def nothing_more_comes(api, receiver, id):
    """A delivery of another timer that was fired later has come, so an earlier one would have come."""
    hooked(api, receiver.url("/barrier"), id)
    fire(api, id)
    return receiver.wait_for(1, "/barrier")


@pytest.mark.parametrize("again", ["patch", "put"])
def test_a_stopped_webhook_starts_again_with_another_url_or_afresh(api, receiver, name, again):
    id = hooked(api, receiver.script("/", 410), name)
    fire(api, id)
    attempts(api, id, 1)
    api.patch(f"/v1/timers/{id}", {"labels": {"a": "b"}, "payload": 1}).expect(200)
    assert api.timer(id)["webhook"]["stopped"] is True
    api.patch(f"/v1/timers/{id}", {"webhook": {"retry": {"maxAttempts": 7}, "timeout": "9s"}}).expect(200)
    assert api.timer(id)["webhook"]["stopped"] is True
    fire(api, id)
    if again == "patch":
        api.patch(f"/v1/timers/{id}", {"webhook": {"url": receiver.url("/new")}}).expect(200)
    else:
        api.put(f"/v1/timers/{id}", {"every": "1h", "webhook": {"url": receiver.url("/new")}}).expect(200)
    assert api.timer(id)["webhook"].get("stopped") is None
    fire(api, id)
    assert receiver.wait_for(1, "/new")[0].id == fired(api, id)[-1]
    assert len(receiver.on("/")) == 1 and len(receiver.on("/new")) == 1


def test_a_receiver_stops_nothing_that_leads_elsewhere_by_now(api, receiver, name):
    gate = Gate(then=410)
    id = hooked(api, receiver.script("/", gate), name)
    fire(api, id)
    receiver.wait_for(1, "/")
    api.patch(f"/v1/timers/{id}", {"webhook": {"url": receiver.url("/new")}}).expect(200)
    gate.open()
    assert outcomes(attempts(api, id, 2)) == [("deliveryFailed", 1, 410), ("delivered", 2, 200)]
    assert api.timer(id)["webhook"].get("stopped") is None
    assert receiver.ids("/") == receiver.ids("/new") == fired(api, id)


def test_a_stopped_webhook_stays_so_over_a_crash(new_server, receiver):
    server = new_server()
    hooked(server.client, receiver.script("/", 410), "gone")
    fire(server.client, "gone")
    attempts(server.client, "gone", 1)
    server.kill9()
    api = server.start().client
    assert api.timer("gone")["webhook"]["stopped"] is True
    fire(api, "gone", 2)
    assert nothing_more_comes(api, receiver, "other") and len(receiver.on("/")) == 1


@pytest.mark.parametrize("status", [429, 503])
def test_retry_after_in_seconds_is_honoured(api, receiver, name, status):
    id = hooked(api, receiver.script("/", Answer(status, {"Retry-After": "1"}), 200), name, retry=CAUTIOUS)
    fire(api, id)
    failed, delivered = attempts(api, id, 2)
    assert 0 < instant(failed["nextAttemptAt"]) - instant(failed["at"]) <= 1201  # a fifth of jitter is in it
    assert instant(delivered["at"]) >= instant(failed["nextAttemptAt"]) - 1


@pytest.mark.parametrize("status", [429, 503])
def test_retry_after_as_a_date_is_honoured(api, receiver, name, status):
    date = int(time.time()) + 1800
    id = hooked(api, receiver.script("/", Answer(status, {"Retry-After": formatdate(date, usegmt=True)})), name, retry=CAUTIOUS)
    fire(api, id)
    failed = attempts(api, id, 1)[0]
    assert date * 1000 - 100 <= instant(failed["nextAttemptAt"]) <= (date + 1800 * 0.2 + 5) * 1000
    api.delete(f"/v1/timers/{id}").expect(204)


@pytest.mark.parametrize("status, value", [(500, "3600"), (400, "3600"), (429, "soon"), (429, "-5"), (503, ""), (503, "1.5")])
def test_other_words_of_retry_after_say_nothing(api, receiver, name, status, value):
    id = hooked(api, receiver.script("/", Answer(status, {"Retry-After": value}), 200), name, retry=CAUTIOUS)
    fire(api, id)
    assert outcomes(attempts(api, id, 2)) == [("deliveryFailed", 1, status), ("delivered", 2, 200)]


@pytest.mark.parametrize("asked, hours", [("7200", 2), ("86400", 24), ("999999999999", 24)])
def test_retry_after_counts_up_to_a_day_whatever_the_longest_wait_is(api, receiver, name, asked, hours):
    id = hooked(api, receiver.script("/", Answer(429, {"Retry-After": asked})), name, retry=FAST)
    fire(api, id)
    failed = attempts(api, id, 1)[0]
    wait = instant(failed["nextAttemptAt"]) - instant(failed["at"])
    assert hours * 3_600_000 <= wait <= min(hours * 1.2, 24) * 3_600_000 + 1
    api.delete(f"/v1/timers/{id}").expect(204)


@pytest.mark.parametrize("answer, error", [
    (told.hang, "timedOut"), (told.drip(pause=0.15), "timedOut"), (told.close, "interrupted"), (told.reset, "interrupted"),
    (told.malformed, "malformed"), (told.endless_head, "malformed"), (told.endless_failure, 500), (Answer(500, body=b"x" * 70_000), 500),
], ids=["hang", "drip", "close", "reset", "malformed", "endless head", "endless body", "large body"])
def test_answers_that_are_none_are_tried_again(api, receiver, name, answer, error):
    id = hooked(api, receiver.script("/", answer, 200), name, timeout="1s" if error == "timedOut" else "1m")
    fire(api, id)
    assert outcomes(attempts(api, id, 2)) == [("deliveryFailed", 1, error), ("delivered", 2, 200)]
    assert receiver.ids() == fired(api, id) * 2


@pytest.mark.parametrize("answer, error", [(told.reset_in_body, "interrupted"), (told.half_body, "timedOut")])
def test_a_2xx_that_breaks_off_is_none(api, receiver, name, answer, error):
    id = hooked(api, receiver.script("/", answer, 200), name, timeout="1s" if error == "timedOut" else "1m")
    fire(api, id)
    assert outcomes(attempts(api, id, 2)) == [("deliveryFailed", 1, error), ("delivered", 2, 200)]
    assert api.timer(id)["state"] == "running", "its command does not count either"


@pytest.mark.parametrize("answer", [told.endless_body, told.drip(pause=0.001), Answer(200, body=b"x" * 65_536), Answer(200, body=b"x" * 70_000)],
                         ids=["endless body", "slow but in time", "just read", "large body"])
def test_a_2xx_that_is_whole_or_as_long_as_is_read_delivers(api, receiver, name, answer):
    id = hooked(api, receiver.script("/", answer), name, timeout="1m")
    fire(api, id)
    assert outcomes(attempts(api, id, 1)) == [("delivered", 1, 200)]
    fire(api, id)
    assert attempts(api, id, 2)[1]["attempt"] == 1 and receiver.ids() == fired(api, id)


def test_a_certificate_that_nobody_vouches_for_is_not_trusted(api, name):
    with Receiver(tls=True) as receiver:
        id = hooked(api, f"https://localhost:{receiver.port}/", name)
        fire(api, id)
        assert outcomes(attempts(api, id, 3)) == [
            ("deliveryFailed", 1, "untrusted"), ("deliveryFailed", 2, "untrusted"), ("deliveryDead", 3, "untrusted")]
        assert receiver.on() == []


def test_https_to_plain_http_is_not_trusted(api, receiver, name):
    id = hooked(api, f"https://127.0.0.1:{receiver.port}/", name)
    fire(api, id)
    assert event(api, id, "deliveryFailed")["error"] == "untrusted"
    receiver.strange.clear()  # a handshake is no line of HTTP


def test_nobody_listening_is_unreachable(api, name):
    id = hooked(api, f"http://127.0.0.1:{free_port()}/", name)
    fire(api, id)
    assert outcomes(attempts(api, id, 3)) == [
        ("deliveryFailed", 1, "unreachable"), ("deliveryFailed", 2, "unreachable"), ("deliveryDead", 3, "unreachable")]


def test_a_name_without_an_address_is_unresolved(api, name):
    id = hooked(api, "http://no-such-host.invalid/", name)
    fire(api, id)
    assert event(api, id, "deliveryFailed")["error"] == "unresolved"


def test_a_receiver_that_comes_up_later_is_found(api, name):
    port = free_port()
    id = hooked(api, f"http://127.0.0.1:{port}/", name, retry={"initial": "20ms", "max": "100ms", "maxAttempts": 100})
    fire(api, id)
    assert event(api, id, "deliveryFailed")["error"] == "unreachable"
    with Receiver(port=port) as receiver:
        assert receiver.wait_for(1)[0].id == fired(api, id)[0]


def test_a_retry_has_the_body_as_it_was_and_the_webhook_as_it_stands(api, receiver, name):
    receiver.script("/old", gate := Gate(500))
    id = hooked(api, receiver.url("/old"), name, timer={"payload": "old", "labels": {"a": "old"}}, headers={"X-Try": "old"})
    fire(api, id)
    old = receiver.wait_for(1, "/old")[0]
    api.patch(f"/v1/timers/{id}", {"payload": "new", "labels": {"a": "new"},
                                   "webhook": {"url": receiver.url("/new"), "method": "PUT", "headers": {"X-Try": "new"}}}).expect(200)
    gate.open()
    new = receiver.wait_for(1, "/new")[0]
    assert (new.id, new.body, new.method, new.header("x-try")) == (old.id, old.body, "PUT", "new")
    assert new.json["payload"] == "old"


def test_a_webhook_taken_away_sends_nothing_more(api, receiver, name):
    id = hooked(api, receiver.script("/", 500), name, retry=LATER)
    fire(api, id, 2)
    attempts(api, id, 1)
    api.patch(f"/v1/timers/{id}", {"webhook": None}).expect(200)
    fire(api, id)
    assert nothing_more_comes(api, receiver, f"{name}-other") and len(receiver.on("/")) == 1


def test_attempts_are_counted_by_the_policy(api, receiver, name):
    id = hooked(api, receiver.script("/", 500), name, retry=FAST | {"maxAttempts": 1})
    fire(api, id)
    assert outcomes(attempts(api, id, 1)) == [("deliveryDead", 1, 500)]


def test_a_fire_that_is_refused_for_good_does_not_hold_back_the_next(api, receiver, name):
    id = hooked(api, receiver.script("/", 400, 200), name, retry=LATER | {"giveUpOn": ["4xx"]})
    fire(api, id, 2)
    dead, delivered = attempts(api, id, 2)
    assert outcomes([dead, delivered]) == [("deliveryDead", 1, 400), ("delivered", 1, 200)] and dead["reason"] == "status"
    assert receiver.ids() == fired(api, id)
    shown, = deliveries(api, f"state=dead&timer={id}")
    assert (shown["reason"], shown["lastStatus"], shown["error"], shown["attempts"]) == ("status", 400, "status", 1)


def test_giving_up_beats_retry_after(api, receiver, name):
    id = hooked(api, receiver.script("/", Answer(503, {"Retry-After": "3600"})), name, retry=LATER | {"giveUpOn": [503]})
    fire(api, id)
    assert outcomes(attempts(api, id, 1)) == [("deliveryDead", 1, 503)]


def test_4xx_leaves_out_what_asks_for_another_attempt(api, receiver, name):
    id = hooked(api, receiver.script("/", 408, 425, 429, 200), name, retry=FAST | {"giveUpOn": ["4xx"], "maxAttempts": 4})
    fire(api, id)
    assert outcomes(attempts(api, id, 4)) == [
        ("deliveryFailed", 1, 408), ("deliveryFailed", 2, 425), ("deliveryFailed", 3, 429), ("delivered", 4, 200)]


def test_one_that_is_too_old_is_dead_and_the_next_gets_its_turn(api, receiver, name):
    id = hooked(api, receiver.script("/", 500, 200), name, retry=LATER | {"maxAge": "2s"})
    fire(api, id)
    failed, = attempts(api, id, 1)
    # The next attempt would be an hour later; it is due when the delivery is too old.
    assert instant(failed["nextAttemptAt"]) - instant(failed["at"]) <= 2000
    failed, dead = attempts(api, id, 2)
    assert (dead["type"], dead["reason"], dead["attempt"]) == ("deliveryDead", "age", 1)
    fire(api, id)
    assert outcomes(attempts(api, id, 3))[2] == ("delivered", 1, 200)
    assert receiver.ids() == fired(api, id)


def test_age_counts_from_a_redrive_and_over_a_restart(new_server, receiver):
    server = new_server()
    api = server.client
    id = hooked(api, receiver.script("/", 400, 500), "t", retry=LATER | {"giveUpOn": [400], "maxAge": "10m"})
    fire(api, id)
    dead, = attempts(api, id, 1)
    redriven = now()
    api.post(f"/v1/deliveries/{dead['delivery']}/redrive").expect(200)
    failed = attempts(api, id, 2)[1]
    bound = instant(failed["nextAttemptAt"])
    assert redriven + 600_000 - 5 <= bound <= instant(failed["at"]) + 600_005
    server.kill9()
    api = server.start().client
    waiting, = deliveries(api, f"state=pending&timer={id}")
    assert abs(instant(waiting["nextAttemptAt"]) - bound) <= 5 and waiting["reason"] is None
    assert api.timer(id)["webhook"]["retry"] | {"giveUpOn": [400], "maxAge": "10m"} == api.timer(id)["webhook"]["retry"]
