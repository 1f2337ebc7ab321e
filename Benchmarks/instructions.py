#!/usr/bin/env python3
"""Counts the instructions of single operations under valgrind, and compares them with the kept figures.

    instructions.py [PREFIX…]              measures, prints a table, and fails where an operation takes over 3 % more
                                           instructions than kept (a tenth, if it is the whole server's), or where
                                           one of the two lists lacks it
    instructions.py --accept [PREFIX…]     keeps what it measured instead
    instructions.py --profile NAME         where an operation's instructions go: functions with what they call

Each benchmark is run with two counts of operations, and the difference of the runs is divided by that of the counts, so that
set-up does not count. PREFIXes choose benchmarks by how their names begin. The programs are the release builds of
`instructions` (Benchmarks/Micro) and of the server (instructions_server.py).
"""

import argparse
import collections
import concurrent.futures
import functools
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import instructions_server as server

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "Benchmarks/instructions.txt"
BUILD = ROOT / ".build/release"
# Micro-benchmarks give the same figure each time; the threads of a server meet otherwise in each run.
LIMIT, SERVER_LIMIT = 1.03, 1.10
COUNTED = re.compile(r"I\s+refs:\s+([\d,]+)")
LISTED = re.compile(r"^ *([\d,]+)  (.*\S)", re.MULTILINE)
PROFILED = 100  # functions
PASSED = ("SWIFT_DETERMINISTIC_HASHING", "GLIBC_TUNABLES", "LD_LIBRARY_PATH")
HEAD = """\
# Instructions an operation takes, counted by valgrind. `make instructions` fails where one takes over 3 % more, or a tenth if
# it is the whole server's, and `make instructions ACCEPT=1` writes this file anew. Micro-benchmarks give the same figure each
# time; those of the whole server, from the first byte to the commit, differ by 1 % as its threads meet otherwise, fires by 5 %.
# Counted on {}.
"""


def fail(message):
    sys.exit(f"instructions: {message}")


class Programs:
    """The programs as valgrind can read them, and how it runs them."""

    def __init__(self, directory):
        self.directory = Path(directory)
        for name in ("instructions", "timerd"):
            if not (BUILD / name).exists():
                fail(f"there is no {BUILD / name}; make instructions builds it")
            # valgrind's readers of debug information know less of DWARF 5 than the compiler writes.
            subprocess.run(["strip", "--strip-debug", "-o", self.directory / name, BUILD / name], check=True)
        self.valgrind = shutil.which("valgrind")
        if not self.valgrind:
            fail("valgrind is not there; make setup-tests installs it")
        # The order of a set must be the same in each run.
        os.environ["SWIFT_DETERMINISTIC_HASHING"] = "1"
        # valgrind counts every byte that one instruction for many moves or sets.
        os.environ["GLIBC_TUNABLES"] = "glibc.cpu.hwcaps=-ERMS,-FSRM"

    def command(self, report, profile=None):
        if profile:
            return [self.valgrind, "--tool=callgrind", f"--callgrind-out-file={profile}", f"--log-file={report}"]
        return [self.valgrind, "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null",
                f"--log-file={report}"]

    def count(self, name, operations, profile=None):
        """The instructions of a whole run of that benchmark."""
        report = self.directory / f"{name}-{operations}.log"
        command = self.command(report, profile)
        if name in server.BENCHMARKS:
            server.run(name, operations, [*command, self.directory / "timerd"], self.directory / "timerd")
        else:
            # The caller's environment is left out: its size decides how copies on the stack are aligned.
            done = subprocess.run([*command, "./instructions", name, str(operations)], cwd=self.directory,
                                  env={key: os.environ[key] for key in PASSED if key in os.environ},
                                  capture_output=True, text=True, timeout=600)
            if done.returncode != 0:
                fail(f"{name} ended with {done.returncode}: {done.stdout}{done.stderr}{report.read_text()[-2000:]}")
        if not (counted := COUNTED.search(report.read_text())):
            fail(f"valgrind did not count {name}: {report.read_text()[-2000:]}")
        return int(counted[1].replace(",", ""))

    @functools.cached_property
    def counts(self):
        """Every benchmark, with its two counts of operations."""
        lines = subprocess.run([self.directory / "instructions"], capture_output=True, text=True, check=True).stdout
        micro = {name: (int(few), int(many)) for name, few, many in map(str.split, lines.splitlines())}
        return {**micro, **{name: benchmark.counts for name, benchmark in server.BENCHMARKS.items()}}


def measure(programs, names):
    """Instructions an operation takes, by name."""
    # One more than there are processors: some wait for a timer.
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() + 1) as pool:
        # The server's benchmarks take longest, so they begin.
        order = sorted(names, key=lambda name: name not in server.BENCHMARKS)
        runs = {name: [pool.submit(programs.count, name, count) for count in programs.counts[name]] for name in order}
        figures = {}
        try:
            for name, (few, many) in runs.items():
                least, most = programs.counts[name]
                figures[name] = round((many.result() - few.result()) / (most - least))
        finally:
            pool.shutdown(cancel_futures=True)
        return figures


def kept():
    lines = KEPT.read_text().splitlines() if KEPT.exists() else []
    return {name: int(figure.replace(",", "")) for name, figure in
            (line.split() for line in lines if line and not line.startswith("#"))}


def kept_on():
    """What `tools` returned when the figures were kept."""
    line = re.search(r"^# Counted on (.+)\.$", KEPT.read_text() if KEPT.exists() else "", re.MULTILINE)
    return line[1] if line else ""


def tools():
    """What the figures depend on besides the sources."""
    swift = subprocess.run(["swift", "--version"], capture_output=True, text=True).stdout
    swift = (re.search(r"Swift version ([\d.]+)", swift) or ["", "?"])[1]
    valgrind = subprocess.run(["valgrind", "--version"], capture_output=True, text=True).stdout.strip()
    return f"{platform.machine()}, Swift {swift}, {valgrind}, {' '.join(platform.libc_ver())}"


def keep(figures):
    width = max(map(len, figures)) + 2
    lines = [f"{name:<{width}}{figure:>12,}\n" for name, figure in sorted(figures.items())]
    KEPT.write_text(HEAD.format(tools()) + "".join(lines))


def limit(name):
    """How many times the kept instructions an operation may take."""
    return SERVER_LIMIT if name in server.BENCHMARKS else LIMIT


def compare(before, now, chosen):
    """Prints the table. Returns the errors, a line each."""
    wrong, shrunk = [], []
    width = max(map(len, {**before, **now})) + 2
    print(f"{'':{width}}{'kept':>12}{'now':>12}{'ratio':>8}")
    for name in sorted({*before, *now}):
        if not chosen(name):
            continue
        old, new = before.get(name), now.get(name)
        ratio = new / old if old and new is not None else None
        cells = [f"{value:,}" if value is not None else "–" for value in (old, new)]
        print(f"{name:{width}}{cells[0]:>12}{cells[1]:>12}{f'{ratio:.3f}' if ratio else '–':>8}")
        if old is None or new is None:
            wrong.append(f"{name} is {'not among the kept figures' if old is None else 'kept, but no benchmark'}")
        elif new > old * limit(name):
            wrong.append(f"{name} takes {new:,} instructions, {100 * (new / old - 1):.1f} % more than {old:,}")
        elif new < old / limit(name):
            shrunk.append(f"{name} takes {new:,} instructions instead of {old:,}: keep that")
    for line in shrunk:
        print(line)
    return wrong


def listing(programs, name, operations):
    """Instructions by function, including those of the functions it calls."""
    file = programs.directory / f"callgrind-{operations}.out"
    programs.count(name, operations, profile=file)
    text = subprocess.run(["callgrind_annotate", "--inclusive=yes", "--threshold=100", "--show-percs=no", file],
                          capture_output=True, text=True, check=True).stdout
    totals = collections.Counter()
    for figure, function in LISTED.findall(text):
        totals[function] += int(figure.replace(",", ""))
    return totals


def profile(programs, name):
    """Prints which functions an operation's instructions are in, with what they call."""
    few, many = programs.counts[name]
    totals = listing(programs, name, many)
    totals.subtract(listing(programs, name, few))
    lines = [f"{count / (many - few):12,.0f}  {function}\n" for function, count in totals.most_common(PROFILED)]
    sys.stdout.write(subprocess.run(["swift", "demangle", "--simplified"], input="".join(lines), text=True, check=True,
                                    capture_output=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--accept", action="store_true")
    parser.add_argument("--profile", metavar="NAME")
    parser.add_argument("prefixes", nargs="*")
    arguments = parser.parse_args()
    chosen = lambda name: not arguments.prefixes or name.startswith(tuple(arguments.prefixes))
    if not arguments.accept and not arguments.profile and kept_on().split(",")[0] not in ("", platform.machine()):
        fail(f"the kept figures are of another architecture: {kept_on()}; this is {tools()}")
    with tempfile.TemporaryDirectory(prefix="timerd-instructions-") as directory:
        programs = Programs(directory)
        if arguments.profile:
            return profile(programs, arguments.profile)
        before, names = kept(), list(filter(chosen, programs.counts))
        now = measure(programs, names)
        wrong = compare(before, now, chosen)
        if arguments.accept:
            rest = {name: figure for name, figure in before.items() if not chosen(name)}
            keep({**rest, **now})
            return print(f"kept in {KEPT.relative_to(ROOT)}")
    if wrong:
        if kept_on() != tools():
            wrong.append(f"But the kept figures were counted on {kept_on()}; this is {tools()}.")
        fail("\n".join(["", *wrong, "Where that is meant: make instructions ACCEPT=1, and commit the file."]))


if __name__ == "__main__":
    main()
