"""The end of a run: every due timer has fired, every webhook has come, every follower has seen every event, and the history
is the one that was shown during the run."""

import asyncio
import json
import time

import due as dues
from followers import read_history
from record import Broken, Record, wall
from workload import NDJSON, Client

PATIENCE_SECONDS = 60.0


class Ending(Client):
    """The last client, once all others have gone."""

    async def quiet(self):
        """Waits for every fire that is due by now, stops all timers, and waits for their webhooks."""
        now = wall()
        await self._until("no timer is overdue any more", lambda: self._none_is_due(now))
        stops = [{"command": "cancel", "id": timer["id"]} for timer in await self._timers()]
        await self._do("batch", [stop["id"] for stop in stops], "POST", "/v1/timers/batch?results=brief", NDJSON,
                       "".join(json.dumps(stop) + "\n" for stop in stops), keyed=True)
        await self._until("no webhook is pending any more", self._none_is_pending)

    async def _until(self, what, check):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not await check():
            if time.monotonic() > deadline:
                raise Broken(f"after {PATIENCE_SECONDS:.0f} s it is not so that {what}")
            await asyncio.sleep(0.05)

    async def _none_is_due(self, now):
        due = [timer["nextFireAt"] for timer in await self._timers() if timer["nextFireAt"]]
        return all(dues.instant(text) > now for text in due)

    async def _timers(self):
        timers, cursor = [], ""
        while cursor is not None:
            page = (await self._do("page", [], "GET", "/v1/timers?limit=1000" + (f"&cursor={cursor}" if cursor else ""))).json
            timers += page["timers"]
            cursor = page["next"]
        return timers

    async def _none_is_pending(self):
        connection = await self._connected()
        answer = await connection.request("GET", "/v1/deliveries?state=pending&limit=1")
        return answer.status == 200 and not answer.json["deliveries"]


async def caught_up(record, streams, checker, port):
    """Returns once each follower has seen every event of the history up to now, or has had the time to."""
    if not await read_history(record, port):
        raise Broken("the whole history could not be read")
    record.note("complete", through=json.loads(record.history[-1])["id"])
    checker.advance(record.life)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        streams.advance()
        if not any(streams.missing(name) for name in record.follows):
            return
        await asyncio.sleep(0.05)


async def compare_history(record, port):
    """The whole history, read once more, must be what was read life by life."""
    await read_history(record, port)
    again = Record(record.seed)
    await read_history(again, port)
    for before, after in zip(record.history, again.history):
        if before != after:
            event = json.loads(before)
            raise Broken(f"the history has changed: event {event['id']} is {after.decode()} now", timer=event["timer"])
    if len(again.history) < len(record.history):
        raise Broken(f"the history has lost its last {len(record.history) - len(again.history)} events")
