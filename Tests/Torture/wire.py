"""HTTP/1.1 over asyncio for a few hundred clients in one process: keep-alive requests, and event streams read by hand."""

import asyncio
import json

LIMIT = 1 << 22


class Lost(Exception):
    """The connection ended, or never came to be, before the whole answer was there."""


class Answer:
    """An answer read to its end: the status, lower-case headers, the body's bytes."""

    def __init__(self, status, headers, body=b""):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def lines(self):
        return [json.loads(line) for line in self.body.splitlines() if line]


class Connection:
    """One connection to a server, named by its (host, port), or by its port at 127.0.0.1. Every failure raises Lost."""

    answer_seconds = 20.0  # within which an answer must begin

    def __init__(self, reader, writer, address):
        self._reader, self._writer, self._address = reader, writer, address
        self.is_open = True

    @classmethod
    async def open(cls, address):
        host, port = address if isinstance(address, tuple) else ("127.0.0.1", address)
        try:
            return cls(*await asyncio.open_connection(host, port, limit=LIMIT), f"{host}:{port}")
        except OSError as failure:
            raise Lost(str(failure)) from failure

    def close(self):
        self.is_open = False
        self._writer.transport.abort()

    async def request(self, method, target, headers=None, body=None, sent=lambda: None):
        """Tells `sent`, sends one request in the same step, and reads its answer whole."""
        async with self._failures_told():
            await self._send(method, target, headers or {}, body, sent)
            answer = await self._head()
            if answer.headers.get("transfer-encoding") == "chunked":
                answer.body = b"".join([chunk async for chunk in self.chunks()])
            elif answer.status not in (204, 304):
                answer.body = await self._reader.readexactly(int(answer.headers.get("content-length", 0)))
            if answer.headers.get("connection") == "close":
                self.close()
            return answer

    async def stream(self, target, headers=None):
        """Opens an event stream and returns the answer's head; `chunks` gives the body."""
        async with self._failures_told():
            await self._send("GET", target, headers or {}, None, lambda: None)
            answer = await self._head()
            if answer.status != 200:
                answer.body = await self._reader.readexactly(int(answer.headers.get("content-length", 0)))
            return answer

    async def chunks(self):
        """The chunks of a body up to its last one; Lost where the connection ends before it."""
        try:
            while size := int((await self._reader.readuntil(b"\r\n")).split(b";")[0], 16):
                yield (await self._reader.readexactly(size + 2))[:-2]
            await self._reader.readexactly(2)
        except (OSError, EOFError) as failure:
            self.close()
            raise Lost(str(failure)) from failure

    async def _send(self, method, target, headers, body, sent):
        lines = [f"{method} {target} HTTP/1.1", f"Host: {self._address}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        if body is not None:
            lines.append(f"Content-Length: {len(body)}")
        sent()
        self._writer.write("\r\n".join([*lines, "", ""]).encode() + (body or b""))
        await self._writer.drain()

    async def _head(self):
        async with asyncio.timeout(self.answer_seconds):
            head = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        status, *fields = head[:-4].split("\r\n")
        pairs = (field.split(":", 1) for field in fields)
        return Answer(int(status.split()[1]), {name.lower(): value.strip() for name, value in pairs})

    def _failures_told(self):
        return _FailuresTold(self)


class _FailuresTold:
    """Turns the exceptions of a broken connection into Lost and closes it."""

    def __init__(self, connection):
        self._connection = connection

    async def __aenter__(self):
        return self

    async def __aexit__(self, kind, failure, _):
        if kind is None:
            return
        self._connection.close()
        if isinstance(failure, TimeoutError):
            raise Lost(f"no answer within {self._connection.answer_seconds:.0f} s") from failure
        if isinstance(failure, (OSError, EOFError)):
            raise Lost(str(failure) or kind.__name__) from failure


async def ndjson(chunks):
    """(cursor, line) for each line of an NDJSON stream; heartbeats give nothing."""
    pending = b""
    async for chunk in chunks:
        *whole, pending = (pending + chunk).split(b"\n")
        for line in whole:
            if line:
                yield None, line


async def sse(chunks):
    """(cursor, line) for each block of an SSE stream; the line is None where it only moves the cursor."""
    pending = b""
    async for chunk in chunks:
        *whole, pending = (pending + chunk).split(b"\n\n")
        for block in whole:
            fields = dict(line.split(b": ", 1) for line in block.split(b"\n") if b": " in line)
            yield fields.get(b"id", b"").decode() or None, fields.get(b"data")
