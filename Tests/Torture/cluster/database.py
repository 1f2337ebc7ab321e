"""A PostgreSQL of the run's own, which is restarted, stopped and promoted. It runs as user `postgres` where the run is root's."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

PROGRAMS = next((folder for version in range(30, 9, -1) if (folder := Path(f"/usr/lib/postgresql/{version}/bin")).is_dir()), None)
USER = "postgres"
SIGNALS = {"fast": signal.SIGINT, "immediate": signal.SIGQUIT, "kill": signal.SIGKILL}
PATIENCE_SECONDS = 60.0
# The process ends, never the machine: nothing needs to reach the disk.
SETTINGS = {"fsync": "off", "max_connections": "100", "shared_buffers": "32MB", "wal_keep_size": "64MB", "max_wal_senders": "4"}


def as_user(*command):
    """The command as PostgreSQL's user."""
    return (["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "--"] if os.geteuid() == 0 else []) + list(map(str, command))


class Database:
    """One server with its directory. A context manager; the server and its directory are gone at its end."""

    def __init__(self, host, port, prefix=()):
        """`prefix` is put before each command, such as `ip netns exec`."""
        self.host, self.port, self.prefix = host, port, list(prefix)
        self.directory = Path(tempfile.mkdtemp(prefix="timerd-torture-pg-"))
        self.data = self.directory / "data"
        self.process = None
        self.restarts = 0
        if os.geteuid() == 0:
            shutil.chown(self.directory, USER)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop("immediate")
        shutil.rmtree(self.directory, ignore_errors=True)

    def _run(self, *command):
        done = subprocess.run([*self.prefix, *as_user(*command)], capture_output=True, text=True, timeout=PATIENCE_SECONDS,
                              cwd=self.directory)
        if done.returncode:
            raise RuntimeError(f"{command[0]} failed: {done.stderr[-1000:]}")
        return done.stdout

    def make(self):
        """A new, empty cluster of PostgreSQL."""
        self._run(PROGRAMS / "initdb", "-D", self.data, "-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C", "-N")
        with open(self.data / "pg_hba.conf", "a") as access:
            access.write("host all all 0.0.0.0/0 trust\nhost replication all 0.0.0.0/0 trust\n")
        return self

    def clone(self, primary, name):
        """A standby of `primary`."""
        shutil.rmtree(self.data, ignore_errors=True)
        self._run(PROGRAMS / "pg_basebackup", "-D", self.data, "-R", "-X", "stream", "-c", "fast", "-d",
                  f"host={primary.host} port={primary.port} user={USER} application_name={name}")
        return self

    def start(self):
        settings = [part for name, value in SETTINGS.items() for part in ("-c", f"{name}={value}")]
        command = as_user("setpriv", "--pdeathsig", "KILL", "--", PROGRAMS / "postgres", "-D", self.data, "-k", self.directory, "-p", self.port, *settings,
                          "-c", f"listen_addresses={self.host}")
        with open(self.directory / "log", "ab") as log:
            self.process = subprocess.Popen([*self.prefix, *command], stdout=log, stderr=log, cwd=self.directory)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while subprocess.run([*self.prefix, PROGRAMS / "pg_isready", "-q", "-h", self.host, "-p", str(self.port)]).returncode:
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"PostgreSQL did not come up: {self.log[-2000:]}")
            time.sleep(0.02)
        return self

    @property
    def log(self):
        return (self.directory / "log").read_text(errors="replace")

    @property
    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def stop(self, how):
        if self.is_running:
            self.pause(False)
            self.process.send_signal(SIGNALS[how])
            try:
                self.process.wait(PATIENCE_SECONDS)
            except subprocess.TimeoutExpired:
                self.process.send_signal(signal.SIGQUIT)
                self.process.wait(PATIENCE_SECONDS)

    def restart(self, how):
        self.restarts += 1
        self.stop(how)
        self.start()

    def pause(self, is_paused):
        """Stops every process of the server (SIGSTOP), or has them go on."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        for pid in [self.process.pid, *map(int, children)]:
            try:
                os.kill(pid, signal.SIGSTOP if is_paused else signal.SIGCONT)
            except ProcessLookupError:
                pass  # that backend has ended meanwhile

    def query(self, sql):
        """The rows of a query, as lists of text."""
        text = self._run(PROGRAMS / "psql", "-h", self.directory, "-p", self.port, "-U", USER, "-X", "-q", "-A", "-t", "-F", "|",
                         "-v", "ON_ERROR_STOP=1", "-c", sql)
        return [line.split("|") for line in text.splitlines()]

    def end_backends(self):
        """Ends the connections of all nodes; returns how many."""
        sql = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'timerd%'"
        return len(self.query(sql))


class Pair:
    """A primary and its synchronous standby, which changes places with it. Commits wait for the standby."""

    def __init__(self, *databases):
        self.primary, self.standby = databases
        self.promotions = 0

    def __exit__(self, *_):
        for database in (self.standby, self.primary):
            database.__exit__()

    def start(self):
        self.primary.make().start()
        self._follow()
        return self

    def _follow(self):
        """Makes the standby anew, and has commits wait for it once it is there."""
        self.standby.clone(self.primary, "standby").start()
        self._wait_for("standby")
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self.primary.query("SELECT sync_state FROM pg_stat_replication") != [["sync"]]:
            if time.monotonic() > deadline:
                raise RuntimeError(f"the standby does not follow: {self.standby.log[-2000:]}")
            time.sleep(0.05)

    def _wait_for(self, standby):
        self.primary.query(f"ALTER SYSTEM SET synchronous_standby_names = '{standby}'")
        self.primary.query("SELECT pg_reload_conf()")

    def promote(self, how):
        """The primary ends, its standby takes its place, and a new standby follows it."""
        self.promotions += 1
        self.primary.stop(how)
        self.primary, self.standby = self.standby, self.primary
        self.primary.query("SELECT pg_promote(true, 60)")
        self._wait_for("")
        self._follow()

    @property
    def log(self):
        return self.primary.log + self.standby.log

    def restart(self, how):
        self.primary.restart(how)

    def pause(self, is_paused):
        self.primary.pause(is_paused)

    def query(self, sql):
        return self.primary.query(sql)

    def end_backends(self):
        return self.primary.end_backends()
