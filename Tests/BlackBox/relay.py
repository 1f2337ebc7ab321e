"""A relay between a browser and the server: it shows a test what is sent, and can hold a stream back."""

import re
import select
import socket
import threading

from patience import PATIENCE
from timers import poll

REQUEST = re.compile(rb"^([A-Z]+) (\S+) HTTP/1\.1\r\n(.*?)\r\n\r\n", re.MULTILINE | re.DOTALL)
PIECE = 65536
KEPT = 1 << 20


class Connection:
    """One connection of the browser: its requests, and the way back, which may be shut."""

    def __init__(self, browser, server):
        self.browser, self.server = browser, server
        self.requests = []
        self.answered = b""
        self.open = threading.Event()
        self.open.set()
        self._asked = b""

    @property
    def is_stream(self):
        return bool(self.requests) and self.requests[-1][1].split("?")[0].endswith("/events")

    def asked(self, piece):
        self._asked += piece
        while match := REQUEST.search(self._asked):
            fields = (line.split(":", 1) for line in match[3].decode().split("\r\n") if ":" in line)
            headers = {name.lower(): value.strip() for name, value in fields}
            self.requests.append((match[1].decode(), match[2].decode(), headers))
            self._asked = self._asked[match.end():]

    def close(self):
        self.open.set()
        for end in (self.browser, self.server):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


class Relay:
    """Listens on a port of its own and hands every byte on to the server's. A context manager."""

    def __init__(self, port):
        self.target = port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.connections = []
        self.held = False
        self._running = True

    def __enter__(self):
        self._acceptor = threading.Thread(target=self._accept, daemon=True)
        self._acceptor.start()
        return self

    def __exit__(self, *_):
        self._running = False
        self._acceptor.join()
        self.listener.close()
        self.cut()

    @property
    def requests(self):
        """All requests so far, as (method, target, headers with names in small letters)."""
        return [request for connection in list(self.connections) for request in connection.requests]

    @property
    def streams(self):
        """The requests for an event stream among them, oldest first."""
        return [request for request in self.requests if request[1].split("?")[0].endswith("/events")]

    def hold(self):
        """From now on the relay passes nothing back on event streams; everything else goes on."""
        self.held = True

    def release(self):
        self.held = False
        for connection in list(self.connections):
            connection.open.set()

    def cut(self):
        """Cuts every connection, as a failing network does."""
        for connection in list(self.connections):
            connection.close()

    def until_answered(self, text):
        """Waits until the server has sent this on some connection."""
        return poll(lambda: any(text in connection.answered for connection in list(self.connections)))

    def _accept(self):
        while self._running:
            ready, _, _ = select.select([self.listener], [], [], 0.1)
            if not ready:
                continue
            browser, _ = self.listener.accept()
            try:
                server = socket.create_connection(("127.0.0.1", self.target), timeout=PATIENCE)
            except OSError:
                browser.close()
                continue
            server.settimeout(None)
            connection = Connection(browser, server)
            self.connections.append(connection)
            for way in (self._there, self._back):
                threading.Thread(target=way, args=(connection,), daemon=True).start()

    def _there(self, connection):
        try:
            while piece := connection.browser.recv(PIECE):
                connection.asked(piece)
                connection.server.sendall(piece)
        except OSError:
            pass
        connection.close()

    def _back(self, connection):
        try:
            while piece := connection.server.recv(PIECE):
                if self.held and connection.is_stream:
                    connection.open.clear()
                    if self.held:  # otherwise it was released in between
                        connection.open.wait()
                connection.answered = (connection.answered + piece)[-KEPT:]
                connection.browser.sendall(piece)
        except OSError:
            pass
        connection.close()
