"""One run of the crash loop, from its seed to its verdict."""

import asyncio
import time

from check import Checker
from check_streams import StreamChecker, check_hooks
from crashes import End, Mortal, ends
from ending import Ending, caught_up, compare_history
from followers import followers, read_history
from hooks import Hooks
from record import Broken, Record
from tell import figures
from workload import JSON, Client, Crew, Gate

# A run takes at most the time in which it may begin new lives, and this much more.
ENDING_SECONDS = 240
BEATS = {"beat-20": "20ms", "beat-50": "50ms", "beat-170": "170ms"}


class Run:
    """Starts the server, the clients, the followers and the receiver; ends the server again and again; checks."""

    def __init__(self, seed, kills, seconds, clients):
        self.seed, self.kills, self.seconds, self.clients = seed, kills, seconds, clients
        self.record, self.gate = Record(seed), Gate()
        self.mortal = Mortal(self.record, self.gate)
        self.checker = Checker(self.record)
        self.streams = StreamChecker(self.record, self.checker)
        self.tasks = []

    async def run(self):
        """Returns the figures of a run in which every promise held; Broken otherwise."""
        try:
            async with asyncio.timeout(self.seconds + ENDING_SECONDS):
                return await self._run(time.monotonic())
        except TimeoutError as failure:
            raise Broken(f"the run did not end within {self.seconds + ENDING_SECONDS:.0f} s") from failure

    async def _run(self, began):
        with self.mortal:
            async with Hooks(self.record, self.seed) as hooks:
                crew = Crew(self.record, self.gate, hooks.url)
                readers = followers(crew, self.seed, BEATS)
                clients = [Client(crew, f"c{number}", self.seed) for number in range(self.clients)]
                workers = [asyncio.create_task(client.run()) for client in clients]
                self.tasks = [*workers, *[asyncio.create_task(reader.run()) for reader in readers],
                              asyncio.create_task(self._beats(crew))]
                try:
                    await self._crash(crew, began)
                    hooks.may_fail = False
                    await self._end(crew, workers, readers)
                finally:
                    for task in self.tasks:
                        task.cancel()
                return figures(self.record, self.mortal, time.monotonic() - began, readers, hooks)

    async def _beats(self, crew):
        """Timers that are never changed: they only fire."""
        client = Client(crew, "beats", self.seed)
        for id, every in BEATS.items():
            body = {"id": id, "every": every, "labels": {"n": str(crew.next_number()), "o": "beats"}}
            await client._do("create", [id], "POST", "/v1/timers", JSON, body, keyed=True)

    async def _crash(self, crew, began):
        for end in ends(self.seed):
            if self.mortal.kills >= self.kills or time.monotonic() - began > self.seconds:
                return
            if await self.mortal.start(end):
                checking = asyncio.create_task(self._check_life())
                await asyncio.sleep(end.after)
                await self.mortal.end(end)
                await crew.settled()
                await checking
            self._raise_failures()
            await asyncio.sleep(end.down)

    async def _check_life(self):
        """Answers and events of earlier lives are checked against the history that this life has."""
        life = self.record.life
        # On SIGTERM a replay ends early, and properly.
        if await read_history(self.record, self.gate.port) and self.gate.is_open:
            self.record.note("known")
            self.checker.advance(life - 1)
            self.streams.advance()

    def _raise_failures(self):
        for task in self.tasks:
            if task.done() and not task.cancelled() and (failure := task.exception()):
                raise failure

    async def _end(self, crew, workers, readers):
        await self.mortal.start()
        crew.is_over = True
        for reader in readers:
            reader.is_slow = False
        await asyncio.gather(*workers)
        ending = Ending(crew, "ending", self.seed)
        await ending.quiet()
        await caught_up(self.record, self.streams, self.checker, self.gate.port)
        for task in self.tasks:
            task.cancel()
        await compare_history(self.record, self.gate.port)
        await self.mortal.end(End("term", 0, 0))
        check(self.record, self.checker, self.streams)


def check(record, checker=None, streams=None):
    """Checks a whole record against the model; raises Broken at the first promise that does not hold."""
    checker = checker or Checker(record)
    checker.finish()
    (streams or StreamChecker(record, checker)).finish()
    check_hooks(record, checker)
