"""POST /v1/timers: an answer of each kind. Shapes, defaults and fields are for the Swift tests of the API."""

from patience import PATIENCE
from timers import INSTANT, duration, instant, now


def test_create_answers_201_with_location_etag_and_the_timer(api, name):
    reply = api.post("/v1/timers", {"id": name, "after": "1h"}).expect(201)
    assert reply.headers["Location"] == f"/v1/timers/{name}"
    assert reply.headers["Content-Type"].split(";")[0] == "application/json"
    timer = reply.json
    assert reply.etag == f'"v{timer["version"]}"'
    assert (timer["id"], timer["state"], timer["kind"]) == (name, "running", "oneShot")
    assert isinstance(timer["version"], int) and timer["version"] >= 1
    assert api.timer(name).keys() == timer.keys()


def test_instants_and_remaining_agree(api):
    before = now()
    timer = api.create(after="1h")
    after = now()
    assert INSTANT.fullmatch(timer["createdAt"]) and timer["updatedAt"] == timer["createdAt"]
    assert before <= instant(timer["createdAt"]) <= after + 1
    assert before + 3_600_000 <= instant(timer["nextFireAt"]) <= after + 3_600_001
    assert 3_600_000 - (after - before) - 1 <= duration(timer["remaining"]) <= 3_600_000


def test_a_taken_id_is_a_conflict_and_changes_nothing(api, name):
    first = api.create(id=name, after="1h")
    problem = api.post("/v1/timers", {"id": name, "after": "2h"}).problem(409, "timer-exists")
    assert problem["timer"] == name
    assert api.timer(name)["version"] == first["version"] and api.timer(name)["after"] == "1h"


def test_given_fields_come_back(api, name):
    given = {"id": name, "every": "10m", "after": "5m", "mode": "fixedDelay", "maxFires": 7,
             "until": "2099-06-01T12:00:00.000Z", "restartable": True, "retain": "2d", "onResume": "deadline",
             "clock": "wall", "labels": {"a/b.c_d-1": "x", "empty": ""}, "payload": {"n": [1, None, "ü"]}}
    timer = api.create(**given)
    assert {field: timer[field] for field in given} == given
    assert api.timer(name) | {"remaining": 0} == timer | {"remaining": 0}


def test_create_and_read_with_real_curl(server, name):
    import subprocess
    command = ["curl", "-sS", "--json", '{"id":"%s","after":"10m"}' % name, f"{server.url}/v1/timers"]
    output = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True).stdout
    assert '"state":"running"' in output.replace(" ", "")
    assert server.client.timer(name)["after"] == "10m"
