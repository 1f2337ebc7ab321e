"""Servers of one database that forward: each answers for all timers, though one owns them."""

import contextlib
import itertools
import json
import os
import random
import re
import select
import signal
import socket
import struct
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from patience import PATIENCE
from server import Server
from test_webhook_policy import is_refused
from timers import poll

pytestmark = pytest.mark.xdist_group("forwarding")

TOKEN = "a-token-of-the-cluster"

@pytest.fixture
def forwarder(new_node, tmp_path):
    """A factory of servers that share a database and forward to each other: the first one owns every timer."""
    token = tmp_path / "cluster-token"
    token.write_text(TOKEN + "\n")

    def make(*flags, **options):
        first = not make.made
        node = new_node("--cluster-listen", "127.0.0.1:0", "--cluster-token-file", token, *flags, **options)
        make.made.append(node)
        poll(lambda: node.client.get("/readyz").status == 200)
        if not first:
            alive = [other for other in make.made if other.process.poll() is None]
            poll(lambda: all(len(other.client.get("/v1/cluster").json["nodes"]) == len(alive) for other in alive))
        return node

    make.made = []
    return make


@pytest.fixture(scope="module")
def both(postgres, tmp_path_factory):
    """The owner, and a server that forwards to it. Tests on them stop neither."""
    token = tmp_path_factory.mktemp("tokens") / "cluster"
    token.write_text(TOKEN + "\n")
    flags = ("--store", postgres.schema("forwarding"), "--migrate",
             "--cluster-listen", "127.0.0.1:0", "--cluster-token-file", token)
    with Server(*flags) as owner, Server(*flags) as entry:
        poll(lambda: entry.client.get("/readyz").status == 200)
        yield owner, entry


def shape(reply):
    """An answer without what differs from one time to the next."""
    changing = {"Date", "Request-Id", "Event-Id", "Connection"}
    headers = {name.title(): value for name, value in reply.headers.items()}
    if "Content-Length" in headers:
        assert not reply.body or int(headers["Content-Length"]) == len(reply.body)
        # `remaining` is now and then a digit shorter.
        headers["Content-Length"] = "given"
    body = re.sub(rb'"(requestId|remaining|updatedAt|createdAt|nextFireAt|eventId)":"[^"]*"', b"", reply.body or b"")
    return reply.status, {name: value for name, value in headers.items() if name not in changing}, body


@pytest.mark.parametrize(("method", "path", "options"), [
    ("GET", "/v1/timers/tea", {}), ("HEAD", "/v1/timers/tea", {}), ("GET", "/v1/timers/none", {}), ("GET", "/v1/timers?label=of%3Dtable", {}),
    ("GET", "/v1/timers?limit=none", {}), ("GET", "/v1/timers/tea/next?count=3", {}), ("POST", "/v1/timers", {"json": {"id": "tea"}}),
    ("POST", "/v1/timers", {"json": {"id": "tea", "after": "1h"}}), ("POST", "/v1/timers", {"body": b"{"}),
    ("POST", "/v1/timers/tea/resume", {}), ("POST", "/v1/timers/tea/pause", {}), ("PATCH", "/v1/timers/tea", {"json": {}}),
    ("PATCH", "/v1/timers", {}), ("DELETE", "/v1/timers/tea", {"headers": {"If-Match": '"v999"'}}),
    ("GET", "/v1/timers/tea", {"headers": {"If-None-Match": "*"}}), ("GET", "/v1/events?since=none", {}), ("HEAD", "/v1/events?since=0", {}),
    ("HEAD", "/v1/timers/tea/wait", {}), ("GET", "/v1/timers/none/wait", {}), ("GET", "/v1/deliveries", {}), ("GET", "/nowhere", {}),
    ("POST", "/v1/schedules/preview", {"json": {"at": "2030-01-01T00:00:00Z"}}), ("OPTIONS", "/v1/timers", {}), ("BREW", "/v1/timers", {}),
    ("POST", "/v1/timers/batch", {"body": b'{"id":"tea","after":"1h"}\n{"command":"kick","id":"tea"}\n'}),
    ("POST", "/v1/timers/bulk/cancel", {"json": {"labels": ["of=nothing"]}}), ("GET", "/v1/timers/" + "x" * 300, {}),
])
def test_the_answer_is_word_for_word_that_of_the_owner(both, method, path, options):
    owner, entry = both
    owner.client.put("/v1/timers/tea", {"after": "1h", "labels": {"of": "table"}})
    direct, forwarded = (server.client.request(method, path, **options) for server in both)
    assert shape(direct) == shape(forwarded)
    assert forwarded.headers["Request-Id"]


def test_304_has_the_length_of_the_content_that_is_not_sent(both):
    owner, entry = both
    owner.client.put("/v1/timers/idle", {"after": "1h", "start": "manual"})
    whole = entry.client.get("/v1/timers/idle").expect(200)
    unchanged = entry.client.get("/v1/timers/idle", headers={"If-None-Match": whole.etag}).expect(304)
    assert unchanged.headers["Content-Length"] == whole.headers["Content-Length"] != "0"


def test_the_clients_request_id_travels(both):
    for server in both:
        assert server.client.get("/v1/timers/none", headers={"Request-Id": "mine-1"}).headers["Request-Id"] == "mine-1"


@pytest.mark.parametrize("accept", ["text/event-stream", "application/x-ndjson"])
def test_a_stream_is_relayed_byte_for_byte_and_a_change_at_either_server_is_on_it(both, accept):
    owner, entry = both
    headers = {"Accept": accept}
    ids = [f"{accept[-4:]}-{n}" for n in range(4)]
    for n, id in enumerate(ids):
        both[n % 2].client.create(id=id, after="1h")
    for id in ids:
        texts = [server.client.get(f"/v1/timers/{id}/events?since=0&follow=false", headers=headers) for server in both]
        assert texts[0].expect(200).body == texts[1].expect(200).body and texts[0].body
    with entry.client.stream("/v1/events?types=cancelled", headers={"Accept": "application/x-ndjson"}) as stream:
        for n, id in enumerate(ids):
            both[n % 2].client.command(id, "cancel").expect(200)
        assert [stream.next()["timer"] for _ in ids] == ids


def test_a_long_poll_waits_at_the_owner(both):
    owner, entry = both
    entry.client.create(id="polled", start="manual", after="10ms")
    replies = []
    waits = threading.Thread(target=lambda: replies.append(entry.client.get("/v1/timers/polled/wait?timeout=50s")))
    waits.start()
    poll(lambda: "timerd_streams 1" in owner.client.get("/metrics").body.decode())
    owner.client.command("polled", "activate").expect(200)
    waits.join(PATIENCE)
    assert replies[0].expect(200).json["type"] == "fired"


def test_a_stop_answers_the_long_polls_that_wait_at_the_owner(forwarder):
    owner, entry = forwarder(), forwarder("--drain", "10m")
    entry.client.create(id="t", after="1h")
    with entry.client.stream("/v1/timers/t/wait?timeout=10m", wait_for_head=False) as waiting, \
            entry.client.stream("/v1/timers/t/wait?timeout=10m&since=7", wait_for_head=False) as resuming:
        poll(lambda: "timerd_streams 2" in owner.client.get("/metrics").body.decode())
        entry.terminate()
        # The owner has said where it began.
        assert waiting.read_head() == 204 and len(waiting.headers["event-id"]) == 19
        assert resuming.read_head() == 204 and resuming.headers["event-id"] == f"{7:019}"
        assert entry.wait() == 0


def test_a_stream_whose_answer_comes_during_a_stop_ends_with_it(forwarder):
    # With a thread each, the stream goes by the connection that the create has made: none is made to a stopped owner.
    one = ("--io-threads", "1")
    owner, entry = forwarder(*one), forwarder(*one, "--drain", "10m")
    entry.client.create(id="t", after="1h")
    stop(owner)
    with entry.client.stream("/v1/events", wait_for_head=False) as stream:
        poll(lambda: unread(peer_port(owner)) > 0)
        entry.terminate()
        poll(lambda: "stopping" in entry.log.read_text())
        owner.process.send_signal(signal.SIGCONT)
        assert stream.read_head() == 200 and stream.rest() == [] and stream.ended_properly
        assert entry.wait() == 0


@pytest.mark.thorough
@pytest.mark.not_by_tls("its clients are bare sockets")
def test_readers_that_read_nothing_or_vanish_leave_the_others_their_room(forwarder):
    owner, entry = forwarder(), forwarder()
    owner.client.batch([{"after": "1h", "payload": "x" * 3000}] * 1000, query="?results=brief").expect(200)
    for _ in range(3):
        readers = [socket.create_connection(("127.0.0.1", entry.port), PATIENCE) for _ in range(80)]
        for reader in readers:
            reader.sendall(b"GET /v1/events?since=0&follow=false HTTP/1.1\r\nHost: a\r\n\r\n")
        for reader in readers:
            assert reader.recv(12) == b"HTTP/1.1 200"
        assert len(entry.client.get("/v1/timers?limit=1000").expect(200).json["timers"]) == 1000
        for reader in readers:
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            reader.close()
    assert len(entry.client.get("/v1/timers?limit=1000").expect(200).json["timers"]) == 1000


@pytest.mark.thorough
def test_a_history_goes_on_while_its_owner_stops(forwarder):
    owner, entry = forwarder("--drain", "10m"), forwarder()
    for _ in range(3):
        owner.client.batch([{"after": "1h", "payload": "x" * 3000}] * 1000, query="?results=brief").expect(200)
    with entry.client.stream("/v1/events?since=0&follow=false").expect(200) as history:
        first = history.next()
        owner.terminate()
        # Longer than an owner waits for servers that have nothing to read any more.
        time.sleep(1.5)
        assert len([first, *history.rest()]) == 6000
        assert history.ended_properly
    assert owner.wait() == 0


@pytest.mark.thorough
def test_nothing_that_a_stop_cuts_looks_complete(forwarder):
    owner, entry = forwarder(), forwarder("--drain", "1m")
    for _ in range(3):
        owner.client.batch([{"after": "1h", "payload": "x" * 3000}] * 1000, query="?results=brief").expect(200)
    with entry.client.stream("/v1/events?since=0&follow=false").expect(200) as history, \
            entry.client.stream("/v1/events?since=0").expect(200) as stream, entry.client.stream("/v1/export").expect(200) as export:
        first = history.next()
        entry.terminate()
        assert len([first, *history.rest()]) == 6000
        assert len(stream.until_cut()) < 6000 and len(export.until_cut()) < 3000
        assert not export.ended_properly


def test_no_webhook_goes_to_the_listener_for_other_servers(both):
    owner, entry = both
    assert is_refused(entry.client, f"http://127.0.0.1:{peer_port(owner)}/v1/timers", "to-the-listener")


@pytest.mark.thorough
def test_a_large_body_and_a_large_page_pass(both):
    owner, entry = both
    lines = [{"id": f"large-{n}", "after": "1h", "payload": "x" * 3000, "labels": {"of": "large"}} for n in range(1000)]
    assert [line["status"] for line in entry.client.batch(lines, query="?results=brief").expect(200).lines] == [201] * 1000
    page = entry.client.get("/v1/timers?label=of%3Dlarge&limit=1000").expect(200)
    assert shape(page) == shape(owner.client.get("/v1/timers?label=of%3Dlarge&limit=1000"))
    assert len(page.body) > 1 << 20


def curl(*arguments):
    return subprocess.run(["curl", "-sS", "--http2-prior-knowledge", "-m", f"{PATIENCE:.0f}", *arguments], capture_output=True, text=True, timeout=2 * PATIENCE)


def peer_port(server):
    """The port at which a server takes forwarded requests, as the kernel tells."""
    inodes = set()
    for line in subprocess.run(["ss", "-Hltnp"], capture_output=True, text=True, check=True).stdout.splitlines():
        if f"pid={server.pid}," in line:
            inodes.add(int(line.split()[3].rsplit(":", 1)[1]))
    inodes.discard(server.port)
    return inodes.pop()


def test_who_has_no_token_of_the_cluster_gets_nothing_from_the_listener_between_servers(both):
    owner, entry = both
    url = f"http://127.0.0.1:{peer_port(owner)}/v1/timers"
    for headers in ([], ["-H", "Authorization: Bearer another-token-of-16"]):
        for path in ("/v1/timers", "/metrics", "/healthz", "/"):
            done = curl("-o", "/dev/null", "-w", "%{http_code}", *headers, f"http://127.0.0.1:{peer_port(owner)}{path}")
            assert done.stdout == "401", (path, done)
    done = curl("-H", f"Authorization: Bearer {TOKEN}", url)
    assert '"timers":[' in done.stdout, done
    # A token of the cluster opens no other listener's tokens, and HTTP/1.1 is not spoken there.
    with socket.create_connection(("127.0.0.1", peer_port(owner)), PATIENCE) as raw:
        raw.sendall(b"GET /v1/timers HTTP/1.1\r\nHost: a\r\n\r\n")
        raw.settimeout(PATIENCE)
        while raw.recv(4096):
            pass


def frame(kind, flags, stream, payload):
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


@pytest.mark.thorough
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.heavy) for seed in range(1, 4))])
def test_frames_that_make_no_sense_end_their_connection_and_nothing_else(both, seed):
    owner, entry = both
    draw = random.Random(seed)
    for _ in range(60):
        with socket.create_connection(("127.0.0.1", peer_port(owner)), PATIENCE) as raw:
            raw.settimeout(PATIENCE)
            attack = draw.choice([b"", PREFACE])
            for _ in range(draw.randint(1, 40)):
                size = draw.choice([0, 1, 4, 5, 8, 9, 100, 16384])
                attack += frame(draw.randint(0, 12), draw.randint(0, 255), draw.choice([0, 1, 1, 2, 3, 5, 2**31 - 1]), draw.randbytes(size))
            try:
                raw.sendall(attack)
                raw.shutdown(socket.SHUT_WR)
                while raw.recv(65536):
                    pass
            except OSError:
                pass
    entry.client.get("/v1/timers?limit=1").expect(200)
    owner.client.get("/healthz").expect(200)


def literal(*fields):
    """A head of fields without an index."""
    return b"".join(b"\x00" + bytes([len(name)]) + name + bytes([len(value)]) + value for name, value in fields)


PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, b"")
BEARER = (b"authorization", b"Bearer " + TOKEN.encode())


def create(id, *fields):
    return literal((b":method", b"PUT"), (b":scheme", b"http"), (b":authority", b"a"), (b":path", b"/v1/timers/" + id), BEARER,
                   (b"content-type", b"application/json"), *fields)


def test_a_request_that_was_given_up_before_it_was_read_is_not_carried_out(both):
    owner, entry = both
    with socket.create_connection(("127.0.0.1", peer_port(owner)), PATIENCE) as raw:
        raw.settimeout(PATIENCE)
        body = b'{"after":"1h"}'
        raw.sendall(PREFACE + frame(1, 4, 1, create(b"given-up")) + frame(0, 1, 1, body) + frame(3, 0, 1, b"\0\0\0\x08")
                    + frame(1, 4, 3, create(b"kept")) + frame(0, 1, 3, body))
        poll(lambda: owner.client.get("/v1/timers/kept").status == 200)
    owner.client.get("/v1/timers/given-up").problem(404, "not-found")


def test_a_request_that_was_held_up_on_its_way_is_refused(both):
    owner, entry = both
    with socket.create_connection(("127.0.0.1", peer_port(owner)), PATIENCE) as raw:
        # By the clock of the server that sends: the third was sent five seconds before the others, and came with them.
        raw.sendall(PREFACE + b"".join(
            frame(1, 4, 2 * n + 1, create(b"way-%d" % n, (b"timerd-sent", sent))) + frame(0, 1, 2 * n + 1, b'{"after":"1h"}')
            for n, sent in enumerate((b"1000000", b"999500", b"995000", b"1000200"))))
        poll(lambda: owner.client.get("/v1/timers/way-3").status == 200)
    assert [owner.client.get(f"/v1/timers/way-{n}").status for n in range(4)] == [200, 200, 404, 200]


@pytest.mark.heavy
def test_streams_that_are_opened_and_given_up_without_end_cost_their_connection(both):
    owner, entry = both
    head = literal((b":method", b"GET"), (b":scheme", b"http"), (b":authority", b"a"), (b":path", b"/v1/events?since=0"), BEARER)
    with socket.create_connection(("127.0.0.1", peer_port(owner)), PATIENCE) as raw:
        raw.settimeout(PATIENCE)
        raw.sendall(PREFACE)
        try:
            for stream in range(1, 20001, 2):
                raw.sendall(frame(1, 5, stream, head) + frame(3, 0, stream, b"\0\0\0\x08"))
            while raw.recv(65536):
                pass
        except ConnectionError:
            pass
    entry.client.get("/v1/timers?limit=1").expect(200)
    poll(lambda: "timerd_streams 0" in owner.client.get("/metrics").body.decode())


def test_a_server_does_not_forward_what_was_forwarded_to_it(both):
    owner, entry = both
    done = curl("-H", f"Authorization: Bearer {TOKEN}", f"http://127.0.0.1:{peer_port(entry)}/v1/timers")
    assert '"status":421' in done.stdout and "/problems/misdirected" in done.stdout, done


def answered(request):
    """The answer, where a take-over on a busy machine may take longer than the five seconds that a server has a request wait."""
    def ask():
        reply = request()
        if reply.status != 503:
            return reply
        assert reply.problem(503, "owner-unavailable")["outcome"] == "none"
    return poll(ask)


def owner_of(server):
    """Where the owner is reached, as a server knows; None while there is none."""
    return (server.client.get("/v1/cluster").json["owner"] or {}).get("url")


def state(server, id):
    return answered(lambda: server.client.get(f"/v1/timers/{id}")).expect(200).json["state"]


def test_requests_wait_for_the_server_that_takes_over(forwarder):
    owner, entry = forwarder(), forwarder()
    owner.client.create(id="kept", after="1h")
    owner.kill9()
    assert state(entry, "kept") == "running"
    entry.client.create(id="after", after="1h")
    assert owner_of(entry) == entry.url


def stop(server):
    """Stops each thread of a server: on a busy machine some go on for a while."""
    server.process.send_signal(signal.SIGSTOP)
    poll(lambda: all(task.read_text().rsplit(")", 1)[1].split()[0] == "T" for task in Path(f"/proc/{server.pid}/task").glob("*/stat")))


def held(entry, owner, request):
    """Sends a request by `entry` while the owner is stopped; returns what ends the owner and then gives the answer."""
    stop(owner)
    replies = []
    thread = threading.Thread(target=lambda: replies.append(request(entry.client)), daemon=True)
    thread.start()
    # It has reached the stopped owner's socket, where it waits unread.
    poll(lambda: unread(peer_port(owner)) > 0)

    def end():
        owner.kill9()
        thread.join(PATIENCE)
        return replies[0]
    return end


def unread(port):
    """Bytes that a stopped server has not read from other servers."""
    lines = subprocess.run(["ss", "-Htn", "state", "established", f"sport = :{port}"], capture_output=True, text=True, check=True).stdout
    return sum(int(line.split()[0]) for line in lines.splitlines())


@pytest.mark.thorough
def test_a_change_whose_owner_dies_is_of_unknown_outcome_and_one_with_a_key_is_made_once(forwarder):
    # With a thread each, the request goes by the connection that the one before it has made: none is made to a stopped owner.
    one = ("--io-threads", "1")
    owner, entry = forwarder(*one), forwarder(*one)
    owner.client.create(id="t", after="1h")
    entry.client.timer("t")
    ask = held(entry, owner, lambda api: api.command("t", "suspend"))
    problem = ask().problem(503, "owner-unavailable")
    assert problem["outcome"] == "unknown", problem
    poll(lambda: owner_of(entry) == entry.url)
    third = forwarder(*one)
    assert state(third, "t") == "running"
    ask = held(third, entry, lambda api: api.post("/v1/timers", {"after": "2h", "labels": {"of": "key"}}, headers={"Idempotency-Key": "once"}))
    made = ask()
    if made.status == 503:  # the take-over took longer than a request waits
        assert made.problem(503, "owner-unavailable")["outcome"] in ("none", "unknown")
    again = answered(lambda: third.client.post("/v1/timers", {"after": "2h", "labels": {"of": "key"}}, headers={"Idempotency-Key": "once"}))
    assert again.expect(201).json["id"] == (made if made.status == 201 else again).json["id"]
    assert len(third.client.get("/v1/timers?label=of%3Dkey").json["timers"]) == 1


class OneWay:
    """Stands where the owner takes forwarded requests. Of the first connection it passes on every byte to the owner, and of the
    way back the first `bytes`; it resets that connection, as a dead machine does, once the owner has answered. Later connections
    it passes on whole, or gives to `later`.
    """

    def __init__(self, port, bytes, later=None):
        self.target, self.bytes, self.later = port, bytes, later
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.listener.getsockname()[1]}"
        self.firstly, self.connections = b"", 0
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):
            for number in itertools.count():
                asker, _ = self.listener.accept()
                self.connections += 1
                if number and self.later:
                    threading.Thread(target=self.later, args=(asker,), daemon=True).start()
                    continue
                owner = socket.create_connection(("127.0.0.1", self.target), PATIENCE)
                threading.Thread(target=self._pass, args=(asker, owner, number == 0), daemon=True).start()

    def _pass(self, asker, owner, is_first):
        passed, answered = 0, b""
        with contextlib.suppress(OSError), asker, owner:
            while True:
                for end in select.select([asker, owner], [], [])[0]:
                    if not (piece := end.recv(65536)):
                        return
                    if end is asker:
                        self.firstly += piece if is_first else b""
                        owner.sendall(piece)
                    elif not is_first:
                        asker.sendall(piece)
                    else:
                        asker.sendall(piece[:max(0, self.bytes - passed)])
                        passed += len(piece)
                        answered += piece
                        if has_head(answered):
                            asker.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                            return


def has_head(received):
    """Whether an answer's head is among these frames of a server."""
    while len(received) >= 9 and (end := 9 + int.from_bytes(received[:3], "big")) <= len(received):
        if received[3] == 1:
            return True
        received = received[end:]
    return False


def refuse_each(asker):
    """Answers each request as an owner does whose storage fails."""
    body = json.dumps({"type": "/problems/storage-unavailable", "title": "No", "status": 503, "outcome": "none"}).encode()
    head = literal((b":status", b"503"), (b"content-type", b"application/problem+json"), (b"content-length", b"%d" % len(body)))
    with contextlib.suppress(OSError), asker, asker.makefile("rb") as came:
        asker.sendall(frame(4, 0, 0, b""))
        came.read(PREFACE.index(b"SM") + 6)
        while header := came.read(9):
            came.read(int.from_bytes(header[:3], "big"))
            if header[3] == 1:
                stream = int.from_bytes(header[5:], "big")
                asker.sendall(frame(1, 4, stream, head) + frame(0, 1, stream, body))


def behind(link, owner, postgres, database):
    """Makes other servers reach the owner over the link."""
    schema = re.search(r"search_path%3D(\w+)", database)[1]
    postgres.execute(f"UPDATE timerd_node SET peer = '{link.address}' WHERE url = '{owner.url}'", schema)


def test_a_refusal_of_a_repeat_says_nothing_of_the_first_sending(forwarder, postgres, database):
    owner = forwarder()
    behind(OneWay(peer_port(owner), 9, later=refuse_each), owner, postgres, database)
    entry = forwarder()
    reply = entry.client.post("/v1/timers", {"after": "1h", "labels": {"of": "cut"}}, headers={"Idempotency-Key": "once"})
    assert reply.problem(503, "owner-unavailable")["outcome"] == "unknown"
    assert len(owner.client.get("/v1/timers?label=of%3Dcut").json["timers"]) == 1


@pytest.mark.thorough
@pytest.mark.parametrize("passed", [9, pytest.param(0, marks=pytest.mark.heavy)])
def test_a_request_that_the_owner_may_have_read_is_not_sent_again(forwarder, postgres, database, passed):
    """The way back is cut from the beginning, or right after the first frame of the owner's greeting."""
    owner = forwarder()
    link = OneWay(peer_port(owner), passed)
    behind(link, owner, postgres, database)
    entry = forwarder()
    reply = entry.client.batch([{"after": "1h", "labels": {"of": "cut"}}])
    if passed:
        assert reply.problem(503, "owner-unavailable")["outcome"] == "unknown"
    else:
        reply.expect(200)
        assert link.connections > 1 and not link.firstly
    assert len(owner.client.get("/v1/timers?label=of%3Dcut").json["timers"]) == 1


@pytest.mark.heavy
def test_a_request_whose_owner_stands_still_goes_to_the_next(forwarder):
    owner, entry = forwarder(), forwarder()
    owner.client.create(id="t", after="1h")
    entry.client.timer("t")
    stop(owner)
    # It is sent to the server that stands still, and again once that has lost its session.
    assert state(entry, "t") == "running"
    owner.process.send_signal(signal.SIGCONT)
    poll(lambda: owner.client.get("/readyz").status == 200)
    assert answered(lambda: owner.client.command("t", "suspend")).expect(200).json["state"] == "suspended"
    assert state(entry, "t") == "suspended"


@pytest.mark.thorough
def test_a_server_with_another_token_forwards_nothing_and_says_why(forwarder, new_node, tmp_path):
    owner = forwarder()
    token = tmp_path / "another"
    token.write_text("another-token-of-the-cluster\n")
    entry = new_node("--cluster-listen", "127.0.0.1:0", "--cluster-token-file", token)
    problem = entry.client.get("/v1/timers").problem(503, "owner-unavailable")
    assert problem["outcome"] == "none" and problem["owner"] == owner.url
    assert "does not take this one's --cluster-token-file" in entry.log_text()
    outcomes = dict(re.findall(r'^timerd_forwarded_total{outcome="(\w+)"} (\d+)$', entry.client.get("/metrics").body.decode(), re.M))
    assert outcomes["refused"] == "1" and int(outcomes["repeated"]) >= 1 and outcomes["answered"] == "0", outcomes


@pytest.mark.heavy
@pytest.mark.not_by_tls("its clients are bare sockets")
def test_a_client_that_does_not_read_holds_a_bounded_part_of_a_stream(both):
    owner, entry = both
    lines = [{"id": f"unread-{n}", "after": "1h", "payload": "x" * 4000, "labels": {"of": "unread"}} for n in range(2500)]
    for start in range(0, len(lines), 500):
        owner.client.batch(lines[start:start + 500], query="?results=brief").expect(200)

    def resident(server):
        return int(re.search(r"VmRSS:\s+(\d+)", open(f"/proc/{server.pid}/status").read())[1]) * 1024
    before = [resident(server) for server in both]
    streams = []
    for _ in range(20):
        raw = socket.create_connection(("127.0.0.1", entry.port), PATIENCE)
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        raw.sendall(b"GET /v1/events?since=0&label=of%3Dunread HTTP/1.1\r\nHost: a\r\n\r\n")
        assert raw.recv(15) == b"HTTP/1.1 200 OK"
        streams.append(raw)
    poll(lambda: "timerd_streams 20" in owner.client.get("/metrics").body.decode())
    # Others are served meanwhile, by the same connection between the servers.
    for _ in range(200):
        entry.client.get("/v1/timers/unread-1").expect(200)
    after = [resident(server) for server in both]
    for raw in streams:
        raw.close()
    # 20 streams of 10 MB each; unread are at most some hundred kilobytes of each.
    assert all(end - start < 100 << 20 for start, end in zip(before, after)), (before, after)
    poll(lambda: "timerd_streams 0" in owner.client.get("/metrics").body.decode())


@pytest.mark.heavy
@pytest.mark.not_by_tls("its clients are bare sockets")
def test_a_thousand_clients_at_once_share_the_connections_between_the_servers(both):
    owner, entry = both
    sockets = [socket.create_connection(("127.0.0.1", entry.port), PATIENCE) for _ in range(1000)]
    body = b'{"after":"1h","labels":{"of":"crowd"}}'
    for raw in sockets:
        raw.sendall(b"POST /v1/timers HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
    for raw in sockets:
        raw.settimeout(PATIENCE)
        assert raw.recv(12) == b"HTTP/1.1 201"
        raw.close()
    assert len(owner.client.get("/v1/timers?label=of%3Dcrowd&limit=1000").json["timers"]) == 1000
    lines = subprocess.run(["ss", "-Htn", "state", "established", f"sport = :{peer_port(owner)}"], capture_output=True, text=True, check=True).stdout
    assert 1 <= len(lines.splitlines()) <= 2 * os.cpu_count(), lines


@pytest.mark.heavy
def test_a_request_that_crosses_the_end_of_an_idle_connection_is_sent_again(forwarder):
    _, entry = forwarder(), forwarder()
    for _ in range(20):
        entry.client.create(after="1h")
    # The owner ends connections between servers after a minute without a request; the other server stands still meanwhile.
    time.sleep(59.7)
    stop(entry)
    with ThreadPoolExecutor(12) as pool:
        replies = [pool.submit(entry.client.post, "/v1/timers", {"after": "1h"}) for _ in range(12)]
        time.sleep(1.7)
        entry.process.send_signal(signal.SIGCONT)
        assert [reply.result().status for reply in replies] == [201] * 12


@pytest.mark.heavy
@pytest.mark.not_by_tls("its clients are bare sockets")
def test_a_request_whose_client_gave_up_while_it_waited_is_not_sent(forwarder):
    owner, entry = forwarder(), forwarder()
    owner.client.create(id="t", after="1h")
    entry.client.timer("t")
    owner.kill9()
    with socket.create_connection(("127.0.0.1", entry.port), PATIENCE) as raw:
        raw.sendall(b"POST /v1/timers/t/suspend HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n")
        # It came in before the next one is answered, on the one I/O thread or another.
        entry.client.get("/healthz").expect(200)
    assert state(entry, "t") == "running"
    poll(lambda: 'outcome="refused"} 0' not in entry.client.get("/metrics").body.decode())
    assert [event["type"] for event in entry.client.history_of("t")] == ["created", "activated"]


@pytest.mark.heavy
def test_a_stop_of_the_owner_is_a_pause_and_no_error(forwarder):
    owner, entry = forwarder(), forwarder()
    owner.client.create(id="t", after="1h")
    done, wrong = threading.Event(), []

    def ask(n):
        count = 0
        while not done.is_set():
            count += 1
            reply = entry.client.post("/v1/timers", {"after": "1h"}, headers={"Idempotency-Key": f"{n}-{count}"})
            if reply.status != 201:
                wrong.append(reply)
    threads = [threading.Thread(target=ask, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    owner.stop()
    poll(lambda: owner_of(entry) == entry.url)
    assert state(entry, "t") == "running"
    done.set()
    for thread in threads:
        thread.join(PATIENCE)
    # A pause beyond the five seconds, on a busy machine, is told as such.
    assert all(reply.problem(503, "owner-unavailable")["outcome"] == "none" for reply in wrong), wrong
