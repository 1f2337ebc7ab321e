"""Histories made by hand, for the tests of the checks."""

import json
from types import SimpleNamespace

from record import Record
from timers import shown

NOW = 1_700_000_000_000


class Handmade:
    """A record in the making: requests, answers and events at instants of its own clock, 1 ms apart by default."""

    def __init__(self):
        self.now, self.ops, self.events, self.seen, self.record = NOW, 0, [], [], Record(0)
        self.record.life = 1
        self.record.follow("f", timer=None, label=None, types=None)
        self.record.follows["f"]["start"] = "0"

    def note(self, kind, **fields):
        self.now += 1
        self.record.entries.append({"kind": kind, "wall": self.now, "life": self.record.life, **fields})
        return self.record.entries[-1]

    def ask(self, action, timer="t", body=None, key=None, match=None, op=None):
        """Sends a request; returns its number."""
        if op is None:
            self.ops += 1
        headers = ({"Idempotency-Key": key} if key else {}) | ({"If-Match": f'"v{match}"'} if match else {})
        timers = timer if isinstance(timer, list) else [timer]
        self.note("request", op=op or self.ops, client="c", action=action, timers=timers, method="POST", target=f"/{action}",
                  headers=headers, body=body if isinstance(body, str) or body is None else json.dumps(body))
        return op or self.ops

    def tell(self, op, status=200, body=None, **headers):
        """Answers a request."""
        text = body if isinstance(body, str) else json.dumps(body) if body is not None else ""
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.note("answer", op=op, status=status, headers=headers, body=text)

    def event(self, type, version, timer="t", n=1, wait=0, **fields):
        """A timer has an event `wait` ms later; every follower sees it."""
        self.now += wait
        event = {"id": f"{len(self.events) + 100}", "type": type, "timer": timer, "at": shown(self.now), "version": version,
                 "labels": {"n": str(n)}, **fields}
        self.events.append(event)
        self.seen.append((self.now + 0.9, event))
        return event

    def fired(self, version, fire, due, **fields):
        """A fire that is due at NOW + `due`, and happens then."""
        self.now = max(self.now, NOW + due)
        return self.event("fired", version, scheduledAt=shown(NOW + due), latenessUs=10, fire=fire,
                          **{"missed": 0, "reason": "due", **fields})

    def die(self, how="kill"):
        """The life ends, and the next one begins."""
        self.note(how)
        self.record.life += 1
        self.note("up")

    def build(self):
        self.note("complete", through=self.events[-1]["id"])
        self.record.history = [line(event) for event in self.events]
        self.record.seen["f"] = [(when, line(event)) for when, event in self.seen]
        return self.record


def line(event):
    return json.dumps(event, separators=(",", ":")).encode()


def view(version, state="running", fires=0, next=None, n=1, allowed=None, **fields):
    """A timer as an answer shows it; `next` in ms after NOW."""
    legal = {"running": ["suspend", "cancel", "fire", "reschedule"], "suspended": ["resume", "cancel", "reschedule"],
             "cancelled": [], "completed": [], "idle": ["activate"]}
    return {"id": "t", "version": version, "state": state, "fireCount": fires, "labels": {"n": str(n)},
            "nextFireAt": None if next is None else shown(NOW + next), "allowed": allowed or legal[state], **fields}


def story():
    """The record of a correct server with: create, two fires, suspend (its answer is lost in a crash, its repeat replayed),
    resume, a fire, a webhook of each, cancel, read. Its parts have names, so that a test can break one of them."""
    hand = Handmade()
    part = SimpleNamespace(hand=hand)
    op = hand.ask("create", body={"id": "t", "every": "100ms", "webhook": {"url": "http://r/t"}, "labels": {"n": "1"}})
    part.created = hand.event("created", 1)  # at NOW + 1
    hand.event("activated", 1)
    part.create = hand.tell(op, 201, view(1, next=101), event_id="101")
    part.first, part.second = hand.fired(2, 1, 101), hand.fired(3, 2, 201)
    hand.event("delivered", 3, delivery=part.first["id"])
    suspend = hand.ask("suspend", key="k")
    part.suspended = hand.event("suspended", 4)  # at NOW + 202, 99 ms to go
    part.lost = hand.note("lost", op=suspend, why="reset")
    hand.die()
    hand.ask("suspend", key="k", op=suspend)
    part.replay = hand.tell(suspend, 200, view(4, "suspended", 2), idempotency_replayed="true")
    again = hand.ask("suspend", key="k", op=suspend)
    part.replayed_again = hand.tell(again, 200, view(4, "suspended", 2), idempotency_replayed="true")
    part.refusal = hand.tell(hand.ask("activate"), 409, {"type": "/problems/illegal-transition", "state": "suspended"})
    op, hand.now = hand.ask("resume"), NOW + 301
    part.resumed = hand.event("resumed", 5)
    hand.tell(op, 200, view(5, "running", 2, next=401))
    part.third = hand.fired(6, 3, 401)
    op = hand.ask("cancel")
    part.cancelled = hand.event("cancelled", 7)
    part.cancel = hand.tell(op, 200, view(7, "cancelled", 3), event_id=part.cancelled["id"])
    part.read = hand.tell(hand.ask("get"), 200, view(7, "cancelled", 3))
    part.hooks = [hand.note("hook", timer="t", id=fire["id"], body=fire, answer=200, is_signed=True)
                  for fire in (part.first, part.second, part.third)]
    part.exit = hand.note("exit", code=0)
    return part
