"""PUT /v1/timers/{id}?apply=true: an answer of each kind. What differs is for the Swift tests of the API."""

from timers import types

BODY = {"every": "1h", "labels": {"team": "blue"}}


def apply(api, id, body, query="", **options):
    return api.put(f"/v1/timers/{id}?apply=true{query}", body, **options)


def test_it_creates_and_then_leaves_alone(api, name):
    made = apply(api, name, BODY).expect(201)
    assert made.headers["Location"] == f"/v1/timers/{name}"
    for body in (BODY, {"every": "60m", "labels": {"team": "blue"}, "start": "now", "payload": None}, made.json):
        again = apply(api, name, body).expect(200)
        assert again.etag == made.etag and again.json["nextFireAt"] == made.json["nextFireAt"]
    assert types(api.history_of(name)) == ["created", "activated"]


def test_a_dry_run_names_what_differs_and_changes_nothing(api, name):
    assert apply(api, name, BODY, "&dryRun=true").expect(200).json == {"differs": [""]}
    api.get(f"/v1/timers/{name}").expect(404)
    tag = apply(api, name, BODY, "&dryRun=false").expect(201).etag
    assert apply(api, name, BODY, "&dryRun=true").expect(200).json == {"differs": []}
    body = {"every": "2h", "labels": {}, "payload": [1]}
    assert apply(api, name, body, "&dryRun=true").expect(200).json == {"differs": ["/every", "/labels", "/payload"]}
    apply(api, name, BODY, "&dryRun=true", headers={"If-Match": '"v0"'}).problem(412)
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
