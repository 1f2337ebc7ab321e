"""Details of HTTP that only the binary shows: its log, and a kernel that fails it."""

from pathlib import Path

import pytest

import faults
from server import FORWARDED
from test_http import head, status
from timers import poll


def test_a_method_that_is_no_word_is_400_and_no_danger_to_the_log(new_server):
    server, method = new_server("--log-level", "debug"), b"GE\x1b[31mT"
    answer = server.client.raw(method + b" /healthz\x9b HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    assert status(answer) == 400
    answer = server.client.raw(method + b" /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    assert status(answer) == 400
    server.client.get("/healthz").expect(200)
    poll(lambda: server.asked.log_text().count("status=400") == 2)
    assert all(0x20 <= byte < 0x7f or byte == 0x0a for byte in server.asked.log.read_bytes())


@pytest.mark.not_by_tls("a socket with TLS is watched before its stream")
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
            waited = api.get("/v1/timers/waited-for/wait?timeout=0s")
            # A forwarded wait that can't be watched is answered all the same.
            assert waited.status == 204 if FORWARDED else waited.problem(503, "stream-limit")
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
