"""When a timer may fire next by the contract: an interval of milliseconds, since events show whole ones.

A `spec` is a create body. The workload uses only what events can prove: durations in milliseconds, cron by the
second, and one length for every reschedule.
"""

import math
from datetime import datetime

RESCHEDULE_MS = 150
EVER = math.inf


def instant(text):
    """A shown instant in milliseconds since 1970."""
    return round(datetime.fromisoformat(text).timestamp() * 1000)


def milliseconds(text):
    assert text.endswith("ms"), text
    return int(text[:-2])


def kind(spec):
    return next(name for name in ("after", "at", "every", "cron", "watchdog") if spec.get(name))


def is_one_shot(spec):
    return kind(spec) in ("after", "at")


def is_watchdog(spec):
    return kind(spec) == "watchdog"


def keeps_instant(spec):
    """Whether a suspended timer keeps its due instant rather than the time left to it."""
    return kind(spec) in ("at", "cron") or spec.get("onResume") == "deadline"


def period(spec):
    """Milliseconds between due instants; 0 where there is but one."""
    match kind(spec):
        case "every":
            return milliseconds(spec["every"])
        case "cron":
            return 1000
        case _:
            return 0


def after(now, delay):
    """`delay` from an instant that was shown as `now`, whose fraction is not known."""
    return now + delay, now + delay + 1


def first(spec, now):
    """The first due instant of a timer activated at `now`."""
    match kind(spec):
        case "at":
            return (instant(spec["at"]),) * 2
        case "cron":
            return (next_second(now),) * 2
        case "watchdog":
            return now + milliseconds(spec["watchdog"]) * spec.get("misses", 1), EVER
        case name:
            return after(now, milliseconds(spec[name]))


def following(spec, scheduled, now, was_moved):
    """The due instant after the one at `scheduled`, which fired at `now`; None when there is none."""
    match kind(spec):
        case "every" if spec.get("mode") == "fixedDelay":
            return after(now, milliseconds(spec["every"]))
        case "every":
            return (scheduled + milliseconds(spec["every"]),) * 2
        case "cron":
            return next_second(scheduled), next_second(max(scheduled, now) if was_moved else scheduled)
        case "watchdog" if spec.get("repeatAlarm"):
            return scheduled + milliseconds(spec["watchdog"]), EVER
        case _:
            return None


def skipping(spec, due, missed, was_moved):
    """The due instant that fires for `missed` others too, `due` the first of them."""
    if missed and was_moved and kind(spec) == "cron":
        return tuple(next_second(instant) + (missed - 1) * 1000 for instant in due)
    return tuple(instant + missed * period(spec) for instant in due)


def next_second(instant):
    return instant // 1000 * 1000 + 1000


def left(due, now):
    """The time left at `now` until `due`, as an interval."""
    return max(0, due[0] - now - 1), max(0, due[1] - now)


def resumed(rest, now):
    """The due instant of a timer that had `rest` left and goes on at `now`."""
    return now + rest[0], now + rest[1] + 2
