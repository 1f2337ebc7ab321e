"""The flags about webhooks: accepted values, and one clear line for each refused one."""

import base64

import pytest

from server import run

SECRETS = ["whsec_" + base64.b64encode(bytes([n]) * 32).decode() for n in range(1, 4)]


def refuse(*flags, env=None, data):
    """Runs a `timerd serve` that must refuse to start; returns its exit code and the one line it printed."""
    done = run("serve", "--listen", "127.0.0.1:0", "--data", data, *flags, env=env)
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    assert done.stdout == "" and len(lines) == 1, done
    assert not data.exists() or not any(data.iterdir())
    return done.returncode, lines[0]


@pytest.mark.parametrize("flag, value", [("--webhook-per-host", "0"), ("--webhook-deny", "127.1"), ("--webhook-proxy", "http://user:hunter2@proxy.example")])
def test_nonsense_is_refused_by_name(tmp_path, flag, value):
    code, line = refuse(f"{flag}={value}", data=tmp_path / "data")
    assert code == 64 and flag in line and "hunter2" not in line


def test_variables_are_refused_by_their_name(tmp_path):
    code, line = refuse(env={"TIMERD_WEBHOOK_ALLOW": "10.0.0.0/8,10.0.0.0/33"}, data=tmp_path / "data")
    assert code == 64 and "TIMERD_WEBHOOK_ALLOW" in line


def test_all_of_them_are_taken(new_server, tmp_path):
    secrets = tmp_path / "secrets"
    secrets.write_text(f"# the new one\n{SECRETS[0]}\n\n  {SECRETS[1]}\t\r\n#{SECRETS[2]}\n")
    server = new_server(
        "--webhook-per-host", 1, "--webhook-concurrency", 8, "--webhook-backlog", 100, "--webhook-dead-letters", 0,
        "--webhook-secret-file", secrets, "--webhook-allow", "127.0.0.0/8", "--webhook-allow", ".example.com",
        env={"TIMERD_WEBHOOK_DENY": "127.0.0.2/32,fd00::/8,example.com"})
    server.client.get("/readyz").expect(200)
    assert "warn" not in server.log_text().lower()
    assert all(secret.removeprefix("whsec_") not in server.log_text() for secret in SECRETS)


@pytest.mark.parametrize("content, said", [(f"# comment\n{SECRETS[0]}\nwhsec_!!!hunter2!!!\n", "line 3"), ("# none yet\n", "has no secret")])
def test_a_file_of_secrets_that_is_of_no_use_refuses_to_start(tmp_path, content, said):
    path = tmp_path / "secrets"
    path.write_text(content)
    code, line = refuse("--webhook-secret-file", path, data=tmp_path / "data")
    assert code == 78 and str(path) in line and said in line
    shown = line.replace(str(path), "")
    assert "hunter2" not in shown and SECRETS[0].removeprefix("whsec_") not in shown
