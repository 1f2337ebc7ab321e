"""One timer's history folded by the contract's rules: what it may do next, and its state at every version."""

from bisect import bisect_right
from dataclasses import dataclass, field, replace

import due as dues
from due import instant
from record import Broken

ABSENT = "absent"
ALIVE = ("idle", "running", "suspended")


@dataclass(slots=True)
class Step:
    """A timer after one step: the events that share a version. `n` is the mark of the change that set its fields,
    `cause` the client's action that makes such a step, None for one that time makes."""

    version: int = 0
    state: str = ABSENT
    types: list = field(default_factory=list)
    fires: int = 0
    due: tuple | None = None
    n: int | None = None
    at: int = 0
    first_event: str = ""
    event: str = ""  # its last
    cause: str | None = None
    spec: dict | None = None


class Timeline:
    """Folds events one by one. `asked(n)` is the change with that mark, as (action, body), None if no client asked for it."""

    def __init__(self, id, asked, skew_ms=0, apart=lambda at: ()):
        """`skew_ms` is by how much the calendars of its servers may differ; `apart(at)` gives by how many ms two of them did then."""
        self.id, self.asked, self.skew_ms, self.apart = id, asked, skew_ms, apart
        self.steps, self.versions = [Step()], [0]
        self.unclaimed = {}  # {version: cause} of steps that no answer mentions yet
        self.claimed = {}  # {version: the request whose answer had it}
        self.answered = 0  # the latest version that an answer showed
        # A watchdog's alarms, as (the version that planned it, its own, due instant), and its answered kicks.
        self._alarms, self._kicks, self._planned = [], [], 0
        self._left = self._fires_since = self._last_due = None
        self._was_moved = self._is_stalled = False

    @property
    def step(self):
        return self.steps[-1]

    def index(self, version):
        """The step that made this version, or the last one before it where no event made it."""
        return bisect_right(self.versions, version) - 1

    def first(self, floor, check):
        """The earliest step, from the one of version `floor` on, of which check(step) holds; None without one."""
        return next((step for step in self.steps[self.index(floor):] if check(step)), None)

    def is_free(self, version, op):
        """Whether that request may have made the step of this version."""
        return self.claimed.get(version, op) == op

    def broken(self, sentence):
        return Broken(f"{self.id}: {sentence}", timer=self.id, at=self.step.at)

    def apply(self, event):
        if event["version"] != self.step.version:
            self._begin(event)
        step, mark = self.step, event["labels"].get("n")
        step.at, step.event = instant(event["at"]), event["id"]
        handle = getattr(self, "_" + event["type"], None)
        if handle is None:
            raise self.broken(f"an event of the unknown type {event['type']}")
        handle(event, None if mark is None else int(mark))
        step.types.append(event["type"])
        # A change that ends a stall shows its labels in `recovered` first.
        if mark is not None and step.n != int(mark) and event["type"] != "recovered":
            raise self.broken(f"event {event['id']} has the labels of change {mark}, which came never or not yet")
        if step.cause:
            self.unclaimed[step.version] = step.cause

    def _begin(self, event):
        self.close()
        last, version = self.step, event["version"]
        if version <= last.version:
            raise self.broken(f"its version goes back: v{version} after v{last.version}")
        if version <= self.answered:
            raise self.broken(f"v{version} was answered before event {event['id']} was made: an answered change is lost")
        silent = range(last.version + 1, version) if last.state != ABSENT else ()
        if silent and not dues.is_watchdog(last.spec):
            raise self.broken(f"its version jumps from v{last.version} to v{version}")
        self.unclaimed.update((kick, "kick") for kick in silent if kick not in self.claimed)
        self.steps.append(replace(last, version=version, types=[], cause=None, first_event=event["id"]))
        self.versions.append(version)

    def close(self):
        """Checks what must hold once a step has all its events."""
        step = self.step
        if "fired" in step.types and step.state != ABSENT:
            is_last = dues.is_one_shot(step.spec) or self._fires_since == step.spec.get("maxFires")
            if is_last != ("completed" in step.types):
                which = "is" if is_last else "is not"
                raise self.broken(f"fire {step.fires} at v{step.version} {which} the last one, yet it is {step.state}")

    def _must_be(self, event, *states):
        if self.step.state not in states:
            raise self.broken(f"`{event['type']}` (event {event['id']}) while it is {self.step.state}")

    def _body(self, event, mark):
        asked = self.asked(mark)
        if asked is None:
            raise self.broken(f"event {event['id']} shows a change with mark {mark} that nobody asked for")
        return asked

    def _created(self, event, mark):
        self._must_be(event, ABSENT)
        self.step.spec, self.step.n = self._body(event, mark)[1], mark
        self.step.state, self.step.fires, self.step.cause = "idle", 0, "create"
        self._last_due, self._is_stalled = None, False

    def _updated(self, event, mark):
        self._must_be(event, *ALIVE, "cancelled", "completed")
        action, body = self._body(event, mark)
        self.step.spec = self._merged(body) if action == "patch" else body
        self.step.n, self.step.cause = mark, "update"

    def _merged(self, body):
        merged = {**self.step.spec, **body}
        return {name: value for name, value in merged.items() if value is not None}

    def _activated(self, event, mark):
        step = self.step
        if not {"created", "updated"} & set(step.types):
            self._must_be(event, "idle", *(("cancelled", "completed") if step.spec.get("restartable") else ()))
            step.cause = "activate"
        step.state = "running"
        self._fires_since, self._is_stalled = 0, False
        self._plan(dues.first(step.spec, step.at))
        self._last_due = None

    def _plan(self, due, moved=False):
        self.step.due, self._left, self._was_moved, self._planned = due, None, moved, self.step.version

    def _suspended(self, event, mark):
        step = self.step
        self._must_be(event, "running")
        step.state, step.cause = "suspended", "suspend"
        if step.due and not dues.is_watchdog(step.spec) and not dues.keeps_instant(step.spec):
            self._left = dues.left(step.due, step.at)

    def _resumed(self, event, mark):
        step = self.step
        self._must_be(event, "suspended")
        step.state, step.cause = "running", "resume"
        if self._left:
            self._plan(dues.resumed(self._left, step.at), self._was_moved)
        elif dues.is_watchdog(step.spec):
            self._plan(dues.first(step.spec, step.at))
        if dues.is_watchdog(step.spec):
            step.due, self._is_stalled = (step.due[0], dues.EVER), False

    def _rescheduled(self, event, mark):
        step = self.step
        self._must_be(event, *ALIVE)
        is_patch = mark != step.n
        if is_patch:
            step.spec, step.n = self._merged(self._body(event, mark)[1]), mark
            self._is_stalled = False
        step.cause = "update" if is_patch else "reschedule"
        if step.state == "idle":
            return
        due = dues.first(step.spec, step.at) if is_patch else dues.after(step.at, dues.RESCHEDULE_MS)
        if dues.is_watchdog(step.spec):
            due = due[0], dues.EVER
        self._plan(due, moved=not is_patch)
        # A watchdog resumes with a full period, unless it was moved meanwhile.
        has_left = not is_patch if dues.is_watchdog(step.spec) else not dues.keeps_instant(step.spec)
        if step.state == "suspended" and has_left:
            self._left = dues.left(due, step.at)
        self._last_due = None

    def _fired(self, event, mark):
        step = self.step
        if step.state != "running":
            raise self.broken(f"it fired (event {event['id']}) while it is {step.state}")
        if event["fire"] != step.fires + 1:
            raise self.broken(f"fire {event['fire']} follows fire {step.fires}")
        scheduled = instant(event["scheduledAt"])
        if step.at < scheduled or event["latenessUs"] < 0:
            raise self.broken(f"fire {event['fire']} is early: due {event['scheduledAt']}, fired {event['at']}")
        step.fires += 1
        self._fires_since += 1
        if event["reason"] == "manual":
            step.cause = "fire"
            return
        self._check_due(event, scheduled)
        if dues.is_watchdog(step.spec):
            self._alarms.append((self._planned, step.version, scheduled))
            for version, at in self._kicks:
                self._check_alarm(self._alarms[-1], version, at)
        self._last_due, self._is_stalled = scheduled, dues.is_watchdog(step.spec)
        self._plan(dues.following(step.spec, scheduled, step.at, self._was_moved))

    def _check_due(self, event, scheduled):
        step, what = self.step, f"fire {event['fire']} (event {event['id']})"
        # A taker whose calendar differs shows earlier instants than the one before it showed.
        is_again = self._last_due is not None and scheduled <= self._last_due
        if is_again and (scheduled < self._last_due - self.skew_ms or not self.skew_ms):
            raise self.broken(f"{what} is {'twice for one due instant' if scheduled == self._last_due else 'out of order'}: {event['scheduledAt']}")
        if step.due is None:
            raise self.broken(f"{what} comes though no fire is planned")
        told = f"{what} for {event['scheduledAt']} with {event['missed']} missed"
        earliest, latest = dues.skipping(step.spec, step.due, event["missed"], self._was_moved)
        # The taker's calendar may be behind by just the time between two due instants.
        if scheduled == self._last_due and not any(earliest - 1 <= scheduled + ms <= latest + 1 for ms in self.apart(step.at)):
            raise self.broken(f"{what} is twice for one due instant: {event['scheduledAt']}")
        if scheduled < earliest - self.skew_ms:
            raise self.broken(f"{told} is early: {earliest - scheduled} ms before the next due instant")
        if scheduled > latest + self.skew_ms:
            raise self.broken(f"{told} skips a due instant: it is {scheduled - latest} ms after the next one")

    def is_within(self, instant, earliest, latest):
        return earliest - self.skew_ms <= instant <= latest + self.skew_ms

    def kicked(self, version, at):
        """Notes an answered kick: no alarm that follows it without another plan comes before a full period has passed."""
        self._kicks.append((version, at))
        for alarm in self._alarms:
            self._check_alarm(alarm, version, at)

    def _check_alarm(self, alarm, version, at):
        planned, alarmed, scheduled = alarm
        silence = dues.first(self.steps[self.index(alarmed)].spec, at)[0] - at
        if planned < version < alarmed and scheduled < at + silence - self.skew_ms:
            raise self.broken(f"a false alarm at v{alarmed}: due {scheduled}, and it was kicked at {at}")

    def _recovered(self, event, mark):
        if not self._is_stalled:
            raise self.broken(f"`recovered` (event {event['id']}) without an alarm before it")
        self._is_stalled = False
        # Unless a kick made it, the event that follows says what did.
        if self.step.state == "running" and mark == self.step.n:
            self.step.cause = "kick"
            self._plan(dues.first(self.step.spec, self.step.at))
            self._last_due = None

    def _completed(self, event, mark):
        self._must_be(event, "running")
        if "fired" not in self.step.types:
            raise self.broken(f"it completed at v{self.step.version} without a last fire")
        self._end("completed")

    def _cancelled(self, event, mark):
        self._must_be(event, "running", "suspended")
        self._end("cancelled")
        self.step.cause = "cancel"

    def _deleted(self, event, mark):
        by_request = event["reason"] == "request"
        self._must_be(event, *(ALIVE if by_request else ()), "cancelled", "completed")
        self._end(ABSENT)
        self.step.cause = "delete" if by_request else None

    def _end(self, state):
        self.step.state = state
        self._plan(None)
