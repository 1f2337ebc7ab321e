"""A server that answers for no timers yet: 503 to every request, as one that starts, stands by or takes over."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PROBLEM = {"type": "/problems/owner-unavailable", "title": "Another node answers for the timer", "status": 503,
           "detail": "another node answers for the timer; nothing was changed", "outcome": "none"}


class Standby:
    """Listens on a port of 127.0.0.1. A context manager."""

    def __init__(self, port):
        self.asked = asked = []

        class Handler(BaseHTTPRequestHandler):
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

            def log_message(self, *_):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", port), Handler)

    def __enter__(self):
        self.thread = threading.Thread(target=self.http.serve_forever, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()
