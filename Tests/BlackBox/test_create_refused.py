"""POST /v1/timers: what is refused, with a pointer to the error; a refused create leaves nothing behind."""

import json

import pytest

T = "2099-01-01T00:00:00Z"


def refused(api, name, fields, status=400):
    """Posts with a known id and insists that nothing was created."""
    reply = api.post("/v1/timers", {"id": name, **fields})
    problem = reply.problem(status)
    api.get(f"/v1/timers/{name}").problem(404, "not-found")
    return problem


@pytest.mark.parametrize("schedule", [
    {}, {"after": "1h", "at": T}, {"after": "1h", "at": T, "every": "1h"}, {"after": None}, {"maxFires": 1},
    {"cron": "@daily", "watchdog": "1h", "after": "1h"}, {"cron": None, "watchdog": None}, {"watchdog": "1h", "every": "1h"},
])
def test_exactly_one_schedule_is_needed(api, name, schedule):
    assert refused(api, name, schedule)["type"] == "/problems/invalid-schedule"


@pytest.mark.parametrize("id", [".", "..", "batch", "bulk", "", "a/b", "a b", "é", "a%41", "x" * 129, 5, ["a"], True])
def test_bad_ids(api, id):
    problem = api.post("/v1/timers", {"id": id, "after": "1h"}).problem(400)
    assert problem["pointer"] == "/id"


@pytest.mark.parametrize("suffix", ["~", ".", "_-", "A9" * 50])
def test_good_ids(api, name, suffix):
    assert api.create(id=name + suffix)["id"] == name + suffix


def test_an_id_of_128_characters_is_the_longest(api, name):
    id = name.ljust(128, "x")
    api.create(id=id)
    assert api.timer(id)["id"] == id


@pytest.mark.parametrize("field, value", [
    ("start", "later"), ("start", 1), ("clock", "sundial"), ("clock", 0), ("onResume", "forget"), ("misfire", "often"),
    ("maxFires", 0), ("maxFires", -1), ("maxFires", 1.5), ("maxFires", "3"), ("maxFires", 10 ** 30), ("until", "soon"),
    ("until", 5), ("restartable", "yes"), ("restartable", 1), ("retain", 5), ("retain", "-1s"), ("labels", []),
    ("labels", "x"), ("mode", "fixedMood"), ("after", 10), ("after", {}), ("leeway", "x"), ("jitter", 1),
])
def test_wrong_types_and_values(api, name, field, value):
    problem = refused(api, name, {"after": "1h", "every": "1h", field: value})
    assert problem["pointer"] == f"/{field}"


@pytest.mark.parametrize("fields, pointer", [
    ({"after": "1h", "mode": "fixedDelay"}, "/mode"),
    ({"at": T, "mode": "fixedDelay"}, "/mode"),
    ({"at": T, "clock": "continuous"}, "/clock"),
    ({"every": "1h", "at": T, "clock": "continuous"}, "/clock"),
    ({"at": T, "clock": "suspending"}, "/clock"),
    ({"after": "1h", "timeZone": "Europe/Paris"}, "/timeZone"),
    ({"every": "1d", "timeZone": "Europe/Paris"}, "/timeZone"),
    ({"every": "36h", "at": T, "timeZone": "Europe/Paris"}, "/every"),
    ({"every": "1h", "from": T}, "/from"),
    ({"after": "1h", "misses": 2}, "/misses"),
    ({"every": "1h", "repeatAlarm": True}, "/repeatAlarm"),
])
def test_a_field_the_kind_does_not_use(api, name, fields, pointer):
    assert refused(api, name, fields)["pointer"] == pointer


def test_a_field_the_kind_does_not_use_may_be_its_default(api):
    api.create(after="1h", mode="fixedRate", timeZone="UTC", misses=1, repeatAlarm=False)
    api.create(after="1h", mode=None, timeZone=None, misses=None, repeatAlarm=None, **{"from": None})
    api.create(at=T, clock="wall")


@pytest.mark.parametrize("fields", [
    {"after": "1h", "until": "2001-01-01T00:00:00Z"},
    {"at": T, "until": "2098-12-31T23:59:59.999Z"},
    {"every": "1h", "at": T, "until": "2098-12-31T23:59:59.999Z"},
])
def test_an_until_before_the_first_fire(api, name, fields):
    assert refused(api, name, fields)["type"] in ("/problems/invalid-schedule", "/problems/invalid-request")


def test_an_until_at_the_first_fire_is_fine(api):
    api.create(at=T, until=T)


@pytest.mark.parametrize("labels", [
    {"": "x"}, {"a b": "x"}, {"ä": "x"}, {"k" * 64: "x"}, {"k": "v" * 256}, {"k": "é" * 128}, {"k": 1}, {"k": None, "l": True},
    {f"k{n}": "" for n in range(17)},
])
def test_bad_labels(api, name, labels):
    assert refused(api, name, {"after": "1h", "labels": labels})["pointer"].startswith("/labels")


def test_labels_at_their_limits(api):
    labels = {f"k{n}": "v" for n in range(13)} | {"k" * 63: "v" * 255, "l": "é" * 127, "m": ""}
    assert api.create(after="1h", labels=labels)["labels"] == labels


@pytest.mark.parametrize("fields, pointer", [
    ({"colour": "red"}, "/colour"), ({"a/b~c": 1}, "/a~1b~0c"), ({"After": "1h"}, "/After"), ({"": 1}, "/"),
])
def test_unknown_fields_are_pointed_at(api, name, fields, pointer):
    problem = refused(api, name, {"after": "1h", **fields})
    assert (problem["type"], problem["pointer"]) == ("/problems/unknown-field", pointer)


def test_the_payload_limit_is_64_kib(api, name):
    fits = '"' + "x" * (65536 - 2) + '"'
    api.post("/v1/timers", body='{"id":"%s","after":"1h","payload":%s}' % (name, fits)).expect(201)
    assert len(json.dumps(api.timer(name)["payload"])) == 65536
    over = '{"after":"1h","id":"%s-2","payload":"x%s}' % (name, fits[1:])
    reply = api.post("/v1/timers", body=over)
    assert reply.status in (400, 413) and reply.problem(reply.status)["pointer"] == "/payload"
    api.get(f"/v1/timers/{name}-2").expect(404)


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE"])
def test_wrong_methods_on_the_collection(api, method):
    reply = api.request(method, "/v1/timers", {"after": "1h"})
    reply.problem(405, "method-not-allowed")
    assert {"GET", "HEAD", "OPTIONS", "POST"} == {word.strip() for word in reply.headers["Allow"].split(",")}


def test_an_unknown_query_parameter_is_named(api, name):
    problem = api.post("/v1/timers?colour=red", {"id": name, "after": "1h"}).problem(400)
    assert problem["parameter"] == "colour"
    api.get(f"/v1/timers/{name}").expect(404)


def test_a_timer_that_was_refused_has_no_name(api):
    body = {"cron": "0 0 * * *", "until": "2020-01-01T00:00:00Z"}
    assert "timer" not in api.post("/v1/timers", body).problem(400, "invalid-schedule")
