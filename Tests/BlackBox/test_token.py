"""--token-file: all but the two health checks need a bearer token."""

import pytest

from server import run


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    from server import Server
    path = tmp_path_factory.mktemp("token") / "tokens"
    path.write_text("first-secret\nsecond-secret\n")
    with Server("--token-file", path) as server:
        yield server


@pytest.mark.parametrize("token", ["first-secret", "second-secret"])
@pytest.mark.parametrize("scheme", ["Bearer", "bearer"])
def test_each_line_is_a_token(guarded, scheme, token):
    headers = {"Authorization": f"{scheme} {token}"}
    id = guarded.client.post("/v1/timers", {"after": "1h"}, headers=headers).expect(201).json["id"]
    guarded.client.get(f"/v1/timers/{id}", headers=headers).expect(200)


@pytest.mark.parametrize("value", [None, "", "Bearer", "Bearer ", "Bearer wrong", "Bearer first-secretx", "Bearer first-secre", "first-secret",
                                   "Basic Zmlyc3Qtc2VjcmV0", "Bearer first-secret\tsecond-secret"])
def test_anything_else_is_401(guarded, value):
    reply = guarded.client.get("/v1/timers", headers={"Authorization": value})
    reply.problem(401, "unauthorized")
    assert reply.headers["WWW-Authenticate"].startswith("Bearer")


@pytest.mark.parametrize("method, target", [("GET", "/v1/timers"), ("POST", "/v1/timers"), ("GET", "/v1/events"), ("GET", "/metrics"), ("GET", "/"),
                                            ("GET", "/v1/stats"), ("GET", "/nowhere"), ("BREW", "/v1/timers"), ("OPTIONS", "/v1/timers")])
def test_the_token_comes_before_everything_else(guarded, method, target):
    guarded.client.request(method, target, headers={"Origin": "http://evil.example"}).problem(401, "unauthorized")


def test_a_refused_change_changes_nothing(guarded, name):
    guarded.client.post("/v1/timers", {"id": name, "after": "1h"}).problem(401)
    headers = {"Authorization": "Bearer first-secret"}
    guarded.client.get(f"/v1/timers/{name}", headers=headers).expect(404)


def test_the_health_checks_are_open(guarded):
    guarded.client.get("/healthz").expect(200)
    guarded.client.get("/readyz").expect(200)
    assert run("health", "--server", guarded.url).returncode == 0


def test_the_token_is_never_logged(guarded):
    assert "first-secret" not in guarded.log_text() and "second-secret" not in guarded.log_text()


def test_an_absent_or_empty_token_file_refuses_to_start(tmp_path):
    (tmp_path / "empty").write_text("\n")
    for path in (tmp_path / "absent", tmp_path / "empty"):
        done = run("serve", "--listen", "127.0.0.1:0", "--data", tmp_path / "data", "--token-file", path)
        assert done.returncode == 78 and str(path) in done.stderr and done.stdout == ""


def test_a_public_listener_without_a_token_warns(new_server, tmp_path):
    path = tmp_path / "tokens"
    path.write_text("secret\n")
    open_server = new_server(listen=["0.0.0.0:0"])
    assert any(word in open_server.log_text().lower() for word in ("token", "authenticat"))
    guarded = new_server("--token-file", path, listen=["0.0.0.0:0"])
    assert "warn" not in guarded.log_text().lower()
