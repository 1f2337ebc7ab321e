"""TCP links from the nodes to their database, each of which can be cut, torn, delayed or held. A process of its own, told by
lines on its standard input, so that the load of the harness delays nothing.

    links.py LISTEN:HOST:PORT …       one link each, named 0, 1, …
    0 pass | 0 cut | 0 refuse | 0 tear up 1234 | 0 delay 0.1 | 0 hold up|down|both
"""

import asyncio
import sys

PIECE = 1 << 16


class Way:
    """One direction of one connection: pieces leave in their order, each `delay` after it came, and not while it is held."""

    def __init__(self, link, name, writer):
        self.link, self.name, self.writer = link, name, writer
        self.pieces = asyncio.Queue()

    async def read(self, reader):
        while piece := await reader.read(PIECE):
            self.pieces.put_nowait((asyncio.get_running_loop().time() + self.link.delay, piece))
        self.pieces.put_nowait((0, b""))

    async def write(self):
        loop = asyncio.get_running_loop()
        while True:
            when, piece = await self.pieces.get()
            await asyncio.sleep(max(0, when - loop.time()))
            while self.name in self.link.held:
                await self.link.changed.wait()
            if not piece:
                raise EOFError
            piece, is_torn = self.link.torn(self.name, piece)
            self.writer.write(piece)
            await self.writer.drain()
            if is_torn:
                self.link.cut()


class Link:
    """A listener and its connections."""

    def __init__(self, listen, host, port):
        self.listen, self.target = listen, (host, port)
        self.writers, self.tasks = set(), set()
        self.delay, self.held, self.is_refusing, self.tears = 0.0, (), False, {}
        self.changed = asyncio.Event()

    async def open(self):
        await asyncio.start_server(self._serve, "127.0.0.1", self.listen, backlog=128)

    async def _serve(self, reader, writer):
        if self.is_refusing:
            return writer.transport.abort()
        self.writers.add(writer)
        there = None
        try:
            answers, there = await asyncio.open_connection(*self.target)
            self.writers.add(there)
            up, down = Way(self, "up", there), Way(self, "down", writer)
            async with asyncio.TaskGroup() as group:
                for work in (up.read(reader), up.write(), down.read(answers), down.write()):
                    group.create_task(work)
        except* (OSError, EOFError):
            pass  # one side has closed, or was cut
        finally:
            for end in filter(None, (writer, there)):
                self.writers.discard(end)
                end.transport.abort()

    def torn(self, way, piece):
        """What of the piece still passes, and whether the link is then cut."""
        if way not in self.tears:
            return piece, False
        self.tears[way] -= len(piece)
        if self.tears[way] > 0:
            return piece, False
        return piece[:len(piece) + self.tears.pop(way)], True

    def cut(self):
        for writer in list(self.writers):
            writer.transport.abort()

    def told(self, verb, *rest):
        match verb, *rest:
            case ["pass"]:
                self.delay, self.held, self.is_refusing, self.tears = 0.0, (), False, {}
            case ["cut"]:
                self.cut()
            case ["refuse"]:
                self.is_refusing = True
                self.cut()
            case ["tear", way, count]:
                self.tears[way] = int(count)
            case ["delay", seconds]:
                self.delay = float(seconds)
            case ["hold", which]:
                self.held = ("up", "down") if which == "both" else (which,)
        self.changed.set()
        self.changed = asyncio.Event()


async def main(specs):
    links = []
    for spec in specs:
        listen, host, port = spec.split(":")
        links.append(Link(int(listen), host, int(port)))
        await links[-1].open()
    print("ready", flush=True)
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        number, *words = line.decode().split()
        links[int(number)].told(*words)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
