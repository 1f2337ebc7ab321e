"""PUT /v1/timers/{id}: create or replace, always afresh."""

import pytest

from timers import STATES, duration, timer_in, types


def put(api, id, body, **options):
    return api.put(f"/v1/timers/{id}", body, **options)


def test_put_creates(api, name):
    reply = put(api, name, {"after": "1h"}).expect(201)
    assert (reply.json["id"], reply.json["state"]) == (name, "running")
    assert reply.headers["Location"] == f"/v1/timers/{name}" and reply.etag == f'"v{reply.json["version"]}"'
    assert types(api.history_of(name)) == ["created", "activated"]


@pytest.mark.parametrize("state", STATES)
def test_put_replaces_afresh_in_any_state(api, state):
    timer = timer_in(api, state, labels={"old": "x"})
    reply = put(api, timer["id"], {"every": "2h"}).expect(200)
    after = reply.json
    assert (after["state"], after["kind"], after["labels"], "after" in after) == ("running", "repeating", {}, False)
    assert after["fireCount"] == timer["fireCount"] and after["version"] > timer["version"]
    assert reply.etag == f'"v{after["version"]}"'
    events = [event for event in api.history_of(timer["id"]) if event["version"] == after["version"]]
    assert types(events) == ["updated", "activated"]


def test_an_identical_body_starts_afresh_too(api, name):
    first = put(api, name, {"after": "1h"}).json
    api.command(name, "suspend").expect(200)
    again = put(api, name, {"after": "1h"}).expect(200).json
    assert again["state"] == "running" and again["version"] > first["version"] + 1
    assert again["nextFireAt"] >= first["nextFireAt"] and duration(again["remaining"]) > 3_590_000


def test_a_manual_start_makes_it_idle(api):
    timer = timer_in(api, "running")
    after = put(api, timer["id"], {"after": "1h", "start": "manual"}).expect(200).json
    assert (after["state"], after["nextFireAt"]) == ("idle", None)
    assert types(api.history_of(timer["id"]))[-1] == "updated"


def test_what_get_gave_can_be_put_back(api, name):
    put(api, name, {"every": "1h", "after": "5m", "mode": "fixedDelay", "labels": {"a": "b"}, "payload": [1], "retain": "2d"}).expect(201)
    got = api.timer(name)
    after = put(api, name, got).expect(200).json
    changing = {"version", "updatedAt", "nextFireAt", "remaining", "createdAt"}
    assert {k: v for k, v in after.items() if k not in changing} == {k: v for k, v in got.items() if k not in changing}


def test_the_id_of_the_body_must_be_the_paths(api, name):
    assert put(api, name, {"id": name + "x", "after": "1h"}).problem(400)["pointer"] == "/id"
    api.get(f"/v1/timers/{name}").expect(404)
    put(api, name, {"id": name, "after": "1h"}).expect(201)


@pytest.mark.parametrize("id", ["batch", "bulk", "x" * 129, "a%20b", "a!b", "%C3%A9"])
def test_a_bad_id_in_the_path(api, id):
    assert put(api, id, {"after": "1h"}).status in (400, 404, 405)
    assert api.get(f"/v1/timers/{id}").status in (400, 404, 405)


def test_a_refused_replacement_leaves_all_as_it_was(api):
    timer = timer_in(api, "suspended")
    put(api, timer["id"], {"after": "nonsense"}).problem(400)
    put(api, timer["id"], {}).problem(400, "invalid-schedule")
    assert api.timer(timer["id"]) == timer


def test_if_none_match_makes_it_create_only(api, name):
    put(api, name, {"after": "1h"}, headers={"If-None-Match": "*"}).expect(201)
    version = api.timer(name)["version"]
    put(api, name, {"after": "2h"}, headers={"If-None-Match": "*"}).problem(412)
    assert api.timer(name)["version"] == version


def test_if_none_match_with_the_version_that_is_there(api, name):
    tag = put(api, name, {"after": "1h"}, headers={"If-None-Match": '"v1"'}).expect(201).etag
    for value in (tag, "W/" + tag, f'"v0", {tag}'):
        put(api, name, {"after": "2h"}, headers={"If-None-Match": value}).problem(412, "version-mismatch")
    assert api.timer(name)["after"] == "1h"
    put(api, name, {"after": "2h"}, headers={"If-None-Match": '"v0"'}).expect(200)


@pytest.mark.parametrize("match", ["*", '"v1"'])
def test_if_match_on_an_absent_timer(api, name, match):
    put(api, name, {"after": "1h"}, headers={"If-Match": match}).problem(412, "version-mismatch")
    api.get(f"/v1/timers/{name}").expect(404)


def test_if_match_on_a_present_timer(api, name):
    first = put(api, name, {"after": "1h"}).etag
    second = put(api, name, {"after": "2h"}, headers={"If-Match": first}).expect(200).etag
    put(api, name, {"after": "3h"}, headers={"If-Match": first}).problem(412, "version-mismatch")
    put(api, name, {"after": "3h"}, headers={"If-Match": "W/" + second}).problem(412, "version-mismatch")
    assert api.timer(name)["after"] == "2h"


def test_versions_never_repeat_for_an_id_even_re_created(api, name):
    last = put(api, name, {"after": "1h"}).json["version"]
    for _ in range(3):
        last = max(last, api.command(name, "suspend").expect(200).json["version"])
        api.delete(f"/v1/timers/{name}").expect(204)
        again = put(api, name, {"after": "1h"}).expect(201).json
        assert again["version"] > last and again["fireCount"] == 0
        last = again["version"]


@pytest.mark.parametrize("content_type", [None, "text/plain", "application/merge-patch+json"])
def test_other_content_types(api, name, content_type):
    put(api, name, {"after": "1h"}, content_type=content_type).problem(415, "unsupported-media-type")
    api.get(f"/v1/timers/{name}").expect(404)
