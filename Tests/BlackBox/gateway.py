"""A proxy that answers for its server when a test says so, as one does whose server can't be reached."""

import time

from client import Client
from played import Handler, PlayedServer

PIECE = 65536
# What belongs to one connection is not passed on.
HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding"}


class Gateway(PlayedServer):
    """Listens on a port of its own. A context manager."""

    def __init__(self, port):
        self.refused, self.refused_at = [], []
        self.refuse(None)
        gateway = self

        class Answers(Handler):
            def do_GET(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                if gateway.status and self.path.startswith(gateway.below):
                    return self.refuse()
                server = Client(port).connection()
                try:
                    server.request(self.command, self.path, body or None, dict(self.headers))
                    self.pass_on(server.getresponse())
                except OSError:
                    pass  # one of the two has gone
                finally:
                    server.close()

            do_HEAD = do_POST = do_PUT = do_GET

            def refuse(self):
                gateway.refused_at.append(time.monotonic())
                gateway.refused.append(f"{self.command} {self.path}")
                self.send_response(gateway.status)
                for name, value in {"Content-Type": "text/html", "Content-Length": "4", **gateway.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(b"<p>\n")

            def pass_on(self, answer):
                self.send_response(answer.status)
                for name, value in answer.getheaders():
                    if name.lower() not in HOP_BY_HOP:
                        self.send_header(name, value)
                self.end_headers()
                while piece := answer.read1(PIECE):
                    self.wfile.write(piece)

        super().__init__(Answers)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"

    def refuse(self, status, below="/", **headers):
        """From now on requests for paths that begin so are answered with this status; None: all are passed on."""
        self.status, self.below = status, below
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}
