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


def chunked(size, data=b'{"after":"1h"}', end=b"\r\n"):
    """One chunk whose size is written so, then the last one."""
    return fields("Transfer-Encoding: chunked") + size + data + end + b"0\r\n\r\n"


LAST = b"0\r\n\r\n"
REFUSED = {
    # The body's length, given twice or in a form that parsers read differently.
    "length-and-coding": fields("Content-Length: 5", "Transfer-Encoding: chunked") + LAST,
    "coding-and-length": fields("Transfer-Encoding: chunked", "Content-Length: 5") + LAST,
    "length-0-and-coding": fields("Content-Length: 0", "Transfer-Encoding: chunked") + LAST,
    "two-lengths": fields("Content-Length: 5", "Content-Length: 6") + LAST,
    "one-length-twice": fields("Content-Length: 5", "Content-Length: 5") + LAST,
    "list-of-lengths": fields("Content-Length: 5, 5") + LAST,
    **{f"length-{text or 'empty'}": fields(f"Content-Length: {text}") + LAST
       for text in ("", "+5", "-5", "0x5", "5 5", "5.0", "5;", "5e0", "18446744073709551621", "99999999999999999999999")},
    "two-codings": fields("Transfer-Encoding: chunked", "Transfer-Encoding: chunked") + LAST,
    "coding-and-another": fields("Transfer-Encoding: chunked", "Transfer-Encoding: identity") + LAST,
    **{f"coding-{text.strip()}": fields(f"Transfer-Encoding: {text}") + LAST
       for text in ("identity", "gzip, chunked", "chunked, gzip", "chunked, chunked", "xchunked", "chunkedx", "chunked;q=1",
                    '"chunked"', "\x0bchunked", "chunked\x0c", "chunked\x7f", ",chunked", "chunked,")},
    "coding-empty": fields("Transfer-Encoding: ") + LAST,
    "coding-in-1.0": fields("Transfer-Encoding: chunked").replace(b"HTTP/1.1", b"HTTP/1.0") + LAST,
    "length-and-coding-in-1.0": fields("Content-Length: 5", "Transfer-Encoding: chunked").replace(b"HTTP/1.1", b"HTTP/1.0") + LAST,
    # Names and lines.
    "space-before-colon": fields("Transfer-Encoding : chunked") + LAST,
    "tab-before-colon": fields("Content-Length\t: 5") + LAST,
    "space-before-name": head("POST", "/v1/timers", " Content-Length: 5", JSON) + LAST,
    "folded-value": fields("Transfer-Encoding:", " chunked") + LAST,
    "folded-length": fields("Content-Length:", "\t5") + LAST,
    "folded-other": fields("X-A: b", " Content-Length: 5") + LAST,
    "no-colon": fields("Content-Length 5") + LAST,
    "empty-name": fields(": 5") + LAST,
    "nul-in-name": fields("Content-Length\0: 5") + LAST,
    "nul-in-value": fields("Content-Length: 5\0") + LAST,
    "nul-before-value": fields("Content-Length: \x005") + LAST,
    "nul-in-coding": fields("Transfer-Encoding: chunked\0") + LAST,
    "nul-in-target": head("POST", "/v1/timers\0?x=1", JSON, "Content-Length: 5") + LAST,
    "nul-in-method": b"PO\0ST /v1/timers HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\n\r\n" + LAST,
    "nul-first": b"\0" + fields("Content-Length: 5") + LAST,
    "bare-lf-everywhere": fields("Content-Length: 5").replace(b"\r\n", b"\n") + LAST,
    "bare-lf-after-request-line": fields("Content-Length: 5").replace(b"\r\n", b"\n", 1) + LAST,
    "bare-lf-after-a-field": fields("X-A: b\nContent-Length: 5") + LAST,
    "bare-lf-ends-the-head": fields("Content-Length: 5")[:-4] + b"\n\n" + LAST,
    "lf-cr": fields("X-A: b\n\rContent-Length: 5") + LAST,
    "bare-cr-after-a-field": fields("X-A: b\rContent-Length: 5") + LAST,
    "bare-cr-in-a-value": fields("X-A: b\r c") + LAST,
    "two-hosts": fields("Host: 127.0.0.1", "Content-Length: 5") + LAST,
    "no-host": head("POST", "/v1/timers", JSON, "Content-Length: 5", host=None) + LAST,
    "host-with-comma": head("GET", "/healthz", host=b"Host: 127.0.0.1, 127.0.0.1"),
    "host-with-path": head("GET", "/healthz", host=b"Host: 127.0.0.1/v1"),
    # The request line.
    "space-in-target": b"GET /healthz /x HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    "two-spaces": b"GET  /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    "absolute-without-host": b"GET http:///healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    "absolute-with-user": b"GET http://a@127.0.0.1/healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    "absolute-of-another-scheme": b"GET ftp://127.0.0.1/healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    "fragment": b"GET /healthz#x HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    "connect": b"CONNECT 127.0.0.1:80 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    "http-2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "http-1.10": b"GET /healthz HTTP/1.10\r\nHost: 127.0.0.1\r\n\r\n",
    "no-version": b"GET /healthz\r\nHost: 127.0.0.1\r\n\r\n",
    # Chunks.
    **{f"chunk-size-{text.decode('latin-1').strip() or 'empty'}": chunked(text + b"\r\n")
       for text in (b"", b"0xe", b"+e", b"-e", b"e e", b"g", b"1000000000000000e", b"fffffffffffffffff", b"\0e", b"e\0")},
    "chunk-longer-than-said": chunked(b"d\r\n"),
    "chunk-shorter-than-said": chunked(b"10\r\n"),
    "chunk-without-end": chunked(b"e\r\n", end=b""),
    "chunk-with-another-end": chunked(b"e\r\n", end=b"XX"),
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
    "get": ("GET", "/healthz", []), "head": ("HEAD", "/healthz", []), "options": ("OPTIONS", "/v1/timers", []),
    "unknown-path": ("POST", "/v1/no-such-path", [JSON]), "unknown-timer": ("POST", "/v1/timers/none/suspend", []),
    "wrong-method": ("DELETE", "/v1/timers", []), "wrong-type": ("POST", "/v1/timers", ["Content-Type: text/plain"]),
    "no-type": ("POST", "/v1/timers", []), "not-json": ("POST", "/v1/timers", [JSON]), "unknown-method": ("BREW", "/v1/timers", []),
    "cross-origin": ("POST", "/v1/timers", [JSON, "Origin: http://elsewhere"]), "misdirected": ("POST", "/v1/timers", [JSON]),
    "stream": ("GET", "/v1/events?follow=false", []), "wait": ("GET", "/v1/timers/none/wait", []),
    "upgrade": ("GET", "/healthz", ["Connection: upgrade", "Upgrade: h2c"]),
    "expect": ("POST", "/v1/no-such-path", [JSON, "Expect: 100-continue"]),
}


@pytest.mark.parametrize("coding", ["length", "chunks"])
@pytest.mark.parametrize("case", HIDING)
def test_a_body_is_never_taken_for_a_request(api, name, case, coding):
    method, target, more = HIDING[case]
    inner = canary(name)
    host = b"Host: elsewhere.example" if case == "misdirected" else b"Host: 127.0.0.1"
    if coding == "length":
        request = head(method, target, *more, f"Content-Length: {len(inner)}", host=host) + inner
    else:
        request = head(method, target, *more, "Transfer-Encoding: chunked", host=host) + f"{len(inner):x}\r\n".encode() + inner + b"\r\n0\r\n\r\n"
    answer = api.raw(request, half_close=True)
    assert len([status for status in statuses(answer) if status != 100]) == 1, answer
    unheard(api, name)


def test_an_absolute_target_says_which_host_is_meant(server, name):
    """RFC 9112, 3.2.2: an absolute target goes before Host, so it alone says which server is meant."""
    there = b"GET http://elsewhere.example/v1/stats HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
    assert statuses(server.client.raw(there)) == [421]
    here = f"GET {server.url}/v1/stats HTTP/1.1\r\nHost: elsewhere.example\r\nConnection: close\r\n\r\n"
    assert statuses(server.client.raw(here.encode())) == [200]
