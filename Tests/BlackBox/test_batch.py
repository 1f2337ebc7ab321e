"""POST /v1/timers/batch: an answer of each kind. Forms, lines and limits are for the Swift tests of the API."""

import json


def statuses(reply):
    return [line["status"] for line in reply.expect(200).lines]


def test_lines_apply_in_order_and_see_earlier_ones(api, name):
    reply = api.batch([
        {"id": name, "after": "1h"},
        {"command": "suspend", "id": name},
        {"command": "suspend", "id": name},
        {"command": "reschedule", "id": name, "after": "2h"},
        {"command": "resume", "id": name},
        {"id": name, "after": "1h"},
        {"command": "delete", "id": name},
        {"command": "cancel", "id": name},
        {"id": name, "every": "1h"},
    ])
    assert statuses(reply) == [201, 200, 409, 200, 200, 409, 204, 404, 201]
    assert reply.headers["Content-Type"].split(";")[0] == "application/x-ndjson"
    results = reply.lines
    assert results[0]["timer"]["state"] == "running" and results[1]["timer"]["state"] == "suspended"
    assert results[3]["timer"]["remaining"] == "2h"
    problem = results[2]["problem"]
    assert problem["type"] == "/problems/illegal-transition"
    assert (problem["timer"], problem["state"], problem["command"]) == (name, "suspended", "suspend")
    assert results[5]["problem"]["type"] == "/problems/timer-exists"
    assert api.timer(name)["every"] == "1h"


def test_a_first_line_that_is_no_object_refuses_the_whole(api, name):
    problem = api.batch(["{", {"id": name, "after": "1h"}]).problem(400, "invalid-request")
    assert "one object a line" in problem["detail"]
    api.get(f"/v1/timers/{name}").expect(404)


def array(api, elements, query="", **options):
    body = elements if isinstance(elements, str) else json.dumps(elements, indent=1)
    return api.post(f"/v1/timers/batch{query}", body=body, content_type="application/json", **options)


def test_an_array_is_answered_by_an_array(api, name):
    reply = array(api, [{"id": name, "after": "1h"}, {"command": "suspend", "id": name}, 7, {"id": name, "after": "1h"}]).expect(200)
    assert reply.headers["Content-Type"] == "application/json"
    assert [result["status"] for result in reply.json] == [201, 200, 400, 409]
    assert reply.json[1]["timer"]["state"] == "suspended" and "object" in reply.json[2]["problem"]["detail"]
    brief = array(api, [{"command": "resume", "id": name}], "?results=brief").expect(200)
    assert brief.json == [{"status": 200, "id": name, "version": api.timer(name)["version"]}]
    assert array(api, "[ ]").expect(200).body == b"[]"


def test_an_array_under_a_key_is_replayed_as_one(api, name):
    elements = [{"after": "1h", "labels": {"lot": name}}, {"command": "suspend", "id": "no-such-timer"}]
    first = array(api, elements, "?results=brief", headers={"Idempotency-Key": name}).expect(200)
    again = array(api, elements, "?results=brief", headers={"Idempotency-Key": name}).expect(200)
    assert again.headers["Idempotency-Replayed"] == "true" and again.headers["Content-Type"] == "application/json"
    assert again.json[0] == first.json[0] and [result["status"] for result in again.json] == [201, 404]
    assert len(api.get(f"/v1/timers?label=lot%3D{name}").expect(200).json["timers"]) == 1


def test_the_largest_batch_is_16_mib(api):
    sock = api.socket()
    with sock:
        sock.sendall(b"POST /v1/timers/batch HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-ndjson\r\n"
                     b"Content-Length: 16777217\r\n\r\n")
        assert sock.recv(4096).startswith(b"HTTP/1.1 413 ")
