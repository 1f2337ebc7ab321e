"""The rules for every request: bodies, JSON, Request-Id, methods, paths, problem pages."""

import re
import uuid

import pytest
import yaml

SLUGS = """invalid-request invalid-schedule unknown-field unsupported-media-type too-large not-found method-not-allowed
    illegal-transition not-a-watchdog timer-exists version-mismatch idempotency-mismatch idempotency-in-progress timer-limit
    stream-limit events-expired overloaded cross-origin misdirected unauthorized owner-unavailable storage-unavailable
    shutting-down not-implemented internal-error""".split()

ROUTES = {
    "/v1/timers": "GET HEAD OPTIONS POST",
    "/v1/timers/{id}": "GET HEAD OPTIONS PUT PATCH DELETE",
    "/v1/timers/{id}/suspend": "OPTIONS POST",
    "/v1/timers/{id}/events": "GET HEAD OPTIONS",
    "/v1/timers/{id}/wait": "GET HEAD OPTIONS",
    "/v1/timers/{id}/next": "GET HEAD OPTIONS",
    "/v1/timers/batch": "OPTIONS POST",
    "/v1/timers/bulk/suspend": "OPTIONS POST",
    "/v1/timers/bulk/fire": "OPTIONS POST",
    "/v1/schedules/preview": "OPTIONS POST",
    "/v1/events": "GET HEAD OPTIONS",
    "/v1/deliveries": "GET HEAD OPTIONS",
    "/v1/deliveries/redrive": "OPTIONS POST",
    "/v1/stats": "GET HEAD OPTIONS",
    "/v1/cluster": "GET HEAD OPTIONS",
    "/healthz": "GET HEAD OPTIONS",
    "/readyz": "GET HEAD OPTIONS",
    "/metrics": "GET HEAD OPTIONS",
    "/openapi.yaml": "GET HEAD OPTIONS",
    "/openapi.json": "GET HEAD OPTIONS",
    "/docs": "GET HEAD OPTIONS",
    "/": "GET HEAD OPTIONS",
}


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/xml",
                                          "application/merge-patch+json", "application/jsonx", "json", "", None])
def test_another_content_type_is_415(api, name, content_type):
    body = '{"id":"%s","after":"1h"}' % name
    reply = api.request("POST", "/v1/timers", body=body, headers={"Content-Type": content_type}, content_type=None)
    reply.problem(415, "unsupported-media-type")
    api.get(f"/v1/timers/{name}").expect(404)


@pytest.mark.parametrize("content_type", ["application/json", "application/json; charset=utf-8", "Application/JSON", "application/json;charset=UTF-8"])
def test_json_by_any_spelling(api, content_type):
    api.post("/v1/timers", {"after": "1h"}, content_type=content_type).expect(201)


@pytest.mark.parametrize("body", [
    b"", b" ", b"{", b"}", b"nul", b"[]", b'"x"', b"null", b"5", b'{"after":"1h"}x', b'{"after":"1h"}{}', b'{"after":"1h",}',
    b"{'after':'1h'}", b'{"after":"1h"', b'{"after":1h}', b'{"after":"1\nh"}', b'\xef\xbb\xbf{"after":"1h"}', b'{"after":"1h","payload":01}',
    b'{"after":"1h","payload":NaN}', b'{"after":"1h","payload":"\\x"}', b'{"after":"1h","payload":+1}', b'{"after":"1h","payload":1.}',
    b'{"after":"1h","payload":"\xff"}', b'{"after":"1h","payload":"\xc0\xaf"}', b'{"after":"1h","payload":"\xed\xa0\x80"}',
    b'{"after":"1h","payload":"\\ud800"}', b'{"after":"1h","payload":"\\udc00\\ud800"}', b'{"after":"1h","payload":"\\ud800x"}',
    b'{"after":"1h","after":"1h"}', b'{"after":"1h","\\u0061fter":"1h"}', b'{"after":"1h","labels":{"a":"1","a":"1"}}',
    b'{"after":"1h","payload":' + b"[" * 40 + b"]" * 40 + b"}", b'{"after":"1h","payload":' + b"[" * 50_000, b'/* x */{"after":"1h"}',
])
def test_what_is_no_good_json_is_400(api, body):
    api.request("POST", "/v1/timers", body=body, headers={"Content-Type": "application/json"}).problem(400)


def test_what_is_good_json(api):
    body = b' \t\r\n{"\\u0061fter":"1h","payload":["\\ud83d\\ude00","\xf0\x9f\x98\x80",' + b"[" * 20 + b"]" * 20 + b"]} \n"
    assert api.post("/v1/timers", body=body).expect(201).json["payload"][0] == "\U0001f600"


def test_duplicate_keys_and_wrong_types_are_pointed_at(api):
    assert api.post("/v1/timers", body='{"after":"1h","after":"2h"}').problem(400)["pointer"] == "/after"
    assert api.post("/v1/timers", body='{"after":"1h","labels":{"a":5}}').problem(400)["pointer"] == "/labels/a"


def test_request_id_is_echoed_or_made(api):
    given = "~!visible@ASCII#" + "x" * 112
    assert len(given) == 128
    assert api.get("/healthz", headers={"Request-Id": given}).headers["Request-Id"] == given
    assert api.get("/v1/nowhere", headers={"Request-Id": given}).problem(404)["requestId"] == given
    for bad in (None, "x" * 129, "a b", ""):
        made = api.get("/healthz", headers={"Request-Id": bad}).headers["Request-Id"]
        assert made != bad and uuid.UUID(made)
    assert len({api.get("/healthz").headers["Request-Id"] for _ in range(5)}) == 5


@pytest.mark.parametrize("path", ROUTES)
def test_options_and_405_agree(api, path):
    target, allow = path.replace("{id}", api.create()["id"]), set(ROUTES[path].split())
    reply = api.options(target).expect(204)
    assert reply.body == b"" and {word.strip() for word in reply.headers["Allow"].split(",")} == allow
    for method in {"POST", "PUT", "PATCH", "DELETE", "TRACE", "BREW"} - allow:
        refused = api.request(method, target, {} if method in ("POST", "PUT", "PATCH") else None)
        refused.problem(405, "method-not-allowed")
        assert {word.strip() for word in refused.headers["Allow"].split(",")} == allow


@pytest.mark.parametrize("path", ["/v1/timers//suspend", "/v1/timers/", "/v1/timers//events", "/v1/timers/x/", "/v1/timers/bulk/explode",
                                  "/v1/timers/bulk/", "/v1//timers", "/v1/deliveries/", "/v1/timers/x/pause", "/problems/"])
def test_a_path_that_names_nothing_is_404_by_any_method(api, path):
    for method in ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "BREW"):
        body = {} if method in ("POST", "PUT", "PATCH") else None
        reply = api.request(method, path, body)
        reply.problem(404, "not-found")
        assert "Allow" not in reply.headers


def test_content_type_comes_once(api, name):
    body = b'{"id":"%s","after":"1h"}' % name.encode()
    for second in (b"application/json", b"text/plain"):
        reply = api.raw(b"POST /v1/timers HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Type: " + second
                        + b"\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(body) + body)
        assert reply.startswith(b"HTTP/1.1 400 ") and b"/problems/invalid-request" in reply
    api.get(f"/v1/timers/{name}").expect(404)


def test_lines_of_one_condition_are_one_list(api, name):
    tag = api.put(f"/v1/timers/{name}", {"after": "1h"}).expect(201).etag

    def ask(method, header, *values, body=b""):
        lines = b"".join(b"%s: %s\r\n" % (header, value.encode()) for value in values)
        path = f"/v1/timers/{name}" + ("/suspend" if method == "POST" else "")
        return api.raw(f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n".encode() + lines + b"\r\n")[:13]
    assert ask("POST", b"If-Match", '"v0"', '"v00"') == b"HTTP/1.1 412 "
    assert ask("GET", b"If-None-Match", '"v0"', tag) == b"HTTP/1.1 304 "
    assert ask("POST", b"If-Match", '"v0"', tag) == b"HTTP/1.1 200 "


@pytest.mark.parametrize("path, parameters", [
    ("/v1/timers", "state kind label dueBefore sort limit cursor"), ("/v1/events", "timer since types label follow limit"),
    ("/v1/deliveries", "state timer limit cursor"), ("/v1/timers/{id}/events", "since types label follow limit"),
    ("/v1/timers/{id}/wait", "since timeout"), ("/v1/timers/{id}/next", "count"),
])
def test_a_parameter_without_a_value_is_400(api, path, parameters):
    target = path.replace("{id}", api.create()["id"])
    for parameter in parameters.split():
        for query in (parameter, f"{parameter}="):
            assert api.get(f"{target}?{query}").problem(400, "invalid-request")["parameter"] == parameter


def test_a_parameter_of_one_word_takes_one(api):
    assert api.get("/v1/timers?sort=nextFireAt,nextFireAt").problem(400)["parameter"] == "sort"


def test_a_label_holds_no_nul(api):
    assert api.post("/v1/timers", {"after": "1h", "labels": {"a": "x\0y"}}).problem(400)["pointer"] == "/labels/a"


@pytest.mark.parametrize("path", [path for path, allow in ROUTES.items() if "HEAD" in allow])
def test_head_wherever_get(api, path):
    target = path.replace("{id}", api.create()["id"])
    head = api.head(target)
    assert head.status in (200, 204) and head.body == b""


@pytest.mark.parametrize("path", ["/nowhere", "/v1", "/v1/", "/v2/timers", "/v1/timer", "/v1/timers/x/y/z", "/v1/delivery", "/V1/timers",
                                  "/v1/schedules", "//v1/timers", "/openapi", "/docs/x", "/problems", "/problems/no-such"])
@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_an_unknown_path_is_404(api, method, path):
    api.request(method, path).problem(404, "not-found")


def test_paths_are_percent_decoded_once(api, name):
    api.create(id=name + "~a")
    for spelling in (f"{name}%7Ea", f"{name}%7e%61", f"%{ord(name[0]):x}{name[1:]}~a"):
        assert api.get(f"/v1/timers/{spelling}").expect(200).json["id"] == name + "~a"
    assert api.get(f"/%76%31/timers/{name}~a").status in (200, 404)
    api.get(f"/v1/timers/{name}%257Ea").expect(404)
    assert api.get("/v1/timers%2Fx").status == 404 and api.get(f"/v1/timers/{name}~a%2Fevents").status in (400, 404)


@pytest.mark.parametrize("path", ["/v1/timers/%", "/v1/timers/%4", "/v1/timers/%zz", "/v1/timers/a%00b", "/v1/timers/%ff", "/v1/timers?limit=%zz",
                                  "/v1/timers?label=%ff%3Dx", "/v1/timers?label=%00%3Dx"])
def test_bad_percent_escapes(api, path):
    for method in ("GET", "HEAD", "DELETE", "POST"):
        reply = api.request(method, path)
        assert reply.status == 400
        if method != "HEAD":
            reply.problem(400, "invalid-request")


def test_a_plus_in_a_query_is_one_meaning_everywhere(api, name):
    """`+` must not match where a literal plus is stored and a space at the same time."""
    api.create(labels={"plus": name + "+x"})
    hits = [len(api.get(f"/v1/timers?label=plus%3D{name}{plus}x").expect(200).json["timers"]) for plus in ("%2B", "%20")]
    assert hits == [1, 0]


@pytest.mark.parametrize("slug", SLUGS)
def test_every_problem_has_a_page(api, slug):
    reply = api.get(f"/problems/{slug}").expect(200)
    assert reply.headers["Content-Type"].startswith("text/") and len(reply.body) > 40


def test_the_openapi_document_is_served(api):
    reply = api.get("/openapi.yaml").expect(200)
    assert "yaml" in reply.headers["Content-Type"]
    document = yaml.safe_load(reply.body)
    assert re.fullmatch(r"3\.1\.\d+", document["openapi"])
    served = {re.sub(r"\{[^}]+\}", "{id}", path) for path in document["paths"]}
    assert {path for path in ROUTES if "bulk" not in path and "suspend" not in path and path != "/"} <= served


def test_the_front_page_is_html(api):
    reply = api.get("/").expect(200)
    assert reply.headers["Content-Type"].startswith("text/html") and b"timerd" in reply.body


def test_problems_do_not_repeat_markup_or_leak(api):
    reply = api.get("/v1/timers/%3Cscript%3E")
    assert reply.status in (400, 404)
    assert reply.headers["Content-Type"].split(";")[0] == "application/problem+json"
