"""Readers of event streams that resume where they were cut, and record every line they are shown."""

import asyncio
import json
import random

from wire import Connection, Lost, ndjson, sse

SSE = {"Accept": "text/event-stream"}


class Follower:
    """Follows one target over all lives of the server: from its start, or from now on, without gap or repeat.

    A `limit` makes each answer end after so many events; `patience` is the mean of the seconds after which it leaves by
    itself; a follower that `is_slow` reads with pauses, so that the server has to replay to it.
    """

    def __init__(self, name, crew, seed, target="/v1/events", timer=None, label=None, types=None, is_sse=False, since=None,
                 limit=None, patience=None, is_slow=False):
        self.name, self.crew, self.dice = name, crew, random.Random(f"{seed} {name}")
        self.target, self.is_sse, self.cursor = target, is_sse, since
        self.limit, self.patience, self.is_slow = limit, patience, is_slow
        self.resumed, self._is_open, self.opened = 0, False, None
        self.filters = [f"label={label.replace('=', '%3D')}"] if label else []
        self.filters += [f"types={','.join(types)}"] if types else []
        self.filters += [f"timer={timer}"] if timer and target == "/v1/events" else []
        crew.record.follow(name, timer=timer, label=label, types=types)
        if since is not None:
            crew.record.follows[name]["start"] = since

    async def run(self):
        while True:
            port, _ = await self.crew.gate.passed()
            self.opened, self._is_open = self.crew.record.life, False
            try:
                connection = await Connection.open(port)
            except Lost:
                await asyncio.sleep(0.01)
                continue
            try:
                async with asyncio.timeout(self.dice.expovariate(1 / self.patience) if self.patience else None):
                    await self._read(connection)
            except TimeoutError:
                pass
            except Lost:
                if self._is_open:
                    self.crew.record.note("cut", follower=self.name, opened=self.opened)
            finally:
                connection.close()

    async def _read(self, connection):
        query, headers = list(self.filters), dict(SSE) if self.is_sse else {}
        if self.cursor is not None:
            self.resumed += 1
            if self.is_sse:
                headers["Last-Event-ID"] = self.cursor
            else:
                query.append(f"since={self.cursor}")
        query += [f"limit={self.limit}"] if self.limit else []
        answer = await connection.stream(self.target + ("?" + "&".join(query) if query else ""), headers)
        if answer.status != 200:
            if answer.status not in (204, 404, 503):
                self.crew.record.note("refused", follower=self.name, status=answer.status,
                                      body=f"after {self.cursor}: {answer.body.decode()}")
            return await asyncio.sleep(0.05)
        self._is_open, shown = True, 0
        if self.cursor is None:
            self.cursor = self.crew.record.follows[self.name]["start"] = answer.headers["event-id"]
        async for cursor, line in (sse if self.is_sse else ndjson)(connection.chunks()):
            if line is not None:
                shown += 1
                self.crew.record.see(self.name, line)
                self.cursor = cursor or line[7:line.index(b'"', 7)].decode()
            elif cursor:
                self.cursor = cursor
            if self.is_slow:
                await asyncio.sleep(self.dice.expovariate(200))
        if shown != self.limit:
            self.crew.record.note("ended", follower=self.name, opened=self.opened, shown=shown, limit=self.limit)


def followers(crew, seed, beats, kind=Follower):
    """One follower of each sort."""
    make = lambda name, **options: kind(name, crew, seed, **options)
    return [
        make("all", since="0"),
        make("all-sse", since="0", is_sse=True),
        make("from-now"),
        make("from-now-sse", is_sse=True, patience=1),
        make("slow", since="0", types=["fired", "completed"], is_slow=True),
        make("restless", since="0", types=["created", "deleted", "updated"], patience=0.3),
        make("by-fifty", since="0", is_sse=True, types=["fired"], limit=50),
        make("stops", since="0", types=["suspended", "cancelled", "deleted"], is_sse=True),
        make("odd", since="0", label="p=odd"),
        make("one-client-sse", since="0", label="o=c7", is_sse=True),
        make("deliveries", since="0", types=["delivered", "deliveryFailed", "deliveryDead"], is_sse=True),
        *[make(f"beat-{id}", since="0", timer=id, target=f"/v1/timers/{id}/events", is_sse=number % 2 == 1)
          for number, id in enumerate(beats)],
        make("one-shared", since="0", timer="shared-0"),
    ]


async def read_history(record, port):
    """Adds the events after its last line to the record's history; returns whether they were read to the end."""
    since = json.loads(record.history[-1])["id"] if record.history else "0"
    try:
        connection = await Connection.open(port)
        answer = await connection.stream(f"/v1/events?follow=false&since={since}")
        if answer.status != 200:
            return False
        async for _, line in ndjson(connection.chunks()):
            record.history.append(record.shared(line))
        connection.close()
        return True
    except Lost:
        return False
