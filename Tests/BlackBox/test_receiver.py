"""The tests' receiver of webhooks: what it records and how it misbehaves."""

import http.client
import socket
import ssl
import threading

import pytest

from patience import PATIENCE
import receiver as told
from receiver import Answer, Gate, Receiver


def ask(receiver, path="/", method="POST", body=b"x", timeout=PATIENCE, **headers):
    connection = http.client.HTTPConnection(receiver.host, receiver.port, timeout=timeout)
    try:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return answer.status, dict(answer.headers), answer.read()
    finally:
        connection.close()


def test_it_writes_down_what_comes(receiver):
    connection = http.client.HTTPConnection(receiver.host, receiver.port, timeout=PATIENCE)
    for number in range(2):
        connection.request("PUT", f"/{number}", b"body", {"webhook-id": "7", "X-One": "1"})
        assert connection.getresponse().read() == b""
    connection.close()
    first, second = receiver.wait_for(2)
    assert (first.method, first.path, first.body, first.id, first.header("x-one")) == ("PUT", "/0", b"body", "7", "1")
    assert (first.order, second.order) == (1, 2) and first.connection == second.connection and first.answer == 200
    assert receiver.on("/1") == [second] and first.header("absent") is None


def test_it_answers_as_it_is_told(receiver):
    receiver.script("/row", 500, Answer(429, {"Retry-After": "7"}, b"later"), lambda request: 201 if request.body else 404)
    assert ask(receiver, "/row")[0] == 500
    status, headers, body = ask(receiver, "/row")
    assert (status, headers["Retry-After"], body) == (429, "7", b"later")
    assert [ask(receiver, "/row")[0], ask(receiver, "/row", body=b"")[0]] == [201, 404]
    assert [request.answer for request in receiver.on("/row")] == [500, 429, 201, 404]
    assert ask(receiver, "/other")[0] == 200


def test_a_gate_holds_answers_back(receiver):
    gate = Gate()
    receiver.script("/", gate)
    got = []
    asking = threading.Thread(target=lambda: got.append(ask(receiver)[0]))
    asking.start()
    receiver.wait_for(1)
    assert got == []
    gate.open()
    asking.join(PATIENCE)
    assert got == [200]


@pytest.mark.parametrize("answer, failure", [
    (told.hang, TimeoutError), (told.close, http.client.RemoteDisconnected), (told.reset, (ConnectionResetError, http.client.BadStatusLine)),
    (told.reset_in_body, (ConnectionResetError, http.client.IncompleteRead)), (told.malformed, http.client.BadStatusLine),
    (told.endless_head, http.client.HTTPException), (told.drip(pause=10), TimeoutError),
])
def test_it_misbehaves(receiver, answer, failure):
    receiver.script("/", answer)
    with pytest.raises(failure):
        ask(receiver, timeout=0.3 if failure is TimeoutError else PATIENCE)


def test_a_drip_that_ends_is_an_answer(receiver):
    receiver.script("/", told.drip(pause=0.001))
    assert ask(receiver)[0] == 200


def test_a_body_without_an_end(receiver):
    receiver.script("/", told.endless_body)
    with receiver_socket(receiver) as sock:
        sock.sendall(b"GET / HTTP/1.1\r\n\r\n")
        seen = 0
        while seen < 1 << 20:
            seen += len(sock.recv(65536))
    receiver.settle()


def receiver_socket(receiver):
    return socket.create_connection((receiver.host, receiver.port), timeout=PATIENCE)


def test_settling_waits_for_what_is_under_way(receiver):
    with receiver_socket(receiver) as sock:
        sock.sendall(b"POST / HTTP/1.1\r\nContent-Length: 4\r\n\r\nlast")
    receiver.settle()
    assert [request.body for request in receiver.on()] == [b"last"]


def test_half_a_request_is_none(receiver):
    with receiver_socket(receiver) as sock:
        sock.sendall(b"POST / HTTP/1.1\r\nContent-Length: 4\r\n\r\nla")
    receiver.settle()
    assert receiver.on() == []


def test_tls_that_nobody_vouches_for():
    with Receiver(tls=True) as receiver:
        with pytest.raises(ssl.SSLCertVerificationError):
            connection = http.client.HTTPSConnection("localhost", receiver.port, timeout=PATIENCE)
            connection.request("GET", "/")
        context = ssl._create_unverified_context()
        connection = http.client.HTTPSConnection("localhost", receiver.port, timeout=PATIENCE, context=context)
        connection.request("GET", "/")
        assert connection.getresponse().status == 200
        connection.close()


def test_other_addresses_of_the_machine():
    with Receiver("127.8.9.10") as far, Receiver("::1") as six:
        assert ask(far)[0] == ask(six)[0] == 200
        assert far.url("/x") == f"http://127.8.9.10:{far.port}/x" and six.origin == f"http://[::1]:{six.port}"
