"""`timerd listen`: a receiver that prints what it gets."""

import base64
import hashlib
import hmac
import json
import re
import signal
import subprocess
import time
import urllib.error
import urllib.request
from contextlib import contextmanager

from patience import PATIENCE
from server import binary, environment

KEY = b"0123456789abcdef0123456789abcdef"
SECRET = "whsec_" + base64.b64encode(KEY).decode()
EVENT = json.dumps({"id": "7", "type": "fired", "timer": "tea"}).encode()


@contextmanager
def listening(*flags):
    """The receiver's address and a way to read its next line; Ctrl-C ends it with 0."""
    process = subprocess.Popen([binary(), "listen", "--port", "0", *flags], env=environment(), text=True,
                               stdout=subprocess.PIPE)
    try:
        address = re.search(r"on (\S+)", process.stdout.readline()).group(1)
        yield address, process.stdout.readline
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0
    finally:
        process.kill()
        process.wait()


def send(address, key=KEY):
    """The status of the answer to a delivery signed with `key`."""
    stamp = str(int(time.time()))
    headers = {"webhook-id": "7_x", "webhook-timestamp": stamp}
    if key:
        code = hmac.new(key, f"7_x.{stamp}.".encode() + EVENT, hashlib.sha256).digest()
        headers["webhook-signature"] = "v1," + base64.b64encode(code).decode()
    try:
        return urllib.request.urlopen(urllib.request.Request(address + "/hook", EVENT, headers), timeout=PATIENCE).status
    except urllib.error.HTTPError as error:
        return error.code


def test_a_delivery_is_a_line():
    with listening("--secret", SECRET) as (address, line):
        assert send(address) == 200
        said = line()
        for part in ("POST /hook", "fired", "tea", "id=7_x", "attempt=1", "✓ verified", "200"):
            assert part in said


def test_whoever_did_not_sign_is_told_apart():
    with listening("--secret", SECRET, "--verbose") as (address, line):
        send(address, key=b"x" * 32)
        assert "✗" in line() and json.loads(line())["timer"] == "tea"
        send(address, key=None)
        said = line()
        assert "unsigned" in said and "attempt=2" in said


def test_a_failing_receiver_fails_alike_each_time():
    rows = []
    for _ in range(2):
        with listening("--fail-rate", "0.5", "--seed", "3") as (address, _line):
            rows.append([send(address) for _ in range(20)])
    assert rows[0] == rows[1] and set(rows[0]) == {200, 500}
