"""A wall clock that a test sets while the server runs: libfaketime fakes the calendar, and no other clock."""

import glob
import shutil
import subprocess
import time
from pathlib import Path

SOURCE = Path(__file__).with_name("kernel_waits.c")
HOUR = 3_600_000
DAY = 24 * HOUR
PLACES = ("/usr/lib/*/faketime/libfaketime.so.1", "/usr/lib*/faketime/libfaketime.so.1")


def build(directory):
    """Compiles kernel_waits.c into this directory and returns what LD_PRELOAD must say."""
    found = [path for place in PLACES for path in glob.glob(place)]
    assert found, "libfaketime is not there; make setup-tests installs it"
    library = Path(directory) / "kernel_waits.so"
    compiler = shutil.which("gcc") or shutil.which("clang")
    assert compiler, "neither gcc nor clang is there to compile kernel_waits.c"
    subprocess.run([compiler, "-Wall", "-Wextra", "-Werror", "-O2", "-shared", "-fPIC", "-o", library, SOURCE, "-ldl"], check=True)
    return f"{library}:{found[0]}"


class WallClock:
    """The calendar of servers with `env`, some milliseconds off the machine's. Elapsed time is the machine's."""

    def __init__(self, preload, directory):
        self.path, self.offset = Path(directory) / "offset", 0
        self.set(0)
        # The server may not be the first program that loads the library: all of them share one calendar.
        self.env = {"LD_PRELOAD": preload, "FAKETIME_TIMESTAMP_FILE": str(self.path), "FAKETIME_NO_CACHE": "1",
                    "FAKETIME_DONT_FAKE_MONOTONIC": "1", "FAKETIME_DONT_RESET": "1"}

    def set(self, offset):
        """Steps to so many milliseconds after the machine's calendar."""
        self._write(f"{offset / 1000:+.3f}")
        self.offset = offset

    def drift(self, rate):
        """From now on a second of the calendar lasts that many of the machine's; only before a server starts."""
        self._write(f"+0 x{rate}")

    def _write(self, text):
        new = self.path.with_suffix(".new")
        new.write_text(text)
        new.rename(self.path)  # readers never see half of it

    def now(self):
        """What it shows, in milliseconds since 1970."""
        return time.time_ns() // 1_000_000 + self.offset
