"""Clients that use up descriptors, connections or memory: others are still served, and afterwards everything is as before."""

import contextlib
import json
import os
import resource
import socket
import threading
from pathlib import Path

import pytest

from client import Client
from patience import PATIENCE
from test_http import head, one_answer, status
from test_resets import open_files, resident
from timers import poll

pytestmark = pytest.mark.alone

CREATE = b'{"after":"1h"}'
HALF_OPEN = 10_050


class Honest:
    """Clients that were connected before and go on as usual."""

    def __init__(self, server, client=None):
        self.number = 0
        client = client or server.client
        self.kept = client.socket()
        self.stream = client.stream("/v1/events?types=created").expect(200)

    def __enter__(self):
        self.are_served()  # descriptors that the server opens on first use are open from here on
        return self

    def __exit__(self, *_):
        self.kept.close()
        self.stream.close()

    def are_served(self):
        """On a connection that is kept, and on a stream."""
        self.number += 1
        body = json.dumps({"id": f"honest-{self.number}", "after": "1h"}).encode()
        self.kept.sendall(head("POST", "/v1/timers", "Content-Type: application/json", f"Content-Length: {len(body)}") + body)
        assert one_answer(self.kept)[0] == 201
        while self.stream.next()["timer"] != f"honest-{self.number}":
            pass
        self.kept.sendall(head("GET", "/readyz"))
        assert one_answer(self.kept)[0] == 200


def open_sockets(server):
    count = 0
    for path in Path(f"/proc/{server.pid}/fd").iterdir():
        with contextlib.suppress(OSError):  # the server closed it meanwhile
            count += os.readlink(path).startswith("socket:")
    return count


@contextlib.contextmanager
def unchanged(server):
    """Sockets are as before afterwards, and the server works. (A reader of the log may have been opened.)"""
    sockets = open_sockets(server)
    yield
    poll(lambda: open_sockets(server) <= sockets)
    server.client.create(id="after-all")
    assert server.process.poll() is None


def allow_files(count):
    """Raises this process's limit of descriptors to that many, or skips."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < count:
        pytest.skip(f"{count} descriptors are needed and {hard} allowed")
    if soft < count:
        resource.setrlimit(resource.RLIMIT_NOFILE, (count, hard))


def connect(server, address):
    """A connection that comes from `address`, one of this machine's, without waiting for it."""
    sock = socket.socket()
    sock.setblocking(False)
    sock.bind((address, 0))
    with contextlib.suppress(BlockingIOError):
        sock.connect(("127.0.0.1", server.port))
    return sock


def close(socks):
    for sock in socks:
        sock.close()


def test_a_server_with_few_descriptors_serves_as_many_as_it_can_and_refuses_the_rest_at_once(new_server):
    server = new_server(limits=["--nofile=256:256"])
    with Honest(server) as honest:
        with unchanged(server):
            before = open_files(server)
            hogs = [server.client.socket() for _ in range(400)]
            served = 0
            for sock in hogs:
                with contextlib.suppress(OSError, AssertionError):
                    sock.sendall(head("GET", "/healthz"))
                    served += one_answer(sock)[0] == 200
            assert 0 < served < 256
            for _ in range(20):
                honest.are_served()
            assert open_files(server) < 256
            close(hogs)
            poll(lambda: open_files(server) <= before + 8)
            server.client.get("/healthz").expect(200)


@pytest.mark.heavy
def test_descriptors_that_run_out_all_of_a_sudden_are_survived(new_server):
    """The server plans with its limit at the start, so here it meets the kernel's refusal."""
    server = new_server()
    with Honest(server) as honest:
        with unchanged(server):
            was = resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (96, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
            hogs = [server.client.socket() for _ in range(300)]
            poll(lambda: open_files(server) == 96)
            for _ in range(20):
                honest.are_served()
            resource.prlimit(server.pid, resource.RLIMIT_NOFILE, was)
            close(hogs)
            server.client.get("/healthz").expect(200)


@pytest.mark.parametrize("count", [50, pytest.param(1000, marks=pytest.mark.heavy)])
def test_many_clients_that_send_a_byte_at_a_time_are_served_like_the_others(new_server, count):
    allow_files(count + 200)
    server = new_server()
    request = head("POST", "/v1/timers", "Content-Type: application/json", f"Content-Length: {len(CREATE)}") + CREATE
    with Honest(server) as honest, unchanged(server):
        slow = [server.client.socket() for _ in range(count)]
        for position in range(30):
            for sock in slow:
                sock.sendall(request[position:position + 1])
            honest.are_served()
        for sock in slow:
            sock.sendall(request[30:])
        assert [one_answer(sock)[0] for sock in slow] == [201] * count
        close(slow)


def refused_or_closed(sock):
    """Whether a request on this connection is refused for lack of places."""
    try:
        sock.sendall(head("GET", "/v1/timers"))
        return one_answer(sock)[0] == 503
    except (OSError, AssertionError):
        return True


@pytest.mark.heavy
def test_one_address_with_all_the_connections_there_are_keeps_nobody_out(new_server, tmp_path):
    """More than ten thousand connections, each with one byte of a request so that it stays; others are admitted all the time."""
    allow_files(HALF_OPEN + 500)
    server = new_server("--max-connections", "10000", listen=["127.0.0.1:0", f"unix:{tmp_path}/socket"])
    other, local = Client(server.port, source="127.0.0.2"), Client(unix=f"{tmp_path}/socket")
    with Honest(server, other) as honest:
        with unchanged(server):
            opened, others = [], []
            for number in range(HALF_OPEN):
                opened.append(server.client.socket())
                with contextlib.suppress(OSError):
                    opened[-1].send(b"G")
                if number % 500 == 0:
                    honest.are_served()
            poll(lambda: open_files(server) > 9900)
            with server.client.socket() as sock:
                assert refused_or_closed(sock)
            for number in range(100):
                honest.are_served()
                others.append(other.socket())  # these stay
                others[-1].sendall(head("GET", "/readyz"))
                assert one_answer(others[-1])[0] == 200
                other.create(id=f"other-{number}")
                local.create(id=f"local-{number}")
                for path in ("/healthz", "/readyz"):
                    server.client.get(path).expect(200)  # from the address that has most of the places
            assert open_files(server) < 10_000 + 4 * 64 + 100
            close(opened + others)


@pytest.mark.heavy
def test_ever_new_addresses_with_a_connection_each_keep_nobody_out(new_server):
    server = new_server("--max-connections", "1000")
    allow_files(4000)
    with Client(server.port, source="127.1.0.1").socket() as kept:
        kept.sendall(head("GET", "/v1/timers"))
        assert one_answer(kept)[0] == 200
        with unchanged(server):
            opened = []
            for number in range(3000):
                opened.append(connect(server, address=f"127.2.{number // 250}.{1 + number % 250}"))
                if number % 100 == 0:
                    kept.sendall(head("GET", "/readyz"))  # a connection in use is not the longest idle
                    assert one_answer(kept)[0] == 200
                    newcomer = Client(server.port, source=f"127.3.0.{1 + number // 100}")
                    newcomer.create(id=f"newcomer-{number}")
                    newcomer.get("/healthz").expect(200)
            assert open_files(server) < 1000 + 4 * 64 + 100
            close(opened)


def test_an_address_may_be_held_to_a_number(new_server):
    server = new_server("--max-connections-per-address", "3")
    held = [server.client.socket() for _ in range(3)]
    for sock in held:
        sock.sendall(head("GET", "/healthz"))
        assert one_answer(sock)[0] == 200
    with server.client.socket() as sock:
        assert refused_or_closed(sock)
    Client(server.port, source="127.0.0.2").get("/healthz").expect(200)
    close(held)


@pytest.mark.parametrize("target, clients", [
    ("/v1/timers?limit=1000", 10), pytest.param("/v1/events?since=0", 100, marks=pytest.mark.heavy),
])
def test_clients_that_never_read_hold_neither_memory_nor_others(new_server, target, clients):
    """They read neither answers, for which each sends a hundred requests in a row, nor streams."""
    server = new_server()
    payload = "x" * 4000
    for _ in range(2):
        server.client.batch([{"after": "1h", "payload": payload}] * 1000, "?results=brief").expect(200)
    with Honest(server) as honest:
        with unchanged(server):
            before, deaf = resident(server), []
            for _ in range(clients):
                sock = socket.socket()
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                sock.connect(("127.0.0.1", server.port))
                sock = server.client.over(sock)
                sock.sendall(head("GET", target) * 100)
                deaf.append(sock)
            for _ in range(10):
                server.client.batch([{"after": "1h", "payload": payload}] * 100, "?results=brief").expect(200)
                honest.are_served()
            # Each holds one answer of 4 MB, or a stream's buffer; all answers they asked for would be 4 GB.
            assert resident(server) - before < 1 << 30
            close(deaf)


def next_answer(file, expected):
    """Reads one answer of several that come one after the other."""
    assert status(file.readline()) == expected
    length = 0
    while (line := file.readline()) != b"\r\n":
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    return json.loads(file.read(length))


@pytest.mark.parametrize("count", [500, pytest.param(5000, marks=pytest.mark.heavy)])
def test_pipelined_requests_are_answered_in_order_beside_the_others(new_server, count):
    server = new_server()
    with Honest(server) as honest, unchanged(server):
        answers = []
        requests = b"".join(head("GET", f"/v1/timers/none-{number}") for number in range(count))
        with server.client.socket() as sock, sock.makefile("rb") as file:
            sender = threading.Thread(target=sock.sendall, args=(requests,), daemon=True)
            sender.start()
            for number in range(count):
                answers.append(next_answer(file, 404)["timer"])
                if number % 500 == 0:
                    honest.are_served()
            sender.join(PATIENCE)
        assert answers == [f"none-{number}" for number in range(count)]


def most_resident(server):
    """The most bytes of memory that the server ever had in use."""
    line = next(line for line in Path(f"/proc/{server.pid}/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) << 10


HEAVY_TIMERS, HEAVY_PAYLOAD = 1000, 65_536


def heavy_server(new_server):
    """A server with timers of 64 KiB each; one of them is a watchdog."""
    server = new_server()
    payload = "x" * (HEAVY_PAYLOAD - 2)
    for start in range(0, HEAVY_TIMERS, 100):
        server.client.batch([{"id": f"heavy-{start + number}", "after": "1h", "payload": payload} for number in range(100)],
                            "?results=brief").expect(200)
    server.client.create(id="w", watchdog="1h", payload=payload)
    return server


def ask_and_never_read(server, target, source="127.0.0.1"):
    """A connection with a request whose answer is never read."""
    sock = socket.socket()
    sock.settimeout(PATIENCE)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    sock.bind((source, 0))
    sock.connect(("127.0.0.1", server.port))
    sock = server.client.over(sock)
    sock.sendall(head("GET", target))
    return sock


@pytest.mark.heavy
def test_large_answers_to_many_hold_a_bounded_part_of_memory(new_server):
    """Forty readers that never read, each of the largest page, and batches whose results show whole timers."""
    server = heavy_server(new_server)
    replies, before = [], resident(server)

    def kick():
        replies.append(server.client.batch([{"command": "kick", "id": "w"}] * 10_000, timeout=60))

    deaf = [ask_and_never_read(server, "/v1/timers?limit=1000") for _ in range(40)]
    clients = [threading.Thread(target=kick, daemon=True) for _ in range(8)]
    for client in clients:
        client.start()
    for client in clients:
        client.join(PATIENCE)
    # All that they asked for would be more than six GiB.
    assert most_resident(server) - before < 2 << 30
    # On a slow machine most find no room in time.
    served = [reply for reply in replies if reply.status == 200]
    for reply in served:
        assert len(reply.lines) == 10_000 and "timer" in reply.lines[0] and "timer" not in reply.lines[-1]
    assert len(replies) == 8 and served
    assert all(reply.problem(503, "overloaded")["outcome"] == "none" for reply in replies if reply not in served)
    answered = [status(sock.recv(64)) for sock in deaf]
    assert set(answered) <= {200, 503} and 200 in answered
    close(deaf)
    server.stop()


@pytest.mark.heavy
def test_one_address_that_lets_answers_pile_up_leaves_room_for_another(new_server):
    """A hundred pages of four MiB, of which the server takes as many as it may hold."""
    server = heavy_server(new_server)
    other = Client(server.port, source="127.0.0.2")
    page = "/v1/timers?limit=1000"
    deaf = [ask_and_never_read(server, page) for _ in range(100)]
    for _ in range(10):
        assert len(other.get(page).expect(200).json["timers"]) > 60
        server.client.create()  # a small answer needs no reservation
    answered = [status(sock.recv(64)) for sock in deaf]
    # What the server may hold is less than what one address asked for, and that address does not get all of it.
    assert set(answered) == {200, 503}
    close(deaf)
    poll(lambda: server.client.get(page).status == 200)


@pytest.mark.heavy
def test_large_bodies_that_never_end_hold_a_bounded_part_of_memory(new_server):
    """Thirty batches, each without its last byte: together more than the 96 MiB that bodies may hold."""
    server = new_server()
    body = b" " * (15 << 20)
    request = head("POST", "/v1/timers/batch", "Content-Type: application/x-ndjson", f"Content-Length: {len(body) + 1}")
    with Honest(server) as honest:
        before, uploads = resident(server), [server.client.socket() for _ in range(30)]
        for sock in uploads:
            with contextlib.suppress(OSError):
                sock.sendall(request + body)
            honest.are_served()
        assert resident(server) - before < 300 << 20  # of the 450 MiB that were sent
        assert one_answer(uploads[-1])[0] == 503
        close(uploads)
        poll(lambda: server.client.batch([{"after": "1h"}] * 2000).status == 200)
