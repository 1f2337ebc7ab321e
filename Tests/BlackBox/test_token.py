"""--token-file: every request but health checks and documents needs a bearer token."""

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


def test_a_token_of_the_file_is_needed(guarded, name):
    guarded.client.put(f"/v1/timers/{name}", {"after": "1h"}).problem(401, "unauthorized")
    for token, status in (("first-secret-of-16", 201), ("second-secret-of-2", 200), ("third-secret-of-three", 401)):
        guarded.client.put(f"/v1/timers/{name}", {"after": "1h"}, headers={"Authorization": f"Bearer {token}"}).expect(status)


def test_the_health_checks_are_open(guarded):
    guarded.client.get("/healthz").expect(200)
    guarded.client.get("/readyz", headers={"Authorization": "Bearer wrong"}).expect(200)
    assert run("health", "--server", guarded.url).returncode == 0


def test_no_token_is_ever_logged(guarded):
    """No line of the log holds a token, right or wrong, though every request has a line at this level."""
    shown = ["first-secret-of-16", "second-secret-of-2", "wrong-secret-of-some"]
    for token in shown:
        headers = {"Authorization": f"Bearer {token}", "Request-Id": f"shows-{token[:5]}"}
        guarded.client.get("/v1/timers", headers=headers)
        guarded.client.post("/v1/timers", {"after": "no duration"}, headers=headers)
    poll(lambda: guarded.asked.log_text().count("requestId=shows-") == 2 * len(shown))
    text = guarded.asked.log_text()
    assert "status=401" in text and "status=200" in text and "status=400" in text
    text += guarded.log_text()
    assert not [token for token in (*shown, "third-secret-of-three") if token in text or token[6:] in text]


@pytest.mark.parametrize("content, said", [("short-of-sixteen\nfifteen-byte-to\n", "tokens, line 2: "), ("# none yet\n", "tokens has no token")])
def test_a_file_that_is_of_no_use_refuses_to_start_and_is_not_shown(tmp_path, content, said):
    (tmp_path / "tokens").write_text(content)
    done = run("serve", "--listen", "127.0.0.1:0", "--data", tmp_path / "data", "--token-file", tmp_path / "tokens")
    assert done.returncode == 78 and said in done.stderr and done.stdout == ""
    assert not [word for word in content.split("\n") if word and word in done.stderr]


def test_a_variable_that_is_set_and_empty_is_an_error(tmp_path):
    done = run("serve", "--listen", "127.0.0.1:0", "--data", tmp_path / "data", env={"TIMERD_TOKEN_FILE": ""})
    assert done.returncode == 64 and "TIMERD_TOKEN_FILE" in done.stderr and len(done.stderr.splitlines()) == 1 and done.stdout == ""


def test_a_public_listener_without_a_token_warns(new_server, tmp_path):
    path = tmp_path / "tokens"
    path.write_text("sixteen-byte-key\n")
    open_server = new_server(listen=["0.0.0.0:0"])
    assert any(word in open_server.log_text().lower() for word in ("token", "authenticat"))
    guarded = new_server("--token-file", path, listen=["0.0.0.0:0"])
    assert "warn" not in guarded.log_text().lower()
