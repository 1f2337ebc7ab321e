"""Clients that change timers of their own, and some that all share, and record every answer.

A client's own random numbers, from the seed, decide what it asks for next; server and machine decide when.
"""

import asyncio
import json
import random
from datetime import datetime, timezone
from urllib.parse import quote

from due import RESCHEDULE_MS
from wire import Connection, Lost

THINK_SECONDS = 0.35
SLOTS = 4
LONG = 90
KEYED = 0.5
REPEATED = 0.05
SHARED = [f"shared-{number}" for number in range(8)]
JSON = {"Content-Type": "application/json"}
PATCH = {"Content-Type": "application/merge-patch+json"}
NDJSON = {"Content-Type": "application/x-ndjson"}

# Actions of a client, with their relative frequencies.
ACTIONS = {"create": 12, "put": 4, "patch": 8, "reschedule": 5, "suspend": 14, "resume": 14, "activate": 8, "cancel": 5,
           "fire": 8, "kick": 6, "delete": 4, "get": 8, "wait": 3, "batch": 5, "long": 1, "bulk": 2, "list": 2}
ON_SHARED = {"patch": 3, "reschedule": 1, "suspend": 8, "resume": 8, "activate": 4, "cancel": 1, "fire": 3, "get": 2, "put": 1}


class Op:
    """One request, which may be sent several times."""

    def __init__(self, number, client, action, timers, method, target, headers, body):
        self.number, self.client, self.action, self.timers = number, client, action, timers
        self.method, self.target, self.headers, self.body = method, target, headers, body
        self.process = None  # which of several servers' lives it was last sent to


class Gate:
    """The server's address while it is up."""

    def __init__(self):
        self.port, self.life = None, 0
        self._opened = asyncio.Event()

    def open(self, port):
        self.port, self.life = port, self.life + 1
        self._opened.set()

    def close(self):
        self._opened.clear()

    @property
    def is_open(self):
        return self._opened.is_set()

    async def passed(self):
        """Waits for the server to be up; returns (port, life)."""
        await self._opened.wait()
        return self.port, self.life


class Crew:
    """What the clients share: the record, the gate, the next number, and how many requests are under way."""

    def __init__(self, record, gate, hook_url):
        self.record, self.gate, self.hook_url = record, gate, hook_url
        self.number, self.busy, self.is_over = 0, 0, False
        self._idle = asyncio.Condition()

    def next_number(self):
        self.number += 1
        return self.number

    async def settled(self):
        """Returns once every request has its answer or is lost."""
        while self.busy:
            await asyncio.sleep(0.001)


def spec(dice, hook_url=None):
    """The schedule and policies of a timer."""
    fields = dice.choices([
        lambda: {"after": f"{dice.randrange(5, 3000)}ms"},
        lambda: {"every": f"{dice.randrange(100, 1200)}ms"},
        lambda: {"every": "3600000ms"},
        lambda: {"cron": "* * * * * *"},
        lambda: {"at": soon(dice.uniform(-0.5, 2))},
        lambda: {"watchdog": f"{dice.randrange(100, 900)}ms"},
    ], (30, 25, 15, 8, 7, 15))[0]()
    if "every" in fields and dice.random() < 0.15:
        fields["mode"] = "fixedDelay"
    if "watchdog" in fields:
        fields |= {"misses": dice.choice((1, 2)), "repeatAlarm": dice.random() < 0.4}
    else:
        fields |= {"misfire": dice.choice(("once", "all")), "onResume": dice.choice(("remaining", "deadline"))}
    if dice.random() < 0.3 and not {"after", "at"} & fields.keys():
        fields["maxFires"] = dice.randrange(1, 12)
    if dice.random() < 0.15:
        fields["jitter" if dice.random() < 0.5 else "leeway"] = "40ms"
    if dice.random() < 0.6:
        fields["restartable"] = True
    if dice.random() < 0.1:
        fields["retain"] = "1500ms"
    if hook_url and dice.random() < 0.25:
        fields["webhook"] = {"url": hook_url, "timeout": "1s", "secret": SECRET, "retry": RETRY}
    return fields


def soon(seconds):
    when = datetime.now(timezone.utc).timestamp() + seconds
    return datetime.fromtimestamp(when, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


SECRET = "whsec_dG9ydHVyZS10b3J0dXJlLXRvcnR1cmUtdG9ydHVyZQ=="
RETRY = {"initial": "20ms", "max": "200ms", "maxAttempts": 100}


class Client:
    """One client with timers of its own: one request at a time, so that their order is known."""

    patience = None  # seconds after which it gives a request up

    def __init__(self, crew, name, seed):
        self.crew, self.name = crew, name
        self.dice = random.Random(f"{seed} {name}")
        self.ids = [f"{name}-{slot}" for slot in range(SLOTS)]  # also gets those whose id the server picked
        self.watchdogs = set()
        self._connection, self._life, self._last = None, 0, None

    async def run(self):
        """Works until the crew is told that it is over; a request that is under way then gets its answer first."""
        while not self.crew.is_over:
            await asyncio.sleep(self.dice.expovariate(1 / THINK_SECONDS))
            if self.dice.random() < 0.1:
                await self._shared()
            else:
                action = self.dice.choices(list(ACTIONS), list(ACTIONS.values()))[0]
                await getattr(self, "_" + action, self._command)(action)
        if self._connection:
            self._connection.close()

    # Requests. Each takes the action's name.

    async def _create(self, action):
        body = self._body(None if self.dice.random() < 0.2 else self.dice.choice(self.ids))
        id = body.get("id")
        answer = await self._do(action, [id] if id else [], "POST", "/v1/timers", JSON, body, keyed=True if not id else None)
        if answer and answer.status == 201 and not id:
            self.ids = [*self.ids[:SLOTS], answer.json["id"]]

    async def _put(self, action, id=None):
        id = id or self.dice.choice(self.ids)
        body = self._body(id) | {"start": "now"}
        headers = JSON | ({"If-None-Match": "*"} if id in SHARED else {})
        if id in SHARED:
            body |= {"restartable": True, "labels": body["labels"] | {"o": "shared"}}
        await self._do(action, [id], "PUT", f"/v1/timers/{id}", headers, body)

    async def _patch(self, action, id=None, version=None):
        id = id or self.dice.choice(self.ids)
        number = self.crew.next_number()
        body = {"labels": {"n": str(number)}}
        if id not in self.watchdogs and id not in SHARED and self.dice.random() < 0.4:
            body |= dict.fromkeys(("at", "every", "cron", "watchdog", "misses", "repeatAlarm", "mode", "maxFires"))
            body["after"] = f"{self.dice.randrange(50, 2000)}ms"
        elif self.dice.random() < 0.5:
            body["payload"] = {"from": number}
        await self._do(action, [id], "PATCH", f"/v1/timers/{id}", PATCH | match(version), body, number=number)

    async def _command(self, action, id=None, version=None):
        if action == "kick" and not self.watchdogs:
            action = "suspend"
        id = id or self.dice.choice(sorted(self.watchdogs) if action == "kick" else self.ids)
        body = {"after": f"{RESCHEDULE_MS}ms"} if action == "reschedule" else None
        await self._do(action, [id], "POST", f"/v1/timers/{id}/{action}", (JSON if body else {}) | match(version), body)

    async def _delete(self, action):
        id = self.dice.choice(self.ids)
        await self._do(action, [id], "DELETE", f"/v1/timers/{id}")

    async def _get(self, action, id=None):
        id = id or self.dice.choice(self.ids)
        return await self._do(action, [id], "GET", f"/v1/timers/{id}")

    async def _wait(self, action):
        id = self.dice.choice(self.ids)
        await self._do(action, [id], "GET", f"/v1/timers/{id}/wait?timeout=300ms")

    async def _batch(self, action):
        """New timers that are changed and partly deleted at once, and a change of one that it has."""
        lines, ids = [], [self._fresh_id() for _ in range(self.dice.randrange(2, 5))]
        for id in ids:
            lines.append(self._body(id) | {"start": "now"})
            lines += [{"command": command, "id": id} for command in self.dice.sample(("suspend", "fire", "cancel"), 2)]
        old = self.dice.choice(self.ids)
        lines.append({"command": self.dice.choice(("suspend", "resume", "cancel", "delete")), "id": old})
        lines += [{"command": "delete", "id": id} for id in ids]
        await self._do(action, [*ids, old], "POST", "/v1/timers/batch?results=brief", NDJSON,
                       "".join(json.dumps(line) + "\n" for line in lines))

    async def _long(self, action):
        """A batch of more lines than one step of the server takes, under a key: a crash cuts it, and its repeat continues."""
        lines = []
        for id in [self._fresh_id() for _ in range(LONG)]:
            lines.append(self._body(id) | {"start": "now"})
            lines += [{"command": "fire", "id": id}, {"command": "delete", "id": id}]
            if self.dice.random() < 0.2:
                mark = str(self.crew.next_number())
                lines.append({"after": "20ms", "retain": "500ms", "labels": {"n": mark, "o": self.name}})
        await self._do("batch", [line["id"] for line in lines if "id" in line], "POST", "/v1/timers/batch?results=brief", NDJSON,
                       "".join(json.dumps(line) + "\n" for line in lines), keyed=True)

    async def _bulk(self, action):
        command = self.dice.choice(("suspend", "resume"))
        await self._do(f"bulk-{command}", self.ids[:SLOTS], "POST", f"/v1/timers/bulk/{command}", JSON,
                       {"labels": {"slot-of": self.name}})

    async def _list(self, action):
        """A walk through its own timers, a page of two at a time."""
        found, cursor, first = [], "", None
        while cursor is not None:
            answer = await self._do("page", list(self.ids), "GET",
                                    f"/v1/timers?limit=2&label={quote('o=' + self.name)}" + (f"&cursor={cursor}" if cursor else ""))
            if answer is None or answer.status != 200:
                return
            first = first or self._last
            found += [timer["id"] for timer in answer.json["timers"]]
            cursor = answer.json["next"]
        self.crew.record.note("listed", op=first, found=found)

    async def _shared(self):
        """A change of a timer that other clients change at the same time, sometimes on the condition that none has."""
        id, version = self.dice.choice(SHARED), None
        action = self.dice.choices(list(ON_SHARED), list(ON_SHARED.values()))[0]
        if action in ("get", "put"):
            return await getattr(self, "_" + action)(action, id)
        if self.dice.random() < 0.4:
            answer = await self._get("get", id)
            if answer is None or answer.status != 200:
                return
            version = answer.json["version"]
        await getattr(self, "_" + action, self._command)(action, id, version)

    # Sending.

    def _fresh_id(self):
        return f"{self.name}-b{self.crew.number}-{self.dice.randrange(1 << 30)}"

    def _body(self, id):
        number = self.crew.next_number()
        fields = spec(self.dice, id and id not in SHARED and self.crew.hook_url + id)
        if id:
            fields["id"] = id
            (self.watchdogs.add if "watchdog" in fields and id in self.ids else self.watchdogs.discard)(id)
        if self.dice.random() < 0.15:
            fields["start"] = "manual"
        fields["labels"] = {"n": str(number), "o": self.name, "p": "odd" if number % 2 else "even"}
        if id in self.ids[:SLOTS]:
            fields["labels"]["slot-of"] = self.name
        return fields

    async def _do(self, action, timers, method, target, headers=None, body=None, number=None, keyed=None):
        """One request to its answer; None where it was lost. With an Idempotency-Key it is sent again until answered."""
        headers = dict(headers or {})
        number = number or self.crew.next_number()
        if method == "POST" and (self.dice.random() < KEYED if keyed is None else keyed):
            headers["Idempotency-Key"] = f"{self.name}.{number}"
        body = json.dumps(body) if isinstance(body, dict) else body
        op = Op(number, self.name, action, timers, method, target, headers, body)
        answer = await self._attempt(op)
        while "Idempotency-Key" in headers and (answer is None or answer.status == 503):
            await asyncio.sleep(0.02)
            answer = await self._attempt(op)
        if "Idempotency-Key" in headers and answer.status < 300 and self.dice.random() < REPEATED:
            await asyncio.sleep(self.dice.expovariate(1 / THINK_SECONDS))
            await self._attempt(op)
        self._last = number
        return answer

    async def _attempt(self, op):
        record, sent = self.crew.record, False

        def on_sent():
            nonlocal sent
            sent = True
            self.crew.busy += 1
            record.request(op)
        try:
            async with asyncio.timeout(self.patience):
                connection = await self._connected()
                answer = await connection.request(op.method, op.target, op.headers, op.body and op.body.encode(), on_sent)
            record.answer(op, answer)
            return answer
        except (Lost, TimeoutError) as lost:
            if sent:
                record.note("lost", op=op.number, why=str(lost) or "given up")
            return None
        finally:
            self.crew.busy -= sent

    async def _connected(self):
        port, life = await self.crew.gate.passed()
        if self._connection is None or self._life != life or not self._connection.is_open:
            if self._connection:
                self._connection.close()
            self._connection, self._life = await Connection.open(port), life
        return self._connection


def match(version):
    return {"If-Match": f'"v{version}"'} if version else {}
