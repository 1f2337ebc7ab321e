"""POST /v1/timers: a refusal of each kind, with a pointer to the error. All fields are for the Swift tests of the API."""

import pytest


@pytest.mark.parametrize("fields, status, slug, pointer", [
    ({}, 400, "invalid-schedule", ""),
    ({"after": "1h", "id": "a/b"}, 400, "invalid-request", "/id"),
    ({"after": "1h", "a/b~c": 1}, 400, "unknown-field", "/a~1b~0c"),
    ({"after": "1h", "until": "2001-01-01T00:00:00Z"}, 400, "invalid-schedule", "/until"),
    ({"after": "1h", "payload": "x" * 65536}, 413, "too-large", "/payload"),
], ids=["nothing", "id", "field", "until", "payload"])
def test_a_refused_create_leaves_nothing_behind(api, name, fields, status, slug, pointer):
    assert api.post("/v1/timers", {"id": name, **fields}).problem(status, slug)["pointer"] == pointer
    api.get(f"/v1/timers/{name}").problem(404, "not-found")
