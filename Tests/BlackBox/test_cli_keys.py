"""timerd keys …, and a log with keys at a server without a token file."""

import json
import subprocess

import pytest

from patience import PATIENCE
from server import binary, environment, run
from timers import poll

TOKEN = "a-token-of-sixteen-bytes"


@pytest.fixture
def tokens(tmp_path):
    path = tmp_path / "tokens"
    path.write_text(TOKEN + "\n")
    return path


def made(server, *words):
    """The secret that a command printed, and the id that it names."""
    done = run("keys", "create", *words, "--server", server.url, env={"TIMERD_TOKEN": TOKEN})
    assert done.returncode == 0, done
    secret, said = done.stdout.strip(), done.stderr.split()
    assert secret.startswith(f"tmk_{said[1]}_") and said[0] == "key", done
    return secret, said[1]


def test_a_life_of_keys(new_server, tokens, tmp_path):
    server = new_server("--token-file", tokens)
    admin, root = made(server, "root", "--scope", "admin")
    to = ("--server", server.url, "--token", admin)
    first, id = made(server, "cron", "--scope", "kick,read", "--expires", "90d", "--id-prefix", "c.")
    listed = run("keys", "list", *to).stdout.splitlines()
    assert [line.split()[:2] for line in listed[1:]] == [[root, "root"], [id, "cron"]]
    key = json.loads(run("keys", "show", id, "--json", *to).stdout)
    assert key["idPrefix"] == "c." and key["scopes"] == ["read", "kick"] and key["expiresAt"] and "secret" not in key
    rotated = run("keys", "rotate", id, "--overlap", "1h", *to).stdout.strip()
    assert rotated.startswith(f"tmk_{id}_") and rotated != first
    (tmp_path / "key").write_text(rotated + "\n")
    for credential in ({"TIMERD_TOKEN": first}, {"TIMERD_TOKEN_FILE": str(tmp_path / "key")}):
        done = run("keys", "show", "self", "--json", "--server", server.url, env=credential)
        assert done.returncode == 0 and json.loads(done.stdout)["id"] == id, done
    forbidden = run("keys", "list", "--server", server.url, "--token", first)
    assert forbidden.returncode == 1 and "403 forbidden" in forbidden.stderr
    assert run("keys", "revoke", id, *to).stdout == f"{id}: revoked\n"
    refused = run("keys", "show", "self", "--server", server.url, "--token", rotated)
    assert refused.returncode == 1 and "401" in refused.stderr


def test_a_key_that_may_only_kick_kicks(new_server, tokens):
    server = new_server("--token-file", tokens, token=TOKEN)
    server.client.create(id="beat", watchdog="1h")
    secret, _ = made(server, "cron", "--scope", "kick")
    done = run("kick", "beat", "--server", server.url, "--token", secret)
    assert (done.returncode, done.stdout, done.stderr) == (0, "beat: done\n", ""), done
    assert server.client.timer("beat")["kickCount"] == 1


def test_watch_ends_when_its_key_is_revoked(new_server, tokens):
    """It says why, shows nothing more, and does not ask again and again."""
    server = new_server("--token-file", tokens, token=TOKEN)
    server.client.create(id="tea", every="1h")
    secret, id = made(server, "reader", "--scope", "read")
    with subprocess.Popen([binary(), "watch", "tea", "--since", "0", "--json", "--server", server.url], env=environment({"TIMERD_TOKEN": secret}),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as watch:
        try:
            assert [json.loads(watch.stdout.readline())["type"] for _ in range(2)] == ["created", "activated"]
            server.client.delete(f"/v1/keys/{id}").expect(204)
            server.client.command("tea", "fire").expect(200)
            shown, said = watch.communicate(timeout=PATIENCE)
        finally:
            watch.kill()
    assert (watch.returncode, shown) == (1, "")
    assert said.startswith("timerd: 401 unauthorized: ") and said.count("\n") == 1 and "revoked" in said and secret not in said


@pytest.mark.undivided
def test_a_log_with_keys_is_not_served_without_tokens(new_server, tokens, tmp_path):
    server = new_server("--token-file", tokens, data=tmp_path / "data")
    _, id = made(server, "k", "--scope", "read")
    server.stop()
    start = ("serve", "--listen", "127.0.0.1:0", "--data", tmp_path / "data")
    done = run(*start)
    assert done.returncode == 78 and done.stdout == "" and "--token-file" in done.stderr.splitlines()[-1], done
    server.start()
    assert run("keys", "revoke", id, "--server", server.url, "--token", TOKEN).returncode == 0
    server.stop()
    del server.flags[:2]  # without tokens
    server.start()


def test_a_token_is_no_secret_of_a_key(tmp_path):
    (tmp_path / "tokens").write_text("tmk_p4itmmwg3jee_this-is-no-token\n")
    done = run("serve", "--listen", "127.0.0.1:0", "--data", tmp_path / "data", "--token-file", tmp_path / "tokens")
    assert done.returncode == 78 and "tokens, line 1: " in done.stderr and "this-is" not in done.stderr


@pytest.mark.xdist_group("postgres")
def test_a_server_without_tokens_ends_when_it_takes_over_a_log_with_keys(new_node, tokens):
    first = new_node("--token-file", tokens)
    second = new_node()
    made(first, "k", "--scope", "read")
    first.stop()
    assert second.wait() == 78
    assert "--token-file" in second.log_text().splitlines()[-1]
    third = new_node("--token-file", tokens)
    third.token = TOKEN
    poll(lambda: third.client.get("/readyz").status == 200)
    assert len(third.client.get("/v1/keys").expect(200).json["keys"]) == 1


@pytest.mark.xdist_group("postgres")
def test_a_server_without_tokens_that_finds_keys_at_its_start_never_serves(new_node, tokens):
    first = new_node("--token-file", tokens)
    made(first, "k", "--scope", "read")
    first.stop()
    with pytest.raises(AssertionError, match="(?s)did not come up: stdout b'', stderr .*--token-file"):
        new_node()
