"""Requests under an Idempotency-Key when writes fail, redrives are cut, or there are too many answers to keep."""

import pytest

from test_failing_writes import failing, limit_writes  # noqa: F401
from test_keyed_runs import cut, keyed, timers
from timers import poll
from webhooks import events, fire, hooked

QUICK = {"initial": "10ms", "max": "20ms", "maxAttempts": 1}


def heal(server):
    limit_writes(server, None)
    poll(lambda: server.client.get("/readyz").status == 200)


@pytest.mark.heavy
def test_a_batch_that_failing_writes_cut_goes_on_behind_what_stands(failing):  # noqa: F811
    tick = failing.client.create(id="tick", every="1h")
    lines = [{"id": f"b{n}", "after": "1h", "payload": "x" * 300} for n in range(3000)] + [{"command": "fire", "id": "tick"}] * 3000
    for size in (700_000, 1_500_000):
        limit_writes(failing, size)
        reply = failing.client.batch(lines, **keyed("k"))
        if reply.status != 200:
            assert reply.problem(503)["outcome"] in ("none", "unknown")
        heal(failing)
    reply = failing.client.batch(lines, **keyed("k")).expect(200)
    assert len(reply.lines) == 6000 and {line["status"] for line in reply.lines} == {201, 200}
    assert timers(failing.client) == 3002
    assert failing.client.timer("tick")["fireCount"] == 3000
    assert failing.client.timer("tick")["version"] == tick["version"] + 3000


@pytest.mark.thorough
@pytest.mark.undivided
def test_a_run_that_changes_nothing_keeps_no_answer_while_writes_fail(failing):  # noqa: F811
    limit_writes(failing, 1000)
    failing.client.post("/v1/timers", {"after": "1h"}).problem(503, "storage-unavailable")
    nobody = {"labels": {"no": "such"}}
    asks = [("/v1/timers/bulk/cancel", nobody), ("/v1/timers/bulk/cancel?dryRun=true", nobody),
            ("/v1/deliveries/redrive", nobody)]
    for target, body in asks:
        failing.client.post(target, body, headers={"Idempotency-Key": target}).problem(503, "storage-unavailable")
    failing.client.batch([{"after": "x"}, {"command": "fire", "id": "nobody"}], **keyed("b")).problem(503, "storage-unavailable")
    # A preview keeps no answer, so it needs no disk.
    failing.client.post("/v1/schedules/preview", {"every": "1h"}, **keyed("p")).expect(200)
    heal(failing)
    for target, body in asks:
        first = failing.client.post(target, body, headers={"Idempotency-Key": target}).expect(200)
        assert "Idempotency-Replayed" not in first.headers
        again = failing.client.post(target, body, headers={"Idempotency-Key": target}).expect(200)
        assert (again.headers["Idempotency-Replayed"], again.body) == ("true", first.body)
    lines = failing.client.batch([{"after": "x"}, {"command": "fire", "id": "nobody"}], **keyed("b")).expect(200).lines
    assert [line["status"] for line in lines] == [400, 404]


@pytest.mark.heavy
def test_a_redrive_that_is_cut_redrives_each_dead_letter_once(new_server, receiver):
    server = new_server("--webhook-per-host", "256")
    api = server.client
    url = receiver.script("/bad", 400)
    count = 900
    hooked(api, url, "t", retry=QUICK)
    fire(api, "t", count)
    poll(lambda: api.get("/v1/stats").json["deadDeliveries"] == count, timeout=60)
    selector = {"timer": "t"}
    cut(server, lambda api: api.post("/v1/deliveries/redrive", selector, **keyed("k")), 1)
    api = server.client
    # Redriven deliveries die again, or wait; a second run must not take them.
    reply = api.post("/v1/deliveries/redrive", selector, **keyed("k")).expect(200)
    assert reply.json == {"matched": count, "changed": count, "skipped": 0}
    again = api.post("/v1/deliveries/redrive", selector, **keyed("k")).expect(200)
    assert again.headers["Idempotency-Replayed"] == "true" and again.body == reply.body
    poll(lambda: api.get("/v1/stats").json["deadDeliveries"] == count, timeout=60)
    events(api, "t", "deliveryDead", count=2 * count)


def test_above_the_bytes_the_oldest_answers_are_forgotten(new_server):
    api = new_server("--max-idempotency-bytes", "1MiB", "--retain-events", "0s,0B").client
    body = {"after": "1h", "payload": "x" * 60_000}
    made = [api.post("/v1/timers", body | {"labels": {"n": str(n)}}, **keyed(f"k{n}")).expect(201) for n in range(40)]
    for reply in made:
        api.delete(reply.headers["Location"]).expect(204)
    newest = api.post("/v1/timers", body | {"labels": {"n": "39"}}, **keyed("k39")).expect(201)
    assert newest.headers["Idempotency-Replayed"] == "true" and newest.body == made[39].body
    oldest = api.post("/v1/timers", body | {"labels": {"n": "0"}}, **keyed("k0")).expect(201)
    assert "Idempotency-Replayed" not in oldest.headers
    assert api.get("/v1/stats").json["idempotencyKeys"] <= 18
