"""The server's lives; the seed decides when and how each ends."""

import asyncio
import http.client
import random
import re
import time
from collections import namedtuple

from record import Broken
from server import Server

MEAN_UPTIME_SECONDS = 0.5
LONGEST_UPTIME_SECONDS = 2.0
HOLD = re.compile(r'^timerd_lock_hold_longest_seconds\{cause="(\w+)",time="(\w+)"\} (\S+)$', re.M)

# How a life ends: `startup` and `kill` are SIGKILL, `term` is SIGTERM; `after` seconds from its start or from when it is
# up; then the server stays `down` for so many seconds.
End = namedtuple("End", "how after down")


def ends(seed):
    """An endless sequence of how lives end."""
    dice = random.Random(f"{seed} ends")
    while True:
        how = dice.choices(("kill", "startup", "at once", "term"), (72, 13, 8, 7))[0]
        # After more than a second of downtime due instants are missed rather than late.
        down = dice.uniform(1.1, 1.8) if dice.random() < 0.04 else 0
        match how:
            case "startup":
                yield End("startup", dice.uniform(0, 0.08), down)
            case "at once":
                yield End("kill", dice.uniform(0, 0.02), down)
            case _:
                yield End(how, min(0.03 + dice.expovariate(1 / MEAN_UPTIME_SECONDS), LONGEST_UPTIME_SECONDS), down)


class Mortal:
    """The server over all its lives, each of which the record notes. A context manager; the server has ended at its end."""

    def __init__(self, record, gate):
        self.record, self.gate = record, gate
        self.server = Server("--heartbeat", "200ms", "--retain-events", "24h,16GiB", env={"TIMERD_MEASURE_HOLDS": "1"})
        # The longest hold of the engine's lock seen in any life: seconds of processor time, by the clock, its cause.
        self.longest_hold = (0.0, 0.0, "none")
        self.kills, self.terms, self.recoveries = 0, 0, []

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        self.server.__exit__(*failure)

    async def start(self, end=None):
        """Starts the server; returns whether it came up. With an end in `startup` it is killed meanwhile."""
        self.record.life += 1
        self.record.note("start")
        began = time.monotonic()
        starting = asyncio.create_task(asyncio.to_thread(self.server.start))
        if end and end.how == "startup":
            await asyncio.sleep(end.after)
            self._killed()
            if (process := self.server.process) and not starting.done():
                process.kill()
        try:
            await starting
        except AssertionError as failure:
            if end and end.how == "startup":
                return False
            raise Broken(f"the server did not come up again: {failure}") from failure
        if end and end.how == "startup":
            await self._kill()
            return False
        self.recoveries.append(time.monotonic() - began)
        self.record.note("up")
        self.gate.open(self.server.port)
        return True

    async def end(self, end):
        """Ends the server as told."""
        if self.server.process.poll() is not None:
            raise Broken(f"the server ended by itself with {self.server.process.returncode}: {self.server.log_text()[-2000:]}")
        await asyncio.to_thread(self._note_holds)
        self.gate.close()
        if end.how != "term":
            self._killed()
            return await self._kill()
        self.terms += 1
        self.record.note("term")
        self.server.terminate()
        self.record.note("exit", code=await asyncio.to_thread(self.server.wait))

    def _note_holds(self):
        try:
            text = self.server.client.get("/metrics").body.decode()
        except (OSError, http.client.HTTPException):
            return
        holds = {}
        for cause, kind, seconds in HOLD.findall(text):
            holds.setdefault(cause, {})[kind] = float(seconds)
        self.longest_hold = max([self.longest_hold, *((times["cpu"], times["wall"], cause) for cause, times in holds.items())])

    def _killed(self):
        self.kills += 1
        self.record.note("kill")

    async def _kill(self):
        self.server.process.kill()
        await asyncio.to_thread(self.server.kill9)
