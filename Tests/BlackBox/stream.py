"""An event stream read by hand, so that a proper last chunk and a cut connection can be told apart."""

import json

import secrecy


class Stream:
    """One GET over its own socket. An answer that is not a stream is read completely into `body`."""

    def __init__(self, sock, host, target, headers, wait_for_head=True):
        self.sock, self.target = sock, target
        self.buffer = b""
        self.ended_properly = False
        self.status = None
        lines = [f"GET {target} HTTP/1.1", f"Host: {host}"] + [f"{name}: {value}" for name, value in headers.items()]
        try:
            sock.sendall("\r\n".join(lines + ["", ""]).encode())
            if wait_for_head:
                self.read_head()
        except BaseException:
            sock.close()
            raise

    def read_head(self):
        """Waits for the status line and the headers; returns the status."""
        status, *fields = self._until(b"\r\n\r\n").decode().split("\r\n")
        self.status = int(status.split()[1])
        self.headers = {name.lower(): value.strip() for name, value in (field.split(":", 1) for field in fields if field)}
        self._chunks = self._read_chunks()
        return self.status

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __iter__(self):
        """The body's chunks, as the SSE parser wants them."""
        return self._chunks

    def close(self):
        self.sock.close()

    def expect(self, status):
        assert self.status == status, (self.status, self.headers, self.buffer)
        return self

    def lines(self):
        """Each line, heartbeats (empty ones) included."""
        pending = b""
        for chunk in self._chunks:
            pending += chunk
            *whole, pending = pending.split(b"\n")
            yield from whole
        assert pending == b"", f"the stream ended inside a line: {pending!r}"

    def events(self):
        for line in self.lines():
            if line:
                yield json.loads(line)

    def next(self, *types):
        """The next event (of these types)."""
        for event in self.events_once():
            if not types or event["type"] in types:
                return event
        raise AssertionError(f"the stream ended before an event of {types or 'any type'}")

    def take(self, count):
        return [self.next() for _ in range(count)]

    def until(self, type):
        """All events up to and including the first of this type."""
        seen = []
        while not seen or seen[-1]["type"] != type:
            seen.append(self.next())
        return seen

    def until_timer(self, id):
        """All events up to and including the first of this timer."""
        seen = []
        while not seen or seen[-1]["timer"] != id:
            seen.append(self.next())
        return seen

    def rest(self):
        """All events until the server ends the stream, which must have its last chunk."""
        events = list(self.events_once())
        assert self.ended_properly, "the stream was cut without a last chunk"
        return events

    def until_cut(self):
        """All events until the connection is gone, however that happens."""
        events = []
        try:
            for event in self.events_once():
                events.append(event)
        except (ConnectionError, AssertionError):
            pass
        return events

    def events_once(self):
        """One generator for the stream's lifetime, so that no buffered line is lost between two calls."""
        if not hasattr(self, "_events"):
            self._events = self.events()
        return self._events

    def _receive(self):
        piece = self.sock.recv(65536)
        if not piece:
            raise ConnectionError("the connection was closed without a last chunk")
        secrecy.is_streamed(self.target, piece)
        self.buffer += piece

    def _until(self, mark):
        while mark not in self.buffer:
            self._receive()
        head, self.buffer = self.buffer.split(mark, 1)
        return head

    def _exactly(self, count):
        while len(self.buffer) < count:
            self._receive()
        data, self.buffer = self.buffer[:count], self.buffer[count:]
        return data

    def _read_chunks(self):
        if "chunked" not in self.headers.get("transfer-encoding", ""):
            yield self._exactly(int(self.headers.get("content-length", "0")))
            self.ended_properly = True
            return
        while size := int(self._until(b"\r\n").split(b";")[0], 16):
            chunk = self._exactly(size)
            assert self._exactly(2) == b"\r\n", "a chunk is not closed by CRLF"
            yield chunk
        assert self._until(b"\r\n") == b"", "the last chunk is followed by something"
        self.ended_properly = True
