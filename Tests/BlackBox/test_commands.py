"""POST /v1/timers/{id}/<command>: an answer of each kind. What each command does in each state is for the Swift tests."""

import pytest

from timers import allowed, timer_in, types


def test_a_legal_command_answers_the_timer(api):
    timer = timer_in(api, "running")
    reply = api.command(timer["id"], "suspend").expect(200)
    assert (reply.json["state"], set(reply.json["allowed"])) == ("suspended", allowed("suspended"))
    assert reply.json["version"] > timer["version"] and reply.etag == f'"v{reply.json["version"]}"'
    assert types(api.history_of(timer["id"]))[-1] == "suspended"


def test_another_command_is_a_conflict_and_changes_nothing(api):
    timer = timer_in(api, "suspended")
    problem = api.command(timer["id"], "suspend").problem(409, "illegal-transition")
    assert (problem["timer"], problem["state"], problem["command"]) == (timer["id"], "suspended", "suspend")
    assert set(problem["allowed"]) == allowed("suspended")
    assert api.timer(timer["id"]) == timer


def test_a_bad_reschedule_is_pointed_at(api):
    timer = timer_in(api, "suspended")
    assert api.command(timer["id"], "reschedule", {"after": "x"}).problem(400, "invalid-schedule")["pointer"] == "/after"
    assert api.timer(timer["id"]) == timer


def test_a_word_that_is_no_command_gets_the_one_meant(api):
    assert api.command(api.create()["id"], "pause").problem(404, "not-found")["didYouMean"] == "suspend"


@pytest.mark.parametrize("tag, good", [("{own}", True), ('"v0"', False)])
def test_if_match_on_a_command(api, tag, good):
    timer = timer_in(api, "running")
    own = f'"v{timer["version"]}"'
    reply = api.command(timer["id"], "suspend", headers={"If-Match": tag.format(own=own)})
    if good:
        assert reply.expect(200).json["state"] == "suspended"
    else:
        assert reply.problem(412, "version-mismatch")["timer"] == timer["id"]
        assert api.get(f"/v1/timers/{timer['id']}").etag == own
