"""Attacks of a client that has some right and wants more: what answers tell besides their words, and several ends at once.

SECURITY.md lists all attacks with their tests, most of which are where the feature is tested that they are on.
"""

import base64
import contextlib
import math
import re
import statistics
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from keys import ABSENT, TOKEN, forbidden, protected, unauthorized
from patience import PATIENCE
from server import ROOT, Server
from stream import Stream
from test_documents import lines_between
from test_key_ends import SSE, ended, streams
from test_key_prefix import blurred
from test_slow_readers import small_socket
from timers import poll

# One server for all of them.
pytestmark = pytest.mark.xdist_group("key-attacks")


@pytest.fixture(scope="module")
def keyring(tmp_path_factory):
    """The keys of a server that the tests of this file share."""
    keyring = protected(Server, tmp_path_factory.mktemp("keys"))
    with keyring.server as server:
        yield keyring
        assert server.process.poll() is None, server.log_text()[-4000:]


# Credentials in other places.


@pytest.mark.parametrize("query, headers", [
    ("?access_token=SECRET", {}), ("?token=SECRET", {}), ("?key=SECRET", {}), ("", {"Cookie": "token=SECRET"}), ("", {"X-Api-Key": "SECRET"}),
    ("", {"Proxy-Authorization": "Bearer SECRET"}), ("", {"Authorization": "Basic BASE64"}), ("", {"Authorization": "Token SECRET"}),
    ("", {"Sec-WebSocket-Protocol": "bearer, SECRET"}), ("", {"X-Forwarded-Authorization": "Bearer SECRET"}),
], ids=lambda value: str(value)[:40])
def test_a_secret_counts_in_one_header_only(keyring, query, headers):
    secret = keyring.make("admin")["secret"]
    basic = base64.b64encode(f"key:{secret}".encode()).decode()
    headers = {name: value.replace("SECRET", secret).replace("BASE64", basic) for name, value in headers.items()}
    unauthorized(keyring.holding(None).get(f"/v1/keys{query.replace('SECRET', secret)}", headers=headers))


# Lines that may be read in two ways.


@pytest.mark.parametrize("line", [
    '{"command":"kick","id":"IN","id":"OUT"}', '{"command":"kick","id":"OUT","id":"IN"}', '{"command":"kick","id":"IN","\\u0069d":"OUT"}',
    '{"id":"IN","after":"1h","id":"OUT"}', '{"apply":{"id":"IN","after":"1h"},"id":"OUT"}', '{"apply":{"id":"IN","after":"1h","id":"OUT"}}',
    '{"command":"cancel","id":"IN","timer":"OUT"}', '{"command":"cancel","id":["IN","OUT"]}', '{"command":"kick","id":"IN"}{"command":"cancel","id":"OUT"}',
    '{"command":"kick","id":"IN"}\r{"command":"cancel","id":"OUT"}', '{"command":"kick","command":"cancel","id":"OUT"}',
])
def test_a_line_that_names_two_timers_reaches_neither(keyring, name, line):
    prefix = f"{name}-in."
    ids = {"IN": f"{prefix}1", "OUT": f"{name}-no.1"}
    before = [keyring.admin.create(id=id, watchdog="1h") for id in ids.values()]
    text = re.sub("IN|OUT", lambda word: ids[word[0]], line)
    reply = keyring.client("write", idPrefix=prefix).batch([text])
    statuses = [line["status"] for line in reply.lines] if reply.status == 200 else [reply.status]
    assert set(statuses) <= {400, 403}, reply
    after = [keyring.admin.timer(id) for id in ids.values()]
    assert [(timer["version"], timer["kickCount"], timer["state"]) for timer in after] == [(timer["version"], 0, "running") for timer in before]


# Replays.


@pytest.mark.parametrize("target, body", [("/v1/timers", {"after": "1h"}), ("/v1/timers/batch", [{"after": "1h"}])], ids=str)
@pytest.mark.parametrize("how", ["revoke", "rotate", "expire"])
def test_a_replay_takes_a_credential_that_is_good(keyring, name, how, target, body):
    """A stored answer is shown to its principal alone, and to that only as long as it may ask."""
    key, once = keyring.make("write"), {"headers": {"Idempotency-Key": name}}
    client = keyring.holding(key)
    client.post(target, body, **once)
    assert client.post(target, body, **once).headers["Idempotency-Replayed"] == "true"
    getattr(keyring, how)(key)
    unauthorized(client.post(target, body, **once))
    unauthorized(keyring.holding(None).post(target, body, **once))
    assert "Idempotency-Replayed" not in keyring.client("write").post(target, body, **once).headers


def test_a_replay_is_no_way_past_a_prefix(keyring, name):
    """What the token has made under an Idempotency-Key is not shown to a key for other timers."""
    own, body = keyring.client("write", idPrefix=f"{name}-in."), {"id": f"{name}-no.1", "after": "1h"}
    once = {"headers": {"Idempotency-Key": name}}
    keyring.admin.post("/v1/timers", body, **once).expect(201)
    forbidden(own.post("/v1/timers", body, **once), idPrefix=f"{name}-in.")
    line = own.batch([body], **once).expect(200).lines[0]
    assert line["status"] == 403 and "timer" not in line


# What there is, and what there is not.


@pytest.mark.parametrize("scope", ["read", "kick", "write"])
@pytest.mark.parametrize("method, path", [("GET", ""), ("PATCH", ""), ("DELETE", ""), ("POST", "/rotate")])
def test_keys_that_there_are_look_like_those_that_there_are_not(keyring, scope, method, path):
    client, spared = keyring.client(scope), keyring.make("read")
    replies = {id: client.request(method, f"/v1/keys/{id}{path}") for id in (spared["id"], ABSENT)}
    for reply in replies.values():
        forbidden(reply, scope="admin")
    assert blurred(replies[spared["id"]], spared["id"]) == blurred(replies[ABSENT], ABSENT)
    assert keyring.is_taken(spared)


def test_wrong_secrets_of_a_key_that_there_is_look_like_those_of_none(keyring):
    key, ended = keyring.make("read"), keyring.make("read")
    keyring.revoke(ended)
    wrong = [f"tmk_{id}_{'a' * 48}" for id in (key["id"], ended["id"], ABSENT)] + [ended["secret"], TOKEN[::-1]]
    replies = [blurred(keyring.holding(secret).get("/v1/timers"), "none") for secret in wrong]
    assert replies[0][0] == 401 and all(reply == replies[0] for reply in replies)


def difference(ask, there, none, pairs):
    """How answers about two things differ in time: in standard errors of a sign test over interleaved pairs, and as the
    ratio of their medians. Neither depends on how fast the machine is.
    """
    taken = {there: [], none: []}
    for number in range(pairs):
        for each in (there, none) if number % 2 else (none, there):
            began = time.perf_counter_ns()
            ask(each)
            taken[each].append(time.perf_counter_ns() - began)
    later = sum(first > second for first, second in zip(taken[there], taken[none]))
    ratio = statistics.median(taken[there]) / statistics.median(taken[none])
    return abs(later - pairs / 2) / (math.sqrt(pairs) / 2), max(ratio, 1 / ratio)


def tells(deviation, ratio):
    """Whether a difference is one: not by chance once in a million times, and of a size that a client could use."""
    return deviation > 5 and ratio > 1.02


@contextlib.contextmanager
def kept_connection(client):
    """A function that sends requests over one connection, and reads their answers."""
    with contextlib.closing(client.connection()) as connection:
        def ask(method, target, body=None, secret=client.token):
            connection.request(method, target, body, {"Authorization": f"Bearer {secret}", "Content-Type": "application/x-ndjson"})
            reply = connection.getresponse()
            return reply.status, reply.read()
        yield ask


@pytest.mark.heavy
@pytest.mark.alone
def test_the_time_of_a_refusal_tells_nothing(keyring, name):
    """2,000 requests each for a timer that there is, with all that could make it slow, and for one that there is not."""
    there, none = f"{name}-no.1", f"{name}-no.2"
    keyring.admin.create(id=there, watchdog="1h", payload="x" * 60_000, webhook={"url": "http://hooks.example/a"})
    for _ in range(100):
        keyring.admin.command(there, "fire").expect(200)
    own, key = keyring.client("write", idPrefix=f"{name}-in."), keyring.make("read")
    found = {}
    with kept_connection(own) as ask:
        for method, path in (("GET", ""), ("GET", "/events?follow=false"), ("POST", "/kick"), ("DELETE", "")):
            found[f"{method} {path}"] = difference(lambda id: ask(method, f"/v1/timers/{id}{path}"), there, none, 2000)
        # A batch has the difference as often as it has lines.
        bodies = {id: f'{{"command":"kick","id":"{id}"}}\n' * 100 for id in (there, none)}
        found["lines"] = difference(lambda id: ask("POST", "/v1/timers/batch?results=brief", bodies[id]), there, none, 200)
        secrets = [f"tmk_{id}_{'a' * 48}" for id in (key["id"], ABSENT)]
        found["secrets"] = difference(lambda secret: ask("GET", "/v1/timers/x", secret=secret), *secrets, 2000)
        tokens = [TOKEN[:-1] + "X", "X" + TOKEN[1:]]
        found["tokens"] = difference(lambda token: ask("GET", "/v1/timers/x", secret=token), *tokens, 2000)
        assert not {what: figures for what, figures in found.items() if tells(*figures)}, found
    # The same measurement does tell them apart for a client that may read.
    with kept_connection(keyring.admin) as ask:
        assert tells(*difference(lambda id: ask("GET", f"/v1/timers/{id}"), there, none, 2000))


# What a reader looks for.


def plain(cursor):
    """A cursor, and what it is the base64 of, if it is."""
    with contextlib.suppress(ValueError):
        return cursor.encode() + base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
    return cursor.encode()


def test_cursors_hold_nothing_and_open_nothing(keyring, name):
    """A cursor of a client that may write shows a reader no more than its own, and a key with a prefix nothing."""
    webhook = {"url": "http://hooks.example/s3cret-path", "headers": {"Authorization": "s3cret-credential", "X-Plain": "s3cret-plain"}}
    for number in range(4):
        keyring.admin.create(id=f"{name}-{number}", webhook=webhook, labels={"of": name})
    reader, own = keyring.client("read"), keyring.client("read", idPrefix=f"{name}-in.")
    for query in (f"label=of%3D{name}", f"idPrefix={name}", f"label=of%3D{name}&sort=nextFireAt"):
        target = f"/v1/timers?{query}&limit=1"
        page = keyring.admin.get(target).expect(200)
        cursor = page.json["next"]
        assert b"s3cret" not in plain(cursor) + page.headers["Link"].encode()
        seen = reader.get(f"{target}&cursor={cursor}").expect(200)
        assert b"s3cret" not in seen.body and {timer["webhook"]["url"] for timer in seen.json["timers"]} <= {"http://hooks.example/***"}
        forbidden(own.get(f"{target}&cursor={cursor}"), idPrefix=f"{name}-in.")
    keys = keyring.admin.get("/v1/keys?limit=1").expect(200).json["next"]
    forbidden(reader.get(f"/v1/keys?limit=1&cursor={keys}"), scope="admin")


# Everything at once, and the end of the process.


@pytest.mark.not_forwarded("an export passes through the relay's own buffers")
def test_a_revocation_ends_all_that_is_open_and_outlives_a_crash_right_after_it(new_server, tmp_path):
    """Streams of both kinds, a long poll, an export and a batch of 10,000 lines; the process is killed once the 204 is there."""
    keyring = protected(new_server, tmp_path)
    admin = keyring.admin
    admin.create(id="tea", watchdog="1h")
    for _ in range(10):
        admin.batch([{"after": "1h", "payload": "x" * 8000}] * 250, "?results=brief").expect(200)
    key, spared = keyring.make("admin"), keyring.make("read")
    client, lines = keyring.holding(key), [{"id": f"line-{number}", "after": "1h"} for number in range(10_000)]
    with contextlib.ExitStack() as stack, ThreadPoolExecutor(1) as pool:
        def opened(target, headers=None, **options):
            return stack.enter_context(client.stream(target, headers, **options))
        ending = [opened("/v1/events", SSE).expect(200), opened("/v1/events").expect(200), opened("/v1/timers/tea/events", SSE).expect(200)]
        export = stack.enter_context(Stream(small_socket(keyring.server), "127.0.0.1", "/v1/export", client.headers({}))).expect(200)
        before = streams(keyring)
        waiting = opened("/v1/timers/tea/wait?timeout=10m", wait_for_head=False)
        poll(lambda: streams(keyring) == before + 1)
        batch = pool.submit(client.batch, lines, "?results=brief")
        poll(lambda: admin.get("/v1/timers/line-0").status == 200, pause=0)
        keyring.revoke(key)
        assert not keyring.is_taken(key)
        assert all(ended(stream) for stream in ending) and waiting.read_head() == 401
        assert not [line for line in export.until_cut() if "end" in line]
        assert [line["status"] for line in batch.result(PATIENCE).expect(200).lines] == [201] * len(lines)
    last = keyring.make("admin")
    keyring.revoke(last)
    keyring.server.kill9()
    keyring.server.start()
    assert [keyring.is_taken(each) for each in (key, last, spared)] == [False, False, True]
    keyring.admin.get("/v1/timers/line-9999").expect(200)


# The table.


def test_the_table_of_attacks_names_tests_that_there_are():
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines_between(ROOT / "SECURITY.md", "attacks").splitlines()[2:]]
    attacks = [row for row in rows if row[1]]
    assert len(attacks) >= 60 and len({attack for attack, *_ in attacks}) == len(attacks)
    for attack, _, tests in attacks:
        named = re.findall(r"`([^`]+)`", tests)
        assert named, attack
        for name in named:
            file, _, test = name.partition("::")
            if name.startswith("make "):
                assert f"\n{name.split()[1]}:" in (ROOT / "Makefile").read_text(), name
            elif file.endswith(".py"):
                path, = ROOT.glob(f"Tests/*/{file}")
                assert not test or f"\ndef {test}(" in path.read_text(), name
            else:
                assert list(ROOT.glob(f"Tests/**/{file}.swift")), name
