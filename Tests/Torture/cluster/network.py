"""Nodes, a primary and its standby in network namespaces of the run's own, on one bridge.

`Namespaces` is made by a process outside; the harness itself runs in the one of the bridge, where it cuts the links.
"""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from cluster.database import PROGRAMS, Database, Pair
from cluster.nodes import Node, cluster_token
from server import binary, run
from wallclock import WallClock, build

VARIABLE = "TORTURE_NAMESPACES"  # tells the harness the namespaces' prefix
DATABASES = ("db1", "db2")
PORT = 5432


def names(count):
    return [*(f"n{number + 1}" for number in range(count)), *DATABASES]


def address(name, count):
    return f"10.77.0.{names(count).index(name) + 10}"


def ip(*words):
    done = subprocess.run(["ip", *words], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"ip {' '.join(words)}: {done.stderr.strip()}")


def missing():
    """Why the namespaces can't be made here, or None."""
    if os.geteuid() != 0:
        return "only root makes network namespaces"
    if not shutil.which("ip"):
        return "ip(8) is missing: make setup-tests installs it"
    if not PROGRAMS:
        return "PostgreSQL's server is missing: make setup-tests installs it"
    probe = f"tt{os.getpid()}-probe"
    try:
        ip("netns", "add", probe)
    except RuntimeError as failure:
        return str(failure)
    try:
        ip("-n", probe, "link", "add", "name", "bridge0", "type", "bridge")
        ip("-n", probe, "link", "add", "name", "veth0", "type", "veth", "peer", "name", "veth1")
    except RuntimeError as failure:
        return str(failure)
    finally:
        ip("netns", "del", probe)
    return None


class Namespaces:
    """One namespace for the bridge, one for each node and database. A context manager; they are gone at its end."""

    def __init__(self, count):
        self.count, self.prefix, self.made = count, f"tt{os.getpid()}", []

    def __enter__(self):
        try:
            hub = self._add("hub")
            ip("-n", hub, "link", "add", "name", "bridge0", "type", "bridge")
            ip("-n", hub, "addr", "add", "10.77.0.1/24", "dev", "bridge0")
            ip("-n", hub, "link", "set", "bridge0", "up")
            for name in names(self.count):
                member = self._add(name)
                ip("-n", hub, "link", "add", "name", f"to-{name}", "type", "veth", "peer", "name", "eth0", "netns", member)
                ip("-n", hub, "link", "set", f"to-{name}", "master", "bridge0", "up")
                ip("-n", member, "addr", "add", f"{address(name, self.count)}/24", "dev", "eth0")
                ip("-n", member, "link", "set", "eth0", "up")
        except BaseException:
            self.__exit__()
            raise
        return self

    def _add(self, name):
        ip("netns", "add", full := f"{self.prefix}-{name}")
        self.made.append(full)
        ip("-n", full, "link", "set", "lo", "up")
        return full

    def __exit__(self, *_):
        for name in reversed(self.made):
            ip("netns", "del", name)

    def run(self, *command):
        """Runs the command in the bridge's namespace; returns its exit code."""
        inside = ["ip", "netns", "exec", f"{self.prefix}-hub", *command]
        return subprocess.run(inside, env=os.environ | {VARIABLE: self.prefix}).returncode


class Cables:
    """The links of the bridge."""

    def __init__(self, prefix, count):
        self.prefix, self.count = prefix, count

    def _routes(self, change, place, far):
        ip("-n", f"{self.prefix}-{place}", "route", change, "blackhole", f"{address(far, self.count)}/32")

    def cut(self, name, *ways):
        """Packets from the node to the databases, or theirs to it, go nowhere."""
        for database in DATABASES:
            if "up" in ways:
                self._routes("replace", name, database)
            if "down" in ways:
                self._routes("replace", database, name)

    def join(self, name):
        for database in DATABASES:
            for place, far in ((name, database), (database, name)):
                try:
                    self._routes("del", place, far)
                except RuntimeError:
                    pass  # that way was not cut

    def unplug(self, name):
        ip("link", "set", f"to-{name}", "down")

    def plug(self, name):
        ip("link", "set", f"to-{name}", "up")

    def name_of(self, database):
        return next(name for name in DATABASES if address(name, self.count) == database.host)


class NetworkFleet:
    """The nodes and databases in the namespaces. A context manager; all of it has ended at its end."""

    hook_host = "10.77.0.1"

    def __init__(self, record, count, forwards=False):
        self.record, self.count, self.forwards, self.prefix = record, count, forwards, os.environ[VARIABLE]
        self.links, self.nodes = Cables(self.prefix, count), []
        self.directory = Path(tempfile.mkdtemp(prefix="timerd-torture-net-"))
        self.database = Pair(*[Database(address(name, count), PORT, self._within(name)) for name in DATABASES])

    def _within(self, name):
        return ["ip", "netns", "exec", f"{self.prefix}-{name}"]

    def __enter__(self):
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _start(self):
        self.database.start()
        hosts = ",".join(f"{address(name, self.count)}:{PORT}" for name in DATABASES)
        store = f"postgres://postgres@{hosts}/postgres?target_session_attrs=read-write"
        migrated = run("store", "migrate", "--store", store)
        if migrated.returncode:
            raise RuntimeError(migrated.stderr)
        preload = build(self.directory)
        for name in names(self.count)[:self.count]:
            (folder := self.directory / name).mkdir()
            clock = WallClock(preload, folder)
            node = Node(self.record, name, address(name, self.count), 8080, store, [*self._within(name), binary()], clock.env,
                        cluster_token(self.directory) if self.forwards else None)
            node.clock = clock
            self.nodes.append(node)

    def __exit__(self, *_):
        for node in self.nodes:
            node.__exit__()
        self.database.__exit__()
        shutil.rmtree(self.directory, ignore_errors=True)
