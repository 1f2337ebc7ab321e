"""--audit-log: a line for each request that changes or exports something, or is refused for its client."""

import gzip
import json
import os
import select
import signal
import subprocess

import pytest

from client import Client
from documents import blocks
from patience import PATIENCE
from recipes import changed, tool, tool_environment
from server import ROOT, run
from test_operations import samples
from timers import INSTANT, poll

TOKEN = "a-token-of-the-token-file"
RELOADED = "the configuration was read again"
DROPPED = "timerd_audit_dropped_total"


@pytest.fixture
def log(tmp_path):
    return tmp_path / "audit.log"


@pytest.fixture
def audited(new_server, log, tmp_path):
    """A server with a token file and an audit log; its clients have the token."""
    tokens = tmp_path / "tokens"
    tokens.write_text(TOKEN + "\n")
    return new_server("--token-file", tokens, "--audit-log", log, token=TOKEN)


def with_secret(server, secret):
    return Client(server.port, token=secret)


def lines(log, count):
    """The lines, once there are as many as that."""
    poll(lambda: log.exists() and log.read_text().count("\n") >= count)
    read = [json.loads(line) for line in log.read_text().splitlines()]
    assert len(read) == count, read
    return read


def brief(found):
    return [(line["method"], line["target"], line["status"], line["key"]) for line in found]


def reload(server):
    """Sends SIGHUP and waits until it has been followed; where requests are forwarded, by both servers."""
    for each in server.processes:
        before = each.log_text().count(RELOADED)
        os.kill(each.pid, signal.SIGHUP)
        poll(lambda: each.log_text().count(RELOADED) > before)


def test_changes_exports_and_refusals_have_a_line(audited, log):
    api = audited.client
    reader = api.post("/v1/keys", {"name": "r", "scopes": ["read"]}).expect(201).json
    api.put("/v1/timers/tea", {"after": "1h"}, headers={"Request-Id": "mine"}).expect(201)
    api.get("/v1/timers/tea").expect(200)
    api.get("/v1/timers/none").problem(404, "not-found")
    api.post("/v1/timers", {"after": 1}).problem(400)
    api.post("/v1/schedules/preview", {"after": "1h"}).expect(200)
    api.batch([{"id": "a", "after": "1h", "labels": {"k": "v"}}, {"id": "a", "after": "1h"}, {"nonsense": 1}]).expect(200)
    api.post("/v1/timers/bulk/cancel?dryRun=true", {"labels": {"k": "v"}}).expect(200)
    api.post("/v1/timers/bulk/cancel", {"labels": {"k": "v"}}).expect(200)
    api.get("/v1/export").expect(200)
    with_secret(audited, None).get("/v1/timers").problem(401, "unauthorized")
    with_secret(audited, reader["secret"]).delete("/v1/timers/tea").problem(403, "forbidden")
    found = lines(log, 7)
    assert brief(found) == [
        ("POST", "/v1/keys", 201, "token"), ("PUT", "/v1/timers/tea", 201, "token"), ("POST", "/v1/timers/batch", 200, "token"),
        ("POST", "/v1/timers/bulk/cancel", 200, "token"), ("GET", "/v1/export", 200, "token"), ("GET", "/v1/timers", 401, None),
        ("DELETE", "/v1/timers/tea", 403, reader["id"])]
    assert [line.get("counts") for line in found] == [
        None, None, {"succeeded": 1, "failed": 2}, {"matched": 1, "changed": 1, "skipped": 0}, None, None, None]
    assert found[1]["requestId"] == "mine"
    for line in found:
        assert list(line)[:7] == ["at", "requestId", "key", "method", "target", "status", "peer"]
        assert INSTANT.fullmatch(line["at"]) and line["peer"].startswith("127.0.0.1:") and line["requestId"]
    assert oct(log.stat().st_mode & 0o027) == "0o0"


def test_a_stream_has_a_line_where_it_starts_its_timer(audited, log):
    audited.client.create(id="tea", after="1h", start="subscriber")
    for _ in range(2):
        with audited.client.stream("/v1/timers/tea/events").expect(200):
            pass
    audited.client.delete("/v1/timers/tea").expect(204)
    assert sorted(brief(lines(log, 3))) == [
        ("DELETE", "/v1/timers/tea", 204, "token"), ("GET", "/v1/timers/tea/events", 200, "token"), ("POST", "/v1/timers", 201, "token")]


def test_payloads_cursors_and_secrets_are_nowhere(audited, log):
    api = audited.client
    webhook = {"url": "http://192.0.2.1/SECRET-URL", "headers": {"Authorization": "SECRET-HEADER"}, "secret": "whsec_" + "SECRET00" * 5}
    key = api.post("/v1/keys", {"name": "SECRET-NAME", "scopes": ["write"]}).expect(201).json
    api.put("/v1/timers/tea", {"after": "1h", "payload": "SECRET-PAYLOAD", "webhook": webhook}).expect(201)
    api.batch([{"id": "a", "after": "1h", "payload": "SECRET-PAYLOAD"}]).expect(200)
    api.get("/v1/export?secrets=true").expect(200)
    wrong = with_secret(audited, "SECRET-WRONG-TOKEN")
    for target in ("/v1/timers?cursor=SECRET-CURSOR", "/v1/timers?a=b&%63ursor=SECRET-CURSOR", f"/v1/keys/{key['secret']}"):
        wrong.get(target).problem(401, "unauthorized")
    assert [line["target"] for line in lines(log, 7)][4:] == ["/v1/timers?cursor=", "/v1/timers?a=b&%63ursor=", "/v1/keys/tmk_***"]
    text = log.read_text()
    assert not [secret for secret in ("SECRET", TOKEN, key["secret"][17:]) if secret in text]


def test_sighup_opens_the_file_again(audited, log):
    audited.client.create(id="one")
    lines(log, 1)
    moved = log.with_suffix(".1")
    log.rename(moved)
    reload(audited)
    audited.client.create(id="two")
    lines(log, 1)
    lines(moved, 1)


def test_logrotate_rotates_it(audited, log, tmp_path):
    """By the rules of docs/OPERATIONS.md, twice: each line is in one file, and the oldest file is compressed."""
    (_, rules), = blocks(ROOT / "docs/OPERATIONS.md", "logrotate")
    signals = " && ".join(f"kill -HUP {each.pid}" for each in audited.processes)
    path = tmp_path / "rules"
    path.write_text(changed(rules, ("/var/log/timerd/audit.log", log), ("systemctl reload timerd.service", signals)))
    # logrotate takes no rules that others may write, and works in no directory that they may.
    path.chmod(0o600)
    tmp_path.chmod(0o700)
    audited.client.create(id="t0")
    lines(log, 1)
    for number in (1, 2):
        before = [each.log_text().count(RELOADED) for each in audited.processes]
        done = subprocess.run([tool("logrotate"), "--force", "--verbose", "--state", tmp_path / "state", path], env=tool_environment(),
                              capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 0, done.stderr
        poll(lambda: [each.log_text().count(RELOADED) for each in audited.processes] == [count + 1 for count in before])
        audited.client.create(id=f"t{number}")
        lines(log, 1)
    [second] = lines(log.with_name("audit.log.1"), 1)
    first = json.loads(gzip.decompress(log.with_name("audit.log.2.gz").read_bytes()))
    assert first["status"] == second["status"] == 201 and first["at"] <= second["at"]
    assert oct(log.stat().st_mode & 0o777) == "0o640"


def test_a_restart_goes_on_with_the_file(audited, log):
    audited.client.create(id="one")
    audited.restart()
    audited.client.create(id="two")
    lines(log, 2)


def test_a_dash_is_standard_output(new_server):
    server = new_server("--audit-log", "-")
    server.client.create(id="tea")
    pipe, text = server.asked.process.stdout, b""
    while not text.endswith(b"\n"):
        assert select.select([pipe], [], [], PATIENCE)[0]
        text += os.read(pipe.fileno(), 65536)
    assert brief([json.loads(line) for line in text.splitlines()]) == [("POST", "/v1/timers", 201, None)]


def test_a_dash_whose_reader_has_gone_holds_nothing_up(new_server):
    """As where the journal, or what keeps a container's log, ends."""
    server = new_server("--audit-log", "-")
    server.asked.process.stdout.close()
    for number in range(3):
        server.client.create(id=f"t{number}")
    poll(lambda: "Broken pipe" in server.asked.log_text())
    server.client.create(id="tea")
    server.stop()
    assert "the audit log lacks its last lines" in server.asked.log_text()


@pytest.mark.not_forwarded("two servers write to one FIFO")
def test_a_fifo_that_nobody_reads_holds_nothing_up(new_server, log):
    os.mkfifo(log)
    server = new_server("--audit-log", log)
    for number in range(3):
        server.client.create(id=f"t{number}")
    poll(lambda: "the audit log takes no lines" in server.log_text() and "nobody reads this FIFO" in server.log_text())
    reload(server)
    reader, text = os.open(log, os.O_RDONLY | os.O_NONBLOCK), b""
    try:
        def are_there():
            nonlocal text
            try:
                text += os.read(reader, 65536)
            except BlockingIOError:
                pass
            return text.count(b"\n") >= 3

        poll(are_there)
    finally:
        os.close(reader)
    assert [json.loads(line)["status"] for line in text.splitlines()] == [201] * 3
    server.stop()


def test_a_full_disk_drops_refusals_first_and_counts_what_it_drops(new_server):
    server = new_server("--audit-log", "/dev/full")
    api = server.client
    refused = f"GET /v1/timers/{'x' * 3500} HTTP/1.1\r\nHost: evil.example\r\n\r\n".encode() * 20
    with api.socket() as sock:
        for _ in range(100):
            sock.sendall(refused)
            said = b""
            while said.count(b"HTTP/1.1 421") < 20:
                more = sock.recv(1 << 20)
                assert more, said[-2000:]
                said += more
    api.create(id="tea")
    (_, dropped), = samples(api)[DROPPED]
    assert 0 < dropped < 2000
    assert "No space left on device" in server.asked.log_text()
    server.stop()
    assert "the audit log lacks its last lines" in server.asked.log_text()


@pytest.mark.parametrize("path", ["/nowhere/audit.log", "/"])
def test_a_file_that_can_not_be_opened_stops_the_start(tmp_path, path):
    done = run("serve", "--listen", "127.0.0.1:0", "--data", tmp_path / "data", "--audit-log", path)
    assert done.returncode == 78 and f"--audit-log {path}: " in done.stderr and done.stdout == ""
