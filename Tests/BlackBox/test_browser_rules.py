"""What a browser may do: nothing across origins, and no other Host on a loopback listener."""

import pytest

CHANGES = [("POST", "/v1/timers"), ("PUT", "/v1/timers/{name}"), ("PATCH", "/v1/timers/{id}"), ("DELETE", "/v1/timers/{id}"),
           ("POST", "/v1/timers/{id}/suspend"), ("POST", "/v1/timers/batch"), ("POST", "/v1/timers/bulk/cancel")]
CROSS = [{"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": "http://127.0.0.1:1"}, {"Sec-Fetch-Site": "cross-site"},
         {"Sec-Fetch-Site": "same-site"}]


@pytest.mark.parametrize("method, path", CHANGES)
@pytest.mark.parametrize("headers", CROSS, ids=lambda headers: " ".join(headers.values()))
def test_a_cross_origin_change_is_403_and_changes_nothing(api, name, method, path, headers):
    timer = api.create(labels={"browser": name})
    body = {"id": name, "after": "1h"} if path in ("/v1/timers", "/v1/timers/{name}") else {"labels": {"browser": name}}
    target = path.format(id=timer["id"], name=name)
    content_type = "application/x-ndjson" if "batch" in path else "application/json"
    api.request(method, target, body if method != "DELETE" and "suspend" not in path else None, headers=headers,
                content_type=content_type).problem(403, "cross-origin")
    assert api.timer(timer["id"])["version"] == timer["version"]
    api.get(f"/v1/timers/{name}").expect(404)


@pytest.mark.parametrize("headers", CROSS[:4:3], ids=lambda headers: " ".join(headers.values()))
def test_a_cross_origin_stream_is_403(api, headers):
    id = api.create()["id"]
    for target in ("/v1/events", f"/v1/timers/{id}/events", "/v1/events?follow=false"):
        api.get(target, headers=headers).problem(403, "cross-origin")
        api.get(target, headers={**headers, "Accept": "text/event-stream"}).problem(403, "cross-origin")


@pytest.mark.parametrize("headers", [{}, {"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"}, {"Origin": "{own}"},
                                     {"Origin": "{own}", "Sec-Fetch-Site": "same-origin"}])
def test_the_own_origin_may(server, headers):
    api = server.client
    headers = {name: value.format(own=server.url) for name, value in headers.items()}
    headers["Host"] = f"127.0.0.1:{server.port}"
    api.post("/v1/timers", {"after": "1h"}, headers=headers).expect(201)


def test_a_cross_origin_read_is_answered_but_not_shared(api):
    reply = api.get("/v1/timers?limit=1", headers={"Origin": "http://evil.example"}).expect(200)
    assert not [header for header in reply.headers if header.lower().startswith("access-control-")]


def test_there_is_no_preflight(api):
    reply = api.options("/v1/timers", headers={"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"})
    assert not [header for header in reply.headers if header.lower().startswith("access-control-")]


def test_the_origin_is_checked_before_method_and_path(api):
    for target in ("/v1/nowhere", "/v1/timers/no-such-timer/suspend"):
        api.post(target, {}, headers=CROSS[0]).problem(403, "cross-origin")


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:80", "localhost", "LOCALHOST:1234", "[::1]", "[::1]:99", "192.168.0.7"])
def test_local_hosts_and_ip_literals(api, host):
    api.get("/v1/timers?limit=1", headers={"Host": host}).expect(200)


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "localhost.evil.example", "127.0.0.1.evil.example", "xlocalhost"])
def test_another_host_is_misdirected(api, host):
    api.get("/v1/timers", headers={"Host": host}).problem(421, "misdirected")
    api.post("/v1/timers", {"after": "1h"}, headers={"Host": host}).problem(421, "misdirected")


def test_allowed_hosts(new_server):
    api = new_server("--allow-host", "timers.example").client
    api.get("/v1/timers", headers={"Host": "timers.example"}).expect(200)
    api.get("/v1/timers", headers={"Host": "timers.example:8080"}).expect(200)
    api.get("/v1/timers", headers={"Host": "other.example"}).problem(421, "misdirected")
    api.post("/v1/timers", {"after": "1h"}, headers={"Host": "timers.example", "Origin": "http://timers.example"}).expect(201)
    api.post("/v1/timers", {"after": "1h"}, headers={"Host": "timers.example", "Origin": "http://other.example"}).problem(403)
