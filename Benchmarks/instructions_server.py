"""Requests to the whole server while its instructions are counted: see instructions.py.

A run sets up what does not depend on the number of operations, does them one after the other over one connection, and
stops the server, whose instructions are counted from its start to its end.
"""

import datetime
import json
import shutil
import socket
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "Tests/BlackBox"))

import server as server_module  # noqa: E402
from server import Server  # noqa: E402

# Under valgrind, on a machine that may have other work.
server_module.PATIENCE = PATIENCE = 120.0

PAYLOAD = "x" * 254
TIMER = {"after": "30d", "payload": PAYLOAD}
OFFICE = {"timeZone": "UTC", "week": {"mon-fri": ["09:00-12:30", "13:30-18:00"]},
          "dates": {f"{year}-12-24": [] for year in range(2027, 2047)}}
WORKING = {"after": "240h", "clock": "working", "calendar": "office", "payload": PAYLOAD}
BATCH = 100  # timers a request
TOKEN = "a-token-of-the-benchmarks"
SOON = 8.0  # seconds within which the timers of `fire` are made, even on a busy machine
PAUSE = 0.05  # seconds between two polls


class Connection:
    """A connection that is kept open; each request is sent in one piece, so that it arrives in one."""

    def __init__(self, port, credential=None):
        self.credential = credential
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.answers = self.socket.makefile("rb")

    def request(self, method, target, body=None, content_type="application/json", status=200):
        head = f"{method} {target} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        if self.credential:
            head += f"Authorization: Bearer {self.credential}\r\n"
        if body is not None:
            head += f"Content-Type: {content_type}\r\nContent-Length: {len(body)}\r\n"
        self.socket.sendall(f"{head}\r\n{body or ''}".encode())
        answered, length = int(self.answers.readline().split()[1]), 0
        while (line := self.answers.readline().strip()):
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        content = self.answers.read(length)
        if status is not None and answered != status:
            raise AssertionError(f"{method} {target}: {answered} {content[:500]!r}")
        return answered, content

    def command(self, id, command):
        self.request("POST", f"/v1/timers/{id}/{command}")

    def batch(self, timers):
        """Makes timers, some at a time."""
        for start in range(0, len(timers), BATCH):
            lines = "".join(json.dumps(timer) + "\n" for timer in timers[start:start + BATCH])
            _, content = self.request("POST", "/v1/timers/batch?results=brief", lines, "application/x-ndjson")
            if b'"problem"' in content:
                raise AssertionError(f"a timer was refused: {content[:500]!r}")

    def until(self, target, accepts):
        while not accepts(*self.request("GET", target, status=None)):
            time.sleep(PAUSE)


@dataclass
class Benchmark:
    """Operations on a running server, and the two counts of them that are compared."""
    counts: tuple[int, int]
    run: Callable[[Connection, int], None]
    asks: bool = False  # for a credential: the connection has a token


def get(connection, count):
    connection.batch([{"id": "one", **TIMER}])
    for _ in range(count):
        connection.request("GET", "/v1/timers/one")


def get_with_key(connection, count):
    _, key = connection.request("POST", "/v1/keys", json.dumps({"name": "reader", "scopes": ["read"]}), status=201)
    connection.batch([{"id": "one", **TIMER}])
    connection.credential = json.loads(key)["secret"]
    for _ in range(count):
        connection.request("GET", "/v1/timers/one")


def create(connection, count, timer=TIMER):
    for _ in range(count):
        connection.request("POST", "/v1/timers", json.dumps(timer), status=201)


def open_office(connection):
    connection.request("PUT", "/v1/calendars/office", json.dumps(OFFICE), status=201)


def create_working(connection, count):
    open_office(connection)
    create(connection, count, WORKING)


def suspend(connection, count):
    connection.batch([{"id": f"t-{index}", **TIMER} for index in range(BENCHMARKS["server.suspend"].counts[1])])
    for index in range(count):
        connection.command(f"t-{index}", "suspend")


def batch(connection, count):
    connection.batch([TIMER] * count)


def batch_working(connection, count):
    open_office(connection)
    connection.batch([WORKING] * count)


def page(connection, count):
    connection.batch([TIMER] * BATCH)
    for _ in range(count):
        connection.request("GET", f"/v1/timers?limit={BATCH}")


def fire(connection, count):
    """Each run has the same number of timers, of which this many are due at one instant."""
    due = time.time() + SOON
    at = datetime.datetime.fromtimestamp(due, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    rest = BENCHMARKS["server.fire"].counts[1] - count
    connection.batch([TIMER] * rest + [{"at": at, "payload": PAYLOAD}] * count)
    if time.time() > due:
        raise AssertionError("the timers were due before all were made")
    time.sleep(max(0, due - time.time()))
    connection.until("/v1/stats", lambda _, stats: json.loads(stats)["fires"] == count)


def recover(connection, count):
    """The timers exist already: see `run`."""
    connection.until("/readyz", lambda status, _: status == 200)


BENCHMARKS = {
    "server.get": Benchmark((500, 2500), get),
    "server.get-with-key": Benchmark((500, 2500), get_with_key, asks=True),
    "server.create": Benchmark((250, 1250), create),
    "server.create-working": Benchmark((250, 1250), create_working),
    "server.suspend": Benchmark((250, 1250), suspend),
    "server.batch-create": Benchmark((1000, 5000), batch),
    "server.batch-create-working": Benchmark((1000, 5000), batch_working),
    "server.list-page-of-100": Benchmark((10, 110), page),
    "server.fire": Benchmark((1000, 4000), fire),
    "server.recover": Benchmark((2000, 22000), recover),
}


def run(name, count, command, binary):
    """Runs a benchmark on a server that `command` starts; `binary` is the server alone."""
    directory = Path(tempfile.mkdtemp(prefix="timerd-data-"))
    try:
        if name == "server.recover":
            with Server(command=[binary], data=directory / "data") as filled:
                Connection(filled.port).batch([TIMER] * count)
                filled.stop()
        token, flags = TOKEN if BENCHMARKS[name].asks else None, []
        if token:
            (directory / "tokens").write_text(f"{token}\n")
            flags = ["--token-file", directory / "tokens"]
        with Server(*flags, command=command, data=directory / "data", token=token) as measured:
            BENCHMARKS[name].run(Connection(measured.port, token), count)
            measured.stop()
    finally:
        shutil.rmtree(directory, ignore_errors=True)
