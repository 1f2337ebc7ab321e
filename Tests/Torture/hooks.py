"""A receiver of webhooks that records each and fails now and then: 500, no answer at all, a closed connection."""

import asyncio
import random

from standardwebhooks import Webhook, WebhookVerificationError

from workload import SECRET

VERIFIED = 0.1
SLOW_SECONDS = 2.0  # longer than the webhooks' own timeout


class Listener:
    """Serves each connection to its port of `host` by `_answer`, until that returns false. A context manager."""

    host = "127.0.0.1"

    async def __aenter__(self):
        self._server = await asyncio.start_server(self._serve, self.host, 0, backlog=1024)
        self.url = f"http://{self.host}:{self._server.sockets[0].getsockname()[1]}/"
        return self

    async def __aexit__(self, *_):
        self._server.close()

    async def _serve(self, reader, writer):
        try:
            while await self._answer(reader, writer):
                pass
        except (OSError, EOFError, asyncio.CancelledError):
            pass  # the server was killed or gave up waiting, or the run is over
        finally:
            writer.transport.abort()


class Hooks(Listener):
    """The receiver; the last part of a path is the timer's id."""

    def __init__(self, record, seed):
        self.record, self.dice, self.count, self.again = record, random.Random(f"{seed} hooks"), 0, 0
        self.may_fail = True
        self._taken = set()

    async def _answer(self, reader, writer):
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        request, *fields = head[:-4].split("\r\n")
        headers = {name.lower(): value.strip() for name, value in (field.split(":", 1) for field in fields)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        status = self._status()
        self._note(request.split()[1].rsplit("/", 1)[1], headers, body, status)
        if status is None:
            await asyncio.sleep(self.dice.choice((0, SLOW_SECONDS)))
            return False
        length = "" if status == 204 else "Content-Length: 0\r\n"
        writer.write(f"HTTP/1.1 {status} Told\r\n{length}\r\n".encode())
        await writer.drain()
        return True

    def _status(self):
        if not self.may_fail:
            return 204
        return self.dice.choices((200, 204, 500, 503, None), (60, 22, 10, 5, 3))[0]

    def _note(self, timer, headers, body, status):
        id = headers["webhook-id"]
        self.count += 1
        self.again += id in self._taken
        if status and status < 300:
            self._taken.add(id)
        is_signed = self._is_signed(headers, body) if self.dice.random() < VERIFIED else None
        self.record.note("hook", timer=timer, id=id, body=body.decode(), answer=status, is_signed=is_signed)

    @staticmethod
    def _is_signed(headers, body):
        try:
            Webhook(SECRET).verify(body, headers)
        except WebhookVerificationError:
            return False
        return True
