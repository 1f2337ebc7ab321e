"""Hundreds of thousands of kicks: the log stays small, nothing of them or of the events is lost, and streams replay."""

import json

from server import Server

DOGS = 50
ROUNDS = 60
LINES = 2000


def kick(api, rounds):
    line = "".join(f'{{"command":"kick","id":"dog-{number % DOGS}"}}\n' for number in range(LINES))
    for _ in range(rounds):
        answer = api.request("POST", "/v1/timers/batch?results=brief", body=line.encode(),
                             headers={"Content-Type": "application/x-ndjson"})
        assert answer.status == 200 and b'"problem"' not in answer.body


def data_bytes(server):
    """Bytes of the database without its write-ahead log, whose size does not follow what it holds."""
    return (server.data / "timers.db").stat().st_size


def test_kicks_do_not_grow_the_log_and_hide_no_event():
    with Server() as server:
        api = server.client()
        for number in range(DOGS):
            assert api.post("/v1/timers", {"id": f"dog-{number}", "watchdog": "1h"}).status == 201
        for half in range(2):
            kick(api, ROUNDS)
            server.kill9()
            server.start()
            api = server.client()
            count = api.get("/v1/timers/dog-0").json["kickCount"]
            assert count == (half + 1) * ROUNDS * LINES // DOGS
        # Some 50 bytes a kick would be 12 MB.
        assert data_bytes(server) < 10_000_000
        answer = api.request("GET", "/v1/events?since=0&follow=false")
        events = [json.loads(line) for line in answer.body.splitlines() if line]
        assert [event["type"] for event in events] == ["created", "activated"] * DOGS
        stored = json.loads(api.get("/v1/timers/dog-7").body)
        assert stored["health"] == "ok" and stored["version"] == 1 + 2 * ROUNDS * LINES // DOGS
