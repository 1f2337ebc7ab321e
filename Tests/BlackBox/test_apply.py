"""PUT /v1/timers/{id}?apply=true: create, or change only what differs."""

import pytest

from timers import STATES, poll, timer_in, types

BODY = {"every": "1h", "labels": {"team": "blue"}}


def apply(api, id, body, query="", **options):
    return api.put(f"/v1/timers/{id}?apply=true{query}", body, **options)


def fields(timer):
    return {name: value for name, value in timer.items() if name not in ("remaining", "allowed")}


def test_it_creates_and_then_leaves_alone(api, name):
    made = apply(api, name, BODY).expect(201)
    assert made.headers["Location"] == f"/v1/timers/{name}"
    for body in (BODY, {"every": "60m", "labels": {"team": "blue"}, "start": "now", "payload": None}, made.json):
        again = apply(api, name, body).expect(200)
        assert again.etag == made.etag and again.json["nextFireAt"] == made.json["nextFireAt"]
    assert types(api.history_of(name)) == ["created", "activated"]


@pytest.mark.parametrize("state", STATES)
def test_nothing_differs_in_any_state(api, state):
    timer = timer_in(api, state)
    after = apply(api, timer["id"], timer).expect(200)
    assert fields(after.json) == fields(timer) and after.etag == f'"v{timer["version"]}"'


def test_what_differs_is_changed_and_a_suspended_timer_stays_suspended(api, name):
    apply(api, name, {**BODY, "payload": 1}).expect(201)
    api.command(name, "suspend").expect(200)
    after = apply(api, name, {"every": "2h", "labels": {"shift": "late"}}).expect(200).json
    assert (after["state"], after["every"], after["labels"], after["payload"]) == ("suspended", "2h", {"shift": "late"}, None)
    assert types(api.history_of(name))[-1] == "rescheduled"
    assert apply(api, name, {"watchdog": "1h"}).expect(200).json["state"] == "suspended"


def test_an_ended_timer_keeps_its_end_until_its_schedule_changes(api):
    timer = timer_in(api, "completed", maxFires=1)
    labelled = apply(api, timer["id"], {"after": timer["after"], "maxFires": 1, "labels": {"a": "b"}}).expect(200).json
    assert (labelled["state"], labelled["labels"]) == ("completed", {"a": "b"})
    again = apply(api, timer["id"], {"after": "2h"}).expect(200).json
    assert (again["state"], again["fireCount"]) == ("running", 1)


def test_conditions_are_judged_first(api, name):
    apply(api, name, BODY, headers={"If-Match": '"v1"'}).problem(412, "version-mismatch")
    tag = apply(api, name, BODY, headers={"If-None-Match": "*"}).expect(201).etag
    apply(api, name, BODY, headers={"If-None-Match": "*"}).problem(412, "version-mismatch")
    apply(api, name, BODY, headers={"If-Match": '"v0"'}).problem(412, "version-mismatch")
    assert apply(api, name, BODY, headers={"If-Match": tag}).expect(200).etag == tag


def test_a_dry_run_names_what_differs_and_changes_nothing(api, name):
    assert apply(api, name, BODY, "&dryRun=true").expect(200).json == {"differs": [""]}
    api.get(f"/v1/timers/{name}").expect(404)
    tag = apply(api, name, BODY, "&dryRun=false").expect(201).etag
    assert apply(api, name, BODY, "&dryRun=true").expect(200).json == {"differs": []}
    body = {"every": "2h", "labels": {}, "payload": [1]}
    assert apply(api, name, body, "&dryRun=true").expect(200).json == {"differs": ["/every", "/labels", "/payload"]}
    apply(api, name, BODY, "&dryRun=true", headers={"If-Match": '"v0"'}).problem(412)
    assert api.get(f"/v1/timers/{name}").etag == tag


@pytest.mark.parametrize("query, parameter", [
    ("dryRun=true", "dryRun"), ("apply=false&dryRun=true", "dryRun"), ("apply=yes", "apply"), ("apply=", "apply"),
    ("apply=true&apply=true", "apply"), ("apply=true&dryRun=maybe", "dryRun"), ("apply=true&colour=1", "colour")])
def test_bad_parameters(api, name, query, parameter):
    assert api.put(f"/v1/timers/{name}?{query}", BODY).problem(400)["parameter"] == parameter
    api.get(f"/v1/timers/{name}").expect(404)


def test_a_plain_put_may_say_so(api, name):
    first = api.put(f"/v1/timers/{name}?apply=false", BODY).expect(201).json
    assert api.put(f"/v1/timers/{name}?apply=false", BODY).expect(200).json["version"] > first["version"]


def test_masked_secrets_keep_what_is_stored(api, name):
    webhook = {"url": "https://hooks.example/t", "secret": "whsec_" + "QUFB" * 10 + "QUE=", "headers": {"Authorization": "Bearer x"}}
    tag = apply(api, name, {**BODY, "webhook": webhook}).expect(201).etag
    shown = api.timer(name)
    assert apply(api, name, shown).expect(200).etag == tag
    shown["webhook"]["url"] = "https://elsewhere.example/"
    apply(api, name, shown).problem(400)
    assert api.get(f"/v1/timers/{name}").etag == tag


def test_a_batch_applies(api, name):
    declared = {"id": name, **BODY}
    made, again, nameless, late, changed = api.batch([
        {"apply": declared}, {"apply": declared}, {"apply": BODY}, {"apply": declared, "ifMatch": "v0"},
        {"apply": {**declared, "every": "2h"}}]).expect(200).lines
    assert [line["status"] for line in (made, again, nameless, late, changed)] == [201, 200, 400, 412, 200]
    assert again["timer"]["version"] == made["timer"]["version"] and changed["timer"]["every"] == "2h"
    assert nameless["problem"]["pointer"] == "/apply/id"
    last = {"apply": {**declared, "every": "2h"}, "ifMatch": f"v{changed['timer']['version']}"}
    assert api.batch([last], query="?results=brief").lines == [
        {"status": 200, "id": name, "version": changed["timer"]["version"]}]


def test_a_batch_with_a_key_applies_once(api, name):
    lines = [{"apply": {"id": f"{name}-{n % 3}", **BODY}} for n in range(6)]
    key = {"headers": {"Idempotency-Key": name}, "query": "?results=brief"}
    first = api.batch(lines, **key).expect(200)
    assert [line["status"] for line in first.lines] == [201] * 3 + [200] * 3
    again = api.batch(lines, **key).expect(200)
    assert again.headers["Idempotency-Replayed"] == "true" and again.lines == first.lines


def test_an_identical_declaration_leaves_an_alarm_and_a_put_ends_it(api, name):
    body = {"watchdog": "30ms"}
    apply(api, name, body).expect(201)
    poll(lambda: api.timer(name)["health"] == "stalled")
    assert apply(api, name, body).expect(200).json["health"] == "stalled"
    after = api.put(f"/v1/timers/{name}", {"watchdog": "1h"}).expect(200).json
    events = [event for event in api.history_of(name) if event["version"] == after["version"]]
    assert types(events) == ["recovered", "updated", "activated"] and events[0]["stalledFor"]
    assert types(api.history_of(name)).count("recovered") == 1
