"""A browser may do nothing across origins, and nothing under another Host while no token is required."""

import pytest

from client import Client
from server import Server, run

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


@pytest.mark.parametrize("origin, host, status", [("https://timerd", "timerd:443", 201), ("https://timerd:443", "timerd", 201),
                                                  ("http://timerd", "timerd:443", 403)])
def test_default_ports_make_no_other_origin(api, origin, host, status):
    reply = api.post("/v1/timers", {"after": "1h"}, headers={"Origin": origin, "Host": host}).expect(status)
    if status == 403:
        detail = reply.problem(403, "cross-origin")["detail"]
        assert f"`{origin}`" in detail and f"`{host}`" in detail and "proxy must pass `Host` on" in detail


def test_a_cross_origin_read_is_answered_but_not_shared(api):
    reply = api.get("/v1/timers?limit=1", headers={"Origin": "http://evil.example"}).expect(200)
    assert not [header for header in reply.headers if header.lower().startswith("access-control-")]


def test_there_is_no_preflight(api):
    reply = api.options("/v1/timers", headers={"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"})
    assert not [header for header in reply.headers if header.lower().startswith("access-control-")]


def test_the_origin_is_checked_before_method_and_path(api):
    for target in ("/v1/nowhere", "/v1/timers/no-such-timer/suspend"):
        api.post(target, {}, headers=CROSS[0]).problem(403, "cross-origin")


LOCAL = ["127.0.0.1", "127.0.0.1:80", "localhost", "LOCALHOST:1234", "[::1]", "[::1]:99", "[::ffff:10.0.0.1]:80", "192.168.0.7", "timerd",
         "timerd:8080", "my_timers", "localhost:"]
FOREIGN = ["evil.example", "EVIL.example:80", "localhost.evil.example", "127.0.0.1.evil.example", "127.0.0.1.nip.io", "xlocalhost.",
           "localhost.", "127.0.0.1.", "127.0.0.1:80:80", "127.0.0.1:http", "[fe80::1%25eth0]", "[::1", "[evil.example]", "[]", ":80", "",
           "evil%2eexample", "a'b"]


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    """A server that asks for a token, on loopback and on all addresses."""
    path = tmp_path_factory.mktemp("token") / "tokens"
    path.write_text("0123456789abcdef\n")
    with Server("--token-file", path, listen=["127.0.0.1:0", "0.0.0.0:0"], token="0123456789abcdef") as server:
        yield server


@pytest.fixture(scope="module")
def public():
    """A server on all addresses that asks for no token, as in a container."""
    with Server(listen=["0.0.0.0:0"]) as server:
        yield server


def port(server, place):
    return int(server.addresses[place].rsplit(":", 1)[1])


@pytest.mark.parametrize("host", LOCAL)
def test_addresses_and_names_without_a_dot(api, public, host):
    api.get("/v1/timers?limit=1", headers={"Host": host}).expect(200)
    public.client.get("/v1/timers?limit=1", headers={"Host": host}).expect(200)


@pytest.mark.parametrize("host", FOREIGN)
def test_another_host_is_misdirected(api, public, host):
    for client in (api, public.client):
        # A page under a rebound name sends that name as its origin as well: to itself it is the same origin.
        headers = {"Host": host, "Origin": f"http://{host}", "Sec-Fetch-Site": "same-origin"}
        client.get("/v1/timers", headers=headers).problem(421, "misdirected")
        client.get("/v1/events", headers=headers).problem(421, "misdirected")
        client.post("/v1/timers", {"after": "1h"}, headers=headers).problem(421, "misdirected")
        client.options("/v1/timers", headers=headers).problem(421, "misdirected")
        client.get("/v1/nowhere", headers=headers).problem(421, "misdirected")
        client.get("/", headers=headers).problem(421, "misdirected")


def test_a_refused_host_is_told_and_logged_how_to_be_allowed(new_server):
    server = new_server()
    for _ in range(3):
        problem = server.client.get("/v1/timers", headers={"Host": "Timers.example:8080"}).problem(421, "misdirected")
        assert "`--allow-host timers.example`" in problem["detail"]
    server.stop()
    lines = [line for line in (server.entry or server).log_text().splitlines() if "timers.example" in line]
    assert len(lines) == 1 and "warning" in lines[0] and "--allow-host" in lines[0], lines


@pytest.mark.parametrize("host, status", [("evil.example", 421), ("127.0.0.1", 204), ("timerd", 204)])
def test_the_host_of_options_for_the_whole_server(api, public, host, status):
    for client in (api, public.client):
        client.request("OPTIONS", "*", headers={"Host": host}).expect(status)


@pytest.mark.parametrize("target, status", [("http://evil.example/v1/timers", 421), ("http://127.0.0.1/v1/timers?limit=1", 200),
                                            ("http://127.0.0.1@evil.example/v1/timers", 400), ("http://evil.example:80/v1/timers", 421)])
def test_the_host_of_an_absolute_target(public, target, status):
    public.client.get(target, headers={"Host": "127.0.0.1"}).expect(status)


@pytest.mark.parametrize("target", ["/healthz", "/readyz"])
def test_health_checks_come_under_any_name(api, public, target):
    for client in (api, public.client):
        client.get(target, headers={"Host": "evil.example"}).expect(200)


def test_a_request_without_a_host(public):
    with public.client.socket() as sock:
        sock.sendall(b"GET /v1/timers?limit=1 HTTP/1.0\r\n\r\n")
        assert sock.makefile("rb").readline().split()[1] == b"200"


@pytest.mark.parametrize("name", ["Forwarded", "X-Forwarded-Host", "X-Forwarded-For", "X-Forwarded-Proto"])
def test_what_a_proxy_says_is_not_read(public, name):
    public.client.get("/v1/timers", headers={"Host": "evil.example", name: "127.0.0.1"}).problem(421, "misdirected")
    public.client.get("/v1/timers?limit=1", headers={name: "evil.example"}).expect(200)


def test_with_a_token_only_loopback_checks_the_host(guarded):
    loopback, everywhere = (Client(port(guarded, place), token=guarded.token) for place in (0, 1))
    headers = {"Host": "timers.example", "Origin": "http://timers.example"}
    everywhere.post("/v1/timers", {"after": "1h"}, headers=headers).expect(201)
    loopback.post("/v1/timers", {"after": "1h"}, headers=headers).problem(421, "misdirected")


def test_the_token_comes_before_the_host_and_the_host_before_the_path(guarded):
    loopback = Client(port(guarded, 0))
    loopback.get("/v1/timers", headers={"Host": "evil.example"}).problem(401, "unauthorized")
    loopback.request("OPTIONS", "*", headers={"Host": "evil.example"}).expect(401)
    loopback.token = guarded.token
    loopback.post("/nowhere", {}, headers={"Host": "evil.example", "Origin": "http://other.example"}).problem(421, "misdirected")
    loopback.post("/nowhere", {}, headers={"Host": "localhost", "Origin": "http://other.example"}).problem(403, "cross-origin")


def test_a_unix_socket_is_asked_under_any_name(new_server, tmp_path):
    path = tmp_path / "socket"
    new_server(listen=[f"unix:{path}"])
    Client(unix=str(path)).post("/v1/timers", {"after": "1h"}, headers={"Host": "evil.example"}).expect(201)


@pytest.mark.parametrize("listen", ["127.0.0.1:0", "0.0.0.0:0"])
def test_allowed_hosts(new_server, listen):
    api = new_server("--allow-host", "timers.example", "--allow-host", ".SVC.cluster.local", listen=[listen]).client
    for host in ("timers.example", "Timers.Example:8080", "timerd.default.svc.cluster.local", "a.svc.cluster.local:80"):
        api.get("/v1/timers?limit=1", headers={"Host": host}).expect(200)
    for host in ("other.example", "a.timers.example", "timers.example.", "svc.cluster.local", ".svc.cluster.local.evil.example",
                 "xsvc.cluster.local", "timers.example.evil.example"):
        api.get("/v1/timers", headers={"Host": host}).problem(421, "misdirected")
    api.post("/v1/timers", {"after": "1h"}, headers={"Host": "timers.example", "Origin": "http://timers.example"}).expect(201)
    api.post("/v1/timers", {"after": "1h"}, headers={"Host": "timers.example", "Origin": "http://other.example"}).problem(403)


def test_any_host_where_a_proxy_judges(new_server):
    api = new_server("--allow-host", "*").client
    api.post("/v1/timers", {"after": "1h"}, headers={"Host": "whatever.example"}).expect(201)
    api.post("/v1/timers", {"after": "1h"}, headers={"Host": "whatever.example", "Origin": "http://other.example"}).problem(403)


@pytest.mark.parametrize("value", ["timers.example:8080", "*.example", "http://timers.example", ".", "a..b", "a.", "tïmers.example", "", "[::1]"])
def test_what_is_no_host_is_refused(tmp_path, value):
    done = run("serve", "--listen", "127.0.0.1:0", "--data", tmp_path / "data", "--allow-host", value)
    assert done.returncode == 64 and "--allow-host" in done.stderr and done.stdout == ""
