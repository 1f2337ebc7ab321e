"""A server that answers for no timers yet: 503 to every request, as one that starts, stands by or takes over."""

import json

import pytest

import secure
from played import Handler, PlayedServer

PROBLEM = {"type": "/problems/owner-unavailable", "title": "Another node answers for the timer", "status": 503,
           "detail": "another node answers for the timer; nothing was changed", "outcome": "none"}


class Standby(PlayedServer):
    """Listens on a port of 127.0.0.1. A context manager."""

    def __init__(self, port):
        if port in secure.PORTS:
            pytest.skip("what stands in for the server has no TLS")
        self.asked = asked = []

        class Answers(Handler):
            def do_GET(self):
                asked.append(self.path)
                body = json.dumps(PROBLEM).encode()
                self.send_response(503)
                for name, value in (("Content-Type", "application/problem+json"), ("Content-Length", len(body)), ("Retry-After", 1)):
                    self.send_header(name, str(value))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(body)

            do_HEAD = do_POST = do_GET

        super().__init__(Answers, port)
