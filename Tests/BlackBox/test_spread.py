"""Servers of one database over which the timers are spread: each owns some partitions, and answers for all timers."""

import contextlib
import threading

import pytest

from server import Server, run
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


@pytest.fixture
def spreader(new_node, tmp_path):
    """A factory of servers that share a database of their own, over which its timers are spread."""
    token = tmp_path / "cluster-token"
    token.write_text(TOKEN + "\n")

    def make(count, *flags):
        nodes = [new_node("--partitions", "8", "--cluster-spread", "--cluster-listen", "127.0.0.1:0", "--cluster-token-file", token, *flags)
                 for _ in range(count)]
        make.made += nodes
        alive = [node for node in make.made if node.process.poll() is None]
        poll(lambda: is_spread(alive), SPREADING)
        return nodes

    make.made = []
    return make


class Load:
    """Creates timers at servers, some threads at each, until it ends. A context manager."""

    THREADS = 6

    def __init__(self, servers, prefix):
        self.servers, self.prefix = servers, prefix
        self.created, self.refused = [], []
        self.isOver = threading.Event()
        self.threads = [threading.Thread(target=self.create, args=(number,), daemon=True) for number in range(len(servers) * self.THREADS)]

    def create(self, number):
        client, count = self.servers[number % len(self.servers)].client, 0
        while not self.isOver.is_set():
            id, count = f"{self.prefix}-{number}-{count}", count + 1
            try:
                reply = client.post("/v1/timers", {"id": id, "after": "1h", "labels": {"of": self.prefix}}, timeout=30)
            except OSError as error:
                self.refused.append((id, error))
                continue
            (self.created if reply.status == 201 else self.refused).append((id, reply) if reply.status != 201 else id)

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.isOver.set()
        for thread in self.threads:
            thread.join(60)
            assert not thread.is_alive()

    def wait_for_more(self):
        """Waits until fifty more are created."""
        enough = len(self.created) + 50
        poll(lambda: len(self.created) >= enough, SPREADING)

    def check(self, there):
        """What was answered is there once, and what was refused is not, unless its refusal says that nobody knows."""
        assert {reply.status for _, reply in self.refused} <= {503}
        unclear = {id for id, reply in self.refused if reply.json["outcome"] == "unknown"}
        assert len(there) == len(set(there)) and set(self.created) <= set(there) <= set(self.created) | unclear


def listed(server, label):
    """The ids of all timers with the label, page by page."""
    ids, cursor = [], ""
    while cursor is not None:
        page = server.client.get(f"/v1/timers?label=of%3D{label}&limit=1000" + (f"&cursor={cursor}" if cursor else "")).expect(200).json
        ids += [timer["id"] for timer in page["timers"]]
        cursor = page["next"]
    return ids


def created(server, label, since="0"):
    """The timers of the events `created` with the label behind `since`, in their order."""
    events = server.client.get(f"/v1/events?types=created&label=of%3D{label}&since={since}&follow=false",
                               headers={"Accept": "application/x-ndjson"}, timeout=60).expect(200).lines
    positions = [event["id"] for event in events]
    assert positions == sorted(set(positions))
    return [event["timer"] for event in events]


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
    positions = [event["id"] for event in shown[0]]
    assert positions == sorted(set(positions))
    for id in ids:
        assert [event["type"] for event in shown[0] if event["timer"] == id] == ["created", "cancelled"]


def test_a_batch_over_all_partitions_and_its_repeat_at_another_server(spread):
    lines = [{"id": f"batch-{number}", "after": "1h", "labels": {"of": "batch"}} for number in range(200)]
    first = spread[0].client.batch(lines, "?results=brief", headers={"Idempotency-Key": "batch-1"}).expect(200)
    again = spread[1].client.batch(lines, "?results=brief", headers={"Idempotency-Key": "batch-1"}).expect(200)
    assert again.headers["Idempotency-Replayed"] == "true" and again.body == first.body
    assert sorted(listed(spread[2], "batch")) == sorted(line["id"] for line in lines)
    counts = spread[2].client.post("/v1/timers/bulk/cancel", {"labels": {"of": "batch"}}).expect(200).json
    assert counts["changed"] == len(lines)


def test_a_stream_goes_on_at_another_server_where_it_was(spread):
    ids = [f"resume-{number}" for number in range(30)]
    for number, id in enumerate(ids):
        spread[number % NODES].client.create(id=id, after="1h", labels={"of": "resume"})
    seen, since = [], "0"
    for number in range(6):
        path = f"/v1/events?types=created&label=of%3Dresume&since={since}&limit=5"
        with spread[number % NODES].client.stream(path, headers={"Accept": "application/x-ndjson"}) as stream:
            events = stream.take(5)
        seen += [event["timer"] for event in events]
        since = events[-1]["id"]
    assert seen == ids


def test_fires_of_every_timer_reach_streams_at_every_server_and_its_webhook_once(spread, receiver):
    ids = [f"fire-{number}" for number in range(24)]
    with contextlib.ExitStack() as stack:
        streams = [stack.enter_context(server.client.stream("/v1/events?types=fired&label=of%3Dfire", headers={"Accept": "application/x-ndjson"}))
                   for server in spread]
        for number, id in enumerate(ids):
            spread[number % NODES].client.create(id=id, after="20ms", labels={"of": "fire"}, webhook={"url": receiver.url("/hook")})
        shown = [stream.take(len(ids)) for stream in streams]
    assert sorted(event["timer"] for event in shown[0]) == sorted(ids)
    assert [[event["id"] for event in events] for events in shown] == [[event["id"] for event in shown[0]]] * NODES
    receiver.wait_for(len(ids))
    assert len(set(receiver.ids())) == len(receiver.ids()) == len(ids)


@pytest.mark.alone
def test_a_server_that_joins_gets_its_share_and_nothing_is_lost(spreader):
    first, second = spreader(2)
    with first.client.stream("/v1/events?types=created&label=of%3Djoin", headers={"Accept": "application/x-ndjson"}, timeout=60) as stream:
        with Load([first, second], "join") as load:
            third, = spreader(1)
            load.wait_for_more()
        there = listed(third, "join")
        load.check(there)
        shown = stream.take(len(there))
    positions = [event["id"] for event in shown]
    assert positions == sorted(set(positions)) and sorted(event["timer"] for event in shown) == sorted(there)
    for server in (first, second, third):
        assert sorted(listed(server, "join")) == sorted(there)
        assert created(server, "join") == [event["timer"] for event in shown]


@pytest.mark.alone
def test_a_server_that_stops_gives_its_timers_away_first(spreader):
    first, second, third = spreader(3)
    with Load([first, second], "stop") as load:
        load.wait_for_more()
        third.stop()
        poll(lambda: is_spread([first, second]), SPREADING)
        load.wait_for_more()
    there = listed(first, "stop")
    load.check(there)
    assert sorted(listed(second, "stop")) == sorted(there)
    assert sorted(created(first, "stop")) == sorted(created(second, "stop")) == sorted(there)


@pytest.mark.alone
def test_after_kill_9_the_others_have_every_timer_and_streams_at_them_go_on(spreader):
    first, second, third = spreader(3)
    with first.client.stream("/v1/events?types=created&label=of%3Dkill", headers={"Accept": "application/x-ndjson"}, timeout=60) as stream:
        with Load([first, second], "kill") as load:
            load.wait_for_more()
            third.kill9()
            poll(lambda: is_spread([first, second]), SPREADING)
            load.wait_for_more()
        there = listed(second, "kill")
        load.check(there)
        shown = stream.take(len(there))
    positions = [event["id"] for event in shown]
    assert positions == sorted(set(positions)) and {event["timer"] for event in shown} == set(there)
    assert created(second, "kill") == [event["timer"] for event in shown]


def test_servers_hear_of_each_other_though_they_hold_as_many_streams_as_they_may(spreader):
    first, second = spreader(2, "--max-streams", "1")
    headers = {"Accept": "application/x-ndjson"}
    with first.client.stream("/v1/events?types=created", headers=headers) as one, second.client.stream("/v1/events?types=created", headers=headers) as two:
        assert "timerd_streams 1\n" in first.client.get("/metrics").body.decode()
        for number in range(8):
            second.client.create(id=f"full-{number}", after="1h")
        assert [event["timer"] for event in one.take(8)] == [event["timer"] for event in two.take(8)] == [f"full-{number}" for number in range(8)]


def test_it_is_refused_where_it_can_do_nothing(spread):
    assert run("serve", "--cluster-spread").returncode == 64
