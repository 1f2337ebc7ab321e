"""A real PostgreSQL server of the test run's own, on a Unix socket in a folder of its own."""

import atexit
import contextlib
import fcntl
import functools
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from urllib.parse import quote

from patience import PATIENCE

# `initdb` and the like take some seconds on a busy machine.
# What the servers under test are to the database: no superuser.
ROLE = "timerd"
# Names the folder of the run to its workers.
FOLDER = "TEST_POSTGRES_FOLDER"
# Tests end processes, not the machine: what was written is in the kernel.
SETTINGS = ("fsync=off", "listen_addresses=", "max_connections=400", "autovacuum_naptime=10s", "shared_buffers=64MB")


@functools.cache
def programs():
    """Where PostgreSQL's programs are."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(re.sub(r"\D", "", path.parts[4]) or 0))
    initdb = str(found[-1]) if found else shutil.which("initdb")
    assert initdb, "PostgreSQL's server is not installed: make setup-tests"
    return Path(initdb).parent


def as_user(*command):
    """The command as the user postgres, where this is root: PostgreSQL's server refuses to be that. It ends with the test run."""
    setpriv = shutil.which("setpriv")
    words = [setpriv, "--pdeathsig", "QUIT"] if setpriv else []
    if os.geteuid() == 0:
        words += ["--reuid", "postgres", "--regid", "postgres", "--clear-groups"]
    return [*words, "--", *map(str, command)] if words else [*map(str, command)]


@functools.cache
def base():
    """The folder of everything of this test run; who makes it removes it. Workers find it in their environment."""
    given = os.environ.get(FOLDER)
    if not given:
        given = os.environ[FOLDER] = tempfile.mkdtemp(prefix="timerd-pg-")
        os.chmod(given, 0o755)
        atexit.register(shutil.rmtree, given, ignore_errors=True)
    return Path(given)


def folder(name=None):
    """A new folder, which is the server's user's."""
    path = base() / name if name else Path(tempfile.mkdtemp(prefix="pg-", dir=base()))
    path.mkdir(exist_ok=True)
    if os.geteuid() == 0:
        shutil.chown(path, "postgres", "postgres")
    return path


@functools.cache
def template():
    """The files of a new server, which `initdb` makes once for the run."""
    with open(base() / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        made = base() / "made"
        if not made.exists():
            path = folder("template")
            command = as_user(programs() / "initdb", "-D", path / "data", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C",
                              "-N")
            subprocess.run(command, check=True, timeout=PATIENCE, stdout=subprocess.DEVNULL, cwd="/")
            made.touch()
    return base() / "template" / "data"


class Postgres:
    """A server. A context manager; it is ended by its pid, and its files are removed, whatever happens."""

    def __init__(self, *settings, data=None):
        """`settings` are `name=value`; `data` are the files of a server to begin with, instead of a new one's."""
        self.settings = [*SETTINGS, *settings]
        self.data = data
        self.folder = folder()
        self.process = None
        self.log = self.folder / "log"

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            stack.callback(self.remove)
            subprocess.run(["cp", "-a", self.data or template(), self.folder / "data"], check=True, timeout=PATIENCE)
            self.start()
            if not self.data:
                self.execute(f"CREATE ROLE {ROLE} LOGIN")
            stack.pop_all()
        return self

    def __exit__(self, *_):
        self.remove()

    def remove(self):
        """Ends the server at once, and removes its files."""
        if self.process and self.process.poll() is None:
            self.resume()
            self.stop("immediate")
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self, *settings):
        """Starts the server and waits until it takes connections; `settings` are for this start alone."""
        flags = [word for setting in [*self.settings, *settings] for word in ("-c", setting)]
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(as_user(programs() / "postgres", "-D", self.folder / "data", "-k", self.folder, *flags),
                                            stdout=log, stderr=log, cwd="/")
        deadline = time.monotonic() + PATIENCE
        ready = [programs() / "pg_isready", "-q", "-h", self.folder]
        while subprocess.run(ready, timeout=PATIENCE).returncode != 0:
            assert self.process.poll() is None and time.monotonic() < deadline, f"PostgreSQL did not start: {self.log_text()[-2000:]}"
            time.sleep(0.02)
        return self

    def stop(self, how="fast"):
        """Ends the server: `fast` writes everything out, `immediate` is a crash."""
        self.process.send_signal({"fast": signal.SIGINT, "immediate": signal.SIGQUIT}[how])
        self.process.wait(PATIENCE)

    def restart(self, how="fast", *settings):
        self.stop(how)
        self.start(*settings)

    def pause(self):
        """Stops every process of the server."""
        self._signal(signal.SIGSTOP)

    def resume(self):
        self._signal(signal.SIGCONT)

    def _signal(self, number):
        pid = self.process.pid
        with contextlib.suppress(FileNotFoundError):
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
            for process in [pid, *map(int, children)]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, number)

    def log_text(self):
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def execute(self, sql, schema=None):
        """Runs statements as the superuser and returns what they print, a list of lines with | between columns."""
        env = {**os.environ, "PGOPTIONS": f"-csearch_path={schema}" if schema else ""}
        done = subprocess.run([programs() / "psql", "-XqtA", "-v", "ON_ERROR_STOP=1", "-h", self.folder, "-U", "postgres", "-c", sql],
                              env=env, timeout=PATIENCE, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    def schema(self, name, role=ROLE):
        """Makes sure that this schema is there, the role's own, and returns the URI of it."""
        self.execute(f"CREATE SCHEMA IF NOT EXISTS {name} AUTHORIZATION {role}")
        return self.uri(name, role)

    def uri(self, schema, role=ROLE, **parameters):
        """The URI of a schema for `timerd serve --store`."""
        words = {"host": self.folder, "user": role, "options": f"-csearch_path={schema}", **parameters}
        return "postgres:///postgres?" + "&".join(f"{name}={quote(str(value), safe='')}" for name, value in words.items())
