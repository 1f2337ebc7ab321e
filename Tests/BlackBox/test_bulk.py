"""POST /v1/timers/bulk/<command>: one step for every timer a selector matches."""

import pytest

from timers import STATES, allowed, timer_in


def bulk(api, command, body, query="", **options):
    return api.post(f"/v1/timers/bulk/{command}{query}", body, **options)


def zoo(api, name):
    """One timer in each state, all under one label."""
    return {state: timer_in(api, state, labels={"bulk": name})["id"] for state in STATES}


@pytest.mark.parametrize("command", ["suspend", "resume", "cancel", "activate"])
def test_each_timer_is_changed_or_skipped(api, name, command):
    made = zoo(api, name)
    legal = {state for state in STATES if command in allowed(state)}
    answer = bulk(api, command, {"labels": {"bulk": name}}).expect(200).json
    assert answer == {"matched": 5, "changed": len(legal), "skipped": 5 - len(legal)}
    target = {"suspend": "suspended", "resume": "running", "cancel": "cancelled", "activate": "running"}[command]
    for state, id in made.items():
        assert api.timer(id)["state"] == (target if state in legal else state)


def test_delete_takes_all(api, name):
    made = zoo(api, name)
    assert bulk(api, "delete", {"labels": {"bulk": name}}).expect(200).json == {"matched": 5, "changed": 5, "skipped": 0}
    for id in made.values():
        api.get(f"/v1/timers/{id}").expect(404)


def test_states_narrow_the_selector(api, name):
    made = zoo(api, name)
    selector = {"labels": {"bulk": name}, "states": ["idle", "running"]}
    assert bulk(api, "suspend", selector).expect(200).json == {"matched": 2, "changed": 1, "skipped": 1}
    assert api.timer(made["running"])["state"] == "suspended"


def test_all_labels_must_match(api, name):
    one = api.create(labels={"bulk": name, "tier": "gold"})["id"]
    other = api.create(labels={"bulk": name})["id"]
    answer = bulk(api, "cancel", {"labels": {"bulk": name, "tier": "gold"}}).expect(200).json
    assert answer == {"matched": 1, "changed": 1, "skipped": 0}
    assert (api.timer(one)["state"], api.timer(other)["state"]) == ("cancelled", "running")


def test_a_dry_run_changes_nothing(api, name):
    made = zoo(api, name)
    answer = bulk(api, "suspend", {"labels": {"bulk": name}}, "?dryRun=true").expect(200).json
    assert answer == {"matched": 5, "changed": 1, "skipped": 4}
    assert api.timer(made["running"])["state"] == "running"


def test_no_match_is_no_error(api, name):
    assert bulk(api, "cancel", {"labels": {"bulk": name}}).expect(200).json == {"matched": 0, "changed": 0, "skipped": 0}


def test_more_than_one_piece_of_work(api, name):
    api.batch([{"after": "1h", "labels": {"bulk": name}}] * 1500, query="?results=brief").expect(200)
    answer = bulk(api, "suspend", {"labels": {"bulk": name}}).expect(200).json
    assert answer == {"matched": 1500, "changed": 1500, "skipped": 0}
    events = api.history(f"&types=suspended&label=bulk%3D{name}")
    assert len({event["timer"] for event in events}) == len(events) == 1500


@pytest.mark.parametrize("body", [{}, {"labels": {}}, {"states": []}, {"labels": {}, "states": []}, {"labels": None},
                                  {"states": ["asleep"]}, {"states": "idle"}, {"labels": {"a": 1}}, {"colour": 1}, []])
def test_a_bad_or_empty_selector(api, body):
    bulk(api, "suspend", body).problem(400)


def test_a_selector_is_needed(api):
    assert bulk(api, "cancel", None).status == 400
    assert api.post("/v1/timers/bulk/cancel").status in (400, 415)


@pytest.mark.parametrize("query, parameter", [("?dryRun=maybe", "dryRun"), ("?colour=1", "colour")])
def test_bad_parameters(api, name, query, parameter):
    assert bulk(api, "cancel", {"labels": {"bulk": name}}, query).problem(400)["parameter"] == parameter


def test_if_match_is_refused(api, name):
    bulk(api, "cancel", {"labels": {"bulk": name}}, headers={"If-Match": "*"}).problem(400)


def test_other_commands(api, name):
    problem = bulk(api, "explode", {"labels": {"bulk": name}}).problem(404, "not-found")
    assert all(f"{command}" in problem["detail"] for command in ("suspend", "kick", "fire", "reschedule", "delete"))


def both(api, command, body):
    """What a dry run predicts; the run itself must then do the same."""
    foretold = bulk(api, command, body, "?dryRun=true").expect(200).json
    assert bulk(api, command, body).expect(200).json == foretold
    return foretold


def test_fire(api, name):
    made = zoo(api, name)
    assert both(api, "fire", {"labels": {"bulk": name}}) == {"matched": 5, "changed": 1, "skipped": 4}
    fired = api.history(f"&types=fired&label=bulk%3D{name}")
    assert [(event["timer"], event["reason"]) for event in fired if event["timer"] == made["running"]] == [(made["running"], "manual")]


def test_kick_takes_watchdogs(api, name):
    zoo(api, name)
    for state in STATES:
        timer_in(api, state, watchdog="1h", labels={"bulk": name, "dog": "x"})
    # A kick of a suspended one is legal and changes nothing.
    assert both(api, "kick", {"labels": {"bulk": name}}) == {"matched": 10, "changed": 1, "skipped": 9}
    dogs = api.get(f"/v1/timers?kind=watchdog&label=bulk%3D{name}").expect(200).json["timers"]
    assert sorted((dog["state"], dog["kickCount"]) for dog in dogs if dog["kickCount"]) == [("running", 1)]


def test_reschedule(api, name):
    made = zoo(api, name)
    selector = {"labels": {"bulk": name}, "states": ["running", "suspended", "cancelled"]}
    assert both(api, "reschedule", {**selector, "after": "2h"}) == {"matched": 3, "changed": 2, "skipped": 1}
    assert api.timer(made["suspended"])["remaining"] == "2h"
    at = "2040-01-02T03:04:05.000Z"
    assert both(api, "reschedule", {**selector, "at": at}) == {"matched": 3, "changed": 2, "skipped": 1}
    assert api.timer(made["running"])["nextFireAt"] == at


def test_reschedule_behind_until_is_skipped(api, name):
    api.create(after="1h", until="2039-01-01T00:00:00Z", labels={"bulk": name})
    body = {"labels": {"bulk": name}, "at": "2040-01-02T03:04:05.000Z"}
    assert both(api, "reschedule", body) == {"matched": 1, "changed": 0, "skipped": 1}


@pytest.mark.parametrize("command, extra, slug, pointer", [
    ("reschedule", {}, "invalid-request", ""), ("reschedule", {"after": "1h", "at": "2040-01-01T00:00:00Z"}, "invalid-request", ""),
    ("reschedule", {"after": "soon"}, "invalid-schedule", "/after"), ("reschedule", {"after": "1h", "every": "1h"}, "unknown-field", "/every"),
    ("fire", {"after": "1h"}, "unknown-field", "/after"), ("delete", {"at": "2040-01-01T00:00:00Z"}, "unknown-field", "/at")])
def test_what_a_bulk_command_takes(api, name, command, extra, slug, pointer):
    assert bulk(api, command, {"labels": {"bulk": name}, **extra}).problem(400, slug)["pointer"] == pointer


def test_a_reschedule_needs_a_selector_too(api):
    bulk(api, "reschedule", {"after": "1h"}).problem(400, "invalid-request")


def test_other_content_types(api, name):
    bulk(api, "cancel", {"labels": {"bulk": name}}, content_type="text/plain").problem(415, "unsupported-media-type")
