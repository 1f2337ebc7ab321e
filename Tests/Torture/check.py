"""Checks the record against the model: the history's events, then every answer in the order in which it came."""

import json
import re
from collections import Counter

import due as dues
from asks import CAUSES, COMMANDS, asks_of, results_of
from record import Broken
from timeline import ABSENT, Timeline
from timers import allowed

DELIVERIES = ("delivered", "deliveryFailed", "deliveryDead")
# The server shows whole milliseconds of a calendar that it derives from its own clock, exact to the millisecond.
CLOCK_SLACK_MS = 2
# A stop waits so long for readers; those that have not taken by then what was buffered for them are cut.
STOP_MS = 10_000
# A replayed batch reports its refused lines without the id of the request that refused them.
REQUEST_ID = re.compile(r'"requestId":"[^"]*",?')


class Op:
    """A request over its attempts: what was answered of its timers before it was sent, and its own answer."""

    def __init__(self, request):
        self.number, self.action, self.asks = request["op"], request["action"], asks_of(request)
        self.timer = next((ask.timer for ask in self.asks), None)  # the first of its timers
        self.key = request["headers"].get("Idempotency-Key")
        self.sent = request["wall"]
        self.floors = self.first_floors = None
        self.reached = {}  # {timer: the version that its answer has shown so far}
        self.unknown = []  # of its asks those of which an answer says that they may have been done or not
        self.attempts = 0
        self.success = None  # the first 2xx answer, as (status, body)
        self.is_open = True  # it may still turn out to have been done
        self.is_abandoned = False  # an attempt had no answer before the client went on

    def covers(self, instant, answer, skew_ms):
        """Whether it was under way at that instant of the server."""
        slack = CLOCK_SLACK_MS + skew_ms
        return self.sent - slack <= instant <= answer["wall"] + slack

    def __repr__(self):
        return f"request {self.number} ({self.action})"


class Checker:
    """Takes the record piece by piece; raises Broken at the first promise that does not hold.

    `version` gives the order of the changes of one timer. The record is in the order in which things happened, so
    an answer must show a version no older than any answered before its request was sent, and a change a newer one.
    """

    def __init__(self, record):
        self.record, self.timelines, self.ops, self.asked = record, {}, {}, {}
        self.open = Counter()  # (timer, cause) of requests that may have been done
        self.open_marks = set()
        self.events = []  # (id, type, timer, labels, line) of the whole history
        self.fired = {}  # {event id: (timer, line)}
        self.delivered = set()
        self.overflowed = {}  # {event id: id of the event that gave its delivery up, as the timer had too many pending}
        self._last_id = ""
        self._indexed = self._folded = self._taken = 0
        self._running, self._owed = {}, set()  # requests under way by process, and those that SIGTERM must let finish
        self._clean = {}  # lives that SIGTERM ended, and when it came

    def timeline(self, id):
        if id not in self.timelines:
            self.timelines[id] = Timeline(id, self.asked.get, self.record.skew_ms, self.record.calendars_apart)
        return self.timelines[id]

    def advance(self, life):
        """Checks all events of the history, and the entries up to that life, whose events must all be in it."""
        self._index()
        for line in self.record.history[self._folded:]:
            self._fold(line)
        self._folded = len(self.record.history)
        entries = self.record.entries
        while self._taken < len(entries) and entries[self._taken]["life"] <= life:
            entry = entries[self._taken]
            try:
                self._take(entry)
            except Broken as broken:
                broken.at = entry["wall"]
                raise
            self._taken += 1
        self._check_unclaimed()

    def finish(self):
        """Checks that need the whole record."""
        self.advance(self.record.known_life())
        for timeline in self.timelines.values():
            timeline.close()
        for op in self.ops.values():
            if op.action == "batch" and op.is_open:
                self._check_prefix(op)
        if self.record.forwards:
            self._check_streams_went_on()

    def _check_streams_went_on(self):
        """A server that forwards goes on with its streams, whatever becomes of the owner of the log."""
        ended = {entry["process"] for entry in self.record.entries if entry["kind"] in ("kill", "term", "exit")}
        for entry in self.record.entries:
            # A stream of one timer ends when that is deleted.
            if entry["kind"] in ("cut", "ended") and entry["opened"] not in ended and not self.record.follows[entry["follower"]]["timer"]:
                raise Broken(f"stream {entry['follower']} ended at {entry['opened']}, which went on", follower=entry["follower"])

    def _index(self):
        """Registers every request before the events that it made are folded."""
        for entry in self.record.entries[self._indexed:]:
            if entry["kind"] == "request" and entry["op"] not in self.ops:
                op = self.ops[entry["op"]] = Op(entry)
                for ask in op.asks:
                    if ask.mark is not None:
                        self.asked[ask.mark] = (ask.action, ask.body)
                    self._count(ask, 1)
        self._indexed = len(self.record.entries)

    def _count(self, ask, change):
        if ask.mark is not None:
            (self.open_marks.add if change > 0 else self.open_marks.discard)(ask.mark)
        for cause in CAUSES.get(ask.action, ()):
            self.open[ask.timer, cause] += change

    def _close(self, op):
        if op.is_open:
            op.is_open = False
            for ask in op.asks:
                if ask not in op.unknown:
                    self._count(ask, -1)

    def _fold(self, line):
        event = json.loads(line)
        if event["id"] <= self._last_id:
            raise Broken(f"event id {event['id']} comes after {self._last_id}: ids do not grow", timer=event["timer"])
        self._last_id = event["id"]
        self.events.append((event["id"], event["type"], event["timer"], event["labels"], line))
        if event["type"] in DELIVERIES:
            return self._fold_delivery(event)
        if event["type"] == "fired":
            self.fired[event["id"]] = (event["timer"], line)
        self.timeline(event["timer"]).apply(event)

    def _fold_delivery(self, event):
        if self.fired.get(event["delivery"], (None,))[0] != event["timer"]:
            raise Broken(f"a delivery of {event['delivery']}, which is no fire of {event['timer']}", timer=event["timer"])
        if event["type"] == "deliveryDead" and event["reason"] == "backlog":
            self.overflowed[event["delivery"]] = event["id"]
        if event["type"] != "delivered":
            return
        if event["delivery"] in self.delivered:
            raise Broken(f"the delivery of event {event['delivery']} was told twice", timer=event["timer"])
        self.delivered.add(event["delivery"])

    def _take(self, entry):
        match entry["kind"]:
            case "request":
                self._sent(self.ops[entry["op"]], entry)
            case "answer":
                self._answered(self.ops[entry["op"]], entry)
            case "lost":
                self._lost(self.ops[entry["op"]], entry)
            case "listed":
                self._listed(self.ops[entry["op"]], entry)
            case "term":
                self._owed |= {op for op, process in self._running.items() if process == entry.get("process")}
                self._clean[entry.get("process", entry["life"])] = entry["wall"]
            # A stop waits for readers as long as it may, then cuts those that did not take what was buffered for them.
            case "cut" if entry["wall"] < self._clean.get(entry["opened"], 0) + STOP_MS:
                raise Broken(f"stream {entry['follower']} ended without a last chunk on SIGTERM", follower=entry["follower"])
            case "ended" if entry["limit"] and entry["shown"] > entry["limit"]:
                raise Broken(f"stream {entry['follower']} showed {entry['shown']} events and was to show {entry['limit']}",
                             follower=entry["follower"])
            case "refused":
                raise Broken(f"stream {entry['follower']} was refused: {entry['status']} {entry['body'][:300]}",
                             follower=entry["follower"])
            case "exit" if entry["code"] != 0:
                raise Broken(f"the server ended by itself or not cleanly: exit code {entry['code']}")

    def _sent(self, op, entry):
        self._running[op.number] = entry.get("process")
        op.attempts += 1
        asked = {ask.timer for ask in op.asks if ask.timer} | set(entry["timers"])
        op.floors = {id: self.timeline(id).answered for id in asked}
        op.first_floors = op.first_floors or op.floors

    def _lost(self, op, entry):
        self._running.pop(op.number, None)
        if entry["why"] == "given up":
            op.is_abandoned = True
            return self._owed.discard(op.number)
        if entry["why"].startswith("no answer within"):
            raise Broken(f"{op}: {entry['why']}", timer=op.timer)
        if op.number in self._owed:
            raise Broken(f"{op} was under way when SIGTERM came and got no answer", timer=op.timer)

    def _answered(self, op, entry):
        self._running.pop(op.number, None)
        self._owed.discard(op.number)
        if entry["status"] == 503 or '"/problems/idempotency-in-progress"' in entry["body"]:
            # That says nothing about an earlier attempt; a request with a key is sent again.
            if '"outcome":"none"' in entry["body"] and not op.key:
                self._close(op)
            return
        is_replay = entry["headers"].get("idempotency-replayed") == "true"
        self._check_replay(op, entry, is_replay)
        # Of a request that several nodes answer in parts, some may have done theirs when it was sent before.
        in_parts = self.record.forwards and bool(op.key) and (op.action == "batch" or op.action.startswith("bulk-"))
        floors = op.first_floors if is_replay or in_parts else op.floors
        if op.action == "batch":
            op.unknown = [ask for ask, result in zip(op.asks, results_of(op.action, entry)) if is_unknown(result)]
        # A refusal frees the key, so an attempt that the client abandoned may still come, to another server than the one
        # that refused its repeat.
        if not (self.record.is_cluster and op.is_abandoned and entry["status"] >= 300):
            self._close(op)
        is_of_many = op.action == "page" or op.action.startswith("bulk-")
        if is_of_many and entry["status"] != 200:
            raise Broken(f"{op} was answered {entry['status']}: {entry['body'][:300]}", timer=op.timer)
        if op.action.startswith("bulk-"):
            return self._bulk(op, entry, floors)
        if op.action == "page":
            for view in json.loads(entry["body"])["timers"]:
                self._seen(self.timeline(view["id"]), view, floors.get(view["id"], 0), op, entry)
            return
        for ask, result in zip(op.asks, results_of(op.action, entry), strict=True):
            if op.action != "batch" or result.status != 503:
                self._settle(op, ask, result, floors, entry)

    def _check_replay(self, op, entry, is_replay):
        answer = entry["status"], REQUEST_ID.sub("", entry["body"])
        if is_replay and op.success and op.success != answer:
            raise Broken(f"{op}: the repeat was answered otherwise than the first time", timer=op.timer)
        if not is_replay and op.success:
            raise Broken(f"{op} with Idempotency-Key {op.key} was done twice", timer=op.timer)
        # A node that forwards may have sent it before.
        if is_replay and op.attempts == 1 and not self.record.forwards:
            raise Broken(f"{op} was answered as a repeat and never sent before", timer=op.timer)
        if entry["status"] < 300 and op.key:
            op.success = answer

    def _settle(self, op, ask, result, floors, entry):
        """Checks one ask's result against its timer's history."""
        timeline = self.timeline(ask.timer or result.view["id"])
        floor = max(floors.get(timeline.id, 0), op.reached.get(timeline.id, 0) if not op.key else 0)
        if result.status >= 300:
            return self._refused(timeline, ask, result, floor, op, entry)
        if ask.action == "wait":
            return self._waited(timeline, result, op)
        if ask.action == "get" or (ask.action == "kick" and result.view.get("state") == "suspended"):
            return self._seen(timeline, result.view, floor, op, entry)
        if ask.action == "delete":
            step = self._done(timeline, "delete", floor, op, entry)
            if step is None:
                raise timeline.broken(f"{op} was answered 204 and there is no `deleted`: an answered change is lost")
            version = step.version
        else:
            version = result.view["version"]
        self._claim(timeline, ask, version, floor, op, entry)
        if result.view and "state" in result.view:
            self._view(timeline, result.view, op, entry)
        if ask.action == "kick":
            timeline.kicked(version, dues.instant(result.view["lastKickedAt"]))

    def _done(self, timeline, cause, floor, op, entry):
        """The step that the request made, for an answer that shows no version; None without one."""
        return timeline.first(floor, lambda step: step.cause == cause and step.version > floor
                              and timeline.is_free(step.version, op.number) and self._covers(op, step, entry))

    def _covers(self, op, step, entry):
        return op.covers(step.at, entry, self.record.skew_ms)

    def _claim(self, timeline, ask, version, floor, op, entry):
        """Gives the step of this version to the request that was answered so."""
        if version <= floor and timeline.claimed.get(version) != op.number:
            raise timeline.broken(f"{op} was answered v{version}, and v{floor} had been answered before it was sent")
        step = timeline.steps[timeline.index(version)]
        is_silent = ask.action == "kick" and version > step.version and step.state != ABSENT
        if step.version != version and not is_silent:
            raise timeline.broken(f"{op} was answered v{version}, which is not in the history: an answered change is lost")
        if not is_silent and step.cause not in CAUSES[ask.action] or ask.mark is not None and step.n != ask.mark:
            raise timeline.broken(f"{op} was answered v{version}, where the history has {', '.join(step.types)}")
        if timeline.claimed.setdefault(version, op.number) != op.number:
            raise timeline.broken(f"v{version} was answered to {op} and to request {timeline.claimed[version]}")
        if not is_silent and not self._covers(op, step, entry):
            raise timeline.broken(f"{op} was done at {step.at}, not between its sending and its answer")
        timeline.unclaimed.pop(version, None)
        op.reached[timeline.id] = version
        timeline.answered = max(timeline.answered, version)

    def _seen(self, timeline, view, floor, op, entry):
        if view["version"] < floor:
            raise timeline.broken(f"{op} was shown v{view['version']}, and v{floor} had been answered before it was sent")
        self._view(timeline, view, op, entry)
        timeline.answered = max(timeline.answered, view["version"])

    def _view(self, timeline, view, op, entry):
        """A timer as shown must be the fold of its history up to that version."""
        step = timeline.steps[timeline.index(view["version"])]
        if view["version"] > step.version and not (step.spec and dues.is_watchdog(step.spec)):
            raise timeline.broken(f"{op} was shown v{view['version']}, which is not in the history")
        self._check_event_id(timeline, view, op, entry)
        shown = {"state": view["state"], "fireCount": view["fireCount"], "n": view["labels"].get("n"), "allowed": sorted(view["allowed"])}
        folded = {"state": step.state, "fireCount": step.fires, "n": str(step.n),
                  "allowed": sorted(command for command in COMMANDS if is_legal(command, step))}
        if shown != folded:
            raise timeline.broken(f"{op} was shown {shown} at v{view['version']}, and its history says {folded}")
        is_planned = view["nextFireAt"] is not None
        if step.state != "running" or (step.due is None and view["version"] == step.version):
            if is_planned:
                raise timeline.broken(f"{op} was shown a planned fire at v{view['version']} where there is none")
        elif step.due and not is_planned:
            raise timeline.broken(f"{op} was shown no planned fire at v{view['version']}")
        elif step.due and not timeline.is_within(dues.instant(view["nextFireAt"]), *step.due):
            raise timeline.broken(f"{op} was shown {view['nextFireAt']} as next fire at v{view['version']}, not {step.due}")

    def _check_event_id(self, timeline, view, op, entry):
        """Event-Id is the newest event that the answer reflects: later events are those that a watcher has yet to see.

        A page is assembled piece by piece, so it may reflect later events, never fewer.
        """
        cursor, index = entry["headers"].get("event-id"), timeline.index(view["version"])
        if cursor is None:
            return
        if op.action != "page" and cursor < timeline.steps[index].event:
            raise timeline.broken(f"{op} was shown v{view['version']} with Event-Id {cursor}, older than its last event")
        if index + 1 < len(timeline.steps) and timeline.steps[index + 1].first_event <= cursor:
            raise timeline.broken(f"{op} was shown v{view['version']} with Event-Id {cursor}, which a newer event of it is not after")

    def _refused(self, timeline, ask, result, floor, op, entry):
        """A refusal must fit the timer's state at some moment since the request was sent."""
        slug = (result.problem or {}).get("type", "").removeprefix("/problems/")
        match result.status, slug:
            case 404, _:
                fits = lambda step: step.state == ABSENT
            case 409, "timer-exists":
                fits = lambda step: step.state != ABSENT
            case 409, "illegal-transition":
                fits = lambda step: step.state == result.problem["state"] and not is_legal(ask.action, step)
            case 409, "not-a-watchdog":
                fits = lambda step: step.state != ABSENT and not dues.is_watchdog(step.spec)
            case 412, "version-mismatch":
                fits = lambda step: step.state != ABSENT and (step.version != ask.match or dues.is_watchdog(step.spec))
            case _:
                raise timeline.broken(f"{op} was answered {result.status} {slug}: {entry['body'][:300]}")
        step = timeline.first(floor, fits)
        if step is None:
            raise timeline.broken(f"{op} was answered {result.status} {slug}, and at no moment since v{floor} does that fit")
        op.reached[timeline.id] = step.version
        timeline.answered = max(timeline.answered, step.version)

    def _waited(self, timeline, result, op):
        if result.view is None:
            return
        timer, line = self.fired.get(result.view["id"], (None, b"{}"))
        if timer != timeline.id or json.loads(line) != result.view:
            raise timeline.broken(f"{op} was given event {result.view['id']}, which is not in the history so")

    def _bulk(self, op, entry, floors):
        """A client changes its own timers by one request at a time: any change of them meanwhile was that request's.

        In a cluster it may also be of a request that the client gave up and a node carried out later, or, as calendars
        differ, of the client's next one.
        """
        done = {ask: step for ask in op.asks
                if (step := self._done(self.timeline(ask.timer), ask.action, floors[ask.timer], op, entry))}
        told = json.loads(entry["body"])["changed"]
        doubtful = []
        if self.record.is_cluster and told < len(done):
            doubtful = [ask for ask in done if self.open[ask.timer, ask.action] > 0]
        for ask, step in done.items():
            if ask not in doubtful:
                self._claim(self.timeline(ask.timer), ask, step.version, floors[ask.timer], op, entry)
        for ask in doubtful:
            self.open[ask.timer, ask.action] += 1
        if not len(done) - len(doubtful) <= told <= len(done):
            raise Broken(f"{op} was answered {told} changed, and the history has {len(done)}",
                         timer=op.timer)

    def _listed(self, op, entry):
        """A walk through a client's own timers shows each once; a missing one must have been absent."""
        twice = [id for id, count in Counter(entry["found"]).items() if count > 1]
        if twice:
            raise Broken(f"{op}: the list showed {twice[0]} twice", timer=twice[0])
        for id in set(op.first_floors) - set(entry["found"]):
            timeline = self.timeline(id)
            if timeline.first(op.first_floors[id], lambda step: step.state == ABSENT) is None:
                raise timeline.broken(f"{op}: the list did not show it, and it was there all the while")

    def _check_unclaimed(self):
        """A step that no answer mentions must be one that a client asked for without an answer, one step a request."""
        for timeline in self.timelines.values():
            counts = Counter()
            for version, cause in timeline.unclaimed.items():
                step = timeline.steps[timeline.index(version)]
                counts[cause] += 1
                is_open = step.n in self.open_marks if cause in ("create", "update") else counts[cause] <= self.open[timeline.id, cause]
                if not is_open:
                    raise timeline.broken(f"v{version} is a `{cause}` that nobody asked for, or one request was done twice")

    def _check_prefix(self, op):
        """Of a batch without an answer a prefix may have been done."""
        made = [self.timeline(ask.timer).steps[-1].version > 0 for ask in op.asks if ask.action == "create" and ask.timer]
        if made != sorted(made, reverse=True):
            raise Broken(f"{op} was cut off, and what stands of it is no prefix: {made}", timer=op.asks[0].timer)


def is_unknown(result):
    """Whether a line of a batch was refused so that it may have been done."""
    return result.status == 503 and (result.problem or {}).get("outcome") == "unknown"


def is_legal(action, step):
    """Whether the state machine lets the action through; a PATCH depends on its fields too."""
    if action == "kick":
        return step.state in ("running", "suspended") and dues.is_watchdog(step.spec)
    return action in allowed(step.state, bool(step.spec.get("restartable")))
