"""SIGHUP reads all files anew or changes nothing, and never ends the process."""

import base64
import os
import shutil
import signal
import tempfile
import threading
from pathlib import Path

import pytest

from client import Client
from faults import DATABASE
from server import Server
from timers import poll
from webhooks import fire, hooked

FIRST, SECOND = "first-token-of-sixteen", "second-token-of-sixteen"
DONE, FAILED = "the configuration was read again", "the configuration could not be read again"


def reload(server, told=DONE):
    """Sends SIGHUP and waits until the log reports it; where requests are forwarded, to both servers."""
    for each in server.processes:
        before = each.log_text().count(told)
        os.kill(each.pid, signal.SIGHUP)
        poll(lambda: each.log_text().count(told) > before)


def status(server, token):
    return server.client.get("/v1/timers?limit=1", headers={"Authorization": f"Bearer {token}"}).status


@pytest.fixture
def tokens(tmp_path):
    path = tmp_path / "tokens"
    path.write_text(FIRST + "\n")
    return path


def test_tokens_are_rotated(new_server, tokens):
    server = new_server("--token-file", tokens, "--log-level", "info")
    assert (status(server, FIRST), status(server, SECOND)) == (200, 401)
    tokens.write_text(f"{FIRST}\n{SECOND}\n")
    reload(server)
    assert (status(server, FIRST), status(server, SECOND)) == (200, 200)
    tokens.write_text(SECOND + "\n")
    reload(server)
    assert (status(server, FIRST), status(server, SECOND)) == (401, 200)
    assert "tokens=1" in server.log_text().splitlines()[-1]
    assert FIRST not in server.log_text() and SECOND not in server.log_text()


def spoil(path, how):
    path.unlink()
    if how == "directory":
        path.mkdir()
    elif how == "pipe":
        os.mkfifo(path)
    elif how == "large":
        with open(path, "wb") as file:
            file.truncate(1 << 30)
    elif how != "absent":
        path.write_text(how)


@pytest.mark.parametrize("how", ["absent", "directory", "pipe", "large", "", "# only a comment\n", "short\n", f"{SECOND}\nshort\n"])
def test_a_token_file_that_can_not_be_used_changes_nothing(new_server, tokens, how):
    server = new_server("--token-file", tokens, "--log-level", "info")
    spoil(tokens, how)
    reload(server, FAILED)
    assert (status(server, FIRST), status(server, SECOND)) == (200, 401)
    assert str(tokens) in server.log_text().splitlines()[-1] and SECOND not in server.log_text()
    shutil.rmtree(tokens) if how == "directory" else tokens.unlink(missing_ok=True)
    tokens.write_text(SECOND + "\n")
    reload(server)
    assert (status(server, FIRST), status(server, SECOND)) == (401, 200)


def test_a_stream_goes_on_while_its_token_stays(new_server, tokens):
    server = new_server("--token-file", tokens, token=FIRST)
    with server.client.stream("/v1/events").expect(200) as stream:
        tokens.write_text(f"{SECOND}\n{FIRST}\n")
        reload(server)
        server.token = SECOND
        id = server.client.create()["id"]
        assert stream.next("created")["timer"] == id


def test_the_rules_and_the_log_level_of_the_file(new_server, receiver, tmp_path):
    path = tmp_path / "timerd.toml"
    path.write_text("log-level = 'info'\nmax-timers = 3\n")
    server = new_server("--config", path)
    api = server.client
    api.create(id="first", webhook=f"http://127.0.0.1:{receiver.port}/first")
    fire(api, "first")
    receiver.wait_for(1, "/first")
    assert "request method=GET" not in server.log_text()
    path.write_text("log-level = 'debug'\nmax-timers = 3\nwebhook-deny = ['127.0.0.0/8']\n")
    reload(server)
    assert "webhookRules=1" in server.log_text() and "needsRestart" not in server.log_text()
    api.create(id="second", webhook={"url": f"http://127.0.0.1:{receiver.port}/second", "retry": {"maxAttempts": 1}})
    fire(api, "second")
    poll(lambda: api.get("/v1/deliveries?state=dead&timer=second").json["deliveries"])
    assert not receiver.on("/second")
    poll(lambda: "method=GET" in server.log_text())
    path.write_text("log-level = 'error'\nmax-timers = 1\n")
    os.kill(server.pid, signal.SIGHUP)
    api.create(id="third", every="1h", webhook={"url": f"http://127.0.0.1:{receiver.port}/third", "retry": {"maxAttempts": 1}})

    def is_received():
        fire(api, "third")
        return receiver.on("/third")
    poll(is_received)


def test_what_needs_a_restart_is_told_and_left(new_server, tmp_path, tokens):
    path = tmp_path / "timerd.toml"
    other = tmp_path / "other"
    other.write_text(SECOND + "\n")
    path.write_text(f"token-file = '{tokens}'\nmax-timers = 2\n")
    server = new_server("--config", path, token=FIRST)
    path.write_text("max-timers = 1\nheartbeat = '1s'\n")
    reload(server)
    assert "needsRestart=max-timers,heartbeat,token-file" in server.log_text()
    assert status(server, "none-at-all-of-these") == 401
    path.write_text(f"token-file = '{other}'\n")
    reload(server)
    assert (status(server, FIRST), status(server, SECOND)) == (200, 401)
    server.client.create()
    server.client.create()


@pytest.mark.parametrize("text", ["webhook-deny = ['10.0.0.0/8']\nunknown = 1\n", "webhook-deny = ['10.0.0.0/8']\nheartbeat = '0s'\n",
                                  "webhook-deny = ['nonsense/99']\n", "log-level = 'trace", "log-level = 'shouting'\n"])
def test_a_file_with_a_bad_line_changes_nothing(new_server, tmp_path, tokens, text):
    path = tmp_path / "timerd.toml"
    path.write_text("log-level = 'info'\n")
    server = new_server("--config", path, "--token-file", tokens)
    path.write_text(text)
    tokens.write_text(SECOND + "\n")
    reload(server, FAILED)
    assert str(path) in server.log_text().splitlines()[-1]
    assert (status(server, FIRST), status(server, SECOND)) == (200, 401)
    assert "method=GET" not in server.log_text()


def test_flags_and_variables_win_after_a_reload_too(new_server, tmp_path):
    path = tmp_path / "timerd.toml"
    path.write_text("log-level = 'info'\n")
    server = new_server("--config", path, "--log-level", "info", env={"TIMERD_WEBHOOK_DENY": "192.0.2.0/24"})
    path.write_text("log-level = 'debug'\nwebhook-deny = ['10.0.0.0/8', '10.0.0.1']\n")
    reload(server)
    assert "webhookRules=1" in server.log_text() and "logLevel=info" in server.log_text()


def test_secrets_are_rotated(new_server, receiver, tmp_path):
    def secret(letter):
        return "whsec_" + base64.b64encode(letter * 32).decode()
    path = tmp_path / "secrets"
    path.write_text(secret(b"a") + "\n")
    server = new_server("--webhook-secret-file", path)
    api = server.client
    api.create(id="tea", every="1h", webhook=f"http://127.0.0.1:{receiver.port}/tea")
    fire(api, "tea")
    first = receiver.wait_for(1, "/tea")[0]
    path.write_text(f"{secret(b'b')}\n{secret(b'a')}\n")
    reload(server)
    fire(api, "tea")
    second = receiver.wait_for(2, "/tea")[1]
    assert [len(hook.header("webhook-signature").split()) for hook in (first, second)] == [1, 2]


@pytest.mark.thorough
def test_a_storm_of_signals_is_harmless(new_server, tokens):
    server = new_server("--token-file", tokens, token=FIRST)
    api = server.client
    stop = threading.Event()

    def storm():
        while not stop.is_set():
            os.kill(server.pid, signal.SIGHUP)
    threads = [threading.Thread(target=storm) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for n in range(100):
            tokens.write_text(f"{FIRST}\nother-token-{n:08}\n")
            api.create(id=f"t{n}")
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    reload(server)
    assert len(api.get("/v1/timers?limit=1000").json["timers"]) == 100
    server.stop()


def test_it_never_ends_the_process(faults):
    with tempfile.TemporaryDirectory(prefix="td-") as directory:
        path = Path(directory) / "s"
        server = Server("--drain", "10s", data=faults.data, env=faults.env, listen=[f"unix:{path}"])
        try:
            # Before it serves, while the log is read.
            Server(data=faults.data).start().stop()
            faults.set("read", DATABASE, hold=1)
            server.launch()
            poll(lambda: faults.rule("read").waiting > 0)
            os.kill(server.pid, signal.SIGHUP)
            assert server.process.poll() is None
            faults.clear()
            server.come_up()
            poll(lambda: DONE in server.log_text())
            # While a drain waits for a request that is under way.
            client = Client(unix=str(path), host="localhost")
            client.create(id="tea")
            with client.socket() as sock:
                sock.sendall(b"POST /v1/timers HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 15\r\n\r\n{")
                client.get("/healthz").expect(200)
                server.terminate()
                poll(lambda: "stopping" in server.log_text())
                for _ in range(10):
                    os.kill(server.pid, signal.SIGHUP)
                sock.sendall(b'"after": "1h"}')
                assert sock.makefile("rb").readline().split()[1] == b"201"
            assert server.wait() == 0
        finally:
            faults.clear()
            server.__exit__()


def test_without_a_file_there_is_nothing_to_reload(new_server):
    server = new_server()
    reload(server)
    server.client.create()
