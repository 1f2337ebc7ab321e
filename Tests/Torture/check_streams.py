"""Checks what followers saw against the history: exactly the events that match, from their start, in order."""

import json

from due import instant
from record import Broken

MOST_PENDING = 1000  # deliveries of one timer; over it the oldest is given up


class StreamChecker:
    """Compares each follower's lines with the events that `checker` has folded; each line once."""

    def __init__(self, record, checker):
        self.record, self.checker = record, checker
        self._places = {}  # {follower: (events looked at, lines compared)}

    def advance(self):
        for name in self.record.follows:
            self._follow(name)

    def finish(self):
        """Requires that a follower has seen everything at the end, and nothing that the history lacks."""
        self.advance()
        for name in self.record.follows if is_complete(self.record) else ():
            _, compared = self._places[name]
            seen = self.record.seen[name]
            if compared < len(seen):
                self._odd(name, seen[compared], None, seen[compared - 1] if compared else None)
            if left := self.missing(name):
                raise broken(name, f"event {left[0]} ({left[1]} of {left[2]}) never came", left[4])

    def missing(self, name):
        """The first event that it should have seen by the end of the run and did not; None if there is none."""
        through = next((entry["through"] for entry in reversed(self.record.entries) if entry["kind"] == "complete"), "")
        filters, (looked, _) = self.record.follows[name], self._places[name]
        return next((event for event in self.checker.events[looked:] if event[0] <= through and matches(event, filters)), None)

    def _follow(self, name):
        filters, seen, events = self.record.follows[name], self.record.seen[name], self.checker.events
        looked, compared = self._places.get(name, (0, 0))
        while looked < len(events) and compared < len(seen):
            event = events[looked]
            if matches(event, filters):
                if seen[compared][1] != event[4]:
                    self._odd(name, seen[compared], event, seen[compared - 1] if compared else None)
                self._check_time(name, *seen[compared], self.record.skew_ms)
                compared += 1
            looked += 1
        self._places[name] = looked, compared

    def _odd(self, name, found, wanted, before):
        """Says what is wrong with a line that is not the next of the history."""
        _, line = found
        event = json.loads(line)
        if event.get("type") == "gap":
            raise broken(name, f"it was cut with a gap after {event['since']}", line)
        what = f"event {event['id']} ({event['type']} of {event['timer']})"
        if wanted and wanted[0] == event["id"]:
            raise broken(name, f"{what} is another one in the history: an event id was reused", line)
        if before and event["id"] <= json.loads(before[1])["id"]:
            raise broken(name, f"{what} came again, or out of order", line)
        if wanted and wanted[0] < event["id"]:
            raise broken(name, f"a gap: event {wanted[0]} ({wanted[1]} of {wanted[2]}) is missing before {event['id']}", wanted[4])
        raise broken(name, f"{what} was shown and is not in the history", line)

    @staticmethod
    def _check_time(name, when, line, skew_ms):
        if b'"type":"fired"' in line and instant((event := json.loads(line))["scheduledAt"]) > when + skew_ms:
            raise broken(name, f"fire {event['fire']} of {event['timer']} arrived before it was due", line)


def is_complete(record):
    """Whether the run came to its end, so that a missing event will not come any more."""
    return any(entry["kind"] == "complete" for entry in reversed(record.entries))


def matches(event, filters):
    """Whether a follower with these filters is shown the event."""
    id, type, timer, labels, _ = event
    if filters["start"] is None or id <= filters["start"]:
        return False
    if filters["timer"] not in (None, timer) or (filters["types"] and type not in filters["types"]):
        return False
    key, _, value = (filters["label"] or "").partition("=")
    return not key or labels.get(key) == value


def broken(name, sentence, line):
    event = json.loads(line)
    return Broken(f"stream {name}: {sentence}", timer=event.get("timer"), follower=name,
                  at=instant(event["at"]) if "at" in event else None)


def check_hooks(record, checker):
    """Requires that each webhook is one of the timer's fires in the history, first arrivals are in order, and none is missing."""
    latest, taken = {}, set()
    known = "~" if is_complete(record) else checker.events[-1][0] if checker.events else ""
    for entry in record.entries:
        if entry["kind"] != "hook" or entry["id"] > known:
            continue
        id, timer = entry["id"], entry["timer"]

        def fail(sentence):
            raise Broken(f"webhook {id} of {timer}: {sentence}", timer=timer, at=entry["wall"])
        owner, line = checker.fired.get(id, (None, b"{}"))
        if owner != timer:
            fail("it is no fire of that timer in the history")
        if json.loads(entry["body"]) != json.loads(line):
            fail("its body is not the event")
        if entry["is_signed"] is False:
            fail("its signature is wrong")
        if instant(json.loads(line)["scheduledAt"]) > entry["wall"] + record.skew_ms:
            fail("it arrived before its fire was due")
        if id not in taken and id < latest.get(timer, ""):
            fail(f"it came first after {latest[timer]}: out of order")
        latest[timer] = max(id, latest.get(timer, ""))
        if 200 <= (entry["answer"] or 0) < 300:
            taken.add(id)
    for id, (timer, line) in checker.fired.items() if is_complete(record) else ():
        if id in taken or not is_owed(checker.timelines[timer], json.loads(line)["version"]):
            continue
        end = checker.overflowed.get(id)
        if end is None:
            raise Broken(f"webhook {id} of {timer}: it was never delivered", timer=timer)
        # Itself and one that is under way, which is not given up, are pending too.
        if sum(owner == timer and id < later < end for later, (owner, _) in checker.fired.items()) + 2 <= MOST_PENDING:
            raise Broken(f"webhook {id} of {timer}: it was given up though fewer than {MOST_PENDING} were pending", timer=timer)


def is_owed(timeline, version):
    """Whether the webhook of the fire at that version must have come: DELETE and PUT drop what is pending."""
    index = timeline.index(version)
    return bool(timeline.steps[index].spec.get("webhook")) and not any(
        "deleted" in step.types or {"updated", "activated"} <= set(step.types) for step in timeline.steps[index:])
