"""A server that hands its timers over to another: when asked to, and when it is stopped."""

import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException

import pytest

from client import Client
from moving import all_timers
from server import run
from test_cluster_standby import TAKE_OVER, metric
from test_forwarding import forwarder  # noqa: F401 (a fixture)
from timers import poll
from webhooks import hooked, fire

pytestmark = pytest.mark.xdist_group("postgres")


def owner_of(server):
    return (server.client.get("/v1/cluster").json["owner"] or {}).get("url")


def followed(*servers):
    """Waits until every server knows that all have read the log and that none is leaving."""
    def is_known(server):
        nodes = server.client.get("/v1/cluster").json["nodes"]
        return len(nodes) == len(servers) and all(node["followed"] and not node["leaving"] for node in nodes)
    for server in servers:
        poll(lambda: is_known(server), TAKE_OVER)


class Load:
    """Clients that make and suspend timers at servers until the block ends, or their server. `refused` holds answers but 200 and 201."""

    def __init__(self, *servers):
        self.servers, self.isOver = servers, threading.Event()
        self.answered, self.refused = [{} for _ in servers], []
        self.threads = [threading.Thread(target=self.change, args=(n,)) for n in range(len(servers))]

    def change(self, number):
        client = Client(self.servers[number].port)
        try:
            for n in range(100_000):
                if self.isOver.is_set():
                    return
                id = f"c{number}-{n}"
                for reply, state in ((client.post("/v1/timers", json={"id": id, "after": "1h"}), "running"),
                                     (client.post(f"/v1/timers/{id}/suspend"), "suspended")):
                    if reply.status not in (200, 201):
                        self.refused.append((reply.status, reply.body))
                    self.answered[number][id] = state
        except (OSError, HTTPException):
            # A server that is stopped closes its connections. The request that met that may have been carried out.
            self.answered[number].pop(id, None)

    def goes_on(self):
        """Waits until each client whose server runs has been answered some times more."""
        before = [len(answers) for answers in self.answered]
        poll(lambda: all(len(now) > then + 5 or server.process.poll() is not None
                         for now, then, server in zip(self.answered, before, self.servers)), TAKE_OVER)

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        self.goes_on()
        return self

    def __exit__(self, *_):
        self.isOver.set()
        for thread in self.threads:
            thread.join()


def all_states(api):
    return {id: timer["state"] for id, timer in all_timers(api).items()}


def test_a_hand_over_refuses_nothing_and_loses_nothing(forwarder):  # noqa: F811
    first, second, third = forwarder(), forwarder(), forwarder()
    followed(first, second, third)
    with Load(first, second, third) as load:
        # Any server takes the request.
        reply = third.client.post(f"/v1/cluster/promote?url={second.url}").expect(200).json
        assert reply["owner"]["url"] == second.url
        load.goes_on()
        poll(lambda: all(owner_of(server) == second.url for server in (first, second, third)))
        # The one that gave them away reads them again before it gets them back.
        poll(lambda: first.client.get("/readyz").status == 200, TAKE_OVER)
        followed(first, second, third)
        done = run("cluster", "promote", first.url, "--server", third.url)
        assert (done.stdout, done.stderr) == (f"{first.url} has the timers\n", "")
        load.goes_on()
    assert load.refused == []
    states = all_states(third.client)
    for answers in load.answered:
        assert {id: states.get(id) for id in answers} == answers
    for server, takes in ((first, 2), (second, 1), (third, 0)):
        assert metric(server.client, "timerd_takeovers_total") == takes
    assert metric(second.client, "timerd_standby_lag_seconds") >= 0


def test_a_server_that_is_stopped_hands_over_first(forwarder):  # noqa: F811
    first, second, third = forwarder(), forwarder(), forwarder()
    followed(first, second, third)
    with Load(first, second, third) as load:
        first.process.send_signal(signal.SIGTERM)
        assert first.process.wait(TAKE_OVER) == 0
        load.goes_on()
    assert load.refused == []
    assert "handed the timers over" in first.log_text()
    states = all_states(third.client)
    for answers in load.answered:
        assert {id: states.get(id) for id in answers} == answers


def test_the_command_line_shows_who_lags(forwarder):  # noqa: F811
    first, second = forwarder(), forwarder("--standby", "cold")
    status = run("cluster", "status", "--server", second.url).stdout.splitlines()
    assert status[0].split() == ["SERVER", "ROLE", "EPOCH", "LAG", "ROWS", "CLOCK"]
    shown = {line.split()[0]: line.split()[1:4] for line in status[1:]}
    assert shown[second.url] == ["standby", "-", "cold"]
    epoch = first.client.get("/v1/cluster").json["owner"]["epoch"]
    assert shown[first.url] == ["owner", str(epoch), "-"]


def test_without_a_server_that_has_read_the_timers_nothing_is_handed_over(forwarder):  # noqa: F811
    first, second = forwarder(), forwarder("--standby", "cold")
    problem = second.client.post("/v1/cluster/promote").problem(409, "no-successor")
    assert problem["detail"] == "no other server has read the timers"
    problem = first.client.post("/v1/cluster/promote?url=http%3A%2F%2Fnowhere%3A1").problem(409, "no-successor")
    assert "`http://nowhere:1`" in problem["detail"]
    failed = run("cluster", "promote", second.url, "--server", first.url)
    assert failed.returncode == 1 and "has not read the timers" in failed.stderr
    assert first.client.post(f"/v1/cluster/promote?url={first.url}").expect(200).json["owner"]["url"] == first.url
    assert owner_of(first) == first.url


@pytest.mark.parametrize(("target", "status"), [
    ("/v1/cluster/promote?to=x", 400), ("/v1/cluster/promote?url=a&url=b", 400)])
def test_a_malformed_request_to_hand_over_is_refused(server, target, status):
    server.client.post(target).expect(status)


def test_a_server_that_is_alone_hands_nothing_over(server):
    server.client.post("/v1/cluster/promote").problem(409, "no-successor")
    server.client.get("/v1/cluster/promote").expect(405)
    server.client.post("/v1/cluster/promote", headers={"Idempotency-Key": "k"}).problem(400, "invalid-request")


def test_a_batch_under_way_ends_before_a_hand_over_or_says_that_it_was_cut(forwarder):  # noqa: F811
    first, second = forwarder(), forwarder()
    followed(first, second)
    parts = [[{"id": f"p{part}-{n}", "after": "1h"} for n in range(5000)] for part in range(2)]
    with ThreadPoolExecutor(2) as pool:
        batches = [pool.submit(Client(server.port).batch, lines) for lines, server in zip(parts, (first, second))]
        first.client.post("/v1/cluster/promote").expect(200)
    poll(lambda: owner_of(second) == second.url)
    states = all_states(second.client)
    for lines, batch in zip(parts, batches):
        reply, ids = batch.result(), {line["id"] for line in lines}
        if reply.status == 503:
            # A slow machine takes longer than a hand-over waits.
            assert reply.json["outcome"] == "unknown", reply
            continue
        results = reply.expect(200).lines
        assert len(results) == len(ids) and {line["status"] for line in results} <= {201, 503}
        assert {line["timer"]["id"] for line in results if line["status"] == 201} == ids & set(states)


@pytest.mark.thorough
def test_a_webhook_under_way_ends_before_a_hand_over(forwarder, receiver):  # noqa: F811
    first, second = forwarder("--webhook-allow", "127.0.0.1/32"), forwarder("--webhook-allow", "127.0.0.1/32")
    followed(first, second)
    hooked(first.client, receiver.url("/hook"), "hooked")
    for _ in range(20):
        fire(first.client, "hooked")
    first.client.post("/v1/cluster/promote").expect(200)
    poll(lambda: len({request.header("webhook-id") for request in receiver.requests}) == 20, TAKE_OVER)
    assert len(receiver.requests) == 20
