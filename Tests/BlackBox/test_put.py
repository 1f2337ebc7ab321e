"""PUT /v1/timers/{id}: an answer of each kind. States, conditions and refusals are for the Swift tests of the API."""

from timers import timer_in, types


def put(api, id, body, **options):
    return api.put(f"/v1/timers/{id}", body, **options)


def test_put_creates(api, name):
    reply = put(api, name, {"after": "1h"}).expect(201)
    assert (reply.json["id"], reply.json["state"]) == (name, "running")
    assert reply.headers["Location"] == f"/v1/timers/{name}" and reply.etag == f'"v{reply.json["version"]}"'
    assert types(api.history_of(name)) == ["created", "activated"]


def test_put_replaces_afresh(api):
    timer = timer_in(api, "suspended", labels={"old": "x"})
    reply = put(api, timer["id"], {"every": "2h"}).expect(200)
    after = reply.json
    assert (after["state"], after["kind"], after["labels"], "after" in after) == ("running", "repeating", {}, False)
    assert after["fireCount"] == timer["fireCount"] and after["version"] > timer["version"]
    assert reply.etag == f'"v{after["version"]}"'
    events = [event for event in api.history_of(timer["id"]) if event["version"] == after["version"]]
    assert types(events) == ["updated", "activated"]


def test_the_id_of_the_body_must_be_the_paths(api, name):
    assert put(api, name, {"id": name + "x", "after": "1h"}).problem(400)["pointer"] == "/id"
    api.get(f"/v1/timers/{name}").expect(404)
    put(api, name, {"id": name, "after": "1h"}).expect(201)


def test_if_none_match_makes_it_create_only(api, name):
    put(api, name, {"after": "1h"}, headers={"If-None-Match": "*"}).expect(201)
    version = api.timer(name)["version"]
    put(api, name, {"after": "2h"}, headers={"If-None-Match": "*"}).problem(412)
    assert api.timer(name)["version"] == version
