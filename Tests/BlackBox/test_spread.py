"""Servers of one database over which the timers are spread: each owns some partitions, and answers for all timers."""

import random
import threading

import pytest

from server import Server
from timers import poll

pytestmark = pytest.mark.xdist_group("spread")

TOKEN = "a-token-of-the-cluster"
# A plan has to last for 5 s before partitions change hands, and noticing that a server is gone takes 2.5 s; on a busy machine a
# debug build takes a while.
SPREADING = 60.0
NODES = 3


def shares(server):
    """How many partitions each server has, as `server` knows it."""
    reply = server.client.get("/v1/cluster")
    return [node["partitions"] for node in reply.json["nodes"]] if reply.status == 200 else []


def is_spread(servers, partitions=8):
    """Whether every server sees each with a fair share, and is ready."""
    least = partitions // len(servers)
    for server in servers:
        owned = shares(server)
        if len(owned) != len(servers) or min(owned) < least or sum(owned) != partitions:
            return False
    return all(server.client.get("/readyz").status == 200 for server in servers)


@pytest.fixture(scope="module")
def spread(postgres, tmp_path_factory):
    """Three servers with a fair share each. Tests on them stop none."""
    token = tmp_path_factory.mktemp("tokens") / "cluster"
    token.write_text(TOKEN + "\n")
    flags = ("--store", postgres.schema("spread"), "--migrate", "--partitions", "8", "--cluster-spread",
             "--cluster-listen", "127.0.0.1:0", "--cluster-token-file", token)
    with Server(*flags) as one, Server(*flags) as two, Server(*flags) as three:
        servers = [one, two, three]
        poll(lambda: is_spread(servers), SPREADING)
        yield servers


def test_each_server_gets_a_share_and_answers_for_all_timers(spread):
    ids = [f"share-{number}" for number in range(64)]
    for number, id in enumerate(ids):
        spread[number % NODES].client.create(id=id, after="1h", labels={"of": "share"})
    for number, id in enumerate(ids):
        assert spread[(number + 1) % NODES].client.get(f"/v1/timers/{id}").expect(200).json["state"] == "running"
    for server in spread:
        listed = server.client.get("/v1/timers?label=of%3Dshare&limit=1000").expect(200).json["timers"]
        assert sorted(timer["id"] for timer in listed) == sorted(ids)


def test_a_stream_at_any_server_shows_every_event_of_all_in_one_order(spread):
    ids = [f"event-{number}" for number in range(48)]
    streams = [server.client.stream("/v1/events?types=created,cancelled&label=of%3Devent", headers={"Accept": "application/x-ndjson"})
               for server in spread]
    try:
        for number, id in enumerate(ids):
            spread[number % NODES].client.create(id=id, after="1h", labels={"of": "event"})
        for number, id in enumerate(ids):
            spread[(number + 1) % NODES].client.command(id, "cancel").expect(200)
        shown = [[stream.next() for _ in range(2 * len(ids))] for stream in streams]
    finally:
        for stream in streams:
            stream.close()
    assert shown[0] == shown[1] == shown[2]
    assert [event["eventId"] for event in shown[0]] == sorted({event["eventId"] for event in shown[0]}, key=lambda id: int(id.split("-")[0], 16) if "-" in id else id)
    for id in ids:
        assert [event["type"] for event in shown[0] if event["timer"] == id] == ["created", "cancelled"]
