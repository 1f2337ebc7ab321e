"""Details of HTTP: HEAD of endless answers, header lines, methods, and what log and metrics show of a request."""

from pathlib import Path

import pytest

import faults
from test_http import head, one_answer, status
from test_operations import samples
from timers import poll


def fields_of(answer):
    """Status and header fields of an answer that ends with its head."""
    first, rest = answer.split(b"\r\n", 1)
    assert rest.endswith(b"\r\n\r\n") and rest.count(b"\r\n\r\n") == 1, answer
    lines = rest.removesuffix(b"\r\n\r\n").split(b"\r\n")
    return status(first + b"\r\n"), {name.decode().lower(): value.strip().decode() for name, value in (line.split(b":", 1) for line in lines)}


@pytest.mark.parametrize("target", ["/v1/events", "/v1/timers/{id}/events", "/v1/events?follow=false"])
def test_head_of_a_stream_says_what_get_says(api, name, target):
    api.create(id=name)
    target = target.format(id=name)
    code, said = fields_of(api.raw(head("HEAD", target)))
    with api.stream(target).expect(200) as stream:
        assert code == 200 and {key: value for key, value in said.items() if key not in ("date", "request-id", "event-id")} \
            == {key.lower(): value for key, value in stream.headers.items() if key.lower() not in ("date", "request-id", "event-id")}
    assert said["transfer-encoding"] == "chunked" and "content-length" not in said


def test_head_of_a_wait_waits_for_nothing_and_names_no_length(api, name):
    api.create(id=name, start="subscriber")
    code, said = fields_of(api.raw(head("HEAD", f"/v1/timers/{name}/wait?timeout=10m")))
    assert code == 200 and said["event-id"] and said["content-type"] == "application/json"
    assert "content-length" not in said and "transfer-encoding" not in said
    assert status(api.raw(head("HEAD", f"/v1/timers/{name}/events"))) == 200
    assert api.timer(name)["state"] == "idle"
    assert status(api.raw(head("HEAD", f"/v1/timers/{name}-x/wait", "Connection: close"))) == 404


@pytest.mark.parametrize("limit", [1, 2**31 - 1, 2**31, 2**63 - 1])
def test_any_number_of_events_may_be_asked_for(api, name, limit):
    api.create(id=name)
    shown = api.get(f"/v1/timers/{name}/events?follow=false&limit={limit}").expect(200).lines
    assert [event["type"] for event in shown] == ["created", "activated"][:limit]


def test_a_hundred_header_lines_are_as_many_as_may_be(api):
    with api.socket() as sock:
        sock.sendall(head("GET", "/healthz", *[f"X-{number}: y" for number in range(99)]))
        assert one_answer(sock)[0] == 200
        sock.sendall(head("GET", "/healthz", *[f"X-{number}: y" for number in range(100)]))
        assert one_answer(sock)[0] == 431


def test_paths_that_lead_nowhere_share_one_label(new_server):
    api = new_server().client
    for target in ["/nowhere", "/v1/timers/a/b/c", "/v1/timers/x/explode", "/v2", "/v1/timers/%zz"]:
        assert api.get(target).status in (400, 404)
    assert status(api.raw(head("OPTIONS", "*", "Connection: close"))) == 204
    assert status(api.raw(head("GET", "/healthz", "X-Fill: " + "x" * 9000))) == 431
    counted = samples(api)["timerd_http_requests_total"]
    assert {labels["route"] for labels, _ in counted} == {"other"} and sum(value for _, value in counted) == 7
    assert all(labels["route"] in ("other", "/metrics") for labels, _ in samples(api)["timerd_http_request_seconds_count"])


@pytest.mark.parametrize("method", [b"G\x01T", b"GE\x1b[31mT", b"\x7f", b"G(T", b"\x80\x9b"])
def test_a_method_that_is_no_word_is_400_and_no_danger_to_the_log(new_server, method):
    server = new_server("--log-level", "debug")
    answer = server.client.raw(method + b" /healthz\x9b HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    assert status(answer) == 400
    answer = server.client.raw(method + b" /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    assert status(answer) == 400
    server.client.get("/healthz").expect(200)
    poll(lambda: server.log_text().count("status=400") == 2)
    assert all(0x20 <= byte < 0x7f or byte == 0x0a for byte in server.log.read_bytes())


def test_a_socket_that_the_kernel_can_not_watch_becomes_no_stream(new_server, tmp_path):
    library = faults.build(tmp_path, Path(__file__).with_name("unwatched.c"))
    full = tmp_path / "full"
    server = new_server(env={"LD_PRELOAD": str(library), "UNWATCHED": str(full)})
    api = server.client
    api.create(id="waited-for")
    with api.stream("/v1/events") as before:
        before.expect(200)
        full.touch()
        for _ in range(20):
            api.get("/v1/events").problem(503, "stream-limit")
            api.get("/v1/timers/waited-for/wait").problem(503, "stream-limit")
            assert api.head("/v1/events").status == 200
            # A request that the connection itself refuses needs no more than a socket either.
            assert status(api.raw(head("GET", "/healthz", "Content-Length: 5", "Content-Length: 6")) or b"HTTP/1.1 400 ") == 400
        assert api.get("/v1/stats").json["streams"] == 1
        full.unlink()
        api.create(id="seen")
        assert before.next()["timer"] == "seen"
        with api.stream("/v1/events") as after:
            after.expect(200)
            assert api.get("/v1/stats").json["streams"] == 2
    poll(lambda: api.get("/v1/stats").json["streams"] == 0)
    server.stop()
