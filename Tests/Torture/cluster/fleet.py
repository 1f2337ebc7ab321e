"""The nodes, the database and the links of a run on one machine."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from cluster.database import Database
from cluster.nodes import Node, cluster_token
from free_ports import free_port
from server import run

LINKS = Path(__file__).with_name("links.py")


class Links:
    """The process with the links, one for each node."""

    def __init__(self, database, count):
        self.ports = [free_port() for _ in range(count)]
        self.process = subprocess.Popen(
            [sys.executable, LINKS, *[f"{port}:{database.host}:{database.port}" for port in self.ports]],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "ready\n":
            raise RuntimeError("the links to the database did not open")

    def tell(self, number, *words):
        self.process.stdin.write(" ".join(map(str, (number, *words))) + "\n")
        self.process.stdin.flush()

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


class Fleet:
    """A database, and nodes that reach it through a link each. A context manager; all of it has ended at its end."""

    hook_host = "127.0.0.1"

    def __init__(self, record, count, forwards=False):
        self.record, self.count, self.forwards = record, count, forwards
        self.directory = Path(tempfile.mkdtemp(prefix="timerd-torture-"))
        self.database, self.links, self.nodes = Database("127.0.0.1", free_port()), None, []

    def __enter__(self):
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _start(self):
        self.database.make().start()
        store = f"postgres://postgres@127.0.0.1:{self.database.port}/postgres"
        migrated = run("store", "migrate", "--store", store)
        if migrated.returncode:
            raise RuntimeError(migrated.stderr)
        self.links = Links(self.database, self.count)
        for number, port in enumerate(self.links.ports):
            store = f"postgres://postgres@127.0.0.1:{port}/postgres"
            token = cluster_token(self.directory) if self.forwards else None
            self.nodes.append(Node(self.record, f"n{number + 1}", "127.0.0.1", free_port(), store, token=token))

    def __exit__(self, *_):
        for node in self.nodes:
            node.__exit__()
        if self.links:
            self.links.close()
        self.database.__exit__()
        shutil.rmtree(self.directory, ignore_errors=True)
