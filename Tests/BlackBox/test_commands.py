"""POST /v1/timers/{id}/<command>: every command in every state, from the contract's table."""

import pytest

from timers import STATES, allowed, duration, instant, now, target_of, timer_in, transitions, types

BODIES = {"reschedule": {"after": "2h"}}
EVENTS = {"activate": ["activated"], "suspend": ["suspended"], "resume": ["resumed"], "cancel": ["cancelled"],
          "fire": ["fired"], "reschedule": ["rescheduled"]}
KINDS = {"oneShot": {"after": "1h"}, "repeating": {"every": "1h"}}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("restartable", [False, True], ids=["once", "restartable"])
@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("command", transitions())
def test_the_table(api, command, state, restartable, kind):
    timer = timer_in(api, state, restartable=restartable, **KINDS[kind])
    id, target = timer["id"], target_of(command, state, restartable, kind == "oneShot")
    before = api.history_of(id)
    arguments = [BODIES[command]] if command in BODIES else []
    reply = api.command(id, command, *arguments)
    if target:
        reply.expect(200)
        after = reply.json
        assert (after["state"], set(after["allowed"])) == (target, allowed(target, restartable))
        assert after["version"] > timer["version"] and reply.etag == f'"v{after["version"]}"'
        events = api.history_of(id)[len(before):]
        completed = ["completed"] if (command, target) == ("fire", "completed") else []
        assert types(events) == EVENTS[command] + completed
        assert {event["version"] for event in events} == {after["version"]}
        return
    if command == "kick":
        reply.problem(409, "not-a-watchdog")
    else:
        problem = reply.problem(409, "illegal-transition")
        assert (problem["timer"], problem["state"], problem["command"]) == (id, state, command)
        assert set(problem["allowed"]) == allowed(state, restartable)
    assert api.timer(id) | {"remaining": 0} == timer | {"remaining": 0}
    assert api.history_of(id) == before


@pytest.mark.parametrize("state", STATES)
def test_suspending_twice_and_the_other_old_crashes_are_conflicts(api, state):
    """Suspend twice, resume a running timer, cancel twice: calls that abort a dispatch source get an answer here."""
    id = timer_in(api, state)["id"]
    for command in ("suspend", "resume", "cancel"):
        for _ in range(2):
            last = api.command(id, command)
        last.problem(409, "illegal-transition")


def test_an_empty_object_is_as_good_as_no_body(api):
    id = api.create()["id"]
    api.command(id, "suspend", {}).expect(200)
    api.post(f"/v1/timers/{id}/resume", body=b"").expect(200)


@pytest.mark.parametrize("body", [{"why": "x"}, [], "x", None, 5])
def test_a_command_takes_no_other_body(api, body):
    id = api.create()["id"]
    api.command(id, "suspend", body).problem(400)
    assert api.timer(id)["state"] == "running"


@pytest.mark.parametrize("body", [{}, {"after": "1h", "at": "2099-01-01T00:00:00Z"}, {"after": "x"}, {"after": None}, {"at": "x"},
                                  {"after": "1h", "colour": 1}, {"every": "1h"}, []])
def test_a_bad_reschedule(api, body):
    timer = api.create()
    api.command(timer["id"], "reschedule", body).problem(400)
    assert api.timer(timer["id"])["nextFireAt"] == timer["nextFireAt"]


def test_reschedule_needs_a_body(api):
    api.command(api.create()["id"], "reschedule").problem(400)


def test_reschedule_moves_the_due_of_a_running_timer(api):
    id = api.create(after="1h")["id"]
    moved = api.command(id, "reschedule", {"at": "2099-01-01T00:00:00Z"}).expect(200).json
    assert (moved["nextFireAt"], moved["after"]) == ("2099-01-01T00:00:00.000Z", "1h")
    before = now()
    moved = api.command(id, "reschedule", {"after": "2h"}).expect(200).json
    assert before + 7_200_000 <= instant(moved["nextFireAt"]) <= now() + 7_200_001


def test_reschedule_moves_what_remains_of_a_suspended_timer(api):
    id = timer_in(api, "suspended")["id"]
    assert api.command(id, "reschedule", {"after": "2h"}).expect(200).json["remaining"] == "2h"
    resumed = api.command(id, "resume").expect(200).json
    assert 7_190_000 < duration(resumed["remaining"]) <= 7_200_000


def test_activation_starts_the_full_period_afresh(api):
    timer = timer_in(api, "completed", restartable=True)
    again = api.command(timer["id"], "activate").expect(200).json
    assert (again["state"], again["fireCount"]) == ("running", 1)
    assert 3_590_000 < duration(again["remaining"]) <= 3_600_000
    assert api.command(timer["id"], "fire").expect(200).json["fireCount"] == 2


@pytest.mark.parametrize("word, meant", [("pause", "suspend"), ("start", "activate"), ("stop", "cancel"),
                                         ("unpause", "resume"), ("reset", None)])
def test_a_word_that_is_no_command_gets_the_one_meant(api, word, meant):
    problem = api.command(api.create()["id"], word).problem(404, "not-found")
    assert set(problem["commands"]) == set(transitions())
    assert problem["didYouMean"] in ([meant] if meant else transitions())


def test_another_word_gets_the_commands(api):
    problem = api.command(api.create()["id"], "explode").problem(404, "not-found")
    assert set(problem["commands"]) == set(transitions()) and "didYouMean" not in problem


def test_a_command_on_an_unknown_timer(api):
    assert api.command("no-such-timer", "suspend").problem(404, "not-found")["timer"] == "no-such-timer"


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH"])
def test_commands_are_posted(api, method):
    reply = api.request(method, f"/v1/timers/{api.create()['id']}/suspend")
    reply.problem(405, "method-not-allowed")
    assert {word.strip() for word in reply.headers["Allow"].split(",")} == {"POST", "OPTIONS"}


def test_an_unknown_parameter_on_a_command(api):
    id = api.create()["id"]
    assert api.post(f"/v1/timers/{id}/suspend?force=1").problem(400)["parameter"] == "force"
    assert api.timer(id)["state"] == "running"


@pytest.mark.parametrize("form, good", [("{new}", True), ("*", True), ('"v0", {new}', True), ("{old}", False), ("W/{new}", False),
                                        ('"v0"', False), ('"elsewhere"', False)])
def test_if_match_on_a_command(api, form, good):
    timer = timer_in(api, "running")
    old = f'"v{timer["version"]}"'
    api.command(timer["id"], "suspend").expect(200)
    new = api.command(timer["id"], "resume").expect(200).etag
    reply = api.command(timer["id"], "suspend", headers={"If-Match": form.format(old=old, new=new)})
    if good:
        assert reply.expect(200).json["state"] == "suspended"
    else:
        assert reply.problem(412, "version-mismatch")["timer"] == timer["id"]
        assert api.get(f"/v1/timers/{timer['id']}").etag == new


@pytest.mark.parametrize("value, word", [('W/"{own}"', "weak"), ("{own}", "quoted"), ('"{other}"', "at version")])
def test_a_mismatch_says_what_is_wrong_with_the_tag(api, value, word):
    timer = api.create(start="manual")
    version = timer["version"]
    value = value.format(own=f"v{version}", other=f"v{version + 1}")
    problem = api.patch(f"/v1/timers/{timer['id']}", {"labels": {}}, headers={"If-Match": value}).problem(412, "version-mismatch")
    assert word in problem["detail"] and problem["current"] == version
    assert (f"the timer is at version v{version}" in problem["detail"]) == (word == "at version")


def test_the_conflict_is_told_before_the_mismatch(api):
    id = timer_in(api, "cancelled")["id"]
    api.command(id, "suspend", headers={"If-Match": '"v0"'}).problem(409, "illegal-transition")
    api.command("no-such-timer", "suspend", headers={"If-Match": '"v0"'}).problem(404, "not-found")
