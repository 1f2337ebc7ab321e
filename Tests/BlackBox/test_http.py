"""HTTP itself, over raw sockets: connections that are kept, half closed, slow, or left."""

import json
import re
import socket

import pytest

CREATE = b'{"after":"1h"}'


def head(method, target, *fields, host=b"Host: 127.0.0.1"):
    """A request head; host=None leaves Host out."""
    lines = [f"{method} {target} HTTP/1.1".encode()] + ([host] if host else [])
    return b"\r\n".join(lines + [field.encode() for field in fields] + [b"", b""])


def status(answer):
    assert answer.startswith(b"HTTP/1."), answer
    return int(answer.split(b" ", 2)[1])


def one_answer(sock):
    """Reads one answer with a Content-Length and returns (status, body)."""
    received = b""
    while b"\r\n\r\n" not in received:
        piece = sock.recv(65536)
        assert piece, f"closed after {received!r}"
        received += piece
    fields, body = received.split(b"\r\n\r\n", 1)
    length = next((int(line.split(b":")[1]) for line in fields.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0)
    while len(body) < length:
        piece = sock.recv(65536)
        assert piece, "closed inside a body"
        body += piece
    assert len(body) == length, "more than one answer"
    return status(fields), body


def test_keep_alive_serves_many_requests(api):
    with api.socket() as sock:
        for _ in range(20):
            sock.sendall(head("POST", "/v1/timers", "Content-Type: application/json", f"Content-Length: {len(CREATE)}") + CREATE)
            assert one_answer(sock)[0] == 201
        sock.sendall(head("GET", "/v1/timers/no-such-timer"))
        assert one_answer(sock)[0] == 404
        sock.sendall(head("GET", "/healthz"))
        assert one_answer(sock)[0] == 200


def test_a_kept_connection_without_a_request_is_closed(new_server):
    with new_server("--idle-timeout", "1s").client.socket() as sock:
        sock.sendall(head("GET", "/healthz"))
        assert one_answer(sock)[0] == 200
        sock.settimeout(30)
        assert sock.recv(1) == b""


def test_pipelined_requests_are_answered_in_order(api, name):
    first = json.dumps({"id": name, "after": "1h"}).encode()
    requests = head("POST", "/v1/timers", "Content-Type: application/json", f"Content-Length: {len(first)}") + first
    requests += head("POST", f"/v1/timers/{name}/suspend", "Content-Length: 0")
    requests += head("GET", f"/v1/timers/{name}", "Connection: close")
    answers = api.raw(requests)
    assert [status(b"HTTP/1.1 " + part) for part in answers.split(b"HTTP/1.1 ")[1:]] == [201, 200, 200]
    assert answers.rstrip().endswith(b"}") and b'"suspended"' in answers.rsplit(b"HTTP/1.1", 1)[1]


@pytest.mark.not_by_tls("its clients are bare sockets")
@pytest.mark.parametrize("version", ["1.0", "1.1"])
def test_a_client_that_half_closes_gets_its_wait_and_its_stream(api, version):
    id = api.create(every="1h")["id"]
    since = api.get(f"/v1/timers/{id}").headers["Event-Id"]
    with api.socket() as poll, api.socket() as stream:
        for sock, target in ((poll, f"wait?since={since}&timeout=5m"), (stream, f"events?since={since}&limit=1")):
            sock.sendall(f"GET /v1/timers/{id}/{target} HTTP/{version}\r\nHost: localhost\r\n\r\n".encode())
            sock.shutdown(socket.SHUT_WR)
        # Each has shown by its first bytes that it saw the end of its client's side.
        assert poll.recv(9) == stream.recv(9) == b"HTTP/1.1 "
        api.command(id, "fire").expect(200)
        for sock in (poll, stream):
            answer = sock.makefile("rb").read()
            assert answer.startswith(b"200 ") and b'"type":"fired"' in answer, answer


def test_a_body_of_256_kib_is_the_largest(api):
    fits = CREATE + b" " * (262_144 - len(CREATE))
    api.post("/v1/timers", body=fits).expect(201)
    api.post("/v1/timers", body=fits + b" ").problem(413, "too-large")


@pytest.mark.parametrize("request_bytes", [
    head("GET", "/healthz", host=None),
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 a TLS hello \r\n\r\n",
], ids=["no-host", "tls"])
def test_a_malformed_request_gets_one_400_and_the_connection_closes(api, request_bytes):
    # The client half-closes nothing: the server must answer and then close by itself.
    answer = api.raw(request_bytes + head("GET", "/healthz"))
    assert re.findall(rb"HTTP/1\.1 (\d+)", answer) == [b"400"]
    assert re.search(rb"\r\nConnection: close\r\n", answer, re.IGNORECASE)
    api.get("/healthz").expect(200)


def test_a_client_that_leaves_in_the_middle_harms_nobody(api):
    for part in (b"POST /v1/ti", head("POST", "/v1/timers", "Content-Type: application/json", "Content-Length: 500") + b'{"after'):
        for _ in range(20):
            with api.socket() as sock:
                sock.sendall(part)
    api.create()


def test_a_client_that_leaves_before_the_answer_keeps_its_timer_or_not_but_whole(api, name):
    body = json.dumps({"id": name, "after": "1h"}).encode()
    with api.socket() as sock:
        sock.sendall(head("POST", "/v1/timers", "Content-Type: application/json", f"Content-Length: {len(body)}") + body)
    reply = api.get(f"/v1/timers/{name}")
    assert reply.status == 404 or reply.expect(200).json["state"] == "running"


def test_a_slow_writer_is_served(api):
    request = head("POST", "/v1/timers", "Content-Type: application/json", f"Content-Length: {len(CREATE)}") + CREATE
    with api.socket() as sock:
        for start in range(0, len(request), 7):
            sock.sendall(request[start:start + 7])
        assert one_answer(sock)[0] == 201
