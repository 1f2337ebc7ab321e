"""Requests that two parsers could split differently: each is refused, its connection closed, and a hidden request never runs."""

import json
import re

import pytest

from test_http import head

JSON = "Content-Type: application/json"


def canary(name):
    """A whole request that makes a timer: if the timer exists, the server took it for a request of its own."""
    body = json.dumps({"id": name, "after": "1h"}).encode()
    return head("POST", "/v1/timers", JSON, f"Content-Length: {len(body)}", "Connection: close") + body


def statuses(answer):
    """The statuses of all answers in these bytes; the library writes the head of some of its own refusals twice."""
    return [int(status) for status in re.findall(rb"HTTP/1\.[01] (\d{3}) ", answer)]


def unheard(api, name):
    api.get(f"/v1/timers/{name}").expect(404)


def fields(*lines):
    return head("POST", "/v1/timers", JSON, *lines)


def chunked(size, data=b'{"after":"1h"}'):
    """One chunk whose size is written so, then the last one."""
    return fields("Transfer-Encoding: chunked") + size + b"\r\n" + data + b"\r\n0\r\n\r\n"


LAST = b"0\r\n\r\n"
# One request for each class of refusal.
REFUSED = {
    "coding-and-length": fields("Transfer-Encoding: chunked", "Content-Length: 5") + LAST,
    "length-0x5": fields("Content-Length: 0x5") + LAST,
    "length-18446744073709551621": fields("Content-Length: 18446744073709551621") + LAST,
    "coding-gzip": fields("Transfer-Encoding: gzip, chunked") + LAST,
    "space-before-colon": fields("Transfer-Encoding : chunked") + LAST,
    "folded-length": fields("Content-Length:", "\t5") + LAST,
    "nul-in-value": fields("Content-Length: 5\0") + LAST,
    "bare-lf-everywhere": fields("Content-Length: 5").replace(b"\r\n", b"\n") + LAST,
    "two-hosts": fields("Host: 127.0.0.1", "Content-Length: 5") + LAST,
    "space-in-target": b"GET /healthz /x HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    "http-2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "chunk-size-0xe": chunked(b"0xe"),
    "chunk-size-1000000000000000e": chunked(b"1000000000000000e"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_an_unclear_request_is_refused_and_the_connection_closed(api, name, case):
    answer = api.raw(REFUSED[case] + canary(name), half_close=True)
    assert answer, "closed without an answer"
    assert set(statuses(answer)) <= {400, 413, 501, 505} and len(statuses(answer)) <= 2, answer
    assert re.search(rb"(?im)^connection: *close", answer), answer
    unheard(api, name)


# Unambiguous requests whose body is a request: it is read as a body, whatever the answer is.
HIDING = {
    "get": ("GET", "/healthz", []), "unknown-timer": ("POST", "/v1/timers/none/suspend", []),
    "stream": ("GET", "/v1/events?follow=false", []), "expect": ("POST", "/v1/no-such-path", [JSON, "Expect: 100-continue"]),
}


@pytest.mark.parametrize("coding", ["length", "chunks"])
@pytest.mark.parametrize("case", HIDING)
def test_a_body_is_never_taken_for_a_request(api, name, case, coding):
    method, target, more = HIDING[case]
    inner = canary(name)
    if coding == "length":
        request = head(method, target, *more, f"Content-Length: {len(inner)}") + inner
    else:
        request = head(method, target, *more, "Transfer-Encoding: chunked") + f"{len(inner):x}\r\n".encode() + inner + b"\r\n0\r\n\r\n"
    answer = api.raw(request, half_close=True)
    assert len([status for status in statuses(answer) if status != 100]) == 1, answer
    unheard(api, name)
