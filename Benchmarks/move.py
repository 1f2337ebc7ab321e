#!/usr/bin/env python3
"""How long it takes to move timers from one server to another, and what the servers hold meanwhile.

    Benchmarks/move.py .build/release/timerd 1000000 [postgres]

makes timers with a payload of 64 bytes, some of them due while they move, on a server with SQLite; drains and exports it, imports
into a server with `--store memory`, or one on a PostgreSQL that it starts, exports that, and imports into another one with SQLite.
It fails where a timer fired early, twice or not at all.
"""

import json
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "Tests" / "BlackBox"))

from postgres import Postgres

BATCH = 10_000
# Every so many timers one is due within SPREAD seconds, so that timers are due before, during and after the moves.
DUE_EVERY, SPREAD = 20, 240


class Server:
    def __init__(self, binary, *flags):
        self.process = subprocess.Popen([binary, "serve", "--listen", "127.0.0.1:0", *flags], stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        self.url = re.search(r"http://\S+", self.process.stdout.readline())[0]
        while not self.is_ready():
            time.sleep(0.02)

    def is_ready(self):
        try:
            self.get("/readyz")
        except urllib.error.HTTPError:
            return False
        return True

    def get(self, path):
        with urllib.request.urlopen(self.url + path) as answer:
            return json.load(answer)

    def peak(self):
        """MiB that the process has held at most."""
        return int(re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{self.process.pid}/status").read_text())[1]) / 1024

    def resident(self):
        return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{self.process.pid}/status").read_text())[1]) / 1024

    def forget_peak(self):
        Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")

    def stop(self):
        self.process.terminate()
        self.process.wait()


def timed(what, server, *command):
    server.forget_peak()
    began = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True)
    seconds = time.monotonic() - began
    assert done.returncode == 0, done
    print(f"{what}: {seconds:.1f} s, server at most {server.peak():.0f} MiB, then {server.resident():.0f} MiB", flush=True)


def fill(binary, server, count, directory):
    file = Path(directory) / "made.ndjson"
    with open(file, "w") as lines:
        for n in range(count):
            due = f"{n * 1000 * SPREAD // count + 5000}ms" if n % DUE_EVERY == 0 else f"{30 + n % 60}d"
            lines.write(f'{{"id":"t{n:07}","after":"{due}","retain":"1d","payload":"{"x" * 62}"}}\n')
    timed(f"{count} creates", server, binary, "batch", "--server", server.url, file)


def fired(server, since):
    """{timer: [event]} of the fires that a server has kept."""
    found = {}
    with urllib.request.urlopen(f"{server.url}/v1/events?types=fired&follow=false&since=0") as answer:
        for line in answer:
            if line.strip():
                event = json.loads(line)
                found.setdefault(event["timer"], []).append(event)
    return found


def main():
    binary, count = sys.argv[1], int(sys.argv[2])
    with ExitStack() as stack:
        directory = stack.enter_context(tempfile.TemporaryDirectory(prefix="timerd-move-"))
        between = ("memory", ["--store", "memory", "--data", f"{directory}/1"])
        if "postgres" in sys.argv[3:]:
            database = stack.enter_context(Postgres("fsync=on", "max_wal_size=4GB"))
            between = ("PostgreSQL", ["--store", database.schema("timerd"), "--migrate"])
        kinds = [("SQLite", ["--data", f"{directory}/0"]), between, ("SQLite", ["--data", f"{directory}/2"])]
        servers = [Server(binary, *flags) for _, flags in kinds]
        try:
            fill(binary, servers[0], count, directory)
            for n in range(2):
                source, target = servers[n], servers[n + 1]
                file = f"{directory}/{n}.ndjson"
                names = f"{kinds[n][0]} to {kinds[n + 1][0]}"
                timed(f"{names}, export", source, binary, "export", "--drain", "--server", source.url, file)
                print(f"{names}, the file: {Path(file).stat().st_size / 2**20:.0f} MiB", flush=True)
                timed(f"{names}, import", target, binary, "import", "--server", target.url, file)
                assert sum(target.get("/v1/stats")["timers"].values()) == count
            wanted = {f"t{n:07}" for n in range(0, count, DUE_EVERY)}
            while servers[2].get("/v1/stats")["timers"]["completed"] < len(wanted):
                time.sleep(1)
            fires, on = {}, []
            for server in servers:
                found = fired(server, 0)
                on.append(len(found))
                for timer, events in found.items():
                    fires.setdefault(timer, []).extend(events)
            assert fires.keys() == wanted, (len(fires), len(wanted))
            assert all(len(events) == 1 for events in fires.values()), "a timer fired twice"
            assert all(events[0]["at"] >= events[0]["scheduledAt"] for events in fires.values()), "a timer fired early"
            print(f"{len(wanted)} were due meanwhile: {' + '.join(map(str, on))} fired on the three servers, each once, none early")
        finally:
            for server in servers:
                server.stop()


if __name__ == "__main__":
    main()
