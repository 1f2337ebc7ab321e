"""The real binary as a child process with a bounded life."""

import atexit
import functools
import hashlib
import os
import re
import select
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import pytest

import secrecy
import secure
from client import Client
from patience import PATIENCE
from postgres import Postgres

ROOT = Path(__file__).resolve().parents[2]
LIFETIME = 1800.0
LISTENING = re.compile(r"timerd listening on (\S+)")


# What the servers of this run keep their timers in: a PostgreSQL, or a directory each.
ON_POSTGRES = os.environ.get("TEST_STORE") == "postgres"
# Whether clients go to another server of that PostgreSQL, which forwards their requests.
FORWARDED = os.environ.get("TEST_FORWARDED")


def binary():
    """$TIMERD_BINARY, else the debug build, else the release build."""
    given = os.environ.get("TIMERD_BINARY")
    candidates = [given] if given else [ROOT / ".build/debug/timerd", ROOT / ".build/release/timerd"]
    for candidate in candidates:
        if candidate and os.access(candidate, os.X_OK):
            return str(Path(candidate).resolve())
    raise FileNotFoundError(f"no timerd to test; looked for {', '.join(map(str, candidates))}")


def environment(extra=None):
    """A clean environment: no TIMERD_ variable of the caller leaks into a test."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TIMERD_")}
    trust = {"TIMERD_CA": str(secure.authority().file)} if secure.SECURED else {}
    return {**kept, **trust, **(extra or {})}


def http_port(addresses):
    """The port of the first address that is one of HTTP, with TLS or without."""
    return next(int(address.rsplit(":", 1)[1]) for address in addresses if address.startswith("http"))


@functools.cache
def shared_postgres():
    """The database of all servers of this process."""
    server = Postgres()
    atexit.register(server.remove)
    return server.__enter__()


def run(*arguments, env=None, timeout=PATIENCE, cwd=None, stdin=None):
    """Runs the binary to its end and returns the completed process, output as text."""
    done = subprocess.run([binary(), *map(str, arguments)], env=environment(env), timeout=timeout, cwd=cwd,
                          input=stdin, capture_output=True, text=True)
    secrecy.has_run(arguments, env, stdin, done)
    return done


class Server:
    """`timerd serve` on a port of its own. A context manager; the process is killed by pid at the end whatever happens."""

    def __init__(self, *flags, data=None, listen=("127.0.0.1:0",), env=None, token=None, limits=(), command=None,
                 pass_fds=(), listeners=None):
        """`limits` are flags of prlimit(1), such as `--nofile=256`, which bound the process from its start; `command`
        stands in for the binary; `pass_fds` are inherited; `listeners` is how many there will be, unless as many as `listen`.
        """
        self.command = list(command or [binary()])
        self.flags, self.listen, self.env, self.token = list(map(str, flags)), list(listen), env, token
        if secure.SECURED and self.listen == ["127.0.0.1:0"] and "--config" not in self.flags:
            self.listen = ["https://127.0.0.1:0"]
        if any(address.startswith("https://") for address in self.listen) and "--tls-key" not in self.flags:
            self.flags += secure.flags()
        self.limits = list(limits)
        self.pass_fds = tuple(pass_fds)
        self.listeners = listeners or max(1, len(self.listen))
        self.directory = Path(tempfile.mkdtemp(prefix="timerd-"))
        self._data = Path(data) if data else self.directory / "data"
        chosen = [flag for flag in self.flags if flag.startswith(("--store", "--data", "--durability"))]
        self.schema = None
        if ON_POSTGRES and "--store" not in chosen:
            if chosen or data or "TIMERD_DATA" in (env or {}):
                pytest.skip("a database has no directory, and each of its commits is durable")
            self.schema = "t" + hashlib.sha1(str(self._data).encode()).hexdigest()[:16]
            self.flags += ["--store", shared_postgres().schema(self.schema), "--migrate"]
        # Another server of the database, to which every client goes, and which forwards.
        self.entry = None
        if FORWARDED:
            if not self.schema or len(self.listen) != 1 or not self.listen[0].startswith("127.0.0.1:") or pass_fds or command:
                pytest.skip("this is no pair of servers on one database")
            secret = self.directory / "cluster-token"
            secret.write_text("a-token-of-the-cluster\n")
            self.flags += ["--cluster-listen", "127.0.0.1:0", "--cluster-token-file", str(secret)]
        self.log = self.directory / "stderr.log"
        self.process = None
        self.starts = 0
        self.addresses = []
        self.own_addresses = []
        if FORWARDED:
            self.entry = object.__new__(Server)
            # The service manager has started one of the two, and is told by that one alone.
            env = {name: value for name, value in (env or {}).items() if name != "NOTIFY_SOCKET"}
            self.entry.__dict__.update(self.__dict__, entry=None, log=self.directory / "entry.log", env=env)
            self.listen = ["127.0.0.1:0"]

    def __enter__(self):
        return self if self.process else self.start()

    def __exit__(self, *_):
        secrecy.is_ending(self)
        self.kill9()
        try:
            secrecy.has_ended(self)
        finally:
            shutil.rmtree(self.directory, ignore_errors=True)

    @property
    def data(self):
        """The data directory."""
        if self.schema:
            pytest.skip("what is kept is in no directory")
        return self._data

    @property
    def pid(self):
        return self.process.pid

    @property
    def port(self):
        return http_port(self.addresses)

    @property
    def client(self):
        return Client(self.port, token=self.token)

    @property
    def asked(self):
        """The server that clients ask, for tests of its log, its signals and its end: that which forwards, if there is one."""
        return self.entry or self

    @property
    def processes(self):
        """The server that owns the timers, and that which forwards, if there is one."""
        return [self, self.entry] if self.entry else [self]

    @property
    def owner(self):
        """A client of the server that owns the timers, for tests of its metrics, its health and its listener."""
        return Client(http_port(self.own_addresses), token=self.token)

    @property
    def scheme(self):
        return "https" if self.port in secure.PORTS else "http"

    @property
    def url(self):
        return f"{self.scheme}://127.0.0.1:{self.port}"

    @property
    def bound(self):
        """What `--listen` names to have the same address again."""
        return f"{'https://' if self.scheme == 'https' else ''}127.0.0.1:{self.port}"

    def start(self):
        return self.launch().come_up()

    def launch(self):
        """Starts the process without waiting."""
        if self.entry and self.entry.process and self.entry.process.poll() is None:
            self.entry.stop()
        self.starts += 1
        command = [*self.command, "serve"]
        for address in self.listen:
            command += ["--listen", address]
        in_database = any(word.startswith("postgres") for word in [*self.flags, (self.env or {}).get("TIMERD_STORE", "")])
        if self._data and not in_database and "--data" not in self.flags and "TIMERD_DATA" not in (self.env or {}):
            command += ["--data", str(self._data)]
        if self.limits:
            command = ["prlimit", *self.limits, *command]
        if setpriv := shutil.which("setpriv"):
            command = [setpriv, "--pdeathsig", "KILL", "--", *command]  # dies with the test run; same pid after exec
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(command + self.flags + secrecy.flags(self), stdout=subprocess.PIPE, stderr=log,
                                            env=environment(self.env), pass_fds=self.pass_fds)
        self._lifetime = threading.Timer(LIFETIME, self.process.kill)
        self._lifetime.daemon = True
        self._lifetime.start()
        return self

    def come_up(self):
        """Waits until the server prints that it serves."""
        self.addresses = self.own_addresses = [self._next_address() for _ in range(self.listeners)]
        for address in self.addresses:
            if address.startswith("http"):
                # The kernel gives a port again to whoever comes next.
                (secure.PORTS.add if address.startswith("https") else secure.PORTS.discard)(http_port([address]))
        if self.schema and self.starts > 1:
            self._take_over()
        if self.entry:
            self.entry.starts = 0
            self.entry.launch().come_up()
            self.addresses = self.entry.addresses
            self.entry._take_over(forwards=True)
        return self

    def _take_over(self, forwards=False):
        """Waits until no server that was killed counts as alive: this one stands by so long, or forwards to it."""
        address = self.addresses[0]
        client = Client(unix=address.removeprefix("unix:")) if address.startswith("unix:") else self.client
        deadline = time.monotonic() + PATIENCE
        while True:
            reply = client.get("/readyz")
            if reply.json["status"] == "drained" or reply.status == 200 and ("owner" in reply.json) == forwards:
                return
            assert time.monotonic() < deadline, f"the server stands by: {reply}, {self.log_text()[-2000:]}"
            time.sleep(0.02)

    def _next_address(self):
        line, deadline = b"", time.monotonic() + PATIENCE
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, deadline - time.monotonic()))
            byte = os.read(self.process.stdout.fileno(), 1) if ready else b""
            if not byte:
                self.kill9()
                raise AssertionError(f"timerd did not come up: stdout {line!r}, stderr {self.log_text()[-2000:]}")
            line += byte
        match = LISTENING.fullmatch(line.decode().rstrip("\n"))
        assert match, f"a strange first line on stdout: {line!r}"
        return match[1]

    def log_text(self):
        return self.log.read_text(errors="replace")

    def terminate(self):
        self.process.send_signal(signal.SIGTERM)

    def wait(self, timeout=PATIENCE):
        """Waits for the process to end and returns its exit code."""
        code = self.process.wait(timeout)
        self._reap()
        return code

    def stop(self):
        """A clean stop; the exit code must say so."""
        if self.entry:
            self.entry.stop()
        self.terminate()
        code = self.wait()
        assert code == 0, f"exit {code}: {self.log_text()[-2000:]}"

    def kill9(self):
        if self.entry:
            self.entry.kill9()
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait(PATIENCE)
        if self.process:
            self._reap()

    def restart(self, same_port=False):
        """Stops if still running, then starts on the same data."""
        if self.process.poll() is None:
            self.stop()
        if same_port:
            self.asked.listen = [self.asked.bound]
        return self.start()

    def _reap(self):
        self._lifetime.cancel()
        self.process.stdout.close()
