"""The nodes: real servers with addresses that stay, each of which lives many times."""

import json
import signal
from datetime import datetime
from pathlib import Path

from record import Broken
from server import Server, binary

FLAGS = ("--heartbeat", "200ms", "--retain-events", "24h,16GiB", "--log-format", "json")


def cluster_token(folder):
    """A file with a token of the cluster."""
    (path := Path(folder) / "cluster-token").write_text("a-token-of-the-cluster\n")
    return str(path)


class Node(Server):
    """One node. `process` names its life, for the record."""

    def __init__(self, record, name, host, port, store, command=None, env=None, token=None):
        """`command` stands in for the binary, such as one within a network namespace; `token` is the file of the cluster's
        token, where the nodes forward to each other."""
        forwarding = ("--cluster-listen", f"{host}:0", "--cluster-token-file", token) if token else ()
        super().__init__(*FLAGS, *forwarding, "--store", store, "--cluster-url", f"http://{host}:{port}", listen=(f"{host}:{port}",),
                         command=command or [binary()], env=env)
        self._data = None  # it keeps everything in the database
        self.record, self.name, self.address, self.lives, self.is_stopped = record, name, (host, port), 0, False

    @property
    def cluster_url(self):
        return f"http://{self.address[0]}:{self.address[1]}"

    def life(self):
        return f"{self.name}#{self.lives}"

    @property
    def is_alive(self):
        return self.process is not None and self.process.poll() is None

    def begin(self):
        self.lives += 1
        self.record.note("start", process=self.life())
        self.launch()

    def kill(self):
        self.record.note("kill", process=self.life())
        self.is_stopped = False
        self.kill9()

    def pause(self):
        self.record.note("stop", process=self.life())
        self.is_stopped = True
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self):
        if self.is_stopped and self.is_alive:
            self.record.note("continue", process=self.life())
            self.is_stopped = False
            self.process.send_signal(signal.SIGCONT)

    def end(self):
        """A clean stop."""
        self.record.note("term", process=self.life())
        self.terminate()
        self.record.note("exit", process=self.life(), code=self.wait(60))

    def check_alive(self):
        if self.process is not None and (code := self.process.poll()) is not None:
            raise Broken(f"{self.life()} ended by itself with {code}: {self.log_text()[-2000:]}")

    def told(self):
        """(milliseconds since 1970, message, the line's members) for each line of its log."""
        for line in Path(self.log).read_text(errors="replace").splitlines():
            try:
                entry = json.loads(line)
                yield datetime.fromisoformat(entry["time"]).timestamp() * 1000, entry["message"], entry
            except (ValueError, KeyError):
                pass  # a line that a kill has cut
