"""Two servers on one database: one serves, the other stands by and takes over."""

import re
import signal

import pytest

from namespaces import can_unshare
from server import Server, binary, run
from timers import duration, poll
from webhooks import event, fire, hooked

pytestmark = pytest.mark.xdist_group("postgres")

# Attempts at a webhook that go on until somebody takes it.
STUBBORN = {"initial": "100ms", "max": "200ms", "maxAttempts": 100}
# Noticing that a server is gone takes 2.5 s, and its log is read by a debug build on a busy machine.
TAKE_OVER = 30.0


def is_ready(server):
    return server.client.get("/readyz").status == 200


def warmed_up(server):
    """The answer of `/readyz` of a standby, once it has read the log."""
    poll(lambda: server.client.get("/readyz").json["status"] != "warming", TAKE_OVER)
    return server.client.get("/readyz")


def taken_over(server):
    poll(lambda: is_ready(server), TAKE_OVER)
    return server.client


def timers(api):
    """What must not change by a take-over, of the timers of one batch."""
    page = api.get("/v1/timers?label=of%3Dbatch&limit=1000").expect(200).json
    return {timer["id"]: (timer["version"], timer["state"], timer["nextFireAt"]) for timer in page["timers"]}


def metric(api, name):
    line = re.search(rf"^{name} (\S+)$", api.get("/metrics").body.decode(), re.M)
    assert line, f"no {name}"
    return float(line[1])


@pytest.mark.parametrize(("method", "path"), [
    ("GET", "/v1/timers"), ("POST", "/v1/timers"), ("GET", "/v1/timers/tea"), ("PUT", "/v1/timers/tea"), ("DELETE", "/v1/timers/tea"),
    ("POST", "/v1/timers/tea/suspend"), ("GET", "/v1/timers/tea/wait"), ("GET", "/v1/timers/tea/events"), ("GET", "/v1/events"),
    ("POST", "/v1/timers/batch"), ("POST", "/v1/timers/bulk/cancel"), ("GET", "/v1/deliveries"), ("GET", "/v1/stats"),
])
def test_a_standby_answers_nothing_about_timers(pair, method, path):
    first, second = pair
    reply = second.client.request(method, path, json={"after": "1h"} if method in ("POST", "PUT") else None)
    problem = reply.problem(503, "owner-unavailable")
    assert reply.headers["Retry-After"] == "1"
    assert problem["outcome"] == "none" and problem["owner"] == first.url, problem


def test_a_standby_is_healthy_and_not_ready(pair):
    first, second = pair
    assert second.client.get("/healthz").status == 200
    reply = warmed_up(second)
    assert reply.status == 503 and reply.json == {"status": "standby", "owner": first.url}
    assert metric(second.client, "timerd_ready") == 0
    assert metric(first.client, "timerd_ready") == 1
    for path in ("/", "/docs", "/openapi.yaml", "/problems/owner-unavailable"):
        second.client.get(path).expect(200)


def test_each_server_shows_the_cluster(pair):
    first, second = pair
    for asked in pair:
        # A server learns with its next beat of one that has joined.
        poll(lambda: len(asked.client.get("/v1/cluster").json["nodes"]) == 2)
        cluster = asked.client.get("/v1/cluster").expect(200).json
        nodes = {node["url"]: node for node in cluster["nodes"]}
        assert cluster["url"] == asked.url and cluster["session"] == nodes[asked.url]["session"]
        assert {url: node["role"] for url, node in nodes.items()} == {first.url: "owner", second.url: "standby"}
        assert 0 < duration(cluster["lease"]) <= 2000
        owner = cluster["owner"]
        assert owner["url"] == first.url and owner["session"] == nodes[first.url]["session"] and owner["epoch"] >= 1
        assert (cluster["head"] is not None) == (asked is first)


def test_the_command_line_shows_the_cluster(pair):
    first, second = pair
    status = run("cluster", "status", "--server", second.url).stdout.splitlines()
    assert status[0].split() == ["SERVER", "ROLE", "EPOCH", "LAG", "ROWS", "CLOCK"] and len(status) == 3
    rows = {line.split()[0]: line.split()[1] for line in status[1:]}
    assert rows == {first.url: "owner", second.url: "standby"}


@pytest.fixture(scope="module")
def pair(postgres):
    """The server that serves, and one that stands by. Tests on them stop neither."""
    uri = postgres.schema("pair")
    with Server("--store", uri, "--migrate") as first, Server("--store", uri) as second:
        yield first, second


@pytest.mark.parametrize("standby", ["warm", pytest.param("cold", marks=pytest.mark.thorough)])
def test_after_kill_9_another_server_has_every_timer_stream_position_and_webhook(new_node, receiver, standby):
    first, second = new_node(), new_node("--standby", standby)
    assert warmed_up(second).json["status"] == "standby"
    receiver.default = 500
    api = first.client
    api.batch([{"id": f"t{n}", "after": "1h", "labels": {"of": "batch"}} for n in range(300)]).expect(200)
    hooked(api, receiver.url("/hook"), "hooked", retry=STUBBORN)
    fire(api, "hooked")
    attempt = receiver.wait_for(1)[0]
    with api.stream("/v1/events?since=0") as stream:
        seen = stream.take(200)
    shown = timers(api)
    assert len(shown) == 300
    first.kill9()
    api = taken_over(second)
    assert timers(api) == shown
    rest = api.history(f"&since={seen[-1]['id']}")
    ids = [event["id"] for event in seen + rest]
    assert ids == [event["id"] for event in api.history()][:len(ids)] and len(set(ids)) == len(ids)
    assert sorted(event["timer"] for event in seen + rest if event["type"] == "created" and event["timer"] != "hooked") == sorted(shown)
    receiver.default = 200
    event(api, "hooked", "delivered")
    assert set(receiver.ids()) == {attempt.id}
    assert metric(api, "timerd_takeovers_total") == 1


@pytest.mark.thorough
def test_a_changed_calendar_holds_over_a_take_over(new_node):
    first, second = new_node(), new_node()
    first.client.put("/v1/calendars/shop", {"timeZone": "UTC", "week": {"mon-sun": ["00:00-24:00"]}}).expect(201)
    first.client.batch([{"id": f"t{n}", "after": "27h", "clock": "working", "calendar": "shop"} for n in range(1000)]).expect(200)
    first.client.put("/v1/calendars/shop", {"timeZone": "UTC", "week": {"mon-sun": ["11:30-12:30"]}}).expect(200)
    first.kill9()
    page = taken_over(second).get("/v1/timers?limit=1000").expect(200).json["timers"]
    # An hour a day is open, so that 27 hours take some 27 days.
    assert len(page) == 1000 and {timer["createdAt"][:10] < timer["nextFireAt"][:10] for timer in page} == {True}
    assert all(timer["remaining"] >= "26h" for timer in page)


@pytest.mark.thorough
def test_a_standby_that_stood_still_reads_what_it_missed(new_node):
    first, second = new_node(), new_node()
    api = first.client
    api.batch([{"id": f"t{n}", "after": "1h", "labels": {"of": "batch"}} for n in range(200)]).expect(200)
    warmed_up(second)
    second.process.send_signal(signal.SIGSTOP)
    try:
        for n in range(0, 200, 2):
            api.delete(f"/v1/timers/t{n}").expect(204)
        api.batch([{"id": f"t{n}", "after": "2h", "labels": {"of": "batch"}} for n in range(200, 300)]).expect(200)
        shown = timers(api)
    finally:
        second.process.send_signal(signal.SIGCONT)
    first.kill9()
    assert len(shown) == 200 and timers(taken_over(second)) == shown


def test_sigterm_hands_over_without_waiting_for_beats_that_stop(new_node):
    first, second = new_node(), new_node()
    first.client.create(id="tea")
    first.stop()
    api = taken_over(second)
    # The first server's beats allowed it to promise more than it did: the second one need not wait until that is past.
    api.command("tea", "suspend").expect(200)
    assert "a node's beats have stopped" not in second.log_text()


@pytest.mark.thorough
def test_a_server_that_was_stopped_past_its_lease_shows_nothing_old(new_node):
    first, second = new_node("--heartbeat", "100ms"), new_node()
    first.client.create(id="tea")
    with first.client.stream("/v1/events?since=0") as stream:
        stream.take(1)
        first.process.send_signal(signal.SIGSTOP)
        try:
            api = taken_over(second)
            api.command("tea", "suspend").expect(200)
        finally:
            first.process.send_signal(signal.SIGCONT)
        reply = first.client.get("/v1/timers/tea")
        assert reply.status == 503, reply
        poll(lambda: first.client.get("/v1/timers/tea").json.get("owner") == second.url, TAKE_OVER)
    assert warmed_up(first).json == {"status": "standby", "owner": second.url}
    assert api.timer("tea")["state"] == "suspended"


@pytest.mark.thorough
def test_a_run_that_finds_the_log_taken_away_changes_nothing(new_node, postgres, database):
    server = new_node()
    api, schema = server.client, database.rsplit("%3D", 1)[1]
    api.batch([{"id": f"t{n}", "after": "1h", "labels": {"of": "batch"}} for n in range(20)]).expect(200)
    shown = timers(api)
    # Another process has the log, which the server finds by its next append, or by its next beat.
    postgres.execute("UPDATE timerd_owner SET session = 0, epoch = epoch + 1", schema)
    api.post("/v1/timers/bulk/cancel", {"labels": {"of": "batch"}}).problem(503)
    # It comes back: nobody else is there.
    assert timers(taken_over(server)) == shown


def test_servers_that_do_not_read_the_format_of_a_newer_owner_end(new_node, postgres, database):
    servers = [new_node(), new_node()]
    postgres.execute("UPDATE timerd_meta SET value = '99' WHERE key = 'format'", database.rsplit("%3D", 1)[1])
    for server in servers:
        assert server.wait() == 78
        # One that starts then does the same.
        server.launch()
        assert server.wait() == 78
        assert server.log_text().count("the log has format 99, written by a newer timerd; this one reads up to") == 2


@pytest.mark.skipif(not can_unshare("--mount"), reason="a mount of its own needs root")
def test_a_server_without_the_time_zone_of_a_timer_leaves_the_timers_to_another(new_node, tmp_path):
    first = new_node()
    first.client.create(id="tea", cron="0 9 * * *", timeZone="Europe/Berlin")
    # Its URL comes first, so it takes the log.
    without = ["unshare", "--mount", "sh", "-c", f'mount --bind {tmp_path} /usr/share/zoneinfo && exec "$@"', "sh", binary()]
    unable = new_node("--cluster-url", "http://0.example", command=without)
    able = new_node()
    poll(lambda: [node["memory"] for node in able.client.get("/v1/cluster").json["nodes"]].count("warm") == 2, TAKE_OVER)
    first.kill9()
    assert taken_over(able).timer("tea")["state"] == "running"
    assert "took the timers over" in unable.log_text() and "the time zone `Europe/Berlin`" in unable.log_text()
    poll(lambda: unable.client.get("/readyz").json.get("owner") == able.url, TAKE_OVER)


def test_two_servers_started_at_once_make_the_tables_once(new_server, postgres):
    uri = postgres.schema("race")
    servers = [Server("--store", uri, "--migrate") for _ in range(3)]
    try:
        for server in servers:
            server.launch()
        for server in servers:
            server.come_up()
        poll(lambda: sum(is_ready(server) for server in servers) == 1, TAKE_OVER)
        owner = next(server for server in servers if is_ready(server))
        poll(lambda: all(server is owner or server.client.get("/readyz").json.get("owner") == owner.url for server in servers), TAKE_OVER)
        owner.client.create(id="tea")
        assert postgres.execute("SELECT count(*) FROM timerd_owner WHERE session <> 0", "race") == ["1"]
    finally:
        for server in servers:
            server.__exit__(None, None, None)
