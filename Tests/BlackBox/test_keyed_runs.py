"""Batches, bulk commands and bulk redrives under an Idempotency-Key: one effect for each line or timer, also where kill -9
cuts the run and the request is repeated."""

import json
import re
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from patience import PATIENCE
from timers import poll

LINES = 10_000


def keyed(key):
    return {"headers": {"Idempotency-Key": key}, "timeout": 60}


def timers(api):
    return sum(api.get("/v1/stats").json["timers"].values())


def written(owner):
    """How many records this process has written to disk."""
    return float(re.search(r"^timerd_commit_records_sum (\S+)$", owner.get("/metrics").body.decode(), re.M)[1])


def cut(server, ask, records):
    """Sends the request, kills the server once that many more records are on disk, and starts it again. Returns whether it was
    cut."""
    answers = []

    def run():
        try:
            answers.append(ask(server.client))
        except Exception:  # the connection may break in any way
            pass
    thread = threading.Thread(target=run, daemon=True)
    owner = server.owner
    end = written(owner) + records
    thread.start()
    while thread.is_alive() and written(owner) < end:
        pass
    server.kill9()
    thread.join(PATIENCE)
    server.start()
    return not answers


CREATES = [{"every": "1h"}] * LINES


@pytest.mark.parametrize("records", [10_000, *(pytest.param(records, marks=pytest.mark.heavy) for records in (0, 1, 5000, 15_000, 20_000))])
def test_a_batch_that_is_cut_creates_each_timer_once(new_server, records):
    server = new_server()
    cut(server, lambda api: api.batch(CREATES, **keyed("k")), records)
    assert records == 0 or timers(server.client) > 0
    reply = server.client.batch(CREATES, **keyed("k")).expect(200)
    assert timers(server.client) == LINES
    assert [line["status"] for line in reply.lines] == [201] * LINES
    # A run of which nothing was on disk began anew, with whole lines.
    told = [(timer["id"], timer["version"]) for timer in (line.get("timer", line) for line in reply.lines)]
    assert len(set(told)) == LINES
    for id, version in told[:3] + told[-3:]:
        assert server.client.timer(id)["version"] == version
    again = server.client.batch(CREATES, **keyed("k")).expect(200)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert [(line["id"], line["version"]) for line in again.lines] == told


@pytest.mark.heavy
def test_a_batch_that_is_cut_again_and_again_fires_once_a_line(new_server):
    server = new_server()
    server.client.create(id="t", every="1h")
    lines = [{"command": "fire", "id": "t"}] * LINES

    def fires(api):
        return api.timer("t")["fireCount"]
    cuts = 0
    for records in (1, 2000, 1, 2000):
        cuts += cut(server, lambda api: api.batch(lines, **keyed("k")), records)
    assert cuts >= 2 and fires(server.client) > 0
    reply = server.client.batch(lines, **keyed("k")).expect(200)
    assert fires(server.client) == LINES
    versions = [line["version"] for line in reply.lines]
    assert len(versions) == LINES and versions == sorted(set(versions))


@pytest.mark.thorough
def test_the_lines_of_a_cut_batch_are_told_as_they_were(new_server):
    """Refusals are kept too: a repeat does not apply a line that was refused, though it is legal by then."""
    server = new_server()
    api = server.client
    api.create(id="t", after="1h")
    lines = [{"command": "suspend", "id": "t"}, {"command": "suspend", "id": "t"}, {"id": "t", "after": "1h"},
             {"command": "kick", "id": "t"}, {"command": "fire", "id": "nobody"}, {"after": "nonsense"}, "{",
             {"command": "resume", "id": "t", "ifMatch": "v1"}, {"id": "gone", "after": "1h"},
             {"command": "delete", "id": "gone"}]
    first = api.batch(lines, query="?results=brief", **keyed("whole")).expect(200)
    statuses = [200, 409, 409, 409, 404, 400, 400, 412, 201, 204]
    assert [line["status"] for line in first.lines] == statuses
    replay = api.batch(lines, query="?results=brief", **keyed("whole")).expect(200)
    assert replay.headers["Idempotency-Replayed"] == "true"
    for before, after in zip(first.lines, replay.lines, strict=True):
        if "problem" in before:
            assert before["problem"].pop("requestId") == first.headers["Request-Id"]
            assert after["problem"].pop("requestId") == replay.headers["Request-Id"]
            assert list(before["problem"]) == list(after["problem"])
        assert before == after

    api.command("t", "resume").expect(200)
    long = lines[:8] + CREATES[8:]
    cut(server, lambda api: api.batch(long, query="?results=brief", **keyed("cut")), 200)
    api = server.client
    api.command("t", "resume").expect(200)
    reply = api.batch(long, query="?results=brief", **keyed("cut")).expect(200)
    assert [line["status"] for line in reply.lines] == statuses[:8] + [201] * (LINES - 8)
    assert api.timer("t")["state"] == "running"
    assert timers(api) == LINES - 7


@pytest.mark.thorough
def test_a_key_that_was_cut_is_for_the_same_request_alone(new_server):
    server = new_server()
    assert cut(server, lambda api: api.batch(CREATES, **keyed("k")), 1)
    api = server.client
    stands = timers(api)
    api.batch(CREATES[1:], **keyed("k")).problem(422, "idempotency-mismatch")
    api.post("/v1/timers", {"after": "1h"}, **keyed("k")).problem(422, "idempotency-mismatch")
    api.batch(CREATES, query="?results=brief", **keyed("k")).problem(422, "idempotency-mismatch")
    api.batch(CREATES, content_type="text/plain", **keyed("k")).problem(415, "unsupported-media-type")
    assert timers(api) == stands
    api.batch(CREATES, **keyed("k")).expect(200)
    assert timers(api) == LINES


@pytest.mark.heavy
def test_of_many_that_repeat_a_cut_batch_one_goes_on(new_server):
    server = new_server()

    def repeat(api):
        try:
            return api.batch(CREATES, **keyed("k"))
        except Exception:
            return None
    for records in (1, 6000, 6000):
        owner = server.owner
        start = written(owner)
        with ThreadPoolExecutor(30) as pool:
            asked = [pool.submit(repeat, server.client) for _ in range(30)]
            while written(owner) < start + records and not all(one.done() for one in asked):
                pass
            server.kill9()
        server.start()
        for reply in filter(None, (one.result() for one in asked)):
            assert reply.status == 200 or reply.problem(409, "idempotency-in-progress"), reply
    api = server.client
    poll(lambda: api.batch(CREATES, **keyed("k")).status == 200, timeout=60)
    assert timers(api) == LINES
    assert api.batch(CREATES, **keyed("k")).headers["Idempotency-Replayed"] == "true"


def test_a_key_is_known_whatever_timers_a_batch_is_about(api, name):
    for number in range(10):
        key = keyed(f"{name}-{number}")
        api.batch([{"id": f"{name}-first-{number}", "after": "1h"}], **key).expect(200)
        api.batch([{"id": f"{name}-second-{number}", "after": "1h"}], **key).problem(422, "idempotency-mismatch")
        assert api.get(f"/v1/timers/{name}-second-{number}").status == 404


@pytest.mark.thorough
def test_a_batch_whose_client_leaves_is_done_once(new_server):
    server = new_server()
    api = server.client
    connection = api.connection()
    body = "".join(json.dumps(line) + "\n" for line in CREATES).encode()
    headers = {"Content-Type": "application/x-ndjson", "Idempotency-Key": "k"}
    connection.request("POST", "/v1/timers/batch", body=body, headers=headers)
    poll(lambda: timers(api) > 0)
    connection.close()
    reply = poll(lambda: [reply for reply in [api.batch(CREATES, **keyed("k"))] if reply.status != 409], timeout=60)[0]
    assert len(reply.expect(200).lines) == LINES
    assert timers(api) == LINES


@pytest.mark.heavy
def test_a_batch_that_a_stop_cuts_goes_on_after_it(new_server):
    server = new_server("--drain", "100ms")
    api = server.client
    replies = []
    thread = threading.Thread(target=lambda: replies.append(_attempt(api)), daemon=True)
    thread.start()
    poll(lambda: timers(api) > 0)
    server.stop()
    thread.join(PATIENCE)
    server.start()
    assert len(server.client.batch(CREATES, **keyed("k")).expect(200).lines) == LINES
    assert timers(server.client) == LINES


def _attempt(api):
    try:
        return api.batch(CREATES, **keyed("k"))
    except Exception:
        return None


@pytest.mark.thorough
@pytest.mark.parametrize("command, event", [
    ("suspend", "suspended"),
    *(pytest.param(*pair, marks=pytest.mark.heavy) for pair in [("cancel", "cancelled"), ("delete", "deleted"), ("fire", "fired")]),
])
def test_a_bulk_command_that_is_cut_counts_both_runs(new_server, command, event):
    server = new_server()
    count = 6000
    server.client.batch([{"id": f"t{n}", "every": "1h", "labels": {"in": "a"}} for n in range(count)],
                        query="?results=brief", timeout=60).expect(200)
    target, selector = f"/v1/timers/bulk/{command}", {"labels": {"in": "a"}}

    for records in (1, 2500):
        cut(server, lambda api: api.post(target, selector, **keyed("k")), records)
    if command == "suspend":
        # A timer that was suspended and then resumed is not suspended again; one that was not running yet is suspended.
        [server.client.command(f"t{n}", "resume") for n in range(50)]
    reply = server.client.post(target, selector, **keyed("k")).expect(200)
    assert reply.json == {"matched": count, "changed": count, "skipped": 0}
    again = server.client.post(target, selector, **keyed("k")).expect(200)
    assert again.headers["Idempotency-Replayed"] == "true" and again.body == reply.body
    history = server.client.history(f"&types={event}&label=in%3Da")
    assert len(history) == count


def test_two_lines_of_the_header_are_refused(api, name):
    connection = api.connection()
    connection.putrequest("POST", "/v1/timers")
    for line in (("Content-Type", "application/json"), ("Content-Length", "14"),
                 ("Idempotency-Key", name), ("Idempotency-Key", name)):
        connection.putheader(*line)
    connection.endheaders(b'{"after":"1h"}')
    response = connection.getresponse()
    assert response.status == 400, response.read()
    connection.close()
