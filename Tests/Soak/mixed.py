"""A steady load of every kind of request, on top of many timers that are held."""

import asyncio
import json
import random
import time
from datetime import datetime, timezone

from wire import Connection, Lost, ndjson, sse

JSON = {"Content-Type": "application/json"}
PATCH = {"Content-Type": "application/merge-patch+json"}
NDJSON = {"Content-Type": "application/x-ndjson"}
LINES_A_BATCH = 5000

# Short timers: as many a second, what share of them with a webhook, and how long they live at most with their `retain`.
SHORT_A_SECOND = 150
HOOKED = 0.1
SHORT_SECONDS = 8
# A megabyte and a half of events a second in all, so that the log is compacted within a minute or two.
PAYLOAD = "x" * 5000
KICKS_A_BATCH = 500
# Streams that stay open, and among them those whose reader pauses longer than their sockets hold.
STEADY_STREAMS = 24
SLOW_STREAMS = 3


class Unexpected(Exception):
    """The server gave an answer that it may not give under this load."""


def held(number, dice):
    """One of the timers that are held all the time: of every kind, with few fires a second in all."""
    fields = {"id": f"held-{number}", "labels": {"of": "soak", "part": str(number % 500)}}
    match number % 10:
        case 0:
            fields["watchdog"] = "1h"
        case 1:
            fields |= {"cron": f"{dice.randrange(60)} {dice.randrange(24)} * * *", "timeZone": dice.choice(ZONES)}
        case 2 | 3:
            fields |= {"every": "1h", "after": f"{dice.randrange(60, 3600)}s", "jitter": "10s"}
        case 4:
            fields |= {"at": shown(time.time() + dice.randrange(86400, 864000)), "leeway": "1m"}
        case _:
            fields["after"] = f"{dice.randrange(1, 30)}d"
    if number % 4 == 0:
        fields["payload"] = {"for": "x" * dice.randrange(200)}
    return fields


ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Tokyo", "Australia/Lord_Howe"]


def shown(seconds):
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def lines_of(bodies):
    return "".join(json.dumps(body) + "\n" for body in bodies).encode()


class Load:
    """The clients of one server. Each task keeps its pace, independent of the others; the first failure ends all."""

    def __init__(self, port, timers, hook_url, seed=1):
        self.port, self.timers, self.hook_url = port, timers, hook_url
        self.dice = random.Random(seed)
        self.latency = {"GET": [], "POST": []}
        self.answers, self.made, self.fired, self.hooked = 0, 0, 0, 0
        self.is_over = False

    async def fill(self):
        """Makes the timers that are held."""
        client = await Connection.open(self.port)
        for start in range(0, self.timers, LINES_A_BATCH):
            lines = [held(number, self.dice) for number in range(start, min(self.timers, start + LINES_A_BATCH))]
            await self._batch(client, lines)
        client.close()

    def tasks(self):
        """The coroutines that make the load until `is_over`; readers end with the server's streams."""
        paced = [(self._shorts, 1), (self._gets, 0.05), (self._posts, 0.1), (self._commands, 0.05), (self._kicks, 1),
                 (self._renew, 1), (self._pages, 1)]
        return [*[self._pace(work, seconds) for work, seconds in paced],
                *[self._follow(number) for number in range(STEADY_STREAMS)],
                *[self._visit() for _ in range(4)], self._count_fires()]

    # Tasks at a steady pace, each over a connection of its own.

    async def _pace(self, work, seconds):
        client = await Connection.open(self.port)
        due = time.monotonic()
        while not self.is_over:
            if not client.is_open:  # some answers end it
                client = await Connection.open(self.port)
            await work(client)
            due = max(due + seconds, time.monotonic() - 1)  # requests that a slow server delayed are not made up for
            await asyncio.sleep(max(0, due - time.monotonic()))
        client.close()

    async def _ask(self, client, method, target, expected, headers=None, body=None):
        """One request to its answer, which must have one of the `expected` statuses."""
        began = time.monotonic()
        answer = await client.request(method, target, headers, body)
        self.answers += 1
        if answer.status not in expected:
            raise Unexpected(f"{method} {target}: {answer.status} {answer.body[:500]}")
        return answer, time.monotonic() - began

    async def _batch(self, client, lines):
        target = "/v1/timers/batch?results=brief"
        answer, _ = await self._ask(client, "POST", target, {200}, NDJSON, lines_of(lines))
        if b'"problem"' in answer.body:
            raise Unexpected(f"{target}: {answer.body[:500]}")

    async def _gets(self, client):
        _, seconds = await self._ask(client, "GET", f"/v1/timers/{self._some()}", {200, 404})
        self.latency["GET"].append(seconds)

    async def _posts(self, client):
        """A create that is repeated with its key."""
        number = self.dice.randrange(1 << 60)
        body = json.dumps({"after": "1s", "retain": "2s", "labels": {"of": "keyed"}}).encode()
        headers = JSON | {"Idempotency-Key": f"key-{number}"}
        first, seconds = await self._ask(client, "POST", "/v1/timers", {201}, headers, body)
        self.latency["POST"].append(seconds)
        again, _ = await self._ask(client, "POST", "/v1/timers", {201}, headers, body)
        if again.json["id"] != first.json["id"]:
            raise Unexpected("a repeated create made another timer")

    async def _shorts(self, client):
        """Timers that fire within seconds and are gone soon after."""
        lines = []
        for number in range(self.made, self.made + SHORT_A_SECOND):
            fields = {"id": f"short-{number}", "after": f"{self.dice.randrange(500, 4000)}ms", "retain": "3s",
                      "labels": {"of": "short"}, "payload": PAYLOAD}
            if self.dice.random() < HOOKED:
                fields["webhook"] = {"url": f"{self.hook_url}{fields['id']}", "retry": {"initial": "100ms"}}
                self.hooked += 1
            lines.append(fields)
        await self._batch(client, lines)
        self.made += SHORT_A_SECOND

    async def _commands(self, client):
        id = self._some()
        action = self.dice.choice(("suspend", "resume", "reschedule", "fire", "patch", "wait"))
        if action == "patch":
            body = json.dumps({"payload": self.dice.randrange(1 << 30)}).encode()
            return await self._ask(client, "PATCH", f"/v1/timers/{id}", {200, 404, 409}, PATCH, body)
        if action == "wait":
            return await self._ask(client, "GET", f"/v1/timers/{id}/wait?timeout=10ms", {200, 204, 404})
        body = b'{"after":"2d"}' if action == "reschedule" else None
        await self._ask(client, "POST", f"/v1/timers/{id}/{action}", {200, 404, 409}, JSON if body else None, body)

    async def _kicks(self, client):
        # Watchdogs are those whose number ends in 0.
        ids = [f"held-{self.dice.randrange(self.timers // 10) * 10}" for _ in range(KICKS_A_BATCH)]
        lines = [{"command": "kick", "id": id} for id in ids]
        await self._ask(client, "POST", "/v1/timers/batch?results=brief", {200}, NDJSON, lines_of(lines))

    async def _renew(self, client):
        """Deletes some of the held timers and makes them anew, of the same kinds."""
        numbers = self.dice.sample(range(self.timers), 20)
        lines = [{"command": "delete", "id": f"held-{number}"} for number in numbers]
        await self._batch(client, [*lines, *[held(number, self.dice) for number in numbers]])

    async def _pages(self, client):
        page, _ = await self._ask(client, "GET", "/v1/timers?limit=200", {200})
        await self._ask(client, "GET", f"/v1/timers?limit=200&cursor={page.json['next']}", {200})
        await self._ask(client, "GET", f"/v1/timers?label=part%3D{self.dice.randrange(500)}&limit=100", {200})
        await self._ask(client, "GET", "/v1/timers?sort=nextFireAt&limit=50&state=running", {200})

    @property
    def written(self):
        """Bytes of payloads that the log was given for short timers: one when made, one when fired."""
        return 2 * len(PAYLOAD) * self.made

    def _some(self):
        return f"held-{self.dice.randrange(self.timers)}"

    # Readers of streams.

    async def _follow(self, number):
        """Streams of every kind that stay open; some readers are so slow that they read from the log."""
        target = ("/v1/events", "/v1/events?types=fired", "/v1/events?label=of%3Dshort",
                  f"/v1/timers/held-{number}/events")[number % 4]
        is_slow, cursor = number < SLOW_STREAMS * 4 and number % 4 == 0, None
        while not self.is_over:
            # A deleted timer ends its stream, and a reader that is too slow for the kept events is cut.
            query = f"{'&' if '?' in target else '?'}since={cursor}" if is_slow and cursor else ""
            cursor = await self._read(target + query, number % 2, is_slow) if number % 4 != 3 else await self._read(target, 0)

    async def _read(self, target, is_sse, is_slow=False):
        """Reads a stream until it ends; returns the id of the last event."""
        connection = await Connection.open(self.port)
        last = None
        try:
            answer = await connection.stream(target, {"Accept": "text/event-stream"} if is_sse else None)
            if answer.status in (204, 404, 410):
                return await asyncio.sleep(0.5)
            if answer.status != 200:
                raise Unexpected(f"{target}: {answer.status} {answer.body[:500]}")
            events = 0
            async for _, line in (sse if is_sse else ndjson)(connection.chunks()):
                events += 1
                if line and line.startswith(b'{"id":"'):
                    last = line[7:line.index(b'"', 7)].decode()
                if is_slow and events % 2000 == 0:
                    await asyncio.sleep(5)
            return last
        finally:
            connection.close()

    async def _visit(self):
        """Streams that are opened, read a little and abandoned; some are replays."""
        while not self.is_over:
            connection = await Connection.open(self.port)
            target = self.dice.choice(("/v1/events?since=0&limit=200", "/v1/events", "/v1/events?types=fired"))
            try:
                async with asyncio.timeout(self.dice.uniform(0.1, 1)):
                    answer = await connection.stream(target)
                    if answer.status not in (200, 410):
                        raise Unexpected(f"{target}: {answer.status} {answer.body[:500]}")
                    async for _ in connection.chunks():
                        pass
            except TimeoutError:
                pass
            finally:
                connection.close()

    async def _count_fires(self):
        """Every short timer's fire is seen, once."""
        connection = await Connection.open(self.port)
        await connection.stream("/v1/events?since=0&types=fired&label=of%3Dshort")
        try:
            async for _, line in ndjson(connection.chunks()):
                self.fired += 1
        except Lost:
            if not self.is_over:
                raise
