"""POST /v1/timers/batch: lines in order, one result each."""

import json

import pytest


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


def test_bad_lines_do_not_stop_the_others(api, name):
    reply = api.batch(['{"after": "x"}', "{", "[]", '{"after":"1h"} x', '{"after":"1h","after":"2h"}', '{"after":"1h","colour":1}',
                       '{"command":"explode","id":"x"}', '{"command":"suspend"}', '{"command":"suspend","id":"x","why":1}',
                       {"id": name, "after": "1h"}])
    results = statuses(reply)
    assert results[-1] == 201 and all(400 <= status < 500 for status in results[:-1])
    assert results[:6] == [400] * 6
    for line in reply.lines[1:4]:
        assert line["problem"]["detail"].startswith("one object a line")
    for line in reply.lines[:-1]:
        assert line["problem"]["status"] == line["status"] and line["problem"]["type"].startswith("/problems/")
    api.get(f"/v1/timers/{name}").expect(200)


@pytest.mark.parametrize("first", ["[]", "{", '{"after": "1h"} {"after": "1h"}', '"x"', "1", "null", "after=1h"])
@pytest.mark.parametrize("content_type", ["application/x-ndjson", "application/json"])
def test_a_first_line_that_is_no_object_refuses_the_whole(api, name, first, content_type):
    if first == "[]" and content_type == "application/json":
        first = "[] {}"
    problem = api.batch([first, {"id": name, "after": "1h"}], content_type=content_type).problem(400, "invalid-request")
    assert ("the array" if first == "[] {}" else "one object a line") in problem["detail"]
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


@pytest.mark.parametrize("end, pointer", [(', {"after": 1h}]', "/1"), (', {"after": h}]', "/1/after"), (', {"a":1,"a":2}]', "/1/a"), ("", ""), ("]]", ""), (",]", "/1")])
def test_an_array_that_can_not_be_parsed_refuses_the_whole(api, name, end, pointer):
    body = f'[{json.dumps({"id": name, "after": "1h"})}{end}'
    assert array(api, body).problem(400, "invalid-request")["pointer"] == pointer
    api.get(f"/v1/timers/{name}").expect(404)


def test_an_array_has_at_most_ten_thousand_elements(api, name):
    line = {"command": "suspend", "id": "no-such-timer"}
    assert len(array(api, [line] * 10_000, "?results=brief", timeout=20).expect(200).json) == 10_000
    array(api, [{"id": name, "after": "1h"}] + [line] * 10_000, timeout=20).problem(413, "too-large")
    api.get(f"/v1/timers/{name}").expect(404)


def test_an_array_under_a_key_is_replayed_as_one(api, name):
    elements = [{"after": "1h", "labels": {"lot": name}}, {"command": "suspend", "id": "no-such-timer"}]
    first = array(api, elements, "?results=brief", headers={"Idempotency-Key": name}).expect(200)
    again = array(api, elements, "?results=brief", headers={"Idempotency-Key": name}).expect(200)
    assert again.headers["Idempotency-Replayed"] == "true" and again.headers["Content-Type"] == "application/json"
    assert again.json[0] == first.json[0] and [result["status"] for result in again.json] == [201, 404]
    assert len(api.get(f"/v1/timers?label=lot%3D{name}").expect(200).json["timers"]) == 1


def test_lines_are_taken_as_json_too(api, name):
    reply = api.batch([{"id": name, "after": "1h"}, {"command": "suspend", "id": name}], content_type="application/json")
    assert statuses(reply) == [201, 200] and reply.headers["Content-Type"] == "application/x-ndjson"


def test_blank_lines_are_skipped_and_the_last_needs_no_end(api, name):
    body = '\n\n{"id":"%s-1","after":"1h"}\n\n  \n{"id":"%s-2","after":"1h"}' % (name, name)
    reply = api.post("/v1/timers/batch", body=body, content_type="application/x-ndjson")
    assert [line["timer"]["id"] for line in reply.expect(200).lines] == [name + "-1", name + "-2"]


def test_brief_results(api, name):
    reply = api.batch([{"id": name, "after": "1h"}, {"command": "suspend", "id": name}, {"command": "suspend", "id": name}],
                      query="?results=brief").expect(200)
    first, second, third = reply.lines
    assert first["status"] == 201 and set(first) == {"status", "id", "version"}
    assert second == {"status": 200, "id": name, "version": api.timer(name)["version"]}
    assert third["status"] == 409
    assert api.batch([], query="?results=long").problem(400)["parameter"] == "results"


def test_a_line_may_ask_for_a_version(api, name):
    timer = api.create(id=name)
    reply = api.batch([{"command": "suspend", "id": name, "ifMatch": "v0"},
                       {"command": "suspend", "id": name, "ifMatch": f"v{timer['version']}"}])
    assert statuses(reply) == [412, 200]
    assert reply.lines[0]["problem"]["type"] == "/problems/version-mismatch"


@pytest.mark.parametrize("tag", ['"v1"', 'W/"v1"', "1"])
def test_the_version_of_a_line_is_no_entity_tag(api, name, tag):
    api.create(id=name)
    problem = api.batch([{"command": "suspend", "id": name, "ifMatch": tag}]).lines[0]["problem"]
    assert problem["pointer"] == "/ifMatch" and "without the quotes" in problem["detail"]
    assert api.timer(name)["state"] == "running"


def test_made_up_ids_are_told(api):
    reply = api.batch([{"after": "1h"}] * 20, query="?results=brief").expect(200)
    ids = {line["id"] for line in reply.lines}
    assert len(ids) == 20
    for id in list(ids)[:3]:
        api.get(f"/v1/timers/{id}").expect(200)


def test_an_empty_batch(api):
    api.batch([]).problem(400, "invalid-request")
    reply = api.batch(["", "  ", "\t\r"]).expect(200)
    assert reply.body == b"" and reply.headers["Content-Type"] == "application/x-ndjson"


def test_ten_thousand_lines_fit_and_one_more_does_not(api, name):
    line = json.dumps({"command": "suspend", "id": "no-such-timer"})
    reply = api.batch([line] * 10_000, query="?results=brief", timeout=20)
    assert len(reply.expect(200).lines) == 10_000
    over = [json.dumps({"id": name, "after": "1h"})] + [line] * 10_000
    api.batch(over, timeout=20).problem(413, "too-large")
    api.get(f"/v1/timers/{name}").expect(404)


def test_a_batch_may_be_larger_than_a_plain_body(api, name):
    lines = [{"id": f"{name}-{n}", "after": "1h", "payload": "x" * 60_000} for n in range(10)]
    assert statuses(api.batch(lines, query="?results=brief")) == [201] * 10
    assert api.timer(f"{name}-9")["payload"] == "x" * 60_000


def test_the_largest_batch_is_16_mib(api):
    sock = api.socket()
    with sock:
        sock.sendall(b"POST /v1/timers/batch HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-ndjson\r\n"
                     b"Content-Length: 16777217\r\n\r\n")
        assert sock.recv(4096).startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize("content_type", [None, "application/merge-patch+json", "text/plain"])
def test_other_content_types(api, name, content_type):
    api.batch([{"id": name, "after": "1h"}], content_type=content_type).problem(415, "unsupported-media-type")
    api.get(f"/v1/timers/{name}").expect(404)


def test_if_match_belongs_in_the_lines(api, name):
    api.batch([{"id": name, "after": "1h"}], headers={"If-Match": "*"}).problem(400)
    api.get(f"/v1/timers/{name}").expect(404)


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_batches_are_posted(api, method):
    assert "POST" in api.request(method, "/v1/timers/batch").expect(405).headers["Allow"]
