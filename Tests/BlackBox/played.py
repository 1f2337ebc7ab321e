"""An HTTP server that a test plays, on a thread of its own."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import secure


class Handler(BaseHTTPRequestHandler):
    """Answers requests, and prints nothing."""

    def log_message(self, *_):
        pass


class PlayedServer:
    """Listens on a port of 127.0.0.1; 0 picks one. A context manager."""

    def __init__(self, handler, port=0):
        self.http = ThreadingHTTPServer(("127.0.0.1", port), handler)
        # A server with TLS may have had the port before.
        secure.PORTS.discard(self.http.server_address[1])
        self.thread = threading.Thread(target=self.http.serve_forever, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()
