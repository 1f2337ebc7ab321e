"""A receiver of webhooks that records every request and answers as it is told, well or badly."""

import http.client
import json
import os
import select
import socket
import ssl
import struct
import subprocess
import tempfile
import threading
import time
from collections import Counter

import secrecy
from patience import PATIENCE

SETTLE = "/-/settle"  # the receiver's own question to itself


class Request:
    """A request as received: `order` numbers the receiver's requests, `connection` its connections, both from 1."""

    def __init__(self, method, path, headers, body, connection):
        self.method, self.path, self.headers, self.body = method, path, headers, body
        self.connection, self.order, self.at, self.answer = connection, 0, time.monotonic(), None

    def __repr__(self):
        return f"<{self.order}: {self.method} {self.path} id={self.id} -> {self.answer}>"

    def all(self, name):
        """The values of every header of that name."""
        return [value for given, value in self.headers if given.lower() == name.lower()]

    def header(self, name):
        """The one value of a header; None without it."""
        values = self.all(name)
        assert len(values) <= 1, f"{name} came {len(values)} times"
        return values[0] if values else None

    @property
    def id(self):
        return self.header("webhook-id")

    @property
    def json(self):
        return json.loads(self.body)


class Answer:
    """An ordinary answer; the connection stays open."""

    def __init__(self, status=200, headers=(), body=b"", before=None):
        self.status, self.headers, self.body, self.before = status, dict(headers), body, before

    def __call__(self, visit):
        if self.before:
            self.before(visit)
        lines = [f"HTTP/1.1 {self.status} Told"] + [f"{name}: {value}" for name, value in self.headers.items()]
        length = [] if self.status in (204, 304) else [f"Content-Length: {len(self.body)}"]
        visit.send("\r\n".join(lines + length + ["", ""]).encode() + self.body)
        return True


# Other behaviours. Each takes the visit and returns whether the connection stays open.

def hang(visit):
    """Sends no answer until the other side gives up."""
    visit.until_closed()
    return False


def close(visit):
    """The connection is closed without an answer."""
    return False


def reset(visit):
    """The connection is reset within the head of the answer."""
    visit.send(b"HTTP/1.1 200 O")
    visit.reset()
    return False


def reset_in_body(visit):
    """The connection is reset within the body of an answer of 200."""
    visit.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf")
    visit.reset()
    return False


def half_body(visit):
    """The body of an answer of 200, whose Timer-Command cancels the timer, stops half way."""
    visit.send(b"HTTP/1.1 200 OK\r\nTimer-Command: cancel\r\nContent-Length: 1000\r\n\r\nhalf")
    visit.until_closed()
    return False


def malformed(visit):
    visit.send(b"this is no HTTP at all\r\n\r\n")
    return False


def drip(text=b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", pause=0.05):
    """An answer that comes byte by byte."""
    def answer(visit):
        for byte in text:
            visit.send(bytes([byte]))
            if visit.until_closed(pause):
                return False
        return True
    return answer


def endless(start, piece):
    """An answer that begins and never ends, in its head or its body, depending on `start`."""
    def answer(visit):
        visit.send(start)
        while not visit.until_closed(0):
            visit.send(piece)
        return False
    return answer


endless_body = endless(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n", b"x" * 65536)
endless_failure = endless(b"HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\n", b"4000\r\n" + b"x" * 0x4000 + b"\r\n")
endless_head = endless(b"HTTP/1.1 200 OK\r\n", b"x-more: " + b"x" * 1000 + b"\r\n")


class Gate:
    """Holds answers back until it is opened: Gate(Answer(200)). `waiting` counts those held."""

    def __init__(self, then=200):
        self.then, self._opened = then, threading.Event()

    def __call__(self, visit):
        while not self._opened.wait(0.01):
            if visit.until_closed(0):
                return False
        return visit.do(self.then)

    def open(self):
        self._opened.set()


class Visit:
    """One request with its connection, for the behaviour that answers it."""

    def __init__(self, sock, request, note):
        self.sock, self.request, self._note = sock, request, note

    def do(self, answer):
        """Answers with a status, a behaviour of this module, or the result of a function of the request."""
        while not isinstance(answer, int) and answer.__module__ != __name__:
            answer = answer(self.request)
        answer = Answer(answer) if isinstance(answer, int) else answer
        if isinstance(answer, Answer):
            self._note(self.request, answer.status)
        return answer(self)

    def send(self, data):
        self.sock.sendall(data)

    def until_closed(self, timeout=None):
        """Whether the other side closes within the time; it sends nothing more otherwise."""
        ready, _, _ = select.select([self.sock], [], [], timeout)
        if not ready:
            return False
        try:
            return self.sock.recv(1) == b""
        except OSError:
            return True

    def reset(self):
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


class Receiver:
    """An HTTP server on an address of its own. A context manager; answers 200 by default."""

    def __init__(self, host="127.0.0.1", port=0, tls=False, answer=200):
        self.host, self.default, self.requests, self.strange = host, answer, [], []
        self._scripts, self._open, self._accepted, self._counts = {}, set(), 0, Counter()
        self._changed = threading.Condition()
        self._tls = self_signed() if tls else None
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._listener = socket.create_server((host, port), family=family, backlog=1024)
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        self.stop()
        assert failure[0] is not None or not self.strange, self.strange

    @property
    def origin(self):
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self._tls else 'http'}://{host}:{self.port}"

    def url(self, path="/"):
        return self.origin + path

    def script(self, path, *answers):
        """Answers requests to `path` with these in order, and repeats the last one from then on. Returns the URL."""
        with self._changed:
            self._scripts[path] = list(answers)
        return self.url(path)

    def on(self, path=None):
        """The requests that have come (to `path`), in their order."""
        with self._changed:
            return [request for request in self.requests if path in (None, request.path)]

    def ids(self, path=None):
        return [request.id for request in self.on(path)]

    def wait_for(self, count, path=None, timeout=PATIENCE):
        """The requests (to `path`) once there are that many."""
        self._wait(lambda: self._counts[path] >= count, path, timeout)
        return self.on(path)

    def wait_until(self, check, path=None, timeout=PATIENCE):
        """The requests (to `path`) once check(requests) is true."""
        self._wait(lambda: check(self.on(path)), path, timeout)
        return self.on(path)

    def _wait(self, check, path, timeout):
        deadline = time.monotonic() + timeout
        with self._changed:
            while not check():
                left = deadline - time.monotonic()
                assert left > 0, f"after {timeout} s only {self._counts[path]} requests to {path or 'any path'}: {self.on(path)[-20:]}"
                self._changed.wait(left)

    def settle(self, timeout=PATIENCE):
        """Returns once everything sent to the receiver has been read and every connection is closed."""
        # Connections are accepted in order, so every earlier one is known when this one is answered.
        connection = http.client.HTTPConnection(self.host, self.port, timeout=timeout)
        connection.request("GET", SETTLE)
        connection.getresponse().read()
        connection.close()
        deadline = time.monotonic() + timeout
        with self._changed:
            while self._open:
                left = deadline - time.monotonic()
                assert left > 0, f"{len(self._open)} connections are still open"
                self._changed.wait(left)

    def stop(self):
        try:
            self._listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._listener.close()
        with self._changed:
            for sock in self._open:
                try:
                    sock.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def _accept(self):
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self._changed:
                self._accepted += 1
                self._open.add(sock)
                number = self._accepted
                self._changed.notify_all()
            threading.Thread(target=self._serve, args=(sock, number), daemon=True).start()

    def _serve(self, sock, number):
        plain = sock
        try:
            if self._tls:
                sock = self._tls.wrap_socket(sock, server_side=True)
            reader = sock.makefile("rb")
            while (request := self._read(reader, number)) and Visit(sock, request, self._note).do(self._next(request)):
                pass
            reader.close()
        except OSError:
            pass  # the other side is gone, or the TLS handshake failed
        except Exception as wrong:
            self.strange.append(repr(wrong))
        finally:
            # Unread bytes would turn the close into a reset.
            sock.close()
            with self._changed:
                self._open.discard(plain)
                self._changed.notify_all()

    def _read(self, reader, number):
        """The next request as a whole; None if the connection ends, also within a request."""
        line = reader.readline(65536)
        if not line.endswith(b"\r\n"):
            return None
        method, path, version = line.decode().split()
        assert version == "HTTP/1.1", line
        headers = []
        while (line := reader.readline(65536)) != b"\r\n":
            if not line.endswith(b"\r\n"):
                return None
            name, value = line.decode("latin-1").split(":", 1)
            headers.append((name, value.strip()))
        request = Request(method, path, headers, b"", number)
        assert request.header("transfer-encoding") is None and request.header("expect") is None, headers
        length = int(request.header("content-length") or 0)
        request.body = reader.read(length)
        if len(request.body) < length:
            return None
        if path == SETTLE:
            return request
        secrecy.is_received(f"{path}\n{headers}\n".encode() + request.body)
        with self._changed:
            self.requests.append(request)
            request.order = len(self.requests)
            self._counts.update((path, None))
            self._changed.notify_all()
        return request

    def _next(self, request):
        if request.path == SETTLE:
            return 204
        with self._changed:
            answers = self._scripts.get(request.path)
            if not answers:
                return self.default
            return answers.pop(0) if len(answers) > 1 else answers[0]

    def _note(self, request, status):
        with self._changed:
            request.answer = status
            self._changed.notify_all()


def self_signed():
    """TLS with a self-signed certificate."""
    with tempfile.TemporaryDirectory() as directory:
        key, certificate = os.path.join(directory, "key.pem"), os.path.join(directory, "certificate.pem")
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=localhost",
             "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out", certificate],
            check=True, capture_output=True, timeout=30)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        return context
