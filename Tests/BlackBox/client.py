"""A plain HTTP client for the tests: one connection a request, no hidden retries, a timeout on every operation."""

import contextlib
import http.client
import json as jsonlib
import socket

import secrecy
import secure
from patience import PATIENCE
from stream import Stream

DEFAULT = object()


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=PATIENCE)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(PATIENCE)
        self.sock.connect(self.path)


class TLSConnection(http.client.HTTPConnection):
    """Over a socket of the client's on which TLS is begun already."""

    def __init__(self, client, timeout):
        super().__init__(client.host, client.port, timeout=timeout)
        self.client = client

    def connect(self):
        self.sock = self.client.socket(self.timeout)


class Reply:
    """An answer that was read to its end."""

    def __init__(self, method, target, response):
        self.method, self.target = method, target
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()
        secrecy.is_answered(method, target, self.status, self.headers, self.body)

    def __repr__(self):
        return f"<{self.method} {self.target} -> {self.status} {self.body[:600]!r}>"

    @property
    def json(self):
        return jsonlib.loads(self.body)

    @property
    def lines(self):
        """The body as NDJSON, heartbeats dropped."""
        return [jsonlib.loads(line) for line in self.body.splitlines() if line.strip()]

    @property
    def etag(self):
        return self.headers["ETag"]

    def expect(self, status):
        assert self.status == status, self
        return self

    def problem(self, status, slug=None):
        """Checks that this is a whole RFC 9457 problem and returns it."""
        assert self.status == status, self
        assert self.headers["Content-Type"].split(";")[0] == "application/problem+json", self
        problem = self.json
        assert problem["status"] == status, problem
        assert problem["type"].startswith("/problems/"), problem
        if slug is not None:
            assert problem["type"] == f"/problems/{slug}", problem
        assert problem["title"] and isinstance(problem["title"], str), problem
        assert problem["instance"].split("?")[0] == self.target.split("?")[0], problem
        assert problem["requestId"] == self.headers["Request-Id"], problem
        return problem


class Client:
    def __init__(self, port=None, host="127.0.0.1", unix=None, token=None, source=None, tls=None):
        """`source` is the address that the client binds; `tls` an SSLContext, by default one that trusts the tests' servers
        where the port is that of one with TLS.
        """
        self.host, self.port, self.unix, self.token = host, port, unix, token
        self.source = (source, 0) if source else None
        self.tls = tls or (secure.context() if port in secure.PORTS else None)

    @property
    def url(self):
        return f"{'https' if self.tls else 'http'}://{self.host}:{self.port}"

    def connection(self, timeout=PATIENCE):
        if self.unix:
            return UnixConnection(self.unix)
        if self.tls:
            return TLSConnection(self, timeout)
        return http.client.HTTPConnection(self.host, self.port, timeout=timeout, source_address=self.source)

    def headers(self, headers, content_type=None):
        """The given headers; a value of None means: do not send."""
        merged = {}
        if self.token:
            merged["Authorization"] = f"Bearer {self.token}"
        if content_type:
            merged["Content-Type"] = content_type
        merged.update(headers or {})
        return {name: value for name, value in merged.items() if value is not None}

    def request(self, method, target, json=DEFAULT, body=None, headers=None,
                content_type="application/json", timeout=PATIENCE):
        if json is not DEFAULT:
            body = jsonlib.dumps(json)
        if isinstance(body, str):
            body = body.encode()
        connection = self.connection(timeout)
        try:
            headers = self.headers(headers, content_type if body is not None else None)
            secrecy.sends(headers, body)
            connection.request(method, target, body=body, headers=headers)
            return Reply(method, target, connection.getresponse())
        finally:
            connection.close()

    def get(self, target, **options):
        return self.request("GET", target, **options)

    def head(self, target, **options):
        return self.request("HEAD", target, **options)

    def options(self, target, **options):
        return self.request("OPTIONS", target, **options)

    def post(self, target, json=DEFAULT, **options):
        return self.request("POST", target, json, **options)

    def put(self, target, json=DEFAULT, **options):
        return self.request("PUT", target, json, **options)

    def patch(self, target, json=DEFAULT, **options):
        return self.request("PATCH", target, json, **options)

    def delete(self, target, **options):
        return self.request("DELETE", target, **options)

    # The verbs that tests use all the time. Each insists on success.

    def create(self, **fields):
        """Creates a timer (of an hour by default) and returns it as answered."""
        if not {"after", "at", "every", "cron", "rrule", "watchdog"} & fields.keys():
            fields["after"] = "1h"
        return self.post("/v1/timers", fields).expect(201).json

    def timer(self, id):
        return self.get(f"/v1/timers/{id}").expect(200).json

    def first_fire(self, id):
        """The timer's first fire, once it has come."""
        # The server answers 204 before this client stops waiting.
        return self.get(f"/v1/timers/{id}/wait?since=0&timeout={PATIENCE - 10:.0f}s").expect(200).json

    def command(self, id, command, body=DEFAULT, **options):
        return self.post(f"/v1/timers/{id}/{command}", body, **options)

    def batch(self, lines, query="", **options):
        """One NDJSON batch; lines are dicts, or text that is sent as it is."""
        body = "".join((line if isinstance(line, str) else jsonlib.dumps(line)) + "\n" for line in lines)
        options.setdefault("content_type", "application/x-ndjson")
        return self.post(f"/v1/timers/batch{query}", body=body, **options)

    def history(self, query=""):
        """Every kept event, oldest first."""
        return self.get(f"/v1/events?follow=false{query}").expect(200).lines

    def history_of(self, id):
        return self.get(f"/v1/timers/{id}/events?follow=false").expect(200).lines

    def stream(self, target, headers=None, timeout=PATIENCE, wait_for_head=True):
        """Opens an event stream; the caller closes it (it is a context manager)."""
        headers = self.headers(headers)
        secrecy.sends(headers, None)
        return Stream(self.socket(timeout), self.host, target, headers, wait_for_head)

    # Below HTTP.

    def socket(self, timeout=PATIENCE):
        if self.unix:
            sock = socket.socket(socket.AF_UNIX)
            sock.settimeout(timeout)
            sock.connect(self.unix)
            return sock
        return self.over(socket.create_connection((self.host, self.port), timeout=timeout, source_address=self.source))

    def over(self, sock):
        """A connected socket, with TLS on it where the server has TLS."""
        return self.secured(sock) if self.tls else sock

    def secured(self, sock, **options):
        """The socket with TLS on it."""
        try:
            return self.tls.wrap_socket(sock, server_hostname=self.host, **options)
        except BaseException:
            with contextlib.suppress(OSError):
                sock.close()
            raise

    def raw(self, data, half_close=False):
        """Sends bytes as they are and returns all that comes back until the server closes."""
        secrecy.sends_raw(data)
        with self.socket() as sock:
            sock.sendall(data)
            if half_close:
                # The method of a socket with TLS would end TLS in both directions.
                socket.socket.shutdown(sock, socket.SHUT_WR)
            received = b""
            try:
                while piece := sock.recv(65536):
                    received += piece
            except ConnectionResetError:
                pass
        secrecy.is_streamed("", received)
        return received
