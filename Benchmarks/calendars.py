#!/usr/bin/env python3
"""What timers by a calendar cost beside others, and what a changed calendar costs.

    calendars.py BINARY [TIMERS]    prints, with each change durable:
                                    - processor time of batches of creates, by a calendar to without one, in turn;
                                    - resident memory of TIMERS (100,000) timers of each kind, in a server each;
                                    - a change of the calendar that moves TIMERS timers: how long the PUT takes, until all are
                                      planned again, the longest holds of the lock, and of GETs beside it
"""

import json
import os
import re
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "Tests" / "BlackBox"))

from server import Server
from timers import poll

ROUNDS = 15
BATCH = 5000
CALENDAR = {"timeZone": "Europe/Berlin", "week": {"mon-fri": ["09:00-12:30", "13:30-18:00"], "sat": ["10:00-14:00"]},
            "dates": {f"{year}-12-25": [] for year in range(2027, 2060)}}
# Noon is closed but for Saturdays.
CHANGED = CALENDAR | {"week": {"mon-fri": ["13:30-18:00"], "sat": ["10:00-14:00"]}}
CRON = {"cron": "0 12 25 * *", "timeZone": "Europe/Berlin"}
KINDS = {
    "after": {"after": "8h"},
    "after, working": {"after": "8h", "clock": "working", "calendar": "office"},
    "cron": CRON,
    "cron, previousDay": CRON | {"calendar": "office", "onClosed": "previousDay"},
}


class Filled:
    """A server with the calendar, and its figures."""

    def __init__(self):
        self.server = Server(env={"TIMERD_MEASURE_HOLDS": "1"})

    def __enter__(self):
        self.server.__enter__()
        self.api = self.server.client
        self.api.put("/v1/calendars/office", CALENDAR).expect(201)
        return self

    def __exit__(self, *error):
        self.server.__exit__(*error)

    def create(self, kind, count, name):
        """Creates timers in batches. Returns the seconds of processor time that it took."""
        before = self.figure("process_cpu_seconds_total")
        for start in range(0, count, BATCH):
            lines = ({"id": f"{name}-{number}", **KINDS[kind]} for number in range(start, min(start + BATCH, count)))
            self.api.batch(list(lines), "?results=brief").expect(200)
        return self.figure("process_cpu_seconds_total") - before

    def metrics(self):
        return self.api.get("/metrics").expect(200).body.decode()

    def figure(self, name):
        found = re.search(rf"^{re.escape(name)} (\S+)$", self.metrics(), re.M)
        return float(found[1]) if found else 0.0

    def holds(self):
        """The longest hold of the lock so far by cause, in seconds of processor time."""
        found = re.findall(r'longest_seconds\{cause="(fire|turn)",time="cpu"\} (\S+)', self.metrics())
        return {cause: float(seconds) for cause, seconds in found}

    def memory(self):
        """Resident bytes, once the server has given back what it does not need."""
        return poll(self.settled, timeout=60)

    def settled(self):
        before = self.figure("process_resident_memory_bytes")
        time.sleep(2)
        after = self.figure("process_resident_memory_bytes")
        return after if abs(after - before) < 200_000 else None


def creates():
    for plain, shaped in (("after", "after, working"), ("cron", "cron, previousDay")):
        ratios = []
        with Filled() as filled:
            for number in range(ROUNDS):
                first = filled.create(plain, BATCH, f"p{number}")
                ratios.append(filled.create(shaped, BATCH, f"s{number}") / first)
        print(f"create in batches: {shaped!r} takes {statistics.median(ratios):.2f} × the processor time of {plain!r} "
              f"({min(ratios):.2f} to {max(ratios):.2f}, {ROUNDS} rounds in turn)")


def memory(count):
    for kind in KINDS:
        with Filled() as filled:
            before = filled.memory()
            filled.create(kind, count, "m")
            print(f"memory: {count:,} of {kind!r} take {(filled.memory() - before) / count:.0f} bytes each")


def change(count):
    for kind in ("after, working", "cron, previousDay"):
        with Filled() as filled:
            filled.create(kind, count, "c")
            get = filled.api.get
            before = filled.holds()
            start = time.monotonic()
            filled.api.put("/v1/calendars/office", CHANGED).expect(200)
            answered, slowest = time.monotonic() - start, 0.0
            moved, took = 0.0, 0.0
            while moved == 0 or time.monotonic() - start < took + 1:
                for number in range(50):
                    began = time.monotonic()
                    get(f"/v1/timers/c-{number}").expect(200)
                    slowest = max(slowest, time.monotonic() - began)
                if (now := filled.figure('timerd_events_total{type="rescheduled"}')) > moved:
                    moved, took = now, time.monotonic() - start
            print(f"change: {moved:,.0f} of {count:,} of {kind!r} moved within {took:.2f} s; the PUT took {answered * 1000:.1f} ms, "
                  f"the slowest GET beside it {slowest * 1000:.1f} ms")
            for cause, seconds in filled.holds().items():
                print(f"  longest hold for a {cause}: {seconds * 1000:.3f} ms of processor time, {before[cause] * 1000:.3f} before")


def main():
    os.environ["TIMERD_BINARY"] = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
    creates()
    memory(count)
    change(count)


if __name__ == "__main__":
    main()
