"""PATCH /v1/timers/{id}: RFC 7396 on the create fields."""

import pytest

from timers import STATES, duration, instant, now, timer_in, types

MERGE = "application/merge-patch+json"


def patch(api, id, body, **options):
    return api.patch(f"/v1/timers/{id}", body, **options)


@pytest.mark.parametrize("content_type", ["application/json", MERGE, MERGE + "; charset=utf-8"])
def test_labels_are_merged(api, content_type):
    id = api.create(labels={"a": "1", "b": "2"})["id"]
    reply = patch(api, id, {"labels": {"b": None, "c": "3"}}, content_type=content_type).expect(200)
    assert reply.json["labels"] == {"a": "1", "c": "3"} == api.timer(id)["labels"]
    assert reply.etag == f'"v{reply.json["version"]}"'
    assert types(api.history_of(id)) == ["created", "activated", "updated"]


def test_null_gives_the_default_back(api):
    id = api.create(retain="2d", maxFires=3, labels={"a": "1"}, payload=[1], onResume="skip", restartable=True)["id"]
    nothing = dict.fromkeys(["retain", "maxFires", "labels", "payload", "onResume", "restartable"])
    timer = patch(api, id, nothing).expect(200).json
    assert [timer[field] for field in nothing] == ["1d", None, {}, None, "remaining", False]


def test_a_payload_is_merged_or_replaced(api):
    id = api.create(payload={"a": 1, "b": {"c": 2, "d": 3}})["id"]
    assert patch(api, id, {"payload": {"b": {"c": None}, "e": 4}}).expect(200).json["payload"] == {"a": 1, "b": {"d": 3}, "e": 4}
    assert patch(api, id, {"payload": [1, None]}).expect(200).json["payload"] == [1, None]


@pytest.mark.parametrize("state", STATES)
def test_other_fields_change_in_every_state(api, state):
    timer = timer_in(api, state)
    after = patch(api, timer["id"], {"labels": {"new": "x"}, "retain": "2d"}).expect(200).json
    assert (after["state"], after["labels"], after["retain"]) == (state, {"new": "x"}, "2d")
    assert after["version"] > timer["version"] and after["nextFireAt"] == timer["nextFireAt"]
    assert types(api.history_of(timer["id"]))[-1] == "updated"


@pytest.mark.parametrize("state", STATES)
def test_schedule_fields(api, state):
    timer = timer_in(api, state)
    before = now()
    reply = patch(api, timer["id"], {"after": "2h", "labels": {"new": "x"}})
    if state in ("cancelled", "completed"):
        assert reply.problem(409, "illegal-transition")["state"] == state
        assert api.timer(timer["id"]) == timer
        return
    after = reply.expect(200).json
    assert (after["state"], after["after"], after["labels"]) == (state, "2h", {"new": "x"})
    if state == "running":
        assert before + 7_200_000 <= instant(after["nextFireAt"]) <= now() + 7_200_001
    if state == "suspended":
        assert after["remaining"] == "2h"
    assert types(api.history_of(timer["id"]))[-1] in ("rescheduled", "updated")


def test_a_change_of_the_schedule_says_rescheduled(api):
    id = api.create()["id"]
    patch(api, id, {"after": "2h"}).expect(200)
    assert types(api.history_of(id))[-1] == "rescheduled"


def test_a_change_of_kind_needs_null_for_the_old_field(api):
    timer = api.create(after="1h")
    patch(api, timer["id"], {"at": "2099-01-01T00:00:00Z"}).problem(400, "invalid-schedule")
    assert api.timer(timer["id"])["version"] == timer["version"]
    changed = patch(api, timer["id"], {"after": None, "every": "30m"}).expect(200).json
    assert (changed["kind"], changed["every"], changed["mode"], "after" in changed) == ("repeating", "30m", "fixedRate", False)
    assert 1_790_000 < duration(changed["remaining"]) <= 1_800_000


def test_equal_schedule_fields_keep_the_pending_fire(api):
    timer = api.create(after="1h")
    after = patch(api, timer["id"], {"after": "60m", "clock": "continuous", "labels": {"x": "y"}}).expect(200).json
    assert after["nextFireAt"] == timer["nextFireAt"] and after["version"] > timer["version"]
    assert types(api.history_of(timer["id"]))[-1] == "updated"


@pytest.mark.parametrize("body", [{}, {"after": "60m"}, {"labels": {"a": "1"}}, {"labels": {"gone": None}}, {"maxFires": None},
                                  {"state": "cancelled", "version": 0}])
def test_changing_nothing_keeps_the_etag_and_makes_no_event(api, body):
    timer = api.create(after="1h", labels={"a": "1"})
    reply = patch(api, timer["id"], body).expect(200)
    assert reply.etag == f'"v{timer["version"]}"' == api.get(f"/v1/timers/{timer['id']}").etag
    assert types(api.history_of(timer["id"])) == ["created", "activated"]


@pytest.mark.parametrize("body, pointer", [
    ({"id": "other"}, "/id"), ({"start": "manual"}, "/start"), ({"colour": 1}, "/colour"), ({"labels": {"a b": "x"}}, "/labels"),
    ({"retain": "x"}, "/retain"), ({"mode": "fixedDelay"}, "/mode"), ({"cron": "* * * * *"}, "/cron"),
    ({"until": "2001-01-01T00:00:00Z", "maxFires": "x"}, "/maxFires"),
])
def test_any_illegal_part_refuses_all(api, body, pointer):
    timer = api.create(after="1h")
    problem = patch(api, timer["id"], {"labels": {"good": "x"}, "after": "2h", **body}).problem(400)
    assert problem["pointer"].startswith(pointer)
    assert api.timer(timer["id"]) | {"remaining": 0} == timer | {"remaining": 0}


def test_an_equal_id_and_start_are_fine(api):
    timer = api.create()
    patch(api, timer["id"], {"id": timer["id"], "start": "now"}).expect(200)


def test_what_get_gave_can_be_patched_back(api):
    timer = api.create(every="1h", labels={"a": "b"}, payload={"x": 1})
    reply = patch(api, timer["id"], api.timer(timer["id"])).expect(200)
    assert reply.json["version"] == timer["version"]


@pytest.mark.parametrize("body", ["[]", "null", "5", '"x"', "{", ""])
def test_a_body_that_is_no_object(api, body):
    timer = api.create()
    api.patch(f"/v1/timers/{timer['id']}", body=body).problem(400)
    assert api.timer(timer["id"])["version"] == timer["version"]


@pytest.mark.parametrize("content_type", [None, "text/plain", "application/json-patch+json", "application/x-ndjson"])
def test_other_content_types(api, content_type):
    patch(api, api.create()["id"], {}, content_type=content_type).problem(415, "unsupported-media-type")


def test_if_match(api):
    timer = api.create()
    etag = f'"v{timer["version"]}"'
    patch(api, timer["id"], {"retain": "2d"}, headers={"If-Match": etag}).expect(200)
    problem = patch(api, timer["id"], {"retain": "3d"}, headers={"If-Match": etag}).problem(412, "version-mismatch")
    assert problem["timer"] == timer["id"] and api.timer(timer["id"])["retain"] == "2d"
    patch(api, timer["id"], {"retain": "3d"}, headers={"If-Match": "*"}).expect(200)


def test_an_unknown_timer(api):
    patch(api, "no-such-timer", {"retain": "2d"}).problem(404, "not-found")


def test_a_field_that_no_timer_has_can_not_be_removed_either(api):
    assert patch(api, api.create()["id"], {"untill": None}).problem(400, "unknown-field")["pointer"] == "/untill"
