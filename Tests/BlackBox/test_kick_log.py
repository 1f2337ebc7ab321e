"""Hundreds of thousands of kicks: the log stays small, no kick and no event is lost, and streams replay."""

import pytest

from server import Server

pytestmark = pytest.mark.alone

DOGS = 50
ROUNDS = 60
LINES = 2000


def kick(api):
    lines = [{"command": "kick", "id": f"dog-{number % DOGS}"} for number in range(LINES)]
    for _ in range(ROUNDS):
        results = api.batch(lines, "?results=brief").expect(200).lines
        assert all(result["status"] == 200 for result in results)


def data_bytes(server):
    """Bytes of the database without its write-ahead log, whose size does not follow what it holds."""
    return (server.data / "timers.db").stat().st_size


@pytest.mark.heavy
def test_kicks_do_not_grow_the_log_and_hide_no_event():
    with Server() as server:
        api = server.client
        for number in range(DOGS):
            api.create(id=f"dog-{number}", watchdog="1h")
        kicks = ROUNDS * LINES // DOGS
        for life in (1, 2):
            kick(api)
            server.kill9()
            server.start()
            api = server.client
            assert api.timer("dog-0")["kickCount"] == life * kicks
        # Some 50 bytes a kick would be 12 MB.
        assert data_bytes(server) < 10_000_000
        assert [event["type"] for event in api.history()] == ["created", "activated"] * DOGS
        dog = api.timer("dog-7")
        assert (dog["health"], dog["version"]) == ("ok", 1 + 2 * kicks)
