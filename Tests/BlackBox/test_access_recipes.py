"""The recipes of docs/ACCESS.md in real nginx, Caddy and hitch: TLS before a Unix socket, and keys for everybody."""

import json
import shutil
import tempfile
import time
from pathlib import Path

import pytest

from keys import protected, unauthorized
from proxies import TLSProxy, share

SSE = {"Accept": "text/event-stream"}
# How long a stream is held open, which is as long as the shortest time-outs that the proxies have by themselves.
LASTING = 60.0

KINDS = ["nginx", pytest.param("caddy", marks=pytest.mark.thorough), pytest.param("hitch", marks=pytest.mark.thorough)]


@pytest.fixture
def site(request, new_server, tmp_path):
    """A proxy, and the keys of its server as `keyring`."""
    folder = Path(tempfile.mkdtemp(prefix="socket-"))  # a socket's path is short
    path = folder / "timerd.socket"
    # The tests' own clients need an address too.
    keyring = protected(lambda *flags, **options: new_server(*flags, listen=["127.0.0.1:0", f"unix:{path}"], **options), tmp_path)
    share(path)
    with TLSProxy(request.param, path) as proxy:
        proxy.keyring = keyring
        yield proxy
    shutil.rmtree(folder)


def until_event(lines):
    """The next event of a stream of server-sent events."""
    line = next(line for line in lines if line.startswith(b"data: "))
    return json.loads(line.removeprefix(b"data: "))


@pytest.mark.parametrize("site", KINDS, indirect=True)
def test_keys_pass_and_nobody_else_does(site, name):
    unauthorized(site.client().get("/v1/timers"))
    key = site.keyring.make("write")
    client = site.client(key["secret"])
    client.create(id="tea", every="1h")
    assert client.batch([{"id": f"t{number}", "after": "1h", "payload": "x" * 60_000} for number in range(100)], "?results=brief").expect(200)
    with client.stream("/v1/events", SSE).expect(200) as stream, client.stream("/v1/timers/tea/wait?timeout=10m", wait_for_head=False) as waiting:
        lines = stream.lines()
        for command in ("suspend", "resume", "suspend"):
            client.command("tea", command).expect(200)
            assert until_event(lines)["by"] == key["id"]
        site.keyring.revoke(key)
        for _ in lines:
            pass
        assert stream.ended_properly and waiting.read_head() == 401
    unauthorized(client.get("/v1/timers"))


@pytest.mark.heavy
@pytest.mark.parametrize("site", ["nginx", "caddy", "hitch"], indirect=True)
def test_a_stream_lasts(site):
    """No time-out of a proxy cuts a stream on which heartbeats alone come."""
    client = site.client(site.keyring.make("write")["secret"])
    client.create(id="tea", every="1h")
    with client.stream("/v1/events", SSE).expect(200) as stream:
        lines, until = stream.lines(), time.monotonic() + LASTING
        while time.monotonic() < until:
            assert not next(lines).startswith(b"data: ")
        client.command("tea", "fire").expect(200)
        assert until_event(lines)["type"] == "fired"
