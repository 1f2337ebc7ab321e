"""What is done to the nodes, their database and what lies between them; the seed decides what, when and for how long.

A fault is applied, lasts, and is healed before the next one, unless it comes as one of two at once.
"""

import asyncio
import random
from collections import Counter, namedtuple

from cluster.clients import hand_over

# Faults with their relative frequencies: of nodes, of the database, of the links between a node and the database.
OF_NODES = {"kill": 20, "kill the taker": 6, "kill all": 2, "stop": 14, "term": 6, "hand over": 10, "join": 3}
OF_DATABASE = {"restart fast": 8, "restart immediate": 10, "stop database": 6, "end backends": 8}
OF_LINKS = {"cut": 8, "refuse": 6, "tear": 10, "delay": 6, "hold": 8}
# In network namespaces, where links are real: of the network, and of the nodes' calendars.
OF_NETWORK = {"cut both": 8, "cut up": 6, "cut down": 6, "isolate": 6, "isolate database": 3, "promote": 6,
              "kill with the primary": 4}
OF_CLOCKS = {"step": 10, "offset": 4}
DELAYS = (0.01, 0.1, 1.0)
ALONE = {*OF_NODES, *OF_CLOCKS, "promote", "kill with the primary", "isolate database"}
AT_ONCE = 0.3  # how often two faults come at once, of those that may

# One fault: its name, and its dice, so that what two at once draw does not depend on which goes first.
Fault = namedtuple("Fault", "name dice")


def faults(seed, kinds):
    """An endless sequence of (seconds before, the faults that then come at once)."""
    dice = random.Random(f"{seed} faults")
    while True:
        names = dice.choices(list(kinds), list(kinds.values()), k=2)
        # One of the database and one of a link, which do not undo each other.
        is_pair = len({"database" if name in OF_DATABASE else "link" for name in names}) == 2 and not ALONE & set(names)
        chosen = names if dice.random() < AT_ONCE and is_pair else names[:1]
        yield 0.05 + dice.expovariate(1 / 0.8), [Fault(name, random.Random(dice.random())) for name in chosen]


class Faults:
    """Does what it is told to the nodes, the database and the links, and counts it."""

    def __init__(self, record, nodes, database, links, owner):
        """`owner` gives the node that serves, or None."""
        self.record, self.nodes, self.database, self.links, self.owner = record, nodes, database, links, owner
        self.counts, self.lags = Counter(), []

    async def do(self, fault):
        await getattr(self, "_" + fault.name.replace(" ", "_"))(fault.dice)

    def _note(self, what, where="database", **more):
        self.counts[what] += 1
        self.record.note("fault", what=what, where=where, **more)

    async def _node(self, dice):
        """Mostly the owner."""
        owner = await self.owner()
        return owner if owner and dice.random() < 0.88 else dice.choice(self.nodes)

    # Nodes.

    async def _kill(self, dice):
        node = await self._node(dice)
        self._killed("kill", node, node is await self.owner())
        await asyncio.sleep(dice.choice((0, 0, dice.uniform(0, 3), dice.uniform(3, 6))))
        node.begin()

    def _killed(self, what, node, is_owner):
        self._note(what, node.name, owner=is_owner)
        node.kill()

    async def _kill_the_taker(self, dice):
        first = await self.owner() or self.nodes[0]
        self._killed("kill", first, True)
        await asyncio.sleep(dice.uniform(2.2, 3.5))
        second = await self.owner() or dice.choice([node for node in self.nodes if node is not first])
        self._killed("kill the taker", second, False)
        for node in (first, second):
            await asyncio.sleep(dice.choice((0, dice.uniform(0, 2))))
            node.begin()

    async def _kill_all(self, dice):
        for node in self.nodes:
            self._killed("kill all", node, False)
        await asyncio.sleep(dice.uniform(0, 1))
        for node in self.nodes:
            node.begin()

    async def _stop(self, dice):
        node = await self._node(dice)
        self._note("stop", node.name, owner=node is await self.owner())
        node.pause()
        await asyncio.sleep(dice.choice((dice.uniform(1, 2.4), dice.uniform(2.4, 4), dice.uniform(3, 10))))
        node.go_on()

    async def _term(self, dice):
        node = await self._node(dice)
        self._note("term", node.name)
        await asyncio.to_thread(node.end)
        await asyncio.sleep(dice.choice((0, dice.uniform(0, 3))))
        node.begin()

    async def _hand_over(self, dice):
        """The owner gives the timers to another server; now and then a server is killed meanwhile."""
        owner = await self.owner()
        if owner is None:
            return
        self._note("hand over", owner.name)
        asked = asyncio.create_task(hand_over(owner.address))
        if dice.random() < 0.4:
            await asyncio.sleep(dice.uniform(0, 0.3))
            node = dice.choice(self.nodes)
            self._killed("kill", node, node is owner)
            await asyncio.sleep(dice.choice((0, dice.uniform(0, 2))))
            node.begin()
        await asked

    async def _join(self, dice):
        """A standby leaves and joins again."""
        owner = await self.owner()
        node = dice.choice([node for node in self.nodes if node is not owner])
        self._note("join", node.name)
        await asyncio.to_thread(node.end)
        node.begin()

    # The database.

    async def _restart(self, how):
        self._note(f"restart {how}")
        await asyncio.to_thread(self.database.restart, how)

    async def _restart_fast(self, dice):
        await self._restart("fast")

    async def _restart_immediate(self, dice):
        await self._restart("immediate")

    async def _stop_database(self, dice):
        self._note("stop database")
        database = self.database
        database.pause(True)
        try:
            await asyncio.sleep(dice.uniform(1, 5))
        finally:
            database.pause(False)

    async def _end_backends(self, dice):
        for _ in range(dice.randrange(1, 4)):
            self._note("end backends")
            await asyncio.to_thread(self.database.end_backends)
            await asyncio.sleep(dice.uniform(0, 0.2))

    # The links between a node and the database.

    async def _link(self, dice, *told, seconds=0.0):
        node = await self._node(dice)
        self._note(told[0] + (f" {told[1]}" if told[0] in ("delay", "hold") else ""), node.name)
        self.links.tell(self.nodes.index(node), *told)
        if seconds:
            await asyncio.sleep(seconds)
            self.links.tell(self.nodes.index(node), "pass")

    async def _cut(self, dice):
        await self._link(dice, "cut")

    async def _refuse(self, dice):
        await self._link(dice, "refuse", seconds=dice.uniform(0.1, 5))

    async def _tear(self, dice):
        """Cut after so many more bytes: in the midst of a statement, or of its answer."""
        for _ in range(dice.randrange(1, 4)):
            await self._link(dice, "tear", *dice.choice((("up", dice.randrange(1, 20_000)), ("down", dice.randrange(1, 1_500)))))
            await asyncio.sleep(dice.uniform(0.1, 0.6))

    async def _delay(self, dice):
        await self._link(dice, "delay", dice.choice(DELAYS), seconds=dice.uniform(1, 5))

    async def _hold(self, dice):
        """Half-open: one direction, or both, pass nothing for a while, and then all of it."""
        await self._link(dice, "hold", dice.choice(("up", "up", "down", "both")), seconds=dice.uniform(0.5, 6))

    # The network, where the links are interfaces of namespaces.

    async def _severed(self, what, where, cut, heal, seconds):
        self._note(what, where)
        await asyncio.to_thread(cut)
        try:
            await asyncio.sleep(seconds)
        finally:
            await asyncio.to_thread(heal)

    async def _cut_way(self, dice, what, *ways):
        node, links = await self._node(dice), self.links
        await self._severed(what, node.name, lambda: links.cut(node.name, *ways), lambda: links.join(node.name),
                            dice.uniform(0.3, 7))

    async def _cut_both(self, dice):
        await self._cut_way(dice, "cut both", "up", "down")

    async def _cut_up(self, dice):
        await self._cut_way(dice, "cut up", "up")

    async def _cut_down(self, dice):
        await self._cut_way(dice, "cut down", "down")

    async def _isolate(self, dice):
        """Nothing reaches the node, neither clients nor the database."""
        node, links = await self._node(dice), self.links
        await self._severed("isolate", node.name, lambda: links.unplug(node.name), lambda: links.plug(node.name),
                            dice.uniform(0.3, 7))

    async def _isolate_database(self, dice):
        links, name = self.links, self.links.name_of(self.database.primary)
        await self._severed("isolate database", name, lambda: links.unplug(name), lambda: links.plug(name), dice.uniform(0.3, 5))

    async def _promote(self, dice):
        self._note("promote", self.links.name_of(self.database.primary))
        await asyncio.to_thread(self.database.promote, dice.choice(("kill", "immediate", "fast")))

    async def _kill_with_the_primary(self, dice):
        """The owner and the primary die together, as on one machine that has both."""
        owner = await self.owner() or self.nodes[0]
        self._killed("kill with the primary", owner, True)
        await asyncio.to_thread(self.database.promote, "kill")
        await asyncio.sleep(dice.choice((0, dice.uniform(0, 3))))
        owner.begin()

    # The calendars of the nodes.

    async def _set(self, what, node, milliseconds, seconds):
        self._note(what, node.name, ms=milliseconds)
        node.clock.set(milliseconds)
        await asyncio.sleep(seconds)

    async def _step(self, dice):
        """A second forth or back, in half of the cases while the node does not reach the database, and back again."""
        node, size = await self._node(dice), dice.choice((-1000, 1000))
        if is_cut := dice.random() < 0.5:
            await asyncio.to_thread(self.links.cut, node.name, "up", "down")
        try:
            await self._set("step while cut off" if is_cut else "step", node, size, dice.uniform(1, 5))
        finally:
            if is_cut:
                await asyncio.to_thread(self.links.join, node.name)
        node.clock.set(0)

    async def _offset(self, dice):
        """Two nodes apart by less than what makes one leave."""
        for node in dice.sample(self.nodes, 2):
            await self._set("offset", node, dice.choice((-1, 1)) * dice.randrange(100, 400), dice.uniform(0.2, 2))
