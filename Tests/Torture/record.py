"""What happened, as the harness saw it: every request and answer, kill and start, what followers and the receiver got."""

import json
import time

KEPT_HEADERS = ("idempotency-replayed", "etag", "event-id", "location", "retry-after")


def wall():
    """The calendar in milliseconds since 1970, with a fraction."""
    return time.time_ns() / 1e6


class Broken(Exception):
    """A broken promise: a sentence, and the timer or follower that it concerns."""

    def __init__(self, sentence, timer=None, follower=None, at=None):
        super().__init__(sentence)
        self.sentence, self.timer, self.follower, self.at = sentence, timer, follower, at


class Record:
    """The whole run in memory, in the order in which it happened.

    `entries` are dicts with `kind`, `wall` and `life` (how often the server was started), and by kind
    - `request`: `op` (the change's or read's number, the same for each of its attempts), `client`, `action`, `timers`,
      `method`, `target`, `headers`, `body`
    - `answer`: `op`, `status`, `headers`, `body` (text); `lost`: `op`, `why`
    - `start`, `up`, `kill`, `term`, `exit` (`code`): the server's process; of several servers `process` says which life of
      which, also in requests
    - `fault`: `what`, `where`: what was done to the servers of a cluster, their database and the network
    - `hook`: `timer`, `id`, `body`, `answer`, `is_signed` (null: not verified): a webhook as it came
    - `listed`: `op`, `found`: the ids that a walk through pages showed, which began with request `op`
    - `cut`: `follower`, `opened` (the life): a stream ended without its last chunk; `ended`: one ended with it and showed not
      just as many events as its `limit` says; `refused`: `follower`, `status`, `body`
    - `known`: the history has every event of the lives before; `complete`: `through`: of this one too, and the followers
      had the time to see all up to that event
    `history` are the lines of the durable history, as bytes. `seen` are each follower's lines: {name: [(wall, line)]};
    `follows` what it asked for: {name: {"timer", "label", "types", "start"}}.
    """

    def __init__(self, seed, is_cluster=False, skew_ms=0, forwards=False):
        """Of a cluster's run; `skew_ms` is by how much the calendars of its servers may differ."""
        self.is_cluster, self.skew_ms, self.forwards = is_cluster, skew_ms, forwards
        self.seed, self.entries, self.history, self.seen, self.follows = seed, [], [], {}, {}
        self.life = 0
        self._lines = {}

    def note(self, kind, **fields):
        self.entries.append({"kind": kind, "wall": wall(), "life": self.life, **fields})

    def request(self, op):
        self.note("request", op=op.number, client=op.client, action=op.action, timers=op.timers, method=op.method,
                  target=op.target, headers=op.headers, body=op.body, **({"process": op.process} if op.process else {}))

    def answer(self, op, answer):
        headers = {name: answer.headers[name] for name in KEPT_HEADERS if name in answer.headers}
        self.note("answer", op=op.number, status=answer.status, headers=headers, body=answer.body.decode())

    def follow(self, name, **filters):
        self.follows[name], self.seen[name] = {"start": None, **filters}, []

    def see(self, name, line):
        self.seen[name].append((wall(), self.shared(line)))

    def shared(self, line):
        """The line, kept once however many were shown it."""
        return self._lines.setdefault(line, line)

    def calendars_apart(self, at):
        """By how many ms the calendars of two servers may have differed at that instant, as the faults had set them."""
        offsets = {}
        for entry in self.entries:
            if entry["kind"] != "fault" or entry["wall"] > at + self.skew_ms:
                continue
            if entry["what"] in ("offset", "step", "step while cut off"):
                # A step is set back a little later.
                offsets[entry["where"]] = {entry["ms"]} if entry["what"] == "offset" else {entry["ms"], 0}
        known = {0}.union(*offsets.values())
        return {one - other for one in known for other in known} - {0}

    def known_life(self):
        """The last life of which the history has every event."""
        for entry in reversed(self.entries):
            if entry["kind"] in ("complete", "known"):
                return entry["life"] - (entry["kind"] == "known")
        return 0

    def write(self, path):
        """All of it as NDJSON."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "w") as file:
            for entry in self._told():
                file.write(json.dumps(entry, separators=(",", ":")) + "\n")

    def _told(self):
        yield {"kind": "seed", "seed": self.seed, "cluster": self.is_cluster, "skew_ms": self.skew_ms, "forwards": self.forwards}
        for name, filters in self.follows.items():
            yield {"kind": "follow", "name": name, **filters}
        yield from self.entries
        for line in self.history:
            yield {"kind": "event", "line": line.decode()}
        for name, lines in self.seen.items():
            for when, line in lines:
                yield {"kind": "seen", "name": name, "wall": when, "line": line.decode()}

    @classmethod
    def read(cls, path):
        """The record that `write` wrote."""
        record = cls(None)
        with open(path) as file:
            for entry in map(json.loads, file):
                match entry.pop("kind"):
                    case "seed":
                        record.seed, record.is_cluster, record.skew_ms = entry["seed"], entry["cluster"], entry["skew_ms"]
                        record.forwards = entry["forwards"]
                    case "follow":
                        name = entry.pop("name")
                        record.follows[name], record.seen[name] = entry, []
                    case "event":
                        record.history.append(entry["line"].encode())
                    case "seen":
                        record.seen[entry["name"]].append((entry["wall"], entry["line"].encode()))
                    case kind:
                        record.entries.append({"kind": kind, **entry})
                        record.life = entry["life"]
        return record
