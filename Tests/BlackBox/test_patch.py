"""PATCH /v1/timers/{id}: an answer of each kind. What is merged, and what is refused, is for the Swift tests of the API."""

from timers import timer_in, types

MERGE = "application/merge-patch+json"


def patch(api, id, body, **options):
    return api.patch(f"/v1/timers/{id}", body, **options)


def test_labels_are_merged(api):
    id = api.create(labels={"a": "1", "b": "2"})["id"]
    reply = patch(api, id, {"labels": {"b": None, "c": "3"}}, content_type=MERGE).expect(200)
    assert reply.json["labels"] == {"a": "1", "c": "3"} == api.timer(id)["labels"]
    assert reply.etag == f'"v{reply.json["version"]}"'
    assert types(api.history_of(id)) == ["created", "activated", "updated"]


def test_a_change_of_kind_needs_null_for_the_old_field(api):
    timer = api.create(after="1h")
    patch(api, timer["id"], {"at": "2099-01-01T00:00:00Z"}).problem(400, "invalid-schedule")
    assert api.timer(timer["id"])["version"] == timer["version"]
    changed = patch(api, timer["id"], {"after": None, "every": "30m"}).expect(200).json
    assert (changed["kind"], changed["every"], changed["mode"], "after" in changed) == ("repeating", "30m", "fixedRate", False)


def test_if_match(api):
    timer = api.create()
    etag = f'"v{timer["version"]}"'
    patch(api, timer["id"], {"retain": "2d"}, headers={"If-Match": etag}).expect(200)
    problem = patch(api, timer["id"], {"retain": "3d"}, headers={"If-Match": etag}).problem(412, "version-mismatch")
    assert problem["timer"] == timer["id"] and api.timer(timer["id"])["retain"] == "2d"
    patch(api, timer["id"], {"retain": "3d"}, headers={"If-Match": "*"}).expect(200)


def test_the_schedule_of_an_ended_timer_stays(api):
    timer = timer_in(api, "completed")
    assert patch(api, timer["id"], {"after": "2h"}).problem(409, "illegal-transition")["state"] == "completed"
    assert api.timer(timer["id"]) == timer
