#!/usr/bin/env python3
"""What more I/O threads give and cost: the same load on servers that have 1, 2, 4 and 8 of them.

    threads.py BINARY [ROUNDS]    prints, of GETs, kicks and durable creates on 64 connections, a row for each number of
                                  threads: requests a second; and of one request the processor time of the I/O threads, of
                                  the committer and of all other threads, the switches of threads, and the calls of
                                  futex. Medians of ROUNDS (5) rounds in turn; needs gcc, and perf as root.

A call of futex stands for a lock that another thread held, or for a thread that slept until another one woke it.
"""

import re
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "Tests" / "BlackBox"))

from server import Server

THREADS, CONNECTIONS, SECONDS = (1, 2, 4, 8), 64, 2
# The commands of `load`; none for creates.
LOADS = {"GET": ["get"], "kick": ["kick"], "create": []}


class Spent:
    """What the threads of a process have used: microseconds of processor time by kind of thread, and switches."""

    def __init__(self, pid):
        self.microseconds, self.switches = Counter(), 0
        for task in Path(f"/proc/{pid}/task").iterdir():
            name = task.joinpath("comm").read_text().strip()
            kind = "io" if name.startswith("http-") else "commit" if name == "commit" else "rest"
            self.microseconds[kind] += int(task.joinpath("schedstat").read_text().split()[0]) / 1000
            self.switches += sum(map(int, re.findall(r"ctxt_switches:\s*(\d+)", task.joinpath("status").read_text())))


def measure(load, server, commands):
    """Requests a second; and of one request the microseconds by kind of thread, the switches and the calls of futex."""
    before = Spent(server.pid)
    run = subprocess.run(
        ["perf", "stat", "-x", ",", "-e", "syscalls:sys_enter_futex", "-p", str(server.pid), "--",
         load, "for", str(SECONDS), "timerd", str(server.port), str(CONNECTIONS), "1", *commands],
        capture_output=True, text=True, check=True)
    after = Spent(server.pid)
    rate = float(run.stdout.split()[0])
    calls = int(re.search(r"^(\d+),[^\n]*sys_enter_futex", run.stderr, re.M)[1])
    microseconds = (after.microseconds[kind] - before.microseconds[kind] for kind in ("io", "commit", "rest"))
    return rate, *(total / (rate * SECONDS) for total in (*microseconds, after.switches - before.switches, calls))


def rounds_of(count, load, servers):
    """The figures of each load and number of threads, round by round, in turn."""
    found = {(name, threads): [] for name in LOADS for threads in THREADS}
    for _ in range(count):
        for (name, threads), figures in found.items():
            figures.append(measure(load, servers[threads], LOADS[name]))
    return found


def main():
    binary, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
    timers = [{"id": f"dog-{number}", "watchdog": "1d"} for number in range(CONNECTIONS * 100)]
    with ExitStack() as stack:
        load = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "load"
        subprocess.run(["gcc", "-O2", "-o", load, ROOT / "Benchmarks/load.c", ROOT / "Benchmarks/protocol.c"], check=True)
        servers = {}
        for threads in THREADS:
            servers[threads] = stack.enter_context(Server("--io-threads", threads, command=[binary]))
            servers[threads].client.batch(timers).expect(200)
        found = rounds_of(rounds, load, servers)
    print("| | I/O threads | requests/s | µs of these | of the committer | of the rest | switches | futex calls |")
    print("|---|---|---|---|---|---|---|---|")
    for (name, threads), figures in found.items():
        rate, io, commit, rest, switches, calls = map(statistics.median, zip(*figures))
        print(f"| {name} | {threads} | {rate:,.0f} | {io:.1f} | {commit:.1f} | {rest:.1f} | {switches:.2f} | {calls:.3f} |")


if __name__ == "__main__":
    main()
