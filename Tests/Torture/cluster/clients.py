"""Clients and followers that go to whichever node serves, and readers that stay with one node whatever it answers."""

import asyncio
import json
import random
import time
from urllib.parse import urlsplit

from ending import Ending
from followers import Follower
from record import Broken
from wire import Connection, Lost
from workload import SHARED, SLOTS, Client, Op

IMPATIENT = 0.7
IMPATIENT_SECONDS = 2.5
PATIENT_SECONDS = 90.0
STALL_SECONDS = 3.0  # a stream without even a heartbeat for so long is left, by some followers
PROBE_SECONDS = 0.05
PROBES = 40


class Gate:
    """The address that clients believe to serve. It is turned to another one by a client that is refused there."""

    def __init__(self, nodes):
        self.nodes, self.current = {node.address: node for node in nodes}, nodes[0].address
        self.turns = 0

    async def passed(self):
        return self.current, self.current

    def turn(self, address, answer=None):
        """After a refusal of `address`: to the owner that it names, else to the next one."""
        if self.current != address:
            return
        self.turns += 1
        addresses = list(self.nodes)
        self.current = owner_of(answer, self.nodes) or addresses[(addresses.index(address) + 1) % len(addresses)]

    def process(self, address):
        return self.nodes[address].life()


class Anywhere(Gate):
    """Where the nodes forward: each task has a node of its own, and another one after a refusal."""

    def __init__(self, nodes, seed):
        self.dice, self.places = random.Random(f"{seed} anywhere"), {}
        super().__init__(nodes)

    @property
    def current(self):
        task = asyncio.current_task()
        if task not in self.places:
            self.places[task] = self.dice.choice(list(self.nodes))
            task.add_done_callback(self.places.pop)
        return self.places[task]

    @current.setter
    def current(self, address):
        """Nobody's node is everybody's."""

    def turn(self, address, answer=None):
        self.turns += 1
        self.places[asyncio.current_task()] = self.dice.choice(list(self.nodes))


def owner_of(answer, nodes):
    """The node that a 503 names as the owner."""
    try:
        parts = urlsplit(answer.json.get("owner") or "") if answer else None
    except ValueError:
        return None
    return address if parts and (address := (parts.hostname, parts.port)) in nodes else None


class ClusterClient(Client):
    """A client that tries another node where one does not serve. Some wait for long, so that a stopped node answers them."""

    def __init__(self, crew, name, seed):
        super().__init__(crew, name, seed)
        self.patience = IMPATIENT_SECONDS if self.dice.random() < IMPATIENT else PATIENT_SECONDS

    async def _attempt(self, op):
        address = self.crew.gate.current
        op.process = self.crew.gate.process(address)
        answer = await super()._attempt(op)
        if answer is None and self._connection:
            self._connection.close()
        if answer is None or answer.status == 503:
            self.crew.gate.turn(address, answer)
            await asyncio.sleep(self.dice.uniform(0.02, 0.3))
        return answer


class ClusterEnding(ClusterClient, Ending):
    """The last client, which takes no refusal."""

    async def _do(self, *arguments, **options):
        deadline = time.monotonic() + PATIENT_SECONDS
        while (answer := await super()._do(*arguments, **options)) is None or answer.status == 503:
            if time.monotonic() > deadline:
                raise Broken(f"no node answered within {PATIENT_SECONDS:.0f} s after the last fault: {answer and answer.body[:300]}")
        return answer


class Prober:
    """Reads timers from one node all the time, served or not, so that an owner past its lease would be caught showing them."""

    def __init__(self, crew, node, clients, seed):
        self.crew, self.node, self.dice, self.tasks = crew, node, random.Random(f"{seed} probe {node.name}"), set()
        self.ids = [*SHARED, *(f"c{client}-{slot}" for client in range(clients) for slot in range(SLOTS))]
        self.answered = 0

    async def run(self):
        while not self.crew.is_over:
            await asyncio.sleep(PROBE_SECONDS)
            if len(self.tasks) < PROBES:
                task = asyncio.create_task(self._read())
                self.tasks.add(task)
                task.add_done_callback(self.tasks.discard)
        await asyncio.wait_for(asyncio.gather(*self.tasks), PATIENT_SECONDS)

    async def _read(self):
        id, record = self.dice.choice(self.ids), self.crew.record
        op = Op(self.crew.next_number(), f"probe-{self.node.name}", "get", [id], "GET", f"/v1/timers/{id}", {}, None)
        op.process, sent, connection = self.node.life(), False, None

        def on_sent():
            nonlocal sent
            sent = True
            record.request(op)
        try:
            async with asyncio.timeout(PATIENT_SECONDS - 5):
                connection = await Connection.open(self.node.address)
                answer = await connection.request("GET", op.target, {}, None, on_sent)
            record.answer(op, answer)
            self.answered += answer.status != 503
        except (Lost, TimeoutError) as lost:
            if sent:
                record.note("lost", op=op.number, why="given up" if isinstance(lost, TimeoutError) else str(lost))
        finally:
            if connection:
                connection.close()


class ClusterFollower(Follower):
    """A follower that resumes at another node where one refuses, breaks off or, for some, says nothing for seconds.

    It is less restless than one of a single server, as a resumed stream is first read from the database.
    """

    def __init__(self, *arguments, limit=None, patience=None, **options):
        super().__init__(*arguments, limit=limit and 20 * limit, patience=patience and 10 * patience, **options)

    async def run(self):
        gate, is_patient = self.crew.gate, self.dice.random() > IMPATIENT
        while True:
            address = gate.current
            self.opened, self._is_open, self._refusal = gate.process(address), False, None
            try:
                connection = await Connection.open(address)
            except Lost:
                gate.turn(address)
                await asyncio.sleep(0.1)
                continue
            try:
                async with asyncio.timeout(self.dice.expovariate(1 / self.patience) if self.patience else None):
                    await self._read(Watched(connection, None if is_patient else STALL_SECONDS, self))
            except TimeoutError:
                self._is_open = self._is_open or bool(self.patience)
            except Lost:
                # What a lost owner cut, a slow reader reads to the cut long after, when the server may be stopping.
                if self._is_open and not self.is_slow:
                    self.crew.record.note("cut", follower=self.name, opened=self.opened)
            finally:
                connection.close()
            if not self._is_open:
                gate.turn(address, self._refusal)


class Watched:
    """A connection whose stream may be silent for `seconds` only."""

    def __init__(self, connection, seconds, follower):
        self.connection, self.seconds, self.follower = connection, seconds, follower

    async def stream(self, target, headers):
        async with asyncio.timeout(self.seconds and 2 * self.seconds):
            answer = await self.connection.stream(target, headers)
        self.follower._refusal = answer if answer.status == 503 else None
        return answer

    async def chunks(self):
        chunks = self.connection.chunks()
        while True:
            try:
                async with asyncio.timeout(self.seconds):
                    chunk = await anext(chunks)
            except StopAsyncIteration:
                return
            yield chunk


async def served(nodes, seconds):
    """Waits until a node answers; returns it. Broken after so many seconds."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        for node in nodes:
            if node.is_alive and not node.is_stopped and await answers(node.address):
                return node
        await asyncio.sleep(0.02)
    raise Broken(f"no node has answered for {seconds:.0f} s")


async def answers(address, seconds=2.0, owns=False):
    """Whether the node at this address serves timers; with `owns`, whether it owns them itself."""
    connection = None
    try:
        async with asyncio.timeout(seconds):
            connection = await Connection.open(address)
            if owns:
                cluster = (await connection.request("GET", "/v1/cluster")).json
                if cluster.get("head") is None:  # nor is there one in the answer of a server that starts
                    return False
            return (await connection.request("GET", "/v1/timers?limit=1")).status == 200
    except (Lost, TimeoutError, json.JSONDecodeError):
        return False
    finally:
        if connection:
            connection.close()


async def hand_over(address, seconds=30.0):
    """Asks the node at this address to hand the timers over; any outcome will do."""
    connection = None
    try:
        async with asyncio.timeout(seconds):
            connection = await Connection.open(address)
            await connection.request("POST", "/v1/cluster/promote")
    except (Lost, TimeoutError, json.JSONDecodeError):
        pass
    finally:
        if connection:
            connection.close()
