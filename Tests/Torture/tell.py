"""The report of a run: its figures, or the broken promise and the history around it, as short as possible."""

import json
import statistics
from collections import Counter

from asks import asks_of
from due import instant

BEFORE, AFTER = 24, 6
PROCESS = ("start", "up", "kill", "term", "exit")


def figures(record, mortal, seconds, followers, hooks):
    """The run in a paragraph."""
    kinds = Counter(entry["kind"] for entry in record.entries)
    types = Counter(json.loads(line)["type"] for line in record.history)
    recoveries = sorted(mortal.recoveries)
    return "\n".join([
        f"{mortal.kills} kills -9 and {mortal.terms} SIGTERMs in {seconds:.0f} s, seed {record.seed}",
        f"{kinds['answer']} requests answered, {kinds['lost']} in doubt",
        f"{len(record.history)} events, of these {types['fired']} fires",
        f"{sum(len(seen) for seen in record.seen.values())} events seen by {len(followers)} followers,"
        f" {sum(follower.resumed for follower in followers)} resumptions",
        f"{hooks.count} webhooks came, {hooks.again} of them again though answered 2xx",
        "the longest hold of the engine's lock took {:.3f} ms of processor time, {:.3f} ms by the clock, for `{}`".format(
            mortal.longest_hold[0] * 1000, mortal.longest_hold[1] * 1000, mortal.longest_hold[2]),
        f"recovery (from exec to listening) median {statistics.median(recoveries) * 1000:.0f} ms, max {recoveries[-1] * 1000:.0f} ms",
    ])


def tell(record, broken):
    """The broken promise with the record's lines about its timer or stream, around where it broke."""
    lines = sorted(_lines(record, broken), key=lambda line: line[0])
    kept = [line for place, line in enumerate(lines) if not _is_idle(lines, place)]
    at = broken.at or (kept[-1][0] if kept else 0)
    middle = sum(line[0] <= at for line in kept)
    shown = kept[max(0, middle - BEFORE):middle + AFTER]
    began = record.entries[0]["wall"] if record.entries else 0
    return "\n".join([f"BROKEN: {broken.sentence}", f"seed {record.seed}", "",
                      *[f"{(when - began) / 1000:+10.3f} s  {text}" for when, text, _ in shown]])


def _is_idle(lines, place):
    """Whether the line is about the process alone and nothing follows it before the next such start."""
    is_process = lines[place][2]
    return is_process and (place + 1 == len(lines) or lines[place + 1][2]) and place > 0 and lines[place - 1][2]


def _lines(record, broken):
    """(when, text, whether it is about the process) of each entry about the timer or follower."""
    concerned = set()
    for entry in record.entries:
        kind = entry["kind"]
        if kind in PROCESS:
            yield entry["wall"], f"-- life {entry['life']}: {kind}", True
        elif kind == "request" and _concerns(entry, broken.timer):
            concerned.add(entry["op"])
            yield entry["wall"], _request(entry, broken.timer), False
        elif kind in ("answer", "lost") and entry["op"] in concerned:
            yield entry["wall"], _answer(entry, broken.timer), False
        elif kind == "hook" and entry["timer"] == broken.timer:
            yield entry["wall"], f"webhook {entry['id']} came, answered {entry['answer']}", False
    for line in record.history:
        if broken.timer and f'"timer":"{broken.timer}"'.encode() in line:
            yield instant(json.loads(line)["at"]) + 0.5, "event   " + _short(line), False
    for when, line in record.seen.get(broken.follower, ()):
        if broken.timer is None or f'"timer":"{broken.timer}"'.encode() in line:
            yield when, f"{broken.follower} saw " + _short(line), False


def _concerns(request, timer):
    return timer in request["timers"] or any(ask.timer == timer for ask in asks_of(request)) if timer else False


def _request(entry, timer):
    key = entry["headers"].get("Idempotency-Key")
    conditions = [f"{name}: {entry['headers'][name]}" for name in ("If-Match", "If-None-Match") if name in entry["headers"]]
    body = " ".join(line for line in (entry["body"] or "").splitlines() if entry["action"] != "batch" or timer in line)
    said = [*(["key " + key] if key else []), *conditions, body[:300]]
    return f"{entry['client']} -> {entry['op']} {entry['method']} {entry['target']} {' '.join(said)}".rstrip()


def _answer(entry, timer):
    if entry["kind"] == "lost":
        return f"    <- {entry['op']} no answer: {entry['why']}"
    replayed = " (replayed)" if "idempotency-replayed" in entry["headers"] else ""
    return f"    <- {entry['op']} {entry['status']}{replayed} {_body(entry['body'], timer)}".rstrip()


def _body(body, timer):
    lines = [line for line in body.splitlines() if timer is None or timer in line] or body.splitlines()
    return " ".join(_view(line) for line in lines)[:300]


def _view(text):
    """The members of a shown timer that matter; any other value as it is."""
    try:
        shown = json.loads(text)
    except ValueError:
        return text
    if "state" in shown and "fireCount" in shown:
        return f"v{shown['version']} {shown['state']} fires {shown['fireCount']} next {shown['nextFireAt']}"
    return shown["detail"] if "detail" in shown else text


def _short(line):
    event = json.loads(line)
    told = [f"{name} {event[name]}" for name in ("fire", "scheduledAt", "missed", "reason", "delivery", "status") if name in event]
    mark = event["labels"].get("n") if "labels" in event else None
    return f"{event.get('id')} {event['type']} v{event.get('version')} at {event.get('at')} {' '.join(told)} n={mark}"
