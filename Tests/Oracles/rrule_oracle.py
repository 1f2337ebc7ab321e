"""Compares timerd's instants of recurrence rules with python-dateutil's, on random rules in random zones.

    python Tests/Oracles/rrule_oracle.py http://127.0.0.1:8080 --rules 5000 --zones-each 20

dateutil gives local times. Python's zoneinfo makes instants of them, with `fold=0` as RFC 5545, 3.3.5 says: in a gap
with the offset before it, and the first of two. COUNT and UNTIL are applied to the instants. Python must read the same
time zones as the server: set PYTHONTZPATH where they are not in /usr/share/zoneinfo. A seed gives the same rules again,
but their starts and ends move with now. Exits 1 when an instant differs for no known reason.

Four faults or readings of dateutil 2.9.0 and 4.0.0 are known. A rule that meets one is asked a second time in words that
avoid it; a difference is explained only if that second answer agrees.

- mixed days: weekdays with and without an ordinal must both match; FREQ=MONTHLY;BYDAY=MO,2TU never does.
- days of weeks: BYWEEKNO alone takes all seven days, not the weekday of DTSTART; FREQ=YEARLY;BYWEEKNO=20.
- turn of the year: the last week's days in January are judged by the length of another year, and the first week's in
  December are missed where a negative number names that week; FREQ=YEARLY;BYWEEKNO=52;BYDAY=SA from 2011-01-01 leaves
  out that day, the end of week 52 of 2010.
- first week: BYSETPOS counts the first week from DTSTART, not from the week's start; FREQ=WEEKLY;BYDAY=MO,WE;BYSETPOS=1
  from Tuesday 2026-12-01 has the Wednesday after it.
"""

import argparse
import collections
import json
import random
import sys
import time
import urllib.error
import urllib.request
from datetime import date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo, available_timezones

from dateutil import rrule

UTC = timezone.utc
DAYS = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]
KEYWORDS = {"BYDAY": "byweekday"}
# Local times are compared up to here.
HORIZON = datetime(2150, 1, 1)
# A search of dateutil that finds nothing ends with this year, whatever UNTIL is; 9999 by default.
rrule.datetime.MAXYEAR = HORIZON.year
# No change of offset moves a local time further.
REACH = timedelta(days=3)

# Changes at midnight, of half an hour, of two hours, of a day, twice a month, and in the other hemisphere.
ODD_ZONES = """Europe/Berlin Europe/Dublin Australia/Lord_Howe Antarctica/Troll Pacific/Apia Africa/Casablanca
America/Havana Africa/Cairo Asia/Beirut America/Asuncion America/Santiago America/St_Johns Pacific/Chatham""".split()


def some(rng, values, most):
    return sorted(rng.sample(list(values), rng.randint(1, most)))


def signed(rng, top, most):
    return sorted({rng.choice([1, 1, -1]) * rng.randint(1, top) for _ in range(rng.randint(1, most))})


def random_parts(rng):
    """The parts of a legal rule without its end, as their values."""
    freq = rng.choice(["DAILY", "WEEKLY", "MONTHLY", "YEARLY", "YEARLY"])
    yearly = freq == "YEARLY"
    parts = {"FREQ": freq}
    if rng.random() < 0.5:
        parts["INTERVAL"] = rng.choice([1, 2, 2, 3, 4, 5, 7, rng.randint(1, 40)])
    if rng.random() < 0.3:
        parts["BYMONTH"] = some(rng, range(1, 13), 5)
    if yearly and rng.random() < 0.3:
        parts["BYWEEKNO"] = rng.choice([signed(rng, 53, 4), [1], [-1], [52, 53], [-53, 1]])
    if yearly and rng.random() < 0.25:
        parts["BYYEARDAY"] = signed(rng, 366, 20)
    if freq != "WEEKLY" and rng.random() < 0.3:
        parts["BYMONTHDAY"] = signed(rng, 31, 6)
    if rng.random() < 0.5:
        ordinals = [1, 2, 3, 4, 5, -1, -2, -5]
        if yearly and "BYMONTH" not in parts:
            ordinals += [20, 53, -30, -53]
        has_ordinals = freq in ("MONTHLY", "YEARLY") and "BYWEEKNO" not in parts
        parts["BYDAY"] = [
            (f"{rng.choice(ordinals)}" if has_ordinals and rng.random() < 0.4 else "") + day
            for day in some(rng, DAYS, 5)]
    if rng.random() < 0.4:
        parts["BYHOUR"] = some(rng, [0, 1, 2, 3, 4, 12, 23] if rng.random() < 0.7 else range(24), 4)
    if rng.random() < 0.3:
        parts["BYMINUTE"] = some(rng, [0, 15, 30, 45, 59] if rng.random() < 0.7 else range(60), 3)
    if rng.random() < 0.15:
        parts["BYSECOND"] = some(rng, range(60), 3)
    if any(name.startswith("BY") for name in parts) and rng.random() < 0.3:
        parts["BYSETPOS"] = signed(rng, rng.choice([3, 3, 10, 60, 366]), 4)
    if rng.random() < 0.3:
        parts["WKST"] = rng.choice(DAYS)
    return parts


def random_start(rng, now):
    """DTSTART as an instant: mostly near now, some far before."""
    day = 86_400
    start = rng.choice([
        rng.randrange(now - 2 * 365 * day, now + 3 * 365 * day), rng.randrange(now - 2 * 365 * day, now),
        rng.randrange(now - 3650 * day, now + 3650 * day), rng.randrange(0, now)])
    return start - start % rng.choice([1, 60, 1800, 3600])


def random_end(rng, zone, start, now, passed):
    """A part that ends the rule: its text, its COUNT, and its UNTIL as a condition on an instant and its local time."""
    if rng.random() < 0.3:
        count = max(1, passed + rng.randint(-1, 30))
        return f";COUNT={count}", count, None
    if rng.random() < 0.5:
        return "", None, None
    last = max(start, now + rng.randrange(-86_400, 86_400 * rng.choice([3, 300, 3000, 10_000])))
    local = wall(last, zone)
    return rng.choice([
        (f";UNTIL={wall(last, UTC):%Y%m%dT%H%M%SZ}", None, lambda instant, _: instant <= last),
        (f";UNTIL={local:%Y%m%dT%H%M%S}", None, lambda _, when: when <= local),
        (f";UNTIL={local:%Y%m%d}", None, lambda _, when: when.date() <= local.date())])


def text_of(parts):
    return ";".join(
        f"{name}={','.join(map(str, value)) if isinstance(value, list) else value}" for name, value in parts.items())


def wall(instant, zone):
    return datetime.fromtimestamp(instant, zone).replace(tzinfo=None, fold=0)


def weekday(text):
    day = getattr(rrule, text[-2:])
    return day(int(text[:-2])) if len(text) > 2 else day


def local_times(parts, start, first=None):
    """dateutil's local times, those before `start` left out; `first` is another DTSTART."""
    keywords = {KEYWORDS.get(name, name.lower()): value for name, value in parts.items() if name[:2] in ("BY", "IN")}
    if "byweekday" in keywords:
        keywords["byweekday"] = [weekday(text) for text in parts["BYDAY"]]
    wkst = DAYS.index(parts.get("WKST", "MO"))
    times = rrule.rrule(
        getattr(rrule, parts["FREQ"]), dtstart=first or start, until=HORIZON, wkst=wkst, **keywords)
    return (local for local in times if local >= start)


def known_faults(parts):
    days = parts.get("BYDAY", [])
    lengths = {len(day) > 2 for day in days}
    return [name for name, met in [
        ("mixed days", len(lengths) == 2),
        ("days of weeks", "BYWEEKNO" in parts and not {"BYDAY", "BYMONTHDAY", "BYYEARDAY"} & parts.keys()),
        ("turn of the year", "BYWEEKNO" in parts),
        ("first week", parts["FREQ"] == "WEEKLY" and "BYSETPOS" in parts),
    ] if met]


def corrected_times(parts, start):
    """dateutil's local times for a rule in words that avoid its known faults."""
    parts, faults = dict(parts), known_faults(parts)
    if "mixed days" in faults:
        last = 53 if parts["FREQ"] == "YEARLY" and "BYMONTH" not in parts else 5
        parts["BYDAY"] = [
            day for text in parts["BYDAY"]
            for day in ([text] if len(text) > 2 else [f"{ordinal}{text}" for ordinal in range(1, last + 1)])]
    if "days of weeks" in faults:
        parts["BYDAY"] = [DAYS[start.weekday()]]
    if not {"turn of the year", "first week"} & set(faults):
        return local_times(parts, start)
    for name, value in [("BYHOUR", start.hour), ("BYMINUTE", start.minute), ("BYSECOND", start.second)]:
        parts.setdefault(name, [value])
    wkst = DAYS.index(parts.get("WKST", "MO"))
    if "first week" in faults:
        parts.setdefault("BYDAY", [DAYS[start.weekday()]])
        return local_times(parts, start, first=start - timedelta(days=(start.weekday() - wkst) % 7))
    return with_weeks_as_days(parts, start, wkst)


def with_weeks_as_days(parts, start, wkst):
    """The local times of a yearly rule, BYWEEKNO written as each single year's BYYEARDAY."""
    parts = dict(parts)
    numbers, interval, yeardays = parts.pop("BYWEEKNO"), parts.pop("INTERVAL", 1), parts.get("BYYEARDAY")
    for year in range(start.year, HORIZON.year, interval):
        first, length = date(year, 1, 1), (date(year + 1, 1, 1) - date(year, 1, 1)).days
        days = [
            day for day in range(1, length + 1)
            if (yeardays is None or {day, day - length - 1} & set(yeardays))
            and set(week_numbers(first + timedelta(days=day - 1), wkst)) & set(numbers)]
        if days:
            begin = max(start, datetime(year, 1, 1))
            for local in local_times(parts | {"BYYEARDAY": days}, begin, first=datetime(year, 1, 1)):
                if local.year > year:
                    break
                yield local


def week_numbers(day, wkst):
    """The number of a day's week in the year that has most of the week, from the year's start and from its end."""
    fourth = fourth_day(day, wkst)
    # The 28th of December is in each year's last week.
    last = fourth_day(date(fourth.year, 12, 28), wkst)
    number, count = ((other.timetuple().tm_yday - 1) // 7 + 1 for other in (fourth, last))
    return number, number - count - 1


def fourth_day(day, wkst):
    return day + timedelta(days=3 - (day.weekday() - wkst) % 7)


def instants_of(times, zone, start, after, wanted, count=None, until=None):
    """The instants of local times from `start` on, at least `wanted` of them after `after` where there are so many."""
    found, wanting, enough = set(), wanted, None
    for local in times:
        if enough and local > enough:
            break
        instant = int(local.replace(tzinfo=zone).timestamp())
        if until and not until(instant, local):
            enough = enough or local + REACH
        elif instant >= start and instant not in found:
            found.add(instant)
            wanting -= instant > after
            if enough is None and (wanting == 0 or len(found) == count):
                enough = local + REACH
    return sorted(found)[:count]


def preview(server, text, zone, start, count):
    """The server's instants, or the reason for which it refuses."""
    body = json.dumps({"rrule": text, "timeZone": zone.key, "from": f"{wall(start, UTC).isoformat()}Z"}).encode()
    request = urllib.request.Request(
        f"{server}/v1/schedules/preview?count={count}", body, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            fires = json.load(answer)["fires"]
    except urllib.error.HTTPError as error:
        detail = json.load(error)["detail"]
        return [] if error.code == 400 and detail == "no instant is left" else f"{error.code} {detail}"
    return [int(datetime.fromisoformat(fire).timestamp()) for fire in fires]


def questions(rng, rules, zones, zones_each, now):
    """Random rules, each with a start in so many zones, and the number of its instants there that have passed."""
    for _ in range(rules):
        odd = rng.sample(ODD_ZONES, min(len(ODD_ZONES), zones_each // 2 + (rng.random() < 0.5)))
        names = (odd + rng.sample(zones, zones_each))[:zones_each]
        parts, coming = {}, 0
        while not parts or coming == 0 and rng.random() < 0.9:
            parts, start = random_parts(rng), random_start(rng, now)
            passed, coming = counts(parts, start, ZoneInfo(names[0]), now)
        for zone in map(ZoneInfo, names):
            yield parts, start, zone, counts(parts, start, zone, now)[0]


def counts(parts, start, zone, now):
    """The number of a rule's instants that have passed, and 1 if one is still to come, else 0."""
    known = instants_of(corrected_times(parts, wall(start, zone)), zone, start, now, 1)
    passed = sum(instant <= now for instant in known)
    return passed, len(known) - passed


def compare(ask, rules, zones, zones_each, count, seed):
    """Counts agreements; `ask(text, zone, start, count)` gives our instants after now."""
    rng, tally, instants, empty = random.Random(seed), collections.Counter(), 0, 0
    now, horizon = int(time.time()), int((HORIZON - REACH).replace(tzinfo=UTC).timestamp())
    for parts, start, zone, passed in questions(rng, rules, zones, zones_each, now):
        local = wall(start, zone)
        end, limit, until = random_end(rng, zone, start, now, passed)
        text = text_of(parts) + end
        # Instants that come while the server is asked are not compared.
        after = int(time.time()) + 60
        ours = ask(text, zone, start, count)
        refused = isinstance(ours, str)
        last = min([horizon, *ours[count - 1 :]]) if not refused else horizon

        def theirs(times):
            found = instants_of(times, zone, start, after, count + 1, limit, until)
            return [instant for instant in found if after < instant <= last]

        wanted = theirs(local_times(parts, local))
        found = ours if refused else [instant for instant in ours if after < instant <= last]
        verdict = "agrees"
        if found != wanted:
            wanted = theirs(corrected_times(parts, local))
            verdict = "dateutil: " + ", ".join(known_faults(parts)) if found == wanted else "differs"
        tally[verdict] += 1
        empty += not wanted
        instants += len(wanted)
        if verdict == "differs":
            different = found if refused else next(
                (pair for pair in zip(found, wanted) if pair[0] != pair[1]), (len(found), len(wanted)))
            print(verdict, text, zone.key, f"from {wall(start, UTC).isoformat()}Z", "ours, theirs:", different)
    print(f"{rules} rules in {zones_each} zones each, {empty} of these without an instant left; {instants} instants")
    return tally


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("server")
    parser.add_argument("--rules", type=int, default=300)
    parser.add_argument("--zones-each", type=int, default=1)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    zones = sorted(name for name in available_timezones() if "/" in name and not name.startswith(("right/", "posix/")))
    tally = compare(
        lambda *question: preview(options.server, *question), options.rules, zones, options.zones_each, options.count,
        options.seed)
    for verdict, number in sorted(tally.items()):
        print(f"{verdict:60} {number:8}")
    return 1 if tally["differs"] else 0


if __name__ == "__main__":
    sys.exit(main())
