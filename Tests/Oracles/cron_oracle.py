"""Compares timerd's cron instants with those of three other implementations, on random expressions and zones.

    python Tests/Oracles/cron_oracle.py http://127.0.0.1:8080 --expressions 300

- cronsim, which follows Debian's cron across changes of offset, where it knows the syntax;
- croniter, in UTC, where it knows the syntax and has the same day rule;
- a model below that tries every day and asks Python's zoneinfo about every single local time; it knows everything.

Python must read the same time zones as the server: set PYTHONTZPATH where they are not in /usr/share/zoneinfo.
Exits 1 when an instant differs for no known reason. docs/CRON.md explains the known ones.
"""

import argparse
import calendar
import collections
import itertools
import json
import random
import re
import sys
import time
import urllib.request
from datetime import date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

from croniter import croniter
from cronsim import CronSim

UTC = timezone.utc
EPOCH = datetime(1970, 1, 1)
WEEKDAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]
MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
BOUNDS = [(0, 59), (0, 59), (0, 23), (1, 31), (1, 12), (0, 7)]

ZONES = """UTC Europe/Berlin Europe/London Europe/Dublin Europe/Lisbon Europe/Moscow Europe/Istanbul America/New_York
America/Los_Angeles America/St_Johns America/Havana America/Asuncion America/Santiago America/Sao_Paulo America/Caracas
America/Nuuk America/Scoresbysund America/Bogota Africa/Cairo Africa/Casablanca Africa/Johannesburg Asia/Tehran
Asia/Gaza Asia/Beirut Asia/Amman Asia/Kolkata Asia/Kathmandu Asia/Tokyo Asia/Pyongyang Asia/Dhaka Australia/Lord_Howe
Australia/Sydney Australia/Eucla Pacific/Apia Pacific/Kiritimati Pacific/Chatham Pacific/Auckland Pacific/Norfolk
Antarctica/Troll Antarctica/Casey""".split()


class Expression:
    """One random expression, as text and as sets."""

    def __init__(self, rng):
        self.has_seconds = rng.random() < 0.2
        self.exotic = rng.random() < 0.3
        second = self.numbers(rng, 0) if self.has_seconds else ("0", {0})
        minute, hour, month = self.numbers(rng, 1), self.numbers(rng, 2), self.numbers(rng, 4, star=0.75)
        day = self.days(rng)
        weekday = self.weekdays(rng)
        if day[0] == "?" and re.search(r"\d", re.sub(r"[/#]\d+", "", weekday[0])):
            day = ("*", day[1])  # beside `?` only names are taken
        fields = [second, minute, hour, day, month, weekday]
        self.fields = [text for text, _ in fields]
        self.text = " ".join(self.fields[0 if self.has_seconds else 1 :])
        self.seconds, self.minutes, self.hours = (sorted(values) for _, values in fields[:3])
        self.day, self.months, self.weekday = day[1], month[1], weekday[1]
        self.both = self.fields[3][0] in "*?" or self.fields[5][0] in "*?"
        self.elapsed = begins_whole(minute[0], 60) or begins_whole(hour[0], 24)

    @staticmethod
    def numbers(rng, field, star=0.35, names=()):
        low, high = BOUNDS[field]
        if rng.random() < star:
            step = rng.randint(1, (high - low + 1) // 2) if rng.random() < 0.4 else 1
            return ("*" if step == 1 else f"*/{step}"), set(range(low, high + 1, step))
        texts, values = [], set()
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            a, b = sorted((rng.randint(low, high), rng.randint(low, high)))
            step = rng.randint(1, high - low)
            text, items = rng.choice([
                (f"{a}", [a]), (f"{a}", [a]), (f"{a}-{b}", range(a, b + 1)),
                (f"{a}-{b}/{step}", range(a, b + 1, step)), (f"{a}/{step}", range(a, high + 1, step)),
                wrapped(b, a, 1, low, high), wrapped(b, a, step, low, high),
            ])
            if names and text.isdigit() and rng.random() < 0.4:
                text = names[a % len(names)] if field == 5 else names[a - 1]
            texts.append(rng.choice([text, text.lower()]))
            values.update(items)
        return ",".join(texts), values

    def days(self, rng):
        """Text, and what a date must fulfil."""
        text, values = self.numbers(rng, 3, star=0.6)
        rules = [lambda day, length, _: day in values]
        if rng.random() < 0.25:
            kind = rng.choice(["L", "LW"] if not self.exotic else ["L", "LW", "L-", "W", "W", "?"])
            number = rng.randint(1, 30)
            text = {"L-": f"L-{number}", "W": f"{number}W"}.get(kind, kind)
            rules = [{
                "L": lambda day, length, first: day == length,
                "L-": lambda day, length, first: day == length - number,
                "LW": lambda day, length, first: day == nearest(length, length, first),
                "W": lambda day, length, first: number <= length and day == nearest(number, length, first),
                "?": lambda day, length, first: True,
            }[kind]]
        return text, lambda *when: any(rule(*when) for rule in rules)

    def weekdays(self, rng):
        text, values = self.numbers(rng, 5, star=0.6, names=WEEKDAYS)
        values = {value % 7 for value in values}
        if rng.random() < 0.25:
            weekday, nth = rng.randint(0, 7), rng.randint(1, 5)
            name = rng.choice([str(weekday), WEEKDAYS[weekday % 7]])
            if rng.random() < 0.5:
                return f"{name}#{nth}", lambda day, length, week: week == weekday % 7 and (day + 6) // 7 == nth
            name = name if self.exotic else str(weekday)
            return f"{name}L", lambda day, length, week: week == weekday % 7 and day + 7 > length
        return text, lambda day, length, week: week in values

    def matching_days(self, year, month):
        if month not in self.months:
            return []
        length = calendar.monthrange(year, month)[1]
        first = (date(year, month, 1).weekday() + 1) % 7
        combine = all if self.both else any
        return [
            day for day in range(1, length + 1)
            if combine((self.day(day, length, first), self.weekday(day, length, (first + day - 1) % 7)))
        ]

    def items(self):
        return [item for field in self.fields for item in field.split(",")]

    def can_fire(self):
        return any(self.matching_days(year, month) for year in range(2000, 2056) for month in range(1, 13))


def wrapped(start, end, step, low, high):
    """A range that goes on from the field's start, as text and numbers; Sunday is one day by two numbers."""
    text = f"{start}-{end}" + (f"/{step}" if step > 1 else "")
    if start == end or high == 7 and end == 0:
        return text, range(start, (start if start == end else 7) + 1, step)
    numbers = [*range(start, high + 1), *range(low + (high == 7), end + 1)]
    return text, numbers[::step]


def begins_whole(text, count):
    """Whether a field of `count` numbers begins with `*` or with a range that covers it."""
    first, _, last = re.split("[,/]", text)[0].partition("-")
    return first == "*" or last != "" and (int(last) - int(first)) % count == count - 1


def is_wrapped(item):
    ends = item.split("/")[0].split("-")
    return len(ends) == 2 and all(end.isdigit() for end in ends) and int(ends[0]) > int(ends[1])


def is_range_of_one(item):
    ends = item.split("/")[0].split("-")
    return len(ends) == 2 and ends[0] == ends[1]


def nearest(day, length, first):
    """The weekday nearest to a day of a month that begins with the weekday `first`, 0 being Sunday."""
    candidates = [other for other in range(1, length + 1) if (first + other - 1) % 7 in range(1, 6)]
    return min(candidates, key=lambda other: abs(other - day))


def instants_of(local, zone):
    """The instants at which the wall shows `local`; where it never does, the one at which the wall skips it."""
    guesses = {int((local.replace(tzinfo=zone, fold=fold) - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds())
               for fold in (0, 1)}
    shown = sorted(guess for guess in guesses if wall(guess, zone) == local)
    if shown:
        return shown, False
    low, high = min(guesses), max(guesses)
    while low < high:
        middle = (low + high) // 2
        if wall(middle, zone) < local:
            low = middle + 1
        else:
            high = middle
    return [low], True


def wall(instant, zone):
    return datetime.fromtimestamp(instant, zone).replace(tzinfo=None, fold=0)


def model(expression, zone, start, count):
    found = set()
    today = (EPOCH + timedelta(seconds=start)).date() - timedelta(days=2)
    enough_after = None
    for month in itertools.count(today.year * 12 + today.month - 1):
        year, month = month // 12, month % 12 + 1
        if year > today.year + 800 or (enough_after and date(year, month, 1) > enough_after):
            break
        for day in expression.matching_days(year, month):
            here = date(year, month, day)
            if here < today or (enough_after and here > enough_after):
                continue
            for hour, minute, second in itertools.product(expression.hours, expression.minutes, expression.seconds):
                instants, skipped = instants_of(datetime(year, month, day, hour, minute, second), zone)
                if expression.elapsed:
                    found.update(() if skipped else (i for i in instants if i > start))
                elif instants[0] > start:
                    found.add(instants[0])
                # Whatever comes back within two days may still stand before what was found so far.
                if enough_after is None and len(found) >= count:
                    enough_after = here + timedelta(days=2)
                if len(found) > count and enough_after and here == enough_after:
                    break
    return sorted(found)[:count]


def by_cronsim(expression, zone, start, count):
    """None where cronsim has no such syntax or, by its own rule, another meaning."""
    day, weekday = expression.fields[3].upper(), expression.fields[5].upper()
    if "?" in day + weekday or "W" in day.replace("LW", "") or "L-" in day:
        return None
    if weekday.endswith("L") and not weekday[:-1].isdigit():
        return None
    # A range of one with a step, 7-7/2, is a start with a step there. Expressions with seconds always follow elapsed
    # time.
    if any(is_wrapped(item) or is_range_of_one(item) and "/" in item for item in expression.items()):
        return None
    if expression.has_seconds and not expression.elapsed and zone.key != "UTC":
        return None
    local = datetime.fromtimestamp(start, UTC if zone.key == "UTC" else zone)
    return [when.timestamp() for when in itertools.islice(CronSim(expression.text, local), count)]


def by_croniter(expression, zone, start, count):
    """None where croniter has no such syntax or, by its own rule, another meaning."""
    day, weekday = expression.fields[3].lower(), expression.fields[5].lower()
    if zone.key != "UTC" or "?" in day + weekday or "l-" in day or "lw" in day:
        return None
    # `30W` comes in each month there.
    if any(item.endswith("w") and int(item[:-1]) > 28 for item in day.split(",")):
        return None
    # What a wrapped range of days is depends on the month there.
    if any(map(is_wrapped, day.split(","))):
        return None
    # It has the union of the day fields unless one is `*` itself, its own spelling of FRIL, and reads `a-a` as the
    # whole field. Its Sunday ends no range: 1/2 is 1,3,5.
    if day != "*" and weekday != "*" or weekday.endswith("l") or "#" in weekday:
        return None
    if "/" in weekday or any(map(is_range_of_one, expression.items())):
        return None
    fields = expression.fields[1:] + ([expression.fields[0]] if expression.has_seconds else [])
    found = croniter(" ".join(fields), datetime.fromtimestamp(start, UTC), max_years_between_matches=90)
    return [found.get_next(float) for _ in range(count)]


def start_instants(zone, rng):
    """Random instants, most of them shortly before a change of offset."""
    def offset(instant):
        return datetime.fromtimestamp(instant, zone).utcoffset()

    day = 86_400
    # Nothing is due before now; up to the year 2090.
    first, last = int(time.time()) + day, 43_800 * day
    while True:
        start = rng.randrange(first, last)
        if rng.random() < 0.7:
            step = next((at for at in range(start, start + 400 * day, day) if offset(at) != offset(at + day)), None)
            if step is not None:
                start = step + rng.randrange(-2 * day, 2 * day)
        yield start


def preview(server, expression, zone, start, count):
    """What the server says. `from` bounds it below, and its own instant counts."""
    at = (datetime.fromtimestamp(start, UTC) + timedelta(seconds=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    body = json.dumps({"cron": expression.text, "timeZone": zone.key, "from": at}).encode()
    request = urllib.request.Request(
        f"{server}/v1/schedules/preview?count={count}", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        fires = json.load(answer)["fires"]
    return [int(datetime.fromisoformat(fire).timestamp()) for fire in fires]


def known_reason(name, ours, theirs, zone):
    """Why another implementation differs, where that is its own doing."""
    if name == "cronsim":
        first = next((b for a, b in itertools.zip_longest(ours, theirs) if a != b), None)
        near = min(x for pair in itertools.zip_longest(ours, theirs) if pair[0] != pair[1] for x in pair if x)
        day = 86_400
        if first is not None and wall(near - day, zone) - wall(near + day, zone) != timedelta(days=-2):
            return "cronsim: at a change of offset"
    return None


ORACLES = {"model": model, "cronsim": by_cronsim, "croniter": by_croniter}


def compare(ask, oracles, expressions, zones, zones_each, count, seed):
    """Counts agreements; `ask(expression, zone, start, count)` gives our instants."""
    rng = random.Random(seed)
    tally, shown = collections.Counter(), 0
    starts = {name: start_instants(ZoneInfo(name), rng) for name in zones}
    for _ in range(expressions):
        expression = Expression(rng)
        while not expression.can_fire():
            expression = Expression(rng)
        for name in rng.sample(zones, zones_each):
            zone, start = ZoneInfo(name), next(starts[name])
            ours = ask(expression, zone, start, count)
            for who in oracles:
                theirs = ORACLES[who](expression, zone, start, count)
                if theirs is None:
                    continue
                theirs = [int(instant) for instant in theirs]
                verdict = "agrees" if ours == theirs else known_reason(who, ours, theirs, zone) or "differs"
                tally[who, verdict] += 1
                if verdict != "agrees" and shown < 40:
                    shown += 1
                    print(verdict, who, repr(expression.text), name, start, "ours", ours[:4], "theirs", theirs[:4],
                          file=sys.stderr)
    return tally


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("server")
    parser.add_argument("--expressions", type=int, default=100)
    parser.add_argument("--zones-each", type=int, default=4)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--oracles", nargs="+", choices=ORACLES, default=list(ORACLES))
    options = parser.parse_args()
    tally = compare(
        lambda *question: preview(options.server, *question), options.oracles, options.expressions, ZONES,
        options.zones_each, options.count, options.seed)
    for (who, verdict), number in sorted(tally.items()):
        print(f"{who:10} {verdict:40} {number:8}")
    sys.exit(any(verdict == "differs" for _, verdict in tally))


if __name__ == "__main__":
    main()
