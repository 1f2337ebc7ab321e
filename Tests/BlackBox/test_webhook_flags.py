"""The flags about webhooks: accepted values, and one clear line for each refused one."""

import base64

import pytest

from server import run

SECRETS = ["whsec_" + base64.b64encode(bytes([n]) * 32).decode() for n in range(1, 7)]


def refuse(*flags, env=None, data):
    """Runs a `timerd serve` that must refuse to start; returns its exit code and the one line it printed."""
    done = run("serve", "--listen", "127.0.0.1:0", "--data", data, *flags, env=env)
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    assert done.stdout == "" and len(lines) == 1, done
    assert not data.exists() or not any(data.iterdir())
    return done.returncode, lines[0]


@pytest.mark.parametrize("flag, value", [
    ("--webhook-per-host", "0"), ("--webhook-per-host", "many"), ("--webhook-concurrency", "0"),
    ("--webhook-concurrency", "1000000"), ("--webhook-backlog", "-1"), ("--webhook-backlog", "10M"),
    ("--webhook-dead-letters", "x"), ("--webhook-allow", "10.0.0.0/33"), ("--webhook-allow", "10.0.0.1/8"),
    ("--webhook-allow", "exa mple.com"), ("--webhook-deny", ""), ("--webhook-deny", "127.1"),
    ("--webhook-deny", "0x7f000001"), ("--webhook-deny", "::ffff:10.0.0.0/104"), ("--webhook-deny", "fd00::/129"),
])
def test_nonsense_is_refused_by_name(tmp_path, flag, value):
    code, line = refuse(f"{flag}={value}", data=tmp_path / "data")
    assert code == 64 and flag in line and value in line


@pytest.mark.parametrize("value", [
    "", "proxy.example:3128", "ftp://proxy.example:3128", "http://", "http://proxy.example", "http://[::1]", "http://:3128",
    "http://proxy.example:0", "http://proxy.example:99999", "http://proxy.example:3128/path", "http://proxy.example:3128?q",
    "http://pro xy:3128", "socks5://proxy.example", "socks4://proxy.example:1080", "http://us er:pw@proxy.example:3128",
])
def test_a_proxy_must_have_a_scheme_a_host_and_a_port(tmp_path, value):
    code, line = refuse(f"--webhook-proxy={value}", data=tmp_path / "data")
    assert code == 64 and "--webhook-proxy" in line


def test_a_proxys_password_is_never_shown(tmp_path):
    code, line = refuse("--webhook-proxy", "http://user:hunter2@proxy.example", data=tmp_path / "data")
    assert code == 64 and "hunter2" not in line


@pytest.mark.parametrize("rule", ["--webhook-allow", "--webhook-deny"])
def test_rules_that_a_proxy_would_leave_unasked_are_refused(tmp_path, rule):
    code, line = refuse("--webhook-proxy", "http://127.0.0.1:3128", rule, "10.0.0.0/8", data=tmp_path / "data")
    assert code == 64 and "--webhook-proxy" in line


@pytest.mark.parametrize("name, value", [
    ("TIMERD_WEBHOOK_PER_HOST", "0"), ("TIMERD_WEBHOOK_ALLOW", "10.0.0.0/8,10.0.0.0/33"), ("TIMERD_WEBHOOK_PROXY", "proxy"),
])
def test_variables_are_refused_by_their_name(tmp_path, name, value):
    code, line = refuse(env={name: value}, data=tmp_path / "data")
    assert code == 64 and name in line


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


@pytest.mark.parametrize("proxy", ["http://127.0.0.1:3128", "https://user:p%40ss@proxy.example:443/", "socks5://[::1]:1080",
                                   "socks5h://proxy.example:1080"])
def test_proxies_are_taken(new_server, proxy):
    new_server("--webhook-proxy", proxy).client.get("/readyz").expect(200)


@pytest.mark.parametrize("line", [
    "hunter2hunter2hunter2hunter2hunter2", "whsec_hunter2", "whsec_!!!hunter2!!!", "WHSEC_" + SECRETS[0].removeprefix("whsec_"),
    "whsec_" + base64.b64encode(b"hunter2").decode(), f"{SECRETS[0]} {SECRETS[1]}", "whsec_",
])
def test_a_bad_line_of_secrets_is_told_by_its_number_alone(tmp_path, line):
    path = tmp_path / "secrets"
    path.write_text(f"# comment\n{SECRETS[0]}\n{line}\n")
    code, said = refuse("--webhook-secret-file", path, data=tmp_path / "data")
    assert code == 78 and str(path) in said and "line 3" in said
    shown = said.replace(str(path), "")
    assert "hunter2" not in shown and "aHVudGVy" not in shown
    assert all(secret.removeprefix("whsec_") not in shown for secret in SECRETS)


@pytest.mark.parametrize("content", [None, "", "\n# none yet\n", "\n".join(SECRETS), b"\xff\xfe\n", "#" * (1 << 20) + "\n\n"],
                         ids=["absent", "empty", "comments", "six", "no text", "large"])
def test_a_file_of_secrets_that_is_of_no_use_refuses_to_start(tmp_path, content):
    path = tmp_path / "secrets"
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    code, said = refuse("--webhook-secret-file", path, data=tmp_path / "data")
    assert code == 78 and str(path) in said
