"""The end of a credential: revoked, rotated out, expired, or taken away by SIGHUP. And requests that look like others."""

import contextlib
import json
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from keys import ABSENT, TOKEN, forbidden, protected, unauthorized
from patience import PATIENCE
from server import Server, run
from stream import Stream
from test_http import head, status
from test_reload import FAILED, reload, spoil
from test_slow_readers import small_socket
from timers import poll, types

# One server for all of them.
pytestmark = pytest.mark.xdist_group("key-ends")

OTHER = "another-token-of-these-tests"
SSE = {"Accept": "text/event-stream"}


@pytest.fixture(scope="module")
def keyring(tmp_path_factory):
    """The keys of a server that the tests of this file share."""
    keyring = protected(Server, tmp_path_factory.mktemp("keys"))
    with keyring.server as server:
        yield keyring
        assert server.process.poll() is None, server.log_text()[-4000:]


@pytest.fixture
def own_keyring(new_server, tmp_path):
    """The keys of a server for one test."""
    return protected(new_server, tmp_path)


def credential(keyring, how):
    """A new secret that may do everything, and what ends it."""
    if how == "reload":
        def tokens(*lines):
            keyring.tokens.write_text("\n".join(lines) + "\n")
            reload(keyring.server)
        tokens(TOKEN, OTHER)
        return OTHER, lambda: tokens(TOKEN)
    key = keyring.make("admin")
    ends = {"revoke": keyring.revoke, "rotate": keyring.rotate, "expire": keyring.expire, "expire later": lambda key: keyring.expire(key, 500)}
    return key["secret"], lambda: ends[how](key)


def streams(keyring):
    return keyring.admin.get("/v1/stats").expect(200).json["streams"]


def ended(stream):
    """Reads a stream to its end, which must be a proper one."""
    for _ in stream:
        pass
    assert stream.ended_properly
    return True


# Streams, long polls, exports and batches under way.


@pytest.fixture(scope="module")
def large(keyring):
    """The keys of the server, which now has more timers than the kernel holds of an export."""
    for _ in range(10):
        keyring.admin.batch([{"after": "1h", "payload": "x" * 8000}] * 250, "?results=brief").expect(200)
    return keyring


@pytest.mark.parametrize("how", ["revoke", "expire later", "reload", pytest.param("rotate", marks=pytest.mark.thorough), pytest.param("expire", marks=pytest.mark.thorough)])
def test_what_is_open_ends_and_no_one_elses(large, name, how):
    """Streams with their last chunk, a long poll with 401, an export without its last line."""
    keyring, admin = large, large.admin
    admin.create(id=name, watchdog="1h")
    spared = keyring.client("read")
    secret, end = credential(keyring, how)
    client, timer = keyring.holding(secret), f"/v1/timers/{name}"
    poll(lambda: streams(keyring) == 0)
    with contextlib.ExitStack() as stack:
        def opened(client, target, headers=None, **options):
            return stack.enter_context(client.stream(target, headers, **options))
        ways = [("/v1/events", {}), ("/v1/events", SSE), (f"/v1/events?timer={name}&types=fired", {}), (f"{timer}/events", SSE), (f"{timer}/events?since=0", {}),
                (f"/v1/events?since=0&label=of%3D{name}", {})]
        ending = [opened(client, target, headers).expect(200) for target, headers in ways]
        kept = opened(spared, f"{timer}/events").expect(200)
        export = stack.enter_context(Stream(small_socket(keyring.server), "127.0.0.1", "/v1/export?secrets=true", client.headers({}))).expect(200)
        before = streams(keyring)
        waits = [opened(each, f"{timer}/wait?timeout=10m", wait_for_head=False) for each in (client, spared)]
        poll(lambda: streams(keyring) == before + len(waits))
        end()
        assert all(ended(stream) for stream in ending)
        assert waits[0].read_head() == 401 and waits[0].headers["www-authenticate"] == "Bearer"
        assert not keyring.is_taken(secret)
        assert not [line for line in export.until_cut() if "end" in line]
        admin.command(name, "fire").expect(200)
        assert kept.next()["type"] == "fired" and waits[1].read_head() == 200
    unauthorized(client.get("/v1/events"))


@pytest.mark.parametrize("how", ["revoke", pytest.param("reload", marks=pytest.mark.thorough)])
def test_a_batch_that_was_let_in_is_finished(keyring, name, how):
    secret, end = credential(keyring, how)
    lines = [{"id": f"{name}-{n}", "after": "1h"} for n in range(10_000)]
    with ThreadPoolExecutor(1) as pool:
        reply = pool.submit(keyring.holding(secret).batch, lines, "?results=brief")
        poll(lambda: keyring.admin.get(f"/v1/timers/{name}-0").status == 200, pause=0)
        end()
        results = reply.result(PATIENCE).expect(200).lines
    assert [line["status"] for line in results] == [201] * len(lines)
    assert not keyring.is_taken(secret)


def test_an_overlap_keeps_what_is_open_until_it_is_over(keyring, name):
    keyring.admin.create(id=name, watchdog="1h")
    key = keyring.make("read")
    with keyring.holding(key).stream(f"/v1/timers/{name}/events").expect(200) as old:
        new = keyring.rotate(key, overlap="2s")
        with keyring.holding(new).stream(f"/v1/timers/{name}/events").expect(200) as stays:
            assert ended(old)
            keyring.admin.command(name, "fire").expect(200)
            assert stays.next()["type"] == "fired"
    assert not keyring.is_taken(key)


def test_what_ends_is_whole_up_to_there(keyring, name):
    """A stream in the middle of a replay ends after a whole line, and has left none out."""
    lines = [{"id": f"{name}-{n}", "after": "1h", "payload": "x" * 4000, "labels": {"of": name}} for n in range(1000)]
    keyring.admin.batch(lines, "?results=brief").expect(200)
    key = keyring.make("read")
    sock = small_socket(keyring.server)
    with Stream(sock, "127.0.0.1", f"/v1/events?since=0&label=of%3D{name}", keyring.holding(key).headers({})).expect(200) as stream:
        first = stream.next()
        keyring.revoke(key)
        seen = [first, *stream.rest()]
    every = keyring.admin.history(f"&label=of%3D{name}")
    assert seen == every[:len(seen)]


@pytest.mark.thorough
@pytest.mark.parametrize("target", ["/v1/events", "/v1/events?since=0", "/v1/timers/{}/events", "/v1/timers/{}/wait?timeout=10m"])
def test_what_is_opened_while_its_key_goes_ends_too(keyring, name, target):
    """However far its opening has come: a stream that starts its timer begins once that is on disk."""
    for round in range(4):
        key = keyring.make("write")
        ids = [f"{name}-{round}-{n}" for n in range(60)]
        keyring.admin.batch([{"id": id, "after": "1h", "start": "subscriber"} for id in ids], "?results=brief").expect(200)
        client, opened = keyring.holding(key), []

        def open_some(ids):
            for id in ids:
                opened.append(client.stream(target.format(id), wait_for_head=False))
        with contextlib.ExitStack() as stack, ThreadPoolExecutor(4) as pool:
            work = [pool.submit(open_some, ids[start::4]) for start in range(4)]
            poll(lambda: len(opened) >= 8, pause=0.001)
            keyring.revoke(key)
            for each in work:
                each.result(PATIENCE)
            for stream in opened:
                stack.enter_context(stream).read_head()
            assert all(ended(stream) for stream in opened)
        assert {stream.status for stream in opened} <= ({401} if "wait" in target else {200, 401})


def test_a_reader_waits_for_a_timer_that_starts_with_a_subscriber(keyring, name):
    """Its stream neither activates the timer nor keeps it going."""
    keyring.admin.create(id=name, after="1h", start="subscriber", stop="subscriber")
    target = f"/v1/timers/{name}/events"
    reader, writer = keyring.client("read"), keyring.make("write")
    with reader.stream(target).expect(200) as waiting:
        assert keyring.admin.timer(name)["state"] == "idle" and types(keyring.admin.history_of(name)) == ["created"]
        with keyring.holding(writer).stream(target).expect(200) as starting:
            assert starting.next()["type"] == "activated" == waiting.next()["type"]
            # The end of its key is the end of the subscriber.
            keyring.revoke(writer)
            assert ended(starting)
        assert waiting.next()["type"] == "suspended"
    with reader.stream(target).expect(200):
        assert keyring.admin.timer(name)["state"] == "suspended"
    assert keyring.admin.history_of(name)[-1]["reason"] == "unsubscribed"


# The end of the process.


def test_what_has_ended_stays_so_after_a_crash(own_keyring):
    """Every change that was answered is kept, and what is good stays good."""
    keyring = own_keyring
    kept = [keyring.make("kick", name="kept", idPrefix="a.", expiresAt="2999-01-01T00:00:00Z"), keyring.make("read")]
    kept.append(keyring.rotate(kept[1], overlap="24h"))
    keyring.admin.patch(f"/v1/keys/{kept[0]['id']}", {"name": "changed"}).expect(200)
    gone = []
    for end in (keyring.revoke, keyring.rotate, keyring.expire):
        gone.append(keyring.make("admin"))
        end(gone[-1])
        keyring.server.kill9()
        keyring.server.start()
        assert not [key for key in gone if keyring.is_taken(key)]
    before = keyring.shown()
    keyring.server.kill9()
    keyring.server.start()
    assert keyring.shown() == before and before[kept[0]["id"]]["name"] == "changed"
    assert all(keyring.is_taken(key) for key in kept) and not [key for key in gone if keyring.is_taken(key)]


def test_a_stop_keeps_when_a_key_was_used(own_keyring):
    key = own_keyring.make("read")

    def used():
        return own_keyring.admin.get(f"/v1/keys/{key['id']}").expect(200).json["lastUsedAt"]
    assert own_keyring.is_taken(key)
    before = poll(used)
    own_keyring.server.restart()
    assert used() == before


def test_a_log_with_keys_is_not_served_without_a_token_file(new_server, tmp_path):
    keyring = protected(new_server, tmp_path)
    data = keyring.server.data
    keyring.make("read")
    keyring.server.stop()
    done = run("serve", "--listen", "127.0.0.1:0", "--data", data)
    assert done.returncode == 78 and "--token-file" in done.stderr and "key" in done.stderr and done.stdout == ""
    keyring.server.start()
    for id in keyring.shown():
        keyring.revoke({"id": id})
    keyring.server.stop()
    with Server(data=data) as server:
        server.client.create()


def test_fifty_first_keys_at_once(own_keyring):
    barrier = threading.Barrier(50)

    def make(number):
        barrier.wait(PATIENCE)
        return own_keyring.make("read", name=str(number))
    with ThreadPoolExecutor(50) as pool:
        made = list(pool.map(make, range(50)))
    assert len({key["id"] for key in made}) == len({key["secret"] for key in made}) == 50
    shown = own_keyring.shown()
    assert {id: key["name"] for id, key in shown.items()} == {key["id"]: key["name"] for key in made}
    own_keyring.server.kill9()
    own_keyring.server.start()
    assert own_keyring.shown() == shown and all(own_keyring.is_taken(key) for key in made)


@pytest.mark.heavy
@pytest.mark.timeout(900)
def test_there_are_ten_thousand_keys_at_most(own_keyring):
    body = {"name": "one of many", "scopes": ["read"]}

    def make(_):
        made = 0
        while (reply := own_keyring.admin.post("/v1/keys", body)).status == 201:
            made += 1
        reply.problem(429, "timer-limit")
        return made
    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(make, range(8))) == 10_000
    assert len(own_keyring.shown()) == 10_000
    own_keyring.revoke(own_keyring.admin.get("/v1/keys?limit=1").json["keys"][0])
    own_keyring.make("read")
    own_keyring.admin.post("/v1/keys", body).problem(429, "timer-limit")


# SIGHUP.


def test_a_token_file_that_can_not_be_used_ends_nothing(own_keyring):
    keyring = own_keyring
    keyring.admin.create(id="tea", watchdog="1h")
    key = keyring.make("read")
    with keyring.admin.stream("/v1/events").expect(200) as by_token, keyring.holding(key).stream("/v1/events").expect(200) as by_key:
        for how in ("", "absent", "directory", f"tmk_{ABSENT}_{'a' * 48}\n"):
            spoil(keyring.tokens, how)
            reload(keyring.server, FAILED)
            shutil.rmtree(keyring.tokens) if how == "directory" else keyring.tokens.unlink(missing_ok=True)
            keyring.tokens.touch()
            assert keyring.is_taken(TOKEN) and keyring.is_taken(key)
            keyring.admin.command("tea", "fire").expect(200)
            assert by_token.next()["type"] == by_key.next()["type"] == "fired"


def test_keys_outlive_the_tokens_with_which_they_were_made(own_keyring):
    key = own_keyring.make("admin")
    own_keyring.tokens.write_text(OTHER + "\n")
    reload(own_keyring.server)
    assert [own_keyring.is_taken(each) for each in (TOKEN, OTHER, key)] == [False, True, True]
    # A key of a token that is gone may make others.
    own_keyring.holding(key).post("/v1/keys", {"name": "next", "scopes": ["admin"]}).expect(201)


# Idempotency keys.


def keyed(name):
    return {"headers": {"Idempotency-Key": name}}


def test_an_idempotency_key_belongs_to_its_principal(keyring, name):
    """Another key, or the token, makes its own; a new secret of a key does not."""
    keys, body = [keyring.make("write") for _ in range(2)], {"after": "1h", "labels": {"of": name}}
    clients = [*map(keyring.holding, keys), keyring.admin]
    made = [client.post("/v1/timers", body, **keyed(name)).expect(201) for client in clients]
    assert len({reply.json["id"] for reply in made}) == 3 and not [reply for reply in made if "Idempotency-Replayed" in reply.headers]
    clients[0] = keyring.holding(keyring.rotate(keys[0]))
    for client, first in zip(clients, made):
        again = client.post("/v1/timers", body, **keyed(name)).expect(201)
        assert again.headers["Idempotency-Replayed"] == "true" and (again.body, again.etag) == (first.body, first.etag)
    clients[0].post("/v1/timers", {**body, "after": "2h"}, **keyed(name)).problem(422, "idempotency-mismatch")
    # A mismatch is one with the principal's own request only.
    keyring.client("write").post("/v1/timers", {**body, "after": "2h"}, **keyed(name)).expect(201)
    forbidden(keyring.client("read").post("/v1/timers", body, **keyed(name)), scope="write")
    assert len(keyring.admin.get(f"/v1/timers?label=of%3D{name}").json["timers"]) == 4


def test_all_tokens_are_one_principal(own_keyring):
    own_keyring.tokens.write_text(f"{TOKEN}\n{OTHER}\n")
    reload(own_keyring.server)
    first, again = (own_keyring.holding(token).post("/v1/timers", {"after": "1h"}, **keyed("once")).expect(201) for token in (TOKEN, OTHER))
    assert again.headers["Idempotency-Replayed"] == "true" and again.body == first.body


@pytest.mark.parametrize("target, body", [("/v1/timers/batch", [{"after": "1h"}]), ("/v1/timers/bulk/fire", {"labels": {"of": "NAME"}})], ids=str)
def test_in_batches_and_bulks_it_belongs_to_its_principal_too(keyring, name, target, body):
    keyring.admin.create(every="1h", labels={"of": name})
    text, clients = json.dumps(body).replace("NAME", name), [keyring.client("write") for _ in range(2)]
    replayed = [client.post(target, body=text, **keyed(name)).expect(200).headers["Idempotency-Replayed"] for client in (*clients, *clients)]
    assert replayed == [None, None, "true", "true"]


# Requests that look like others.


@pytest.mark.parametrize("method, path", [
    ("POST", "{timer}/%6bick"), ("POST", "/%76%31/timers/{id}/kick"), ("POST", "http://127.0.0.1:{port}{timer}/kick"), ("POST", "http://elsewhere.example{timer}/kick"),
    ("POST", "/{timer}/kick"), ("POST", "{timer}//kick"), ("POST", "{timer}/kick/"), ("POST", "{timer}/./kick"), ("POST", "/healthz/..{timer}/kick"),
    ("POST", "/healthz%2f..{timer}/kick"), ("POST", "/problems/..{timer}/kick"), ("POST", "{timer}/kick?x=/healthz"), ("POST", "{timer}/kick#/healthz"),
    ("POST", "{timer}/KICK"), ("POST", "{timer}%2fkick"), ("post", "{timer}/kick"), ("POST", "/healthz?{timer}/kick"), ("GET", "{timer}/kick"), ("HEAD", "{timer}/kick"),
    ("PUT", "{timer}"), ("PATCH", "//127.0.0.1{timer}"), ("DELETE", "{timer}?_method=GET"), ("TRACE", "{timer}"), ("CONNECT", "{timer}"),
])
def test_no_spelling_of_a_request_gives_a_right(keyring, name, method, path):
    """Neither to a client without a credential, nor to one that may only read."""
    keyring.admin.create(id=name, watchdog="1h")
    before = keyring.admin.timer(name)
    target = path.format(timer=f"/v1/timers/{name}", id=name, port=keyring.server.port)
    for secret in (None, keyring.make("read")["secret"]):
        sent = [f"Authorization: Bearer {secret}"] if secret else []
        overrides = ["X-HTTP-Method-Override: POST", "X-Original-URL: /healthz", "X-Rewrite-URL: /healthz"]
        answer = keyring.admin.raw(head(method, target, *sent, *overrides, "Content-Length: 0", "Connection: close"))
        assert status(answer) >= 400, answer
    after = keyring.admin.timer(name)
    assert (after["version"], after["kickCount"], after["state"]) == (before["version"], 0, "running")


@pytest.mark.parametrize("target", ["//v1/timers", "/./v1/timers", "/healthz/../v1/timers", "/v1/timers%3f", "http://127.0.0.1/v1/timers", "/docs/../v1/keys", "/%76%31/timers",
                                    "/problems/%2e%2e/v1/timers", "/V1/timers", "/v1/timers#/docs", "/v1/keys", "/v1/export", "/metrics", "/v1/nowhere"])
def test_without_a_credential_nothing_is_read(keyring, target):
    for method in ("GET", "HEAD", "OPTIONS"):
        answer = keyring.admin.raw(head(method, target, "Connection: close"))
        assert status(answer) in (400, 401), answer


def test_head_is_a_get_and_options_tells_any_key_the_methods(keyring, name):
    keyring.admin.create(id=name, watchdog="1h")
    kicker, reader = keyring.client("kick"), keyring.client("read")
    assert kicker.head(f"/v1/timers/{name}").status == reader.head("/v1/keys").status == reader.head("/v1/export").status == 403
    reader.head(f"/v1/timers/{name}").expect(200)
    for client in (kicker, reader):
        assert "DELETE" in client.options(f"/v1/timers/{name}").expect(204).headers["Allow"]
    unauthorized(keyring.holding(None).options(f"/v1/timers/{name}"))


def test_a_credential_is_not_remembered_with_the_connection(keyring):
    """Each request of a kept connection is judged by its own header, whoever asked before."""
    key = keyring.make("read")
    connection = keyring.admin.connection()

    def ask(secret, method="GET", target="/v1/timers?limit=1"):
        connection.request(method, target, headers={"Authorization": f"Bearer {secret}"} if secret else {})
        reply = connection.getresponse()
        reply.read()
        return reply.status
    with contextlib.closing(connection):
        assert [ask(secret) for secret in (key["secret"], None, key["secret"], key["secret"][:-1] + "8", TOKEN, key["secret"])] == [200, 401, 200, 401, 200, 200]
        assert ask(TOKEN, target="/v1/keys?limit=1") == 200 and ask(key["secret"], target="/v1/keys?limit=1") == 403
        keyring.revoke(key)
        assert [ask(secret) for secret in (key["secret"], TOKEN, key["secret"])] == [401, 200, 401]
