"""The soak: many timers of every kind, a steady mixed load, and samples every few seconds of what must not grow.

    python Tests/Soak --minutes 60

Exits 0 when memory, descriptors, threads and the log stay flat, the log was compacted, and no fire was lost; else 1.
"""

import argparse
import asyncio
import os
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), *[str(HERE.parent / name) for name in ("Torture", "BlackBox")]]

import server as server_module  # noqa: E402
from hooks import Listener  # noqa: E402
from judge import MEASURES, MIB, judge, table  # noqa: E402
from mixed import SHORT_SECONDS, Load  # noqa: E402
from samples import Samples  # noqa: E402
from server import Server  # noqa: E402

FLAGS = ("--heartbeat", "2s", "--retain-events", "24h,8MiB", "--max-idempotency-keys", "1000")
SAMPLES = 240  # in a run, but at most one each two seconds


class Receiver(Listener):
    """Takes webhooks: 204, now and then 500."""

    def __init__(self):
        self.count, self.taken = 0, set()

    async def _answer(self, reader, writer):
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(int(line.split(b":")[1]) for line in head.lower().split(b"\r\n")
                      if line.startswith(b"content-length:"))
        await reader.readexactly(length)
        self.count += 1
        fails = self.count % 20 == 0
        if not fails:
            self.taken.add(head.split(b" ", 2)[1])
        writer.write(b"HTTP/1.1 500 Told\r\nContent-Length: 0\r\n\r\n" if fails else b"HTTP/1.1 204 Told\r\n\r\n")
        await writer.drain()
        return True


def raise_failures(tasks):
    for task in tasks:
        if task.done() and not task.cancelled() and (failure := task.exception()):
            raise failure


async def soak(server, minutes, timers):
    """Returns the samples, and lost fires and webhooks as lines of text."""
    async with Receiver() as receiver:
        load = Load(server.port, timers, receiver.url)
        began = time.monotonic()
        await load.fill()
        print(f"{timers} timers made in {time.monotonic() - began:.1f} s", flush=True)
        samples = Samples(server, load)
        tasks = [asyncio.create_task(task) for task in load.tasks()]
        pause = max(2, minutes * 60 / SAMPLES)
        try:
            while samples.times[-1:] < [minutes * 60]:
                await asyncio.sleep(pause)
                raise_failures(tasks)
                await samples.take()
            load.is_over = True
            await settled(load, receiver)
            raise_failures(tasks)
        finally:
            for task in tasks:
                task.cancel()
        print(f"{load.answers} requests, {load.made} short timers, {receiver.count} webhooks; the oldest event went "
              f"{samples.expiries} times; over {load.written / MIB:.0f} MiB written, the log grew by {samples.grown:.0f} MiB")
        return samples, lost(load, receiver, samples)


async def settled(load, receiver):
    """Waits for work under way: the last short timers, and their webhooks with one retry."""
    for _ in range(10 * SHORT_SECONDS):
        if load.fired >= load.made and len(receiver.taken) >= load.hooked:
            return
        await asyncio.sleep(0.25)


def lost(load, receiver, samples):
    found = []
    if load.fired != load.made:
        found.append(f"{load.made} short timers were made, {load.fired} fires seen")
    if len(receiver.taken) != load.hooked:
        found.append(f"{load.hooked} webhooks were owed, {len(receiver.taken)} came")
    # Files do not shrink under load, their free room is used again: so the sign of compaction is that they grow by less than is
    # written.
    if not samples.expiries or samples.grown * MIB > 0.8 * load.written:
        found.append("the log was not compacted")
    return found


def main():
    parser = argparse.ArgumentParser(prog="soak", description=__doc__.split("\n\n")[0])
    parser.add_argument("--minutes", type=float, default=60, help="how long (60)")
    parser.add_argument("--timers", type=int, default=200_000, help="how many are held (200000)")
    options = parser.parse_args()
    server_module.LIFETIME = options.minutes * 60 + 300
    print(f"load of the machine: {os.getloadavg()}", flush=True)
    with Server(*FLAGS) as server:
        samples, failures = asyncio.run(soak(server, options.minutes, options.timers))
        began = time.monotonic()
        server.stop()
        print(f"a clean stop in {time.monotonic() - began:.2f} s; load of the machine: {os.getloadavg()}")
    verdicts = [judge(measure, samples.times, samples.of(measure.name)) for measure in MEASURES]
    print(table(verdicts))
    failures += [f"{verdict.measure.name} grows" for verdict in verdicts if not verdict.is_flat]
    print("\n".join(failures) or "nothing grows, nothing is lost")
    return 1 if failures else 0


sys.exit(main())
