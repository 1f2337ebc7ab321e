"""--token-file: every request but health checks and documents needs a bearer token."""

import os

import pytest

from server import run
from timers import poll


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    from server import Server
    path = tmp_path_factory.mktemp("token") / "tokens"
    path.write_text("# tokens of these tests\n\nfirst-secret-of-16\n\t# and one more\n  second-secret-of-2 \r\n#third-secret-of-three\n")
    with Server("--token-file", path, "--log-level", "trace") as server:
        yield server


@pytest.mark.parametrize("token", ["first-secret-of-16", "second-secret-of-2"])
@pytest.mark.parametrize("scheme", ["Bearer", "bearer"])
def test_each_line_is_a_token(guarded, scheme, token):
    headers = {"Authorization": f"{scheme} {token}"}
    id = guarded.client.post("/v1/timers", {"after": "1h"}, headers=headers).expect(201).json["id"]
    guarded.client.get(f"/v1/timers/{id}", headers=headers).expect(200)


@pytest.mark.parametrize("value", [None, "", "Bearer", "Bearer ", "Bearer wrong", "Bearer first-secret-of-16x", "Bearer first-secret-of-1", "first-secret-of-16",
                                   "Basic Zmlyc3Qtc2VjcmV0", "Bearer first-secret-of-16\tsecond-secret-of-2", "Bearer #third-secret-of-three", "Bearer # tokens of these tests",
                                   "Bearer first-secret-of-16 second-secret-of-2"])
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
    headers = {"Authorization": "Bearer first-secret-of-16"}
    guarded.client.get(f"/v1/timers/{name}", headers=headers).expect(404)


def test_the_health_checks_are_open(guarded):
    guarded.client.get("/healthz").expect(200)
    guarded.client.get("/readyz").expect(200)
    assert run("health", "--server", guarded.url).returncode == 0


def test_the_documents_are_open(guarded):
    for target in ("/openapi.yaml", "/openapi.json", "/docs", "/problems/unauthorized"):
        guarded.client.get(target).expect(200)
    guarded.client.get("/problems/no-such-problem").problem(404, "not-found")


@pytest.mark.parametrize("target", ["/healthz", "/readyz", "/openapi.yaml", "/openapi.json", "/docs", "/problems/not-found"])
def test_a_bad_token_on_an_open_path_is_ignored(guarded, target):
    guarded.client.get(target, headers={"Authorization": "Bearer wrong"}).expect(200)


def test_no_token_is_ever_logged(guarded):
    """No line of the log holds a token, right or wrong, though every request has a line at this level."""
    shown = ["first-secret-of-16", "second-secret-of-2", "wrong-secret-of-some"]
    for token in shown:
        headers = {"Authorization": f"Bearer {token}", "Request-Id": f"shows-{token[:5]}"}
        guarded.client.get("/v1/timers", headers=headers)
        guarded.client.post("/v1/timers", {"after": "no duration"}, headers=headers)
    poll(lambda: guarded.log_text().count("requestId=shows-") == 2 * len(shown))
    text = guarded.log_text()
    assert "status=401" in text and "status=200" in text and "status=400" in text
    assert not [token for token in (*shown, "third-secret-of-three") if token in text or token[6:] in text]


@pytest.mark.parametrize("lines, line", [("short-of-sixteen\nfifteen-byte-to\n", 2), ("a token of words\n", 1), ("t\u00f6ken-of-sixteen-bytes\n", 1),
                                         ("\n".join(f"token-number-{n:06}" for n in range(1025)), 1025)])
def test_a_bad_line_refuses_to_start_and_is_not_shown(tmp_path, lines, line):
    (tmp_path / "tokens").write_text(lines)
    done = run("serve", "--listen", "127.0.0.1:0", "--data", tmp_path / "data", "--token-file", tmp_path / "tokens")
    assert done.returncode == 78 and f"tokens, line {line}: " in done.stderr and done.stdout == ""
    assert not [word for word in lines.split("\n") if word and word in done.stderr]


@pytest.mark.parametrize("name", ["TIMERD_TOKEN_FILE", "TIMERD_WEBHOOK_SECRET_FILE", "TIMERD_LISTEN", "TIMERD_ALLOW_HOST", "TIMERD_MAX_TIMERS"])
def test_a_variable_that_is_set_and_empty_is_an_error(tmp_path, name):
    listen = [] if name == "TIMERD_LISTEN" else ["--listen", "127.0.0.1:0"]
    done = run("serve", *listen, "--data", tmp_path / "data", env={name: ""})
    assert done.returncode == 64 and name in done.stderr and len(done.stderr.splitlines()) == 1 and done.stdout == ""


def test_a_file_without_a_token_refuses_to_start(tmp_path):
    (tmp_path / "empty").write_text("\n")
    (tmp_path / "comments").write_text("# none yet\n   #old-token-of-sixteen\n")
    (tmp_path / "directory").mkdir()
    os.mkfifo(tmp_path / "pipe")
    with open(tmp_path / "large", "wb") as file:
        file.truncate(1 << 30)
    for path in (tmp_path / name for name in ("absent", "empty", "comments", "directory", "pipe", "large")):
        done = run("serve", "--listen", "127.0.0.1:0", "--data", tmp_path / "data", "--token-file", path)
        assert done.returncode == 78 and str(path) in done.stderr and done.stdout == ""


def test_a_public_listener_without_a_token_warns(new_server, tmp_path):
    path = tmp_path / "tokens"
    path.write_text("sixteen-byte-key\n")
    open_server = new_server(listen=["0.0.0.0:0"])
    assert any(word in open_server.log_text().lower() for word in ("token", "authenticat"))
    guarded = new_server("--token-file", path, listen=["0.0.0.0:0"])
    assert "warn" not in guarded.log_text().lower()
