"""Compares the instants of `every` with `at` and `timeZone` with Python's zoneinfo, on random grids in random zones.

    python Tests/Oracles/grid_oracle.py http://127.0.0.1:8080 --grids 1000

zoneinfo reads a local time with `fold=0` as RFC 5545, 3.3.5 says: in a gap with the offset before it, and the first of two.
Python must read the same time zones as the server: set PYTHONTZPATH where they are not in /usr/share/zoneinfo.
Exits 1 when an instant differs.
"""

import argparse
import json
import random
import sys
import urllib.request
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo, available_timezones

UTC = timezone.utc


def expected(at, zone, days, count):
    """The first instants of a grid that begins at `at`; instants that meet are one."""
    local = at.astimezone(zone).replace(tzinfo=None)
    instants, point = [at], 1
    while len(instants) < count:
        instant = (local + timedelta(days=days * point)).replace(tzinfo=zone, fold=0).astimezone(UTC)
        if instant > instants[-1]:
            instants.append(instant)
        point += 1
    return instants


def preview(server, at, zone, days, count):
    body = json.dumps({"every": f"{days}d", "at": at.isoformat(), "timeZone": zone}).encode()
    request = urllib.request.Request(
        f"{server}/v1/schedules/preview?count={count}", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as reply:
        return [datetime.fromisoformat(instant.replace("Z", "+00:00")) for instant in json.load(reply)["fires"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("server")
    parser.add_argument("--grids", type=int, default=1000)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    # Grids whose first instant is still to come, as a preview begins now.
    begin = datetime.now(UTC).replace(microsecond=0) + timedelta(days=1)
    zones = sorted(name for name in available_timezones() if "/" in name and not name.startswith(("right/", "posix/")))
    differing = 0
    for _ in range(options.grids):
        zone, days = rng.choice(zones), rng.choice([1, 1, 2, 7, 7, 14, 30, 365])
        at = begin + timedelta(minutes=rng.randrange(0, 2 * 365 * 24 * 60, 5))
        count = min(options.count, 10_000 // days)
        wanted, found = expected(at, ZoneInfo(zone), days, count), preview(options.server, at, zone, days, count)
        if wanted != found:
            differing += 1
            first = next((pair for pair in zip(wanted, found) if pair[0] != pair[1]), (len(wanted), len(found)))
            print(f"every {days}d from {at.isoformat()} in {zone}: {first[0]}, not {first[1]}")
    print(f"{options.grids} grids, {differing} differ")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
