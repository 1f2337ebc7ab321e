"""Compares timerd's calendars with a plain model: each minute of some hundred days is open or closed, by Python's zoneinfo.

    python Tests/Oracles/calendar_oracle.py http://127.0.0.1:8080 --calendars 2000 --durations 50

For each random calendar the server's open hours are compared with the model's. Then previews of timers that repeat themselves
by working time are asked for, with random periods: from each of their instants the model counts to the next, and back. At last
a cron expression goes by the calendar: its nominal instants, which the server shows without a calendar, are moved by the model one
by one. The calendar `oracle` is replaced on the server. Python must read the same time zones as the server: set PYTHONTZPATH
where they are not in /usr/share/zoneinfo. A seed gives the same calendars again, but they lie around now. Exits 1 when
something differs.
"""

import argparse
import bisect
import itertools
import json
import random
import sys
import urllib.error
import urllib.request
from datetime import date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
# Changes of half an hour, of two hours, at midnight, and in the other hemisphere.
ZONES = """Europe/Berlin America/New_York Australia/Lord_Howe Antarctica/Troll America/St_Johns Africa/Cairo Asia/Beirut
America/Santiago Pacific/Chatham Africa/Casablanca Asia/Kathmandu UTC""".split()
WEEK = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
DAY = 1440
# The days before and after today that the model knows.
BEHIND, AHEAD = 2, 860
# Moved instants are compared in so many days, from so many days ahead on: a move reaches 366 days.
COMPARED, FROM = 100, 375
CRONS = ["0 3 * * *", "30 2 * * *", "0 10 * * *", "0 9 25 * *", "0 9 L * *", "15 */6 * * *", "0 12 * * SUN", "30 1,2,3 * * SAT,SUN"]
POLICIES = ["skip", "next", "nextDay", "previousDay"]


def request(url, method="GET", body=None):
    data = None if body is None else json.dumps(body).encode()
    asked = urllib.request.Request(url, data=data, method=method, headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(asked, timeout=30) as answer:
        return json.load(answer)


def milliseconds(text):
    return round((datetime.fromisoformat(text.replace("Z", "+00:00")) - EPOCH) / timedelta(milliseconds=1))


def text(minute):
    return (EPOCH + timedelta(minutes=minute)).strftime("%Y-%m-%dT%H:%M:%SZ")


def minute_of(zone, local, known):
    """The minute of a local time: the first of two, and the end of a gap."""
    if local not in known:
        utc = local.replace(tzinfo=zone, fold=0).astimezone(timezone.utc)
        if utc.astimezone(zone).replace(tzinfo=None) != local:
            utc -= timedelta(hours=30)
            while utc.astimezone(zone).replace(tzinfo=None) < local:
                utc += timedelta(minutes=1)
        known[local] = (utc - EPOCH) // timedelta(minutes=1)
    return known[local]


def random_intervals(rng):
    kind = rng.random()
    if kind < 0.1:
        return []
    if kind < 0.2:
        return [(0, DAY)]
    if kind < 0.25:
        start = rng.randrange(DAY)
        return [(start, start + DAY)]
    count = rng.choice([1, 1, 2, 2, 3, 5])
    # Three in ten lie around the hours at which clocks change.
    top = 300 if rng.random() < 0.3 else DAY
    points = sorted(rng.sample(range(0, top, 15), 2 * count))
    found = list(zip(points[::2], points[1::2]))
    if rng.random() < 0.3 and found[-1][1] < DAY:
        start = rng.randrange(found[-1][1], DAY)
        found.append((start, DAY + rng.randrange(0, start + 1)))
    return found


def spelled(intervals):
    def time(minute):
        return "24:00" if minute == DAY else f"{minute % DAY // 60:02}:{minute % 60:02}"
    return [f"{time(start)}-{time(end)}" for start, end in intervals]


class Model:
    """A random calendar, minute by minute."""

    def __init__(self, rng, today):
        self.zone = ZoneInfo(rng.choice(ZONES))
        self.known = {}
        self.week = [[]]
        while not any(self.week):
            self.week = [random_intervals(rng) for _ in WEEK]
        self.dates = {today + timedelta(days=rng.randrange(-30, 400)): random_intervals(rng) for _ in range(rng.choice([0, 1, 3, 20]))}
        self.first = today - timedelta(days=BEHIND)
        self.base = minute_of(ZoneInfo("UTC"), datetime(*self.first.timetuple()[:3]), {})
        self.count = (BEHIND + AHEAD) * DAY
        self.open = bytearray(self.count)
        for day in (self.first + timedelta(days=number) for number in range(-3, BEHIND + AHEAD + 3)):
            midnight = datetime(day.year, day.month, day.day)
            for bounds in self.dates.get(day, self.week[day.weekday()]):
                start, end = (minute_of(self.zone, midnight + timedelta(minutes=bound), self.known) - self.base for bound in bounds)
                start, end = max(start, 0), min(end, self.count)
                if start < end:
                    self.open[start:end] = b"\1" * (end - start)
        self.sums = [0, *itertools.accumulate(self.open)]

    def body(self):
        week = {name: spelled(intervals) for name, intervals in zip(WEEK, self.week)}
        return {"timeZone": self.zone.key, "week": week, "dates": {str(day): spelled(found) for day, found in self.dates.items()}}

    def open_time(self, instant):
        """The open milliseconds from the model's start to an instant."""
        minute, rest = divmod(instant - self.base * 60_000, 60_000)
        return self.sums[minute] * 60_000 + rest * self.open[minute]

    def due(self, instant, duration):
        target = self.open_time(instant) + duration
        count = -(-target // 60_000)
        if count > self.sums[-1]:
            return None
        return (self.base + bisect.bisect_left(self.sums, count)) * 60_000 - (count * 60_000 - target)

    def intervals(self, start, end):
        found, place = [], start - self.base
        while (place := self.open.find(1, place, end - self.base)) >= 0:
            close = self.open.find(0, place, end - self.base)
            close = end - self.base if close < 0 else close
            found.append((self.base + place, self.base + close))
            place = close
        return found

    def moved(self, minute, policy, zone, known):
        """Where an instant is due; None if it is dropped."""
        def is_open(at):
            return self.open[at - self.base]
        if is_open(minute) or policy == "skip":
            return minute if is_open(minute) else None
        if policy == "next":
            found = self.open.find(1, minute - self.base)
            return self.base + found if 0 <= found - (minute - self.base) <= 366 * DAY else None
        local = (EPOCH + timedelta(minutes=minute)).astimezone(zone).replace(tzinfo=None)
        for days in range(1, 367):
            at = minute_of(zone, local + timedelta(days=days if policy == "nextDay" else -days), known)
            if not 0 <= at - self.base < self.count:
                return None
            if is_open(at):
                return at
        return None


class Oracle:
    def __init__(self, url, seed):
        self.url, self.rng = url, random.Random(seed)
        self.asked = self.wrong = 0

    def judge(self, model, words, expected, found):
        self.asked += 1
        if expected != found:
            self.wrong += 1
            print(json.dumps(model.body()), words, f"expected {expected}", f"found    {found}", sep="\n  ")

    def preview(self, count, body):
        return request(f"{self.url}/v1/schedules/preview?count={count}", "POST", body)["fires"]

    def check(self, durations):
        today = datetime.now(timezone.utc).date()
        model = Model(self.rng, today)
        request(f"{self.url}/v1/calendars/oracle", "PUT", model.body())
        start = model.base + BEHIND * DAY + self.rng.randrange(700 * DAY)
        end = start + 20 * DAY
        answer = request(f"{self.url}/v1/calendars/oracle/open?from={text(start)}&until={text(end)}")
        found = [tuple(milliseconds(each[name]) // 60_000 for name in ("from", "until")) for each in answer["open"]]
        self.judge(model, f"open from {text(start)}", model.intervals(start, end)[:1000], found)
        for _ in range(durations):
            self.count_on(model)
        for _ in range(max(1, durations // 10)):
            self.move(model)

    def count_on(self, model):
        period = self.rng.choice([self.rng.randint(1, 60_000), self.rng.randint(1, 900) * 60_000, self.rng.randint(1, 200_000_000)])
        fires = [milliseconds(fire) for fire in self.preview(3, {"every": f"{period}ms", "clock": "working", "calendar": "oracle"})]
        last = (model.base + model.count - 2) * 60_000
        for before, after in zip(fires, fires[1:]):
            if after < last:
                self.judge(model, f"{period} ms after {before}", model.due(before, period), after)
                self.judge(model, f"from {before} to {after}", period, model.open_time(after) - model.open_time(before))

    def move(self, model):
        zone = model.zone if self.rng.random() < 0.6 else ZoneInfo(self.rng.choice(ZONES))
        policy = self.rng.choice(POLICIES)
        schedule = {"cron": self.rng.choice(CRONS), "timeZone": zone.key}
        start = model.base + (BEHIND + FROM) * DAY
        end = start + COMPARED * DAY
        nominal = self.nominal(schedule, model.base + BEHIND * DAY, end + 367 * DAY)
        known = {}
        moved = {model.moved(minute, policy, zone, known) for minute in nominal} - {None}
        body = {**schedule, "from": text(start), "until": text(end), "calendar": "oracle", "onClosed": policy}
        try:
            found = [milliseconds(fire) // 60_000 for fire in self.preview(1000, body)]
        except urllib.error.HTTPError as error:
            # Without any instant up to `until` a timer is refused.
            found = [] if error.code == 400 else [error.code]
        self.judge(model, f"{body}", sorted(minute for minute in moved if start <= minute <= end), found)

    def nominal(self, schedule, start, end):
        """The instants of a schedule without a calendar, page by page."""
        minutes = []
        while start <= end:
            page = [milliseconds(fire) // 60_000 for fire in self.preview(1000, {**schedule, "from": text(start)})]
            minutes += page
            start = page[-1] + 1
        return [minute for minute in minutes if minute <= end]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("--calendars", type=int, default=200)
    parser.add_argument("--durations", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    oracle = Oracle(options.url.rstrip("/"), options.seed)
    for _ in range(options.calendars):
        oracle.check(options.durations)
    print(f"{options.calendars} calendars, {oracle.asked} answers, {oracle.wrong} differ")
    return 1 if oracle.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
