"""Names of receivers whose name servers never answer."""

import os
import random
import socket
import time
from pathlib import Path

import pytest

from server import binary
from webhooks import STUBBORN, fire, fired, hooked

HOSTS = 48
LOOKUPS = 32  # threads that look names up
OTHERS = 8  # threads that start with their first work


@pytest.fixture
def silent_names(new_server, tmp_path):
    """A server whose only name server takes queries and answers none."""
    if os.geteuid() != 0:
        pytest.skip("a name server of one's own needs root")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        address = f"127.53.{random.randrange(256)}.{random.randrange(1, 255)}"
        silent.bind((address, 53))
        configuration = tmp_path / "resolv.conf"
        configuration.write_text(f"nameserver {address}\noptions timeout:2 attempts:1\n")
        script = f'mount --bind {configuration} /etc/resolv.conf && exec "$0" "$@"'
        yield new_server(command=["unshare", "--mount", "sh", "-c", script, binary()])


def threads(server):
    return int(next(line for line in Path(f"/proc/{server.pid}/status").read_text().splitlines() if line.startswith("Threads:")).split()[1])


def failures(api):
    line = 'timerd_webhook_attempts_total{outcome="failed"} '
    return int(next(found for found in api.get("/metrics").expect(200).body.decode().splitlines() if found.startswith(line)).removeprefix(line))


@pytest.mark.thorough
def test_silent_name_servers_keep_few_threads_and_delay_no_other(silent_names, receiver):
    server, api = silent_names, silent_names.client
    before = threads(server)
    for n in range(HOSTS):
        hooked(api, f"http://silent-{n}.test/", f"s{n}", retry=STUBBORN, timeout="100ms")
        fire(api, f"s{n}")
    well = hooked(api, receiver.url("/"), "well")
    most, failed, end = 0, 0, time.monotonic() + 60
    while failed < 150:
        assert time.monotonic() < end, f"{failed} attempts failed"
        most = max(most, threads(server))
        fire(api, well)
        failed = failures(api)
    assert most <= before + LOOKUPS + OTHERS
    assert receiver.wait_for(len(fired(api, well))) and receiver.ids() == fired(api, well)
