"""One run of several nodes, from its seed to its verdict."""

import asyncio
import time

from check import Checker
from check_streams import StreamChecker
from cluster.chain import ROWS, check_chain
from cluster.clients import Anywhere, ClusterClient, ClusterEnding, ClusterFollower, Gate, Prober, answers, served
from cluster.faults import Faults, faults
from cluster.report import figures
from ending import caught_up, compare_history
from followers import followers, read_history
from hooks import Hooks
from record import Broken, Record, wall
from run import BEATS, ENDING_SECONDS, check
from wire import Connection
from workload import JSON, Crew

# Within which a node must answer again after a fault has been healed, on a machine that may be busy with other work.
SERVED_SECONDS = 90.0
WATCH_SECONDS = 0.05


class ClusterRun:
    """Starts a fleet, clients, followers and the receiver; breaks the fleet in every way; checks."""

    def __init__(self, seed, count, seconds, clients, kinds, fleet, logs, skew_ms=0):
        """`count` faults of these kinds at most; `fleet(record)` makes the nodes and their database; `logs` is where
        their logs go if the run fails."""
        self.seed, self.count, self.seconds, self.clients, self.kinds = seed, count, seconds, clients, kinds
        self.record = Record(seed, is_cluster=True, skew_ms=skew_ms)
        self.record.life = 1
        self.fleet, self.faults, self.hooks, self.gate = fleet(self.record), None, None, None
        self.record.forwards = self.fleet.forwards
        self.checker = Checker(self.record)
        self.streams = StreamChecker(self.record, self.checker)
        self.tasks, self.readers, self.probers, self.served = [], [], [], []
        self.chain, self.logs = (0, 0), logs
        Connection.answer_seconds = 100.0

    async def run(self):
        """Returns the figures of a run in which every promise held; Broken otherwise."""
        try:
            async with asyncio.timeout(self.seconds + 2 * ENDING_SECONDS):
                with self.fleet:
                    return await self._kept_logs(self._run(time.monotonic()))
        except TimeoutError as failure:
            raise Broken(f"the run did not end within {self.seconds + 2 * ENDING_SECONDS:.0f} s") from failure

    async def _kept_logs(self, work):
        """A run that fails leaves the logs of its nodes and of the database beside its record."""
        try:
            return await work
        except BaseException:
            self.logs.mkdir(parents=True, exist_ok=True)
            for node in self.fleet.nodes:
                (self.logs / f"{self.seed}-{node.name}.log").write_text(node.log_text())
            (self.logs / f"{self.seed}-database.log").write_text(self.fleet.database.log)
            raise

    async def _run(self, began):
        fleet = self.fleet
        for node in fleet.nodes:
            node.begin()
        await served(fleet.nodes, SERVED_SECONDS)
        self.hooks = Hooks(self.record, self.seed)
        self.hooks.host = fleet.hook_host
        async with self.hooks:
            try:
                workers = await self._populate(fleet)
                await self._break(began)
                await self._end(workers)
            finally:
                for task in self.tasks:
                    task.cancel()
        self.chain = check_chain(await asyncio.to_thread(fleet.database.query, ROWS))
        for node in fleet.nodes:
            await asyncio.to_thread(node.end)
        check(self.record, self.checker, self.streams)
        return figures(self, time.monotonic() - began)

    async def _populate(self, fleet):
        self.gate = Anywhere(fleet.nodes, self.seed) if fleet.forwards else Gate(fleet.nodes)
        self.faults = Faults(self.record, fleet.nodes, fleet.database, fleet.links, self._owner)
        crew = self.crew = Crew(self.record, self.gate, self.hooks.url)
        self.readers = followers(crew, self.seed, BEATS, ClusterFollower)
        self.probers = [Prober(crew, node, self.clients, self.seed) for node in fleet.nodes]
        clients = [ClusterClient(crew, f"c{number}", self.seed) for number in range(self.clients)]
        workers = [asyncio.create_task(worker.run()) for worker in (*clients, *self.probers)]
        self.tasks = [*workers, *[asyncio.create_task(reader.run()) for reader in self.readers],
                      asyncio.create_task(self._beats()), *[asyncio.create_task(self._watch(node)) for node in fleet.nodes]]
        return workers

    async def _beats(self):
        """Timers that are never changed: they only fire."""
        client = ClusterClient(self.crew, "beats", self.seed)
        for id, every in BEATS.items():
            body = {"id": id, "every": every, "labels": {"n": str(self.crew.next_number()), "o": "beats"}}
            await client._do("create", [id], "POST", "/v1/timers", JSON, body, keyed=True)

    async def _watch(self, node):
        """Notes when the node begins to serve."""
        did = False
        while True:
            does = node.is_alive and not node.is_stopped and await answers(node.address, 0.5, owns=True)
            if does and not did:
                self.served.append((wall(), node.name))
            did = does
            await asyncio.sleep(WATCH_SECONDS)

    async def _owner(self):
        """A node that serves now, or None."""
        for node in self.fleet.nodes:
            if node.is_alive and not node.is_stopped and await answers(node.address, 0.5, owns=True):
                return node
        return None

    async def _break(self, began):
        for pause, at_once in faults(self.seed, self.kinds):
            if self.faults.counts.total() >= self.count or time.monotonic() - began > self.seconds:
                return
            await asyncio.sleep(pause)
            await asyncio.gather(*[self.faults.do(fault) for fault in at_once])
            await served(self.fleet.nodes, SERVED_SECONDS)
            await self._check_life()
            print(f"{time.monotonic() - began:7.1f} s  {' and '.join(fault.name for fault in at_once)}", flush=True)
            self._raise_failures()

    async def _check_life(self):
        """What was answered and shown until now is checked against the history that the node that serves has now."""
        self.record.life += 1
        node = await self._owner()
        if node and await read_history(self.record, node.address):
            self.record.note("known")
            self.checker.advance(self.record.life - 1)
            self.streams.advance()

    def _raise_failures(self):
        for task in self.tasks:
            if task.done() and not task.cancelled() and (failure := task.exception()):
                raise failure
        for node in self.fleet.nodes:
            node.check_alive()

    async def _end(self, workers):
        self.hooks.may_fail = False
        self.crew.is_over = True
        for reader in self.readers:
            reader.is_slow = False
        await asyncio.gather(*workers)
        node = await served(self.fleet.nodes, SERVED_SECONDS)
        await ClusterEnding(self.crew, "ending", self.seed).quiet()
        await caught_up(self.record, self.streams, self.checker, node.address)
        for task in self.tasks:
            task.cancel()
        await compare_history(self.record, node.address)
