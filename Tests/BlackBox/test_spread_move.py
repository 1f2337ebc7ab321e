"""Exports and imports at servers of one database over which the timers are spread."""

import json
from contextlib import contextmanager

import pytest

from moving import IGNORED, all_timers, body, bring, drain, export, move, parts, send, without
from server import Server
from test_move import every_kind
from test_slow_readers import settled_memory
from timers import poll
from webhooks import LATER, deliveries, event, fire, hooked

# To spread the partitions takes a while, and is part of a test's time.
pytestmark = [pytest.mark.xdist_group("spread"), pytest.mark.timeout(240)]

TOKEN = "a-token-of-the-cluster"
# A plan has to last for 5 s before partitions change hands, and noticing that a server is gone takes 2.5 s; on a busy machine a
# debug build takes a while.
SPREADING = 60.0
NODES = 3
PARTITIONS = 8
# With their payloads more than all connections on the way buffer.
MANY = 6000


def is_spread(servers):
    """Whether every server sees each with a fair share, and is ready."""
    for server in servers:
        reply = server.client.get("/v1/cluster")
        owned = [node["partitions"] for node in reply.json["nodes"]] if reply.status == 200 else []
        if len(owned) != len(servers) or min(owned) < PARTITIONS // len(servers) or sum(owned) != PARTITIONS:
            return False
    return all(server.client.get("/readyz").status == 200 for server in servers)


@contextmanager
def cluster(postgres, name, folder):
    """Servers with a fair share each."""
    token = folder / "cluster"
    token.write_text(TOKEN + "\n")
    flags = ("--store", postgres.schema(name), "--migrate", "--partitions", str(PARTITIONS), "--cluster-spread",
             "--cluster-listen", "127.0.0.1:0", "--cluster-token-file", token)
    with Server(*flags) as one, Server(*flags) as two, Server(*flags) as three:
        servers = [one, two, three]
        poll(lambda: is_spread(servers), SPREADING)
        yield servers


@pytest.fixture(scope="module")
def lasting_source(postgres, tmp_path_factory):
    with cluster(postgres, "spread_source", tmp_path_factory.mktemp("source")) as servers:
        yield servers


@pytest.fixture(scope="module")
def lasting_target(postgres, tmp_path_factory):
    with cluster(postgres, "spread_target", tmp_path_factory.mktemp("target")) as servers:
        yield servers


def emptied(servers):
    api = servers[0].client
    api.delete("/v1/drain").expect(200)
    while ids := list(all_timers(api)):
        api.batch([json.dumps({"command": "delete", "id": id}) for id in ids], "?results=brief").expect(200)
    for letter in deliveries(api, "state=dead"):
        api.delete(f"/v1/deliveries/{letter['id']}").expect(204)
    return servers


@pytest.fixture
def source(lasting_source):
    """A cluster without timers. Tests on it stop no server."""
    return emptied(lasting_source)


@pytest.fixture
def target(lasting_target):
    """Another one."""
    return emptied(lasting_target)


def fill(api, count=MANY, size=1000):
    """Many timers with payloads of some bytes."""
    for start in range(0, count, 2000):
        lines = [f'{{"id": "t{n}", "after": "1h", "payload": "{"x" * size}"}}' for n in range(start, min(start + 2000, count))]
        api.batch(lines, "?results=brief").expect(200)


def assert_moved(before, after):
    """Whether timers are as they were. Versions may have grown: they lie above those of timers that were deleted."""
    assert after.keys() == before.keys()
    for id, timer in before.items():
        assert without(after[id], "version", *IGNORED) == without(timer, "version", *IGNORED), id
        assert after[id]["version"] >= timer["version"], id


def timers_of(lines):
    return [line["timer"]["id"] for line in lines if "timer" in line]


@contextmanager
def slow_export(api):
    """A connection that has asked for an export and read its beginning only; what was read."""
    with api.socket() as sock:
        sock.sendall(b"GET /v1/export HTTP/1.0\r\nHost: localhost\r\n\r\n")
        data = b""
        while b'"export"' not in data:
            data += sock.recv(1000)
        yield sock, data


def rest(sock, data):
    """All that is still to come."""
    try:
        while piece := sock.recv(65536):
            data += piece
    except ConnectionResetError:
        pass
    return data.split(b"\r\n\r\n", 1)[1]


def test_an_export_at_any_server_has_the_timers_of_all(source):
    count = every_kind(source[0].client)
    made = all_timers(source[1].client)
    assert len(made) == count
    drain(source[2].client)
    for server in source:
        lines = export(server.client, "?secrets=true")
        assert lines[0]["drained"] is True and lines[0]["secrets"] is True and "export" not in lines[1]
        assert sorted(timers_of(lines)) == sorted(made)
    ids = {export(server.client)[0]["export"] for server in source}
    assert len(ids) == NODES, "each export has an id of its own"
    source[0].client.head("/v1/export").expect(200)


def test_an_export_moves_to_a_single_server(source, new_server):
    single = new_server().client
    count = every_kind(source[0].client)
    before = all_timers(source[0].client)
    assert move(source[1].client, single) == {"timers": count, "deliveries": 0, "skipped": 0}
    assert_moved(before, all_timers(single))


def test_what_is_owed_to_webhooks_moves_to_a_single_server(source, new_server, receiver):
    single = new_server().client
    api = source[0].client
    receiver.default = 500
    # What one timer owes is more than a stream may buffer.
    for number in range(6):
        hooked(api, receiver.url(f"/w{number}"), f"w{number}", retry=LATER, timer={"payload": "x" * 60_000})
        fire(api, f"w{number}", 20)
    for number in range(6):
        event(api, f"w{number}", "deliveryFailed")
    assert move(source[1].client, single, size=40) == {"timers": 6, "deliveries": 120, "skipped": 0}
    assert len(deliveries(single)) == 120


def test_what_changes_during_an_export_comes_again(source, new_server):
    single = new_server().client
    api = source[0].client
    fill(api)
    with slow_export(source[1].client) as (sock, data):
        assert b'"drained":false' in data
        for n in range(0, MANY, MANY // 20):
            api.command(f"t{n}", "suspend").expect(200)
        lines = [json.loads(line) for line in rest(sock, data).splitlines()]
    assert lines[-1] == {"end": True, "lines": len(lines) - 1}
    bring(single, lines, query="&copy=true")
    assert len(single.get("/v1/timers?state=suspended&limit=1000").json["timers"]) == 20
    assert len(all_timers(single)) == MANY


def test_an_export_that_is_undrained_meanwhile_has_no_end(source):
    fill(source[0].client)
    drain(source[0].client)
    with slow_export(source[1].client) as (sock, data):
        source[2].client.delete("/v1/drain").expect(200)
        drain(source[0].client)
        assert b'"end"' not in rest(sock, data), "it would be no state that the timers had at one moment"


def test_a_client_that_does_not_read_costs_little_memory(source):
    """What a server may hold for it: buffers of a few hundred KiB, not the export."""
    count = 2500
    fill(source[0].client, count, size=8000)
    drain(source[0].client)
    export(source[1].client)
    before = [settled_memory(server) for server in source]
    with slow_export(source[1].client) as (sock, data):
        after = [settled_memory(server) for server in source]
        assert all(then - now < 8 << 20 for now, then in zip(before, after)), (before, after)
        lines = rest(sock, data).splitlines()
    assert json.loads(lines[-1]) == {"end": True, "lines": count + 1}


def test_an_owner_killed_during_an_export_leaves_it_without_an_end(postgres, tmp_path):
    with cluster(postgres, "spread_killed", tmp_path) as servers:
        fill(servers[0].client)
        drain(servers[0].client)
        with slow_export(servers[1].client) as (sock, data):
            servers[2].kill9()
            assert b'"end"' not in rest(sock, data)
        poll(lambda: len(all_timers(servers[1].client)) == MANY, SPREADING)
        poll(lambda: servers[1].client.get("/v1/export", timeout=60).status == 200, SPREADING)
        lines = export(servers[0].client)
        assert len(set(timers_of(lines))) == MANY and lines[0]["drained"] is True


def shares_of(servers):
    """How many timers each server owns, of its metrics."""
    counts = []
    for server in servers:
        text = server.client.get("/metrics").expect(200).body.decode()
        counts.append(sum(int(float(line.rsplit(" ", 1)[1])) for line in text.splitlines() if line.startswith("timerd_timers{")))
    return counts


def test_a_move_into_another_cluster(source, target, receiver):
    api = source[0].client
    receiver.default = 500
    count = every_kind(api)
    for number in range(12):
        hooked(api, receiver.url(f"/w{number}"), f"w{number}", retry=LATER)
        fire(api, f"w{number}", 3)
    for number in range(12):
        event(api, f"w{number}", "deliveryFailed")
    fill(api, 300)
    drain(api)
    before = all_timers(api)
    done = bring(target[1].client, export(source[1].client, "?secrets=true"), size=100)
    assert done == {"timers": count + 12 + 300, "deliveries": 36, "skipped": 0}
    for server in target:
        assert_moved(before, all_timers(server.client))
    assert len(deliveries(target[2].client)) == len(deliveries(api)) == 36
    assert min(shares_of(target)) > 0


def test_an_export_of_a_single_server_moves_into_a_cluster(target, new_server):
    single = new_server().client
    count = every_kind(single)
    fill(single, 300)
    drain(single)
    before = all_timers(single)
    assert bring(target[2].client, export(single, "?secrets=true"), size=50) == {"timers": count + 300, "deliveries": 0, "skipped": 0}
    assert_moved(before, all_timers(target[0].client))


def test_an_import_repeated_is_done_once(target, new_server):
    single = new_server().client
    fill(single, 30, size=10)
    drain(single)
    lines = export(single)
    id = lines[0]["export"]
    for number, part in enumerate(parts(lines, 10)):
        first, second = target[number % NODES].client, target[(number + 1) % NODES].client
        assert first.get(f"/v1/import/{id}").expect(200).json == {"export": id, "next": number, "complete": False}
        assert send(first, part, number, id).expect(200).json["applied"] is True
        assert send(second, part, number, id).expect(200).json["applied"] is False
    assert second.get(f"/v1/import/{id}").expect(200).json == {"export": id, "next": 4, "complete": True}
    assert len(all_timers(second)) == 30


@pytest.mark.parametrize("policy", ["fail", "skip", "replace"])
def test_an_id_that_is_taken(target, new_server, policy):
    single = new_server().client
    fill(single, 40, size=10)
    drain(single)
    lines = export(single)
    target[0].client.create(id="t7", after="5h")
    answer = send(target[1].client, lines, query=f"&onConflict={policy}")
    if policy == "fail":
        problem = answer.problem(409, "timer-exists")
        assert problem["timer"] == "t7" and lines[problem["line"] - 1]["timer"]["id"] == "t7"
        assert all_timers(target[2].client).keys() == {"t7"}, "a refused part changes nothing at any server"
        assert target[2].client.get(f"/v1/import/{lines[0]['export']}").expect(200).json["next"] == 0
    else:
        assert answer.expect(200).json["skipped"] == (1 if policy == "skip" else 0)
        assert len(all_timers(target[2].client)) == 40
        assert target[2].client.timer("t7")["after"] == ("5h" if policy == "skip" else "1h")


@pytest.mark.parametrize("change, where", [
    (lambda line: "{", None), (lambda line: line | {"more": 1}, "/more"), (lambda line: line | {"timer": line["timer"] | {"id": ".."}}, "/timer/id"),
    (lambda line: line | {"state": line["state"] | {"version": 0}}, "/state/version"), (lambda line: {"nothing": 1}, "/nothing"),
])
def test_a_bad_line_is_told_and_changes_nothing(target, new_server, change, where):
    single = new_server().client
    fill(single, 40, size=10)
    drain(single)
    lines = export(single)
    lines[23] = change(lines[23])
    for server in target:
        problem = send(server.client, lines).problem(400)
        assert problem["line"] == 24
        assert not where or problem["pointer"] == where
    assert not all_timers(target[0].client)
    assert send(target[0].client, lines[:1] + lines[-1:], id=lines[0]["export"]).problem(400)["pointer"] == "/lines"
    assert send(target[0].client, lines, part=1).problem(400)["parameter"] == "part"


def test_what_was_not_drained_is_a_copy_only(source, target):
    fill(source[0].client, 40, size=10)
    lines = export(source[1].client)
    send(target[1].client, lines).problem(409, "still-running")
    assert not all_timers(target[0].client)
    assert bring(target[1].client, lines, query="&copy=true")["timers"] == 40


@pytest.mark.alone
def test_an_import_repeated_after_a_kill_brings_nothing_twice(postgres, tmp_path, new_server):
    single = new_server().client
    count = 8000
    fill(single, count, size=500)
    drain(single)
    lines = export(single)
    id = lines[0]["export"]
    content = body(lines).encode()
    with cluster(postgres, "spread_import_killed", tmp_path) as servers:
        api = servers[0].client
        with servers[1].client.socket() as sock:
            sock.sendall(f"POST /v1/import?export={id}&part=0 HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n"
                         f"Content-Length: {len(content)}\r\n\r\n".encode() + content)
            poll(lambda: sum(api.get("/v1/stats").json["timers"].values()) > 100, SPREADING, pause=0.001)
            servers[1].kill9()
        poll(lambda: api.get("/v1/timers").status == 200, SPREADING)
        there = set(all_timers(api))
        print(f"{len(there)} of {count} when the server was killed")
        # What came is changed: a line that is taken once more would take that back.
        commands = [json.dumps({"command": "suspend", "id": timer}) for timer in sorted(there)]
        assert all(line["status"] == 200 for line in api.batch(commands, "?results=brief").expect(200).lines)
        poll(lambda: send(api, lines).status == 200, SPREADING)
        assert send(servers[2].client, lines).expect(200).json == {"applied": False, "next": 1, "complete": True}
        after = all_timers(api)
        assert len(after) == count
        for timer, shown in after.items():
            assert (shown["state"], shown["version"]) == (("suspended", 2) if timer in there else ("running", 1)), timer
