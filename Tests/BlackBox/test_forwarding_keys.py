"""Access keys of servers that share a database: what the owner of the timers judges, a server that forwards passes on."""

import contextlib
import json

import pytest

from keys import TOKEN, Keyring, forbidden, unauthorized
from server import Server
from test_audit import lines
from test_forwarding import answered, shape
from test_http import head
from test_reload import reload
from timers import poll

pytestmark = pytest.mark.xdist_group("forwarding-keys")

CLUSTER = "a-token-of-the-cluster"


def flags_of(folder):
    cluster, tokens = folder / "cluster", folder / "tokens"
    cluster.write_text(CLUSTER + "\n")
    tokens.write_text(TOKEN + "\n")
    return tokens, ("--migrate", "--cluster-listen", "127.0.0.1:0", "--cluster-token-file", cluster, "--token-file", tokens)


def until_forwarding(*servers):
    for server in servers:
        poll(lambda: server.client.get("/readyz").status == 200)
        poll(lambda: len(server.client.get("/v1/cluster").json["nodes"]) == len(servers))


class Pair:
    """The server that owns the timers, and one that forwards to it. `keyring` is of the owner."""

    def __init__(self, owner, entry, tokens):
        self.keyring, self.far = Keyring(owner, tokens), Keyring(entry, tokens)

    def clients(self, secret):
        """A client of each server with the key, or secret."""
        return [keyring.holding(secret) for keyring in (self.keyring, self.far)]


@pytest.fixture(scope="module")
def pair(postgres, tmp_path_factory):
    """Tests on the two servers stop neither."""
    tokens, flags = flags_of(tmp_path_factory.mktemp("tokens"))
    flags = ("--store", postgres.schema("forwarding_keys"), *flags)
    with Server(*flags, token=TOKEN) as owner, Server(*flags, token=TOKEN) as entry:
        until_forwarding(owner, entry)
        yield Pair(owner, entry, tokens)


@pytest.mark.parametrize("made_at", [0, 1], ids=["owner", "relay"])
def test_a_key_is_one_at_both(pair, name, made_at):
    admins = pair.clients(TOKEN)
    key = admins[made_at].post("/v1/keys", {"name": "both", "scopes": ["write"]}).expect(201).json
    for number, client in enumerate(pair.clients(key)):
        assert client.get("/v1/keys/self").expect(200).json["id"] == key["id"]
        client.create(id=f"{name}-{number}")
        assert {event["by"] for event in admins[0].history_of(f"{name}-{number}")} == {key["id"]}
    new = admins[1 - made_at].post(f"/v1/keys/{key['id']}/rotate").expect(200).json
    for old, client in zip(pair.clients(key), pair.clients(new)):
        unauthorized(old.get("/v1/timers?limit=1"))
        client.get("/v1/timers?limit=1").expect(200)
    admins[made_at].delete(f"/v1/keys/{key['id']}").expect(204)
    for client in pair.clients(new):
        unauthorized(client.get("/v1/timers?limit=1"))


def essence(reply):
    """An answer without what differs from one time to the next: whole where it says nothing of a timer's version."""
    if reply.target.endswith("/batch") and reply.status == 200:
        return [(line["status"], line.get("problem", {}).get("type")) for line in reply.json]
    return reply.status if reply.status == 200 else shape(reply)


@pytest.mark.parametrize("method, path, body", [
    ("GET", "/v1/timers/ID", None), ("GET", "/v1/timers?label=a%3Db", None), ("POST", "/v1/timers", {"after": "no"}), ("DELETE", "/v1/timers/ID", None),
    ("POST", "/v1/timers/ID/kick", None), ("POST", "/v1/timers/none/kick", None), ("POST", "/v1/timers/ID/resume", None), ("GET", "/v1/timers/ID/events?follow=false", None),
    ("GET", "/v1/timers/ID/wait?timeout=0s", None), ("POST", "/v1/timers/batch", [{"command": "kick", "id": "ID"}, {"command": "cancel", "id": "none"}, {"after": "no"}]),
    ("POST", "/v1/timers/bulk/kick?dryRun=true", {"labels": {"a": "b"}}), ("GET", "/v1/keys", None), ("GET", "/v1/export", None), ("GET", "/nowhere", None),
    ("GET", "/v1/deliveries?timer=ID", None), ("GET", "/v1/deliveries", None), ("POST", "/v1/schedules/preview", {"at": "2030-01-01T00:00:00Z"}),
], ids=lambda value: "-" if value is None else str(value)[:50])
@pytest.mark.parametrize("scope, prefix", [
    ("read", None), ("write", "in."), pytest.param("kick", None, marks=pytest.mark.thorough), pytest.param("kick", "in.", marks=pytest.mark.thorough)], ids=str)
def test_the_relay_answers_as_the_owner_does(pair, scope, prefix, method, path, body):
    """Refusals word for word, kicks of a key that may not read without a body, webhooks of a reader masked."""
    key = pair.keyring.make(scope, idPrefix=prefix)
    for id in ("in.tea", "no.tea"):
        text, replies = json.dumps(body).replace("ID", id), []
        for client in pair.clients(key):
            hook = {"url": "http://hooks.example/s3cret", "headers": {"X-Plain": "s3cret"}}
            pair.keyring.admin.put(f"/v1/timers/{id}", {"watchdog": "1h", "labels": {"a": "b"}, "webhook": hook})
            replies.append(client.request(method, path.replace("ID", id), body=None if body is None else text))
        assert essence(replies[0]) == essence(replies[1])
        assert scope != "read" or b"s3cret" not in replies[1].body


def test_scopes_are_judged_at_the_relay(pair, name):
    pair.keyring.admin.create(id=name, watchdog="1h")
    reader, kicker, writer = (pair.far.client(scope) for scope in ("read", "kick", "write"))
    forbidden(reader.post("/v1/timers", {"after": "1h"}), scope="write")
    forbidden(reader.command(name, "kick"), scope="kick")
    forbidden(kicker.get(f"/v1/timers/{name}"), scope="read")
    forbidden(writer.get("/v1/keys"), scope="admin")
    reply = kicker.command(name, "kick").expect(204)
    assert reply.body == b"" and not {"ETag", "Event-Id"} & set(reply.headers)
    assert reader.timer(name)["kickCount"] == 1
    own = pair.far.client("write", idPrefix=f"{name}-in.")
    for id in (name, f"{name}-none"):
        forbidden(own.get(f"/v1/timers/{id}"), idPrefix=f"{name}-in.")
    own.create(id=f"{name}-in.1")


@pytest.mark.parametrize("value", ["token", "KEY", "key=KEY", "SECRET", "", "admin"])
def test_a_clients_own_header_of_relays_is_no_credential(pair, name, value):
    """A relay names the client to the owner by `Timerd-Client`; from a client it counts for nothing, at either server."""
    strong, weak, writer = (pair.keyring.make(scope) for scope in ("admin", "read", "write"))
    headers = {"Timerd-Client": value.replace("KEY", strong["id"]).replace("SECRET", strong["secret"])}
    for number in (0, 1):
        unauthorized(pair.clients(None)[number].get("/v1/timers", headers=headers))
        unauthorized(pair.clients(weak["secret"][:-1])[number].get("/v1/timers", headers=headers))
        forbidden(pair.clients(weak)[number].post("/v1/timers", {"after": "1h"}, headers=headers), scope="write")
        forbidden(pair.clients(writer)[number].get("/v1/keys", headers=headers), scope="admin")
        made = pair.clients(writer)[number].post("/v1/timers", {"id": f"{name}-{number}", "after": "1h"}, headers=headers).expect(201).json
        assert {event["by"] for event in pair.keyring.admin.history_of(made["id"])} == {writer["id"]}


@pytest.mark.parametrize("at", [0, 1], ids=["at the owner", "at the relay"])
@pytest.mark.parametrize("how", ["revoke", pytest.param("rotate", marks=pytest.mark.thorough), pytest.param("expire", marks=pytest.mark.thorough)])
def test_the_end_of_a_key_ends_what_is_relayed(pair, name, at, how):
    pair.keyring.admin.create(id=name, watchdog="1h")
    key, spared = pair.keyring.make("read"), pair.keyring.make("read")
    timer = f"/v1/timers/{name}"

    def open_streams():
        return pair.keyring.admin.get("/v1/stats").json["streams"]
    poll(lambda: open_streams() == 0)
    with contextlib.ExitStack() as stack:
        ending = [stack.enter_context(client.stream(target, headers)).expect(200) for client in pair.clients(key)
                  for target, headers in (("/v1/events", {}), (f"{timer}/events", {"Accept": "text/event-stream"}), (f"{timer}/events?since=0", {}))]
        kept = [stack.enter_context(client.stream(f"{timer}/events")).expect(200) for client in pair.clients(spared)]
        waits = [stack.enter_context(client.stream(f"{timer}/wait?timeout=10m", wait_for_head=False)) for client in pair.clients(key)]
        poll(lambda: open_streams() == len(ending) + len(kept) + len(waits))
        getattr((pair.keyring, pair.far)[at], how)(key)
        for stream in ending:
            for _ in stream:
                pass
            assert stream.ended_properly
        assert [waiting.read_head() for waiting in waits] == [401, 401]
        for client in pair.clients(key):
            unauthorized(client.get("/v1/timers?limit=1"))
        pair.keyring.admin.command(name, "fire").expect(200)
        assert [stream.next()["type"] for stream in kept] == ["fired"] * 2


def test_idempotency_keys_belong_to_their_principal_at_both(pair, name):
    body, options = {"after": "1h"}, {"headers": {"Idempotency-Key": name}}
    ids = [[client.post("/v1/timers", body, **options).expect(201).json["id"] for client in pair.clients(secret)]
           for secret in (pair.keyring.make("write"), pair.keyring.make("write"), TOKEN)]
    assert [len(set(each)) for each in ids] == [1, 1, 1] and len({each[0] for each in ids}) == 3


@pytest.mark.parametrize("scope, state", [("read", "idle"), ("write", "running")])
def test_a_subscriber_at_the_relay_starts_what_its_key_may_start(pair, name, scope, state):
    pair.keyring.admin.create(id=name, after="1h", start="subscriber")
    with pair.far.client(scope).stream(f"/v1/timers/{name}/events").expect(200) as stream:
        assert state == "idle" or stream.next()["type"] == "activated"
        assert pair.keyring.admin.timer(name)["state"] == state


@pytest.mark.thorough
def test_keys_outlive_their_owner(new_server, database, tmp_path):
    tokens, flags = flags_of(tmp_path)
    servers = [new_server("--store", database, *flags, token=TOKEN) for _ in range(2)]
    until_forwarding(*servers)
    pair = Pair(*servers, tokens)
    kept, gone = pair.far.make("write"), pair.far.make("write")
    pair.far.revoke(gone)
    servers[0].kill9()
    client = pair.far.holding(kept)
    answered(lambda: client.post("/v1/timers", {"id": "tea", "after": "1h"})).expect(201)
    assert {event["by"] for event in pair.far.admin.history_of("tea")} == {kept["id"]}
    assert not pair.far.is_taken(gone)


def test_a_relay_judges_once_more_what_it_opens_and_vouches_for_no_key(new_server, database, tmp_path):
    """A token that goes while a stream is asked for; and a secret that somebody made up around the id of a key."""
    tokens, flags = flags_of(tmp_path)
    log = tmp_path / "audit.log"
    servers = [new_server("--store", database, *flags, *more, token=TOKEN) for more in ((), ("--audit-log", log))]
    until_forwarding(*servers)
    pair = Pair(*servers, tokens)
    key = pair.far.make("write")
    made_up = pair.far.holding(f"tmk_{key['id']}_{'a' * 48}")
    made_up.request("DELETE", "/v1/timers/tea", headers={"Origin": "http://other.example"}).problem(403, "cross-origin")
    unauthorized(made_up.request("DELETE", "/v1/timers/tea"))
    pair.far.holding(key).create(id="tea")
    assert [line["key"] for line in lines(log, 4)] == ["token", None, None, key["id"]]

    with pair.far.admin.socket() as sock:
        sock.sendall(head("GET", "/v1/events", f"Authorization: Bearer {TOKEN}", "Content-Length: 1", "Expect: 100-continue"))
        assert sock.recv(4096).startswith(b"HTTP/1.1 100 ")
        tokens.write_text("another-token-of-the-file\n")
        reload(servers[1])
        sock.sendall(b"x")
        assert sock.recv(4096).startswith(b"HTTP/1.1 401 ")
