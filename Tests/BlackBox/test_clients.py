"""The programs of docs/clients.md, extracted and run: they follow over a restart and a lost history, and take no forged webhook."""

import base64
import hashlib
import hmac
import http.client
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

from free_ports import free_port
from gateway import Gateway
from patience import PATIENCE
from server import ROOT, environment
from timers import poll

CLIENTS = ROOT / "docs/clients.md"
SECRETS = [b"timerd keeps a secret!!!", b"another secret of 24 byt"]


def secret(key):
    return "whsec_" + base64.b64encode(key).decode()


def extract(directory, name):
    """Writes the block of the page that begins with a comment with this file's name."""
    found = re.search(rf"^```\w*\n((?:#|//) {re.escape(name)}.*?)^```$", CLIENTS.read_text(), re.MULTILINE | re.DOTALL)
    assert found, f"docs/clients.md has no {name}"
    (directory / name).write_text(found[1])
    return name


def built(directory, name, *, main=None):
    """The command that runs the program of the page, compiled where that is needed."""
    tool, package = {"py": (sys.executable, ""), "mjs": ("node", "nodejs"), "go": ("go", "golang-go"),
                     "swift": ("swiftc", "")}[name.rsplit(".")[1]]
    if not shutil.which(tool):
        pytest.skip(f"there is no {tool}: Debian's {package} has it")
    extract(directory, name)
    if tool == "node" and int(subprocess.check_output(["node", "--version"], text=True)[1:].split(".")[0]) < 18:
        pytest.skip("Node.js is older than 18")
    if tool == "go":
        compile(directory, "go", "build", "-o", "program", name)
    if tool == "swiftc" and main:
        extract(directory, "module.modulemap")
        (directory / "main.swift").write_text(main)
        compile(directory, "swiftc", "-swift-version", "6", "-I", ".", name, "main.swift", "-o", "program")
    elif tool == "swiftc":
        compile(directory, "swiftc", "-swift-version", "6", "-parse-as-library", name, "-o", "program")
    return [tool, name] if tool in (sys.executable, "node") else ["./program"]


def compile(directory, *command):
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=120, env=environment({
        "GOCACHE": str(directory / "go-cache"), "GO111MODULE": "off"}))
    assert done.returncode == 0 and not done.stderr, f"{command}: {done.stdout}{done.stderr}"


@contextmanager
def running(command, directory, **env):
    """A function that waits for the program's next line of output; the program is ended by its pid."""
    with open(directory / "stderr", "wb") as errors:
        process = subprocess.Popen(command, cwd=directory, env=environment(env), stdout=subprocess.PIPE, stderr=errors)
    rest = b""

    def line():
        nonlocal rest
        deadline = time.monotonic() + PATIENCE
        while b"\n" not in rest:
            ready, _, _ = select.select([process.stdout], [], [], max(0, deadline - time.monotonic()))
            piece = os.read(process.stdout.fileno(), 65536) if ready else b""
            assert piece, f"{command} printed no line: {rest!r}, stderr {(directory / 'stderr').read_text()}"
            rest += piece
        found, rest = rest.split(b"\n", 1)
        return found.decode()
    try:
        yield line
        assert process.poll() is None, f"{command} ended: {(directory / 'stderr').read_text()}"
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()


# Foundation trusts the authorities of the system alone.
SWIFT = pytest.mark.not_by_tls("its program trusts no authority of the tests")


@pytest.mark.parametrize("name", ["follow.py", *(pytest.param(name, marks=pytest.mark.heavy) for name in ("follow.mjs", "follow.go")),
                                  pytest.param("follow.swift", marks=[pytest.mark.heavy, SWIFT])])
def test_a_follower_misses_and_repeats_nothing(name, new_server, tmp_path):
    command = built(tmp_path, name)
    server = new_server()
    with running(command, tmp_path, TIMERD_SERVER=server.url) as line:
        assert line() == "created demo"
        server.client.create(id="quick", every="50ms")
        shown = []

        def until(timer, count):
            while sum(words[2] == timer for words in shown) < count:
                words = line().split()
                assert words[0] == "fired", words
                shown.append(words)
        until("quick", 10)
        for kill in (True, False):  # its connection is reset, or ends properly
            if kill:
                server.kill9()
            server.restart(same_port=True)
            until("quick", len(shown) + 20)
        history = server.client.get("/v1/events?since=0&follow=false&types=fired").expect(200).lines
        told = [["fired", event["id"], event["timer"], str(event["fire"])] for event in history]
        assert shown == told[:len(shown)]

        server.kill9()  # and its history is gone with its disk
        other = new_server(listen=[server.bound])
        words = line().split()
        while words[0] == "fired":  # what was under way
            words = line().split()
        assert words == ["listed", "0"]
        other.client.create(id="anew", after="0s")
        assert line().split()[2:] == ["anew", "1"]


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["follow.mjs", *(pytest.param(name, marks=pytest.mark.heavy) for name in ("follow.py", "follow.go", "follow.swift"))])
def test_a_follower_waits_for_a_server_that_its_proxy_does_not_reach(name, new_server, tmp_path):
    """From its first request on, and between that and the first event."""
    command, server = built(tmp_path, name), new_server()
    with Gateway(server.port) as gateway:
        gateway.refuse(503, Retry_After="2")
        with running(command, tmp_path, TIMERD_SERVER=gateway.url) as line:
            poll(lambda: len(gateway.refused) == 1)
            poll(lambda: len(gateway.refused) == 2)
            first, second = gateway.refused_at
            assert second - first >= 2  # as `Retry-After` says
            gateway.refuse(502, below="/v1/events")
            assert line() == "created demo"
            poll(lambda: len([asked for asked in gateway.refused if "/v1/events" in asked]) >= 2)
            poll(lambda: server.client.timer("demo")["fireCount"] >= 1)
            gateway.refuse(None)
            assert line().split()[2:] == ["demo", "1"]


@pytest.mark.thorough
@pytest.mark.parametrize("name", [pytest.param("follow.swift", marks=SWIFT),
                                  *(pytest.param(name, marks=pytest.mark.heavy) for name in ("follow.py", "follow.mjs", "follow.go"))])
def test_a_follower_has_a_token_and_ends_where_it_is_refused(name, new_server, tmp_path):
    command = built(tmp_path, name)
    (tmp_path / "tokens").write_text("the-right-one-of-two\n")
    server = new_server("--token-file", tmp_path / "tokens", token="the-right-one-of-two")
    with running(command, tmp_path, TIMERD_SERVER=server.url, TIMERD_TOKEN="the-right-one-of-two") as line:
        assert line() == "created demo" and line().split()[2:] == ["demo", "1"]
    env = environment({"TIMERD_SERVER": server.url, "TIMERD_TOKEN": "the-wrong-one-of-two"})
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode != 0 and "401" in done.stderr and done.stdout == "", done


def signature(key, id, timestamp, body):
    code = hmac.new(key, f"{id}.{timestamp}.{body}".encode(), hashlib.sha256).digest()
    return "v1," + base64.b64encode(code).decode()


def deliveries():
    """(what, id, timestamp, signatures, body, genuine) of webhooks as they may come."""
    now, body = int(time.time()), '{"id": "7", "type": "fired", "timer": "t"}'
    good, other = (signature(key, "7", now, body) for key in SECRETS)
    yield "signed", "7", now, good, body, True
    yield "again", "7", now, good, body, True
    yield "by the second secret", "7", now, other, body, True
    yield "by several", "7", now, f"v1,{'A' * 43}= {good}", body, True
    yield "with a signature of another kind", "7", now, f"v1a,abc {good}", body, True
    yield "by another secret", "7", now, signature(b"x" * 24, "7", now, body), body, False
    yield "of another body", "7", now, good, body.replace('"t"', '"u"'), False
    yield "of another id", "8", now, good, body, False
    yield "unsigned", "7", now, "", body, False
    yield "cut", "7", now, good[:-4], body, False
    yield "no version", "7", now, good[3:], body, False
    yield "another version", "7", now, good.replace("v1", "v2"), body, False
    for what, then in (("old", now - 310), ("of the future", now + 310)):
        yield what, "7", then, signature(SECRETS[0], "7", then, body), body, False
    for then in ("", "now", "-1", "99999999999999999999"):
        yield f"at {then!r}", "7", then, signature(SECRETS[0], "7", then, body), body, False


@pytest.mark.parametrize("name", [
    "receive.py", pytest.param("receive.mjs", marks=pytest.mark.thorough), pytest.param("receive.go", marks=pytest.mark.heavy),
])
def test_a_receiver_takes_what_is_genuine_alone(name, new_server, tmp_path):
    command, port = built(tmp_path, name), free_port()

    def post(id, timestamp, signatures, body):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        headers = {"webhook-id": id, "webhook-timestamp": str(timestamp), "webhook-signature": signatures}
        connection.request("POST", "/hook", body.encode(), {key: value for key, value in headers.items() if value})
        answer = connection.getresponse()
        connection.close()
        return answer.status

    def listens():
        try:
            return post("0", 0, "", "{}") == 401
        except OSError:
            return False

    with running(command, tmp_path, PORT=str(port), WEBHOOK_SECRETS=" ".join(map(secret, SECRETS))) as line:
        poll(listens)
        for what, *delivery, genuine in deliveries():
            assert post(*delivery) == (204 if genuine else 401), what
        assert line() == "fired t"
        server = new_server()
        server.client.create(id="cart", after="0s", webhook={"url": f"http://127.0.0.1:{port}/", "secret": secret(SECRETS[1])})
        assert line() == "fired cart"  # so what came again was not printed again


SWIFT_MAIN = """
import Foundation

while let line = readLine() {
    let parts = line.split(separator: "\\t", omittingEmptySubsequences: false).map(String.init)
    print(isGenuine(id: parts[0], timestamp: parts[1], signatures: parts[2], body: Data(parts[3].utf8),
        secrets: CommandLine.arguments.dropFirst().map { $0 }))
}
"""


@pytest.mark.thorough
def test_the_function_in_swift_takes_what_is_genuine_alone(tmp_path):
    command = built(tmp_path, "verify.swift", main=SWIFT_MAIN)
    cases = list(deliveries())
    asked = "".join("\t".join(map(str, delivery)) + "\n" for _, *delivery, _ in cases)
    done = subprocess.run([*command, *map(secret, SECRETS)], cwd=tmp_path, input=asked, capture_output=True, text=True, timeout=30)
    said = {what: answer == "true" for (what, *_), answer in zip(cases, done.stdout.split(), strict=True)}
    assert said == {what: genuine for what, *_, genuine in cases}
