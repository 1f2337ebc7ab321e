"""Cells as docs/STORES.md sets them up: a proxy with the document's text, and clients of a cell."""

import itertools
import re
import signal
import subprocess
import threading
from http.client import HTTPException

from client import Client
from documents import blocks
from proxies import Program
from recipes import changed
from server import ROOT, binary, environment
from stream import Stream
from timers import poll

STORES = ROOT / "docs/STORES.md"
SITE = "timers.example"
# The addresses that the document gives to the servers.
ADDRESSES = {"a": ["10.0.0.1:8080", "10.0.0.2:8080"], "b": ["10.0.1.1:8080", "10.0.1.2:8080"]}
LINES = {"Accept": "application/x-ndjson"}
# How many answers of a steady client show that it goes on.
SOME = 20


def recipe(language, *words):
    """The one block of the document that has all these words."""
    text, = [text for _, text in blocks(STORES, language) if all(word in text for word in words)]
    return text


def readdressed(text, ports):
    """The text with each address that it names replaced by that of a port: `{"a": [1, 2], "b": [3, 4]}`."""
    for cell, addresses in ADDRESSES.items():
        for address, port in zip(addresses, ports[cell], strict=True):
            text = text.replace(address, f"127.0.0.1:{port}")
    return text


class Cells(Program):
    """nginx before two cells, told apart by `name` or by `path`. `changes` are those of the document's text."""

    def __init__(self, kind, ports, *changes):
        super().__init__()
        self.is_by_path = kind == "path"
        routes = recipe("nginx", "map $request_uri" if self.is_by_path else "map $host")
        text = recipe("nginx", "upstream cell_a") + routes
        self.text = changed(readdressed(text, ports), ("listen 80;", f"listen 127.0.0.1:{self.port};"))
        self.command = self.nginx(changed(self.text, *changes))

    def client(self, cell):
        if self.is_by_path:
            return CellClient(self.port, SITE, f"/{cell}")
        return CellClient(self.port, f"{cell}.{SITE}", "")

    def answers(self):
        try:
            return all(self.client(cell).get("/healthz").status in (200, 502) for cell in ADDRESSES)
        except OSError:
            return False

    def change(self, *changes):
        """Has nginx read its recipe again, with these changes."""
        (self.directory / "recipe").write_text(changed(self.text, *changes))
        self.process.send_signal(signal.SIGHUP)


class CellClient(Client):
    """A client of a cell, which the proxy finds by the name of the host or by the path."""

    def __init__(self, port, name, prefix):
        super().__init__(port)
        self.name, self.prefix = name, prefix

    def headers(self, headers, content_type=None):
        return {"Host": self.name, **super().headers(headers, content_type)}

    def request(self, method, target, *rest, **options):
        return super().request(method, self.prefix + target, *rest, **options)

    def stream(self, target, headers=None, wait_for_head=True):
        return Stream(self.socket(), self.name, self.prefix + target, headers or LINES, wait_for_head)


class Steady:
    """A client that sends commands without pause, and has a stream and a wait at each of a cell's servers.

    `trouble` has each answer that is not as it has to be. `check` ends the commands, and reads the streams.
    """

    def __init__(self, client):
        self.client, self.is_over = client, threading.Event()
        self.trouble, self.count = [], 0
        self.thread = threading.Thread(target=self.work)

    def __enter__(self):
        client = self.client
        client.put("/v1/timers/steady", {"every": "1h"}).expect(201)
        client.put("/v1/timers/awaited", {"after": "1h"}).expect(201)
        self.streams = [client.stream("/v1/events?since=0").expect(200) for _ in ADDRESSES["b"]]
        self.waits = [client.stream("/v1/timers/awaited/wait?timeout=10m", wait_for_head=False) for _ in ADDRESSES["b"]]
        self.thread.start()
        return self.goes_on()

    def __exit__(self, *_):
        self.is_over.set()
        self.thread.join()
        for stream in (*self.streams, *self.waits):
            stream.close()

    def work(self):
        for number in itertools.count():
            if self.is_over.is_set():
                return
            id = f"s{number}"
            for method, target, body, status in (
                    ("POST", "/v1/timers/steady/fire", None, 200), ("PUT", f"/v1/timers/{id}", {"after": "1h"}, 201),
                    ("GET", f"/v1/timers/{id}", None, 200), ("DELETE", f"/v1/timers/{id}", None, 204)):
                try:
                    reply = self.client.request(method, target, **({"json": body} if body else {}))
                    if reply.status != status:
                        self.trouble.append(reply)
                except (OSError, HTTPException) as error:
                    self.trouble.append((method, target, error))
            self.count = number + 1

    def goes_on(self):
        """Waits until the commands have been answered some times more."""
        before = self.count
        poll(lambda: self.trouble or self.count > before + SOME)
        assert not self.trouble, self.trouble[:3]
        return self

    def check(self):
        """Asserts that each command was answered as it has to be, each stream has every event once, and waits end."""
        self.goes_on()
        self.is_over.set()
        self.thread.join()
        assert not self.trouble, self.trouble[:3]
        self.client.post("/v1/timers/awaited/fire").expect(200)
        for wait in self.waits:
            assert wait.read_head() == 200
        history = self.client.history("&since=0")
        assert [event["fire"] for event in history if event["timer"] == "steady" and event["type"] == "fired"] == list(
            range(1, self.count + 1))
        for stream in self.streams:
            assert stream.take(len(history)) == history


def paste(text, ports, directory):
    """Runs the document's commands, with the ports of the servers, as a reader would who pastes them."""
    programs = directory / "bin"
    programs.mkdir()
    (programs / "timerd").symlink_to(binary())
    env = environment()
    done = subprocess.run(["bash", "-e"], input=readdressed(text, ports), cwd=directory, text=True, capture_output=True,
                          env={**env, "PATH": f"{programs}:{env['PATH']}"}, timeout=120)
    assert done.returncode == 0, done
    return done.stdout


def roles():
    """The statements by which the document makes the cells' roles and schemas."""
    text = recipe("sql", "CREATE SCHEMA AUTHORIZATION")
    assert re.findall(r"CREATE ROLE (\w+)", text) == re.findall(r"AUTHORIZATION (\w+)", text) == ["cell_a", "cell_b"]
    return text
