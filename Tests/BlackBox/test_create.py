"""POST /v1/timers: what is answered, and every default."""

import uuid

import pytest

from timers import INSTANT, duration, instant, now, timer_in

COMMON = ["start", "stop", "clock", "leeway", "jitter", "onResume", "misfire", "misfireGrace", "maxFires", "until",
          "restartable", "retain", "labels", "payload", "webhook"]
READ_ONLY = ["state", "kind", "createdAt", "updatedAt", "version", "nextFireAt", "remaining", "lastFiredAt",
             "fireCount", "missedCount", "allowed"]
DEFAULTS = {"start": "now", "leeway": "0s", "jitter": "0s", "onResume": "remaining", "misfire": "once",
            "misfireGrace": None, "maxFires": None, "until": None, "restartable": False, "retain": "1d",
            "labels": {}, "payload": None, "webhook": None}


def test_create_answers_201_with_location_etag_and_the_timer(api, name):
    reply = api.post("/v1/timers", {"id": name, "after": "1h"}).expect(201)
    assert reply.headers["Location"] == f"/v1/timers/{name}"
    assert reply.headers["Content-Type"].split(";")[0] == "application/json"
    timer = reply.json
    assert reply.etag == f'"v{timer["version"]}"'
    assert (timer["id"], timer["state"], timer["kind"]) == (name, "running", "oneShot")
    assert isinstance(timer["version"], int) and timer["version"] >= 1
    assert api.timer(name).keys() == timer.keys()


@pytest.mark.parametrize("schedule, kind, clock", [
    ({"after": "1h"}, "oneShot", "continuous"),
    ({"at": "2099-01-01T00:00:00Z"}, "oneShot", "wall"),
    ({"every": "1h"}, "repeating", "continuous"),
    ({"every": "1h", "after": "2h"}, "repeating", "continuous"),
    ({"every": "1h", "at": "2099-01-01T00:00:00Z"}, "repeating", "wall"),
])
def test_the_shape_is_the_given_schedule_with_all_defaults(api, schedule, kind, clock):
    timer = api.create(**schedule)
    expected = {*schedule, *COMMON, *READ_ONLY, "id"} | ({"mode"} if "every" in schedule else set())
    assert set(timer) == expected
    assert {field: timer[field] for field in DEFAULTS} == DEFAULTS
    assert (timer["kind"], timer["clock"], timer.get("mode")) == (
        kind, clock, "fixedRate" if "every" in schedule else None)
    assert (timer["fireCount"], timer["missedCount"], timer["lastFiredAt"]) == (0, 0, None)


def test_instants_and_remaining_agree(api):
    before = now()
    timer = api.create(after="1h")
    after = now()
    assert INSTANT.fullmatch(timer["createdAt"]) and timer["updatedAt"] == timer["createdAt"]
    assert before <= instant(timer["createdAt"]) <= after + 1
    assert before + 3_600_000 <= instant(timer["nextFireAt"]) <= after + 3_600_001
    assert 3_590_000 < duration(timer["remaining"]) <= 3_600_000


def test_an_id_is_made_up_as_uuid_v7(api):
    first, second = api.create()["id"], api.create()["id"]
    assert uuid.UUID(first).version == uuid.UUID(second).version == 7
    assert first != second and str(uuid.UUID(first)) == first


def test_a_manual_start_is_idle_without_a_due(api):
    timer = api.create(after="1h", start="manual")
    assert (timer["state"], timer["nextFireAt"], timer["remaining"], timer["allowed"]) == ("idle", None, None, ["activate"])


def test_a_taken_id_is_a_conflict_and_changes_nothing(api, name):
    first = api.create(id=name, after="1h")
    problem = api.post("/v1/timers", {"id": name, "after": "2h"}).problem(409, "timer-exists")
    assert problem["timer"] == name
    assert api.timer(name)["version"] == first["version"] and api.timer(name)["after"] == "1h"


@pytest.mark.parametrize("state", ["cancelled", "completed"])
def test_an_id_stays_taken_while_the_timer_can_be_read(api, state):
    timer = timer_in(api, state)
    api.post("/v1/timers", {"id": timer["id"], "after": "1h"}).problem(409, "timer-exists")


def test_null_means_absent(api):
    nothing = dict.fromkeys(["at", "every", "cron", "watchdog", "mode", "maxFires", "until", "labels", "payload",
                             "webhook", "from", "timeZone", "misfireGrace", "id", "start", "retain"])
    timer = api.create(after="1h", **nothing)
    assert {field: timer[field] for field in DEFAULTS} == DEFAULTS


def test_given_fields_come_back(api, name):
    given = {"id": name, "every": "10m", "after": "5m", "mode": "fixedDelay", "maxFires": 7,
             "until": "2099-06-01T12:00:00.000Z", "restartable": True, "retain": "2d", "onResume": "deadline",
             "clock": "wall", "labels": {"a/b.c_d-1": "x", "empty": ""}, "payload": {"n": [1, None, "ü"]}}
    timer = api.create(**given)
    assert {field: timer[field] for field in given} == given
    assert api.timer(name) | {"remaining": 0} == timer | {"remaining": 0}


def test_read_only_fields_in_a_body_are_ignored(api):
    read_only = {"state": "cancelled", "version": 99, "fireCount": 5, "allowed": [], "createdAt": "x", "kind": "cron",
                 "nextFireAt": None, "remaining": "1s", "lastFiredAt": None, "missedCount": 1, "updatedAt": "x"}
    timer = api.create(after="1h", **read_only)
    assert (timer["state"], timer["fireCount"], timer["missedCount"]) == ("running", 0, 0)


def test_a_payload_is_handed_back_verbatim_without_white_space(api, name):
    body = '{"id": "%s", "after": "1h", "payload": {"z": 1.00e+2, "a" : ["\\u00e9\\/ x", -0.0 ,\n true], "é": {}}}' % name
    api.post("/v1/timers", body=body).expect(201)
    expected = '"payload":{"z":1.00e+2,"a":["\\u00e9\\/ x",-0.0,true],"é":{}}'
    assert expected in api.get(f"/v1/timers/{name}").body.decode()


@pytest.mark.parametrize("payload", ["0", '"x"', "true", "[]", "{}", "12345678901234567890.5"])
def test_a_payload_is_any_json(api, payload):
    reply = api.post("/v1/timers", body='{"after":"1h","payload":%s}' % payload).expect(201)
    assert f'"payload":{payload}' in reply.body.decode()


def test_a_past_at_fires_at_once(api):
    timer = api.create(at="2001-02-03T04:05:06Z")
    fired = api.get(f"/v1/timers/{timer['id']}/wait?since=0&timeout=8s").expect(200).json
    assert (fired["type"], fired["scheduledAt"]) == ("fired", "2001-02-03T04:05:06.000Z")


def test_create_and_read_with_real_curl(server, name):
    import subprocess
    command = ["curl", "-sS", "--max-time", "8", "--json", '{"id":"%s","after":"10m"}' % name, f"{server.url}/v1/timers"]
    output = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True).stdout
    assert '"state":"running"' in output.replace(" ", "")
    assert server.client.timer(name)["after"] == "10m"
