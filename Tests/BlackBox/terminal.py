"""A pseudo-terminal for tests of what a person sees."""

import codecs
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time

from patience import PATIENCE
from server import binary, environment


class Terminal:
    """The binary with a terminal of some size at its output; what it draws is in `screen`, escape codes and all.

    `errors` puts the terminal at standard error alone, and standard output into a pipe. A context manager; the process is killed at
    the end.
    """

    def __init__(self, *arguments, columns=80, lines=24, env=None, errors=False, stdin=subprocess.DEVNULL):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self.screen = ""
        self.decoder = codecs.getincrementaldecoder("utf-8")()
        self.process = subprocess.Popen(
            [binary(), *map(str, arguments)], stdin=stdin, stdout=subprocess.DEVNULL if errors else slave, stderr=slave,
            env=environment({"TERM": "xterm", "NO_COLOR": "", **(env or {})}), start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # a job in the background ignores it
        os.close(slave)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait(PATIENCE)
        os.close(self.master)

    def read_until(self, done, timeout=PATIENCE):
        """Reads until `done` of the screen is true; returns the screen."""
        deadline = time.monotonic() + timeout
        while not done(self.screen):
            assert self._read(deadline), f"it has ended: {self.screen!r}"
        return self.screen

    def end(self, timeout=PATIENCE):
        """Reads to the end and returns the exit code."""
        deadline = time.monotonic() + timeout
        while self._read(deadline):
            pass
        return self.process.wait(timeout)

    def _read(self, deadline):
        """Reads some of what it draws; false once the process has closed the terminal."""
        ready, _, _ = select.select([self.master], [], [], max(0, deadline - time.monotonic()))
        assert ready, f"it draws no more: {self.screen!r}"
        try:
            part = os.read(self.master, 65536)
        except OSError:  # the other side is closed
            return False
        self.screen += self.decoder.decode(part)
        return bool(part)
