"""Timers and deliveries move from one server to another as they are: nothing is early, twice, or lost."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from moving import all_timers, bring, drain, export, move, parts, send, without
from timers import duration, instant, now, poll, shown, types
from webhooks import LATER, SECRET, deliveries, event, events, fire, hooked


# With their payloads more than a connection buffers.
MANY = 4000


@pytest.fixture
def pair(new_server):
    source, target = new_server(), new_server()
    return source.client, target.client


def every_kind(api):
    """A timer of every kind and in every state. Returns how many there are."""
    api.create(id="one", after="1h", payload={"π": [1, 2.50, "\\u0041"]}, labels={"k": "v", "team/x": "ü"})
    api.create(id="at", at=shown(now() + 3_600_000), leeway="5s", jitter="3s")
    api.create(id="idle", every="1m", start="manual", maxFires=3)
    api.create(id="beat", every="1m", after="1h", mode="fixedDelay", misfire="all", misfireGrace="5m", until=shown(now() + 10**10))
    api.create(id="grid", every="1h", at=shown(now() - 10**9), misfire="skip")
    api.create(id="cron", cron="30 2 * * *", timeZone="Europe/Berlin", **{"from": shown(now() + 10**9)})
    api.create(id="slow", after="1h", clock="suspending")
    api.create(id="dog", watchdog="1h", misses=3, repeatAlarm=True)
    api.command("dog", "kick").expect(200)
    api.create(id="waits", every="1h", start="subscriber", stop="subscriber")
    api.create(id="held", after="2h")
    api.command("held", "suspend").expect(200)
    api.create(id="kept", every="2h", onResume="deadline")
    api.command("kept", "suspend").expect(200)
    api.create(id="cancelled", after="1h", restartable=True, retain="3d")
    api.command("cancelled", "cancel").expect(200)
    api.create(id="done", after="1h")
    api.command("done", "fire").expect(200)
    api.create(id="moved", every="1h")
    api.command("moved", "reschedule", {"after": "17m"}).expect(200)
    api.create(id="fired", every="1h")
    fire(api, "fired", 3)
    api.create(id="alarmed", watchdog="1ms")
    event(api, "alarmed", "fired")
    api.create(id="hooked", every="1h", webhook={"url": "http://127.0.0.1:9/x", "secret": SECRET, "headers": {"Authorization": "Bearer x", "X-A": "b"},
                                                 "types": ["fired", "completed"], "retry": LATER})
    return 17


def test_every_kind_is_there_as_it_was(pair):
    source, target = pair
    count = every_kind(source)
    assert move(source, target) == {"timers": count, "deliveries": 0, "skipped": 0}
    before, after = all_timers(source), all_timers(target)
    assert after.keys() == before.keys() and len(after) == count
    for id, timer in before.items():
        then = after[id]
        assert without(then, "remaining", "nextFireAt") == without(timer, "remaining", "nextFireAt"), id
        if timer["nextFireAt"] and timer["clock"] != "suspending":
            assert then["nextFireAt"] == timer["nextFireAt"], id
        elif timer["remaining"]:
            assert 0 <= duration(timer["remaining"]) - duration(then["remaining"]) < 60_000, id
        assert then["remaining"] is None or timer["remaining"] is not None
    assert after["held"]["remaining"] == before["held"]["remaining"]
    # What they do next is the same, too.
    for id in ("beat", "grid", "cron", "moved"):
        assert target.get(f"/v1/timers/{id}/next?count=20").json == source.get(f"/v1/timers/{id}/next?count=20").json, id
    # Shown rounded down while it is held, and up while it runs.
    resumed = target.command("held", "resume").expect(200).json
    assert 0 <= duration(resumed["remaining"]) - duration(before["held"]["remaining"]) <= 1
    assert target.command("kept", "resume").expect(200).json["nextFireAt"]
    assert target.command("alarmed", "kick").expect(200).json["health"] == "ok"
    assert event(target, "alarmed", "recovered")["stalledFor"]
    target.command("cancelled", "activate").expect(200)


def test_streams_tell_of_it(pair):
    source, target = pair
    source.create(id="a", after="1h", payload=1)
    source.create(id="i", after="1h", start="manual")
    start = target.get("/v1/stats").json["eventId"]
    move(source, target)
    told = {event["timer"]: event for event in target.history(f"&since={start}")}
    assert told["a"]["type"] == "created" and told["a"]["reason"] == "imported" and told["a"]["payload"] == 1
    assert told["a"]["nextFireAt"] == source.timer("a")["nextFireAt"] and told["i"]["nextFireAt"] is None
    assert types(target.history_of("a")) == ["created"]


def test_a_restart_of_the_new_server_finds_them(new_server):
    source, target = new_server(), new_server()
    count = every_kind(source.client)
    move(source.client, target.client)
    before = all_timers(target.client)
    target.kill9()
    target.start()
    after = all_timers(target.client)
    assert len(after) == count
    for id, timer in before.items():
        assert without(after[id], "remaining", "nextFireAt") == without(timer, "remaining", "nextFireAt"), id


def test_what_is_due_before_during_and_after_the_move_fires_once(pair):
    source, target = pair
    ids = [f"t{n:02}" for n in range(40)]
    for n, id in enumerate(ids):
        source.create(id=id, after=f"{n * 50}ms")
    event(source, "t00", "fired")
    drain(source)
    fired = {id for id in ids if source.timer(id)["fireCount"]}
    lines = export(source)
    poll(lambda: now() > instant(source.timer("t20")["createdAt"]) + 1000 + 20 * 50)
    bring(target, lines, size=7)
    for id in ids:
        history = target.history_of(id) if id in fired else events(target, id, "fired")
        found = [event for event in history if event["type"] == "fired"]
        assert len(found) == (0 if id in fired else 1), id
        assert target.timer(id)["fireCount"] == 1
        for event_ in found:
            assert event_["at"] >= event_["scheduledAt"] == source.timer(id)["nextFireAt"], id
    assert 0 < len(fired) < 40
    assert source.timer(ids[-1])["fireCount"] == 0, "it fires on one of them"


def test_an_overdue_timer_misfires_by_its_policy(pair):
    source, target = pair
    made = source.create(id="once", every="100ms")
    source.create(id="all", every="100ms", misfire="all")
    source.create(id="skip", every="100ms", misfire="skip")
    source.create(id="shot", after="100ms", misfire="skip")
    source.create(id="past", at=shown(now() - 10**9), start="manual")
    drain(source)
    lines = export(source)
    fires = {id: source.timer(id)["fireCount"] for id in ("once", "all", "skip")}
    poll(lambda: now() > instant(made["createdAt"]) + 2500)
    bring(target, lines)
    assert event(target, "once", "fired")["reason"] == "misfire"
    assert event(target, "once", "fired")["missed"] > 8
    caught = events(target, "all", "fired", count=12)
    assert {event["reason"] for event in caught} == {"misfire"}
    assert [event["fire"] for event in caught] == list(range(fires["all"] + 1, fires["all"] + 13))
    assert event(target, "skip", "fired")["reason"] == "due"
    assert target.timer("skip")["missedCount"] > 8
    if not source.timer("shot")["fireCount"]:
        poll(lambda: target.timer("shot")["state"] == "completed")
        assert target.timer("shot")["fireCount"] == 0
    assert target.command("past", "activate").expect(200)
    assert event(target, "past", "fired")["reason"] == "due"


def test_a_watchdog_does_not_alarm_for_the_move(pair):
    source, target = pair
    made = source.create(id="dog", watchdog="2s")
    drain(source)
    left = duration(source.timer("dog")["remaining"])
    lines = export(source)
    poll(lambda: now() > instant(made["nextFireAt"]) + 200)
    bring(target, lines)
    assert 0 < duration(target.timer("dog")["remaining"]) <= left + 2
    assert target.command("dog", "kick").expect(200).json["health"] == "ok"
    assert types(target.history_of("dog")) == ["created"]


def test_pending_deliveries_go_on_under_their_ids_and_in_their_order(pair, receiver):
    source, target = pair
    receiver.default = 500
    hooked(source, receiver.url("/a"), "a", retry=LATER, timer={"payload": {"n": 1.50}, "labels": {"x": "y"}}, secret=SECRET)
    fire(source, "a", 40)
    event(source, "a", "deliveryFailed")
    first = receiver.wait_for(1)[0]
    assert move(source, target) == {"timers": 1, "deliveries": 40, "skipped": 0}
    receiver.default = 200
    # The one that failed waits for its retry, as it would have.
    (waiting, *rest) = deliveries(target)
    assert waiting["attempts"] == 1 and waiting["lastStatus"] == 500 and len(rest) == 39
    assert waiting["nextAttemptAt"] == deliveries(source)[0]["nextAttemptAt"]
    wanted = [event["id"] for event in source.history_of("a") if event["type"] == "fired"]
    fire(target, "a")
    # A change of the webhook leaves it waiting; a dropped one lets the next go.
    target.delete(f"/v1/deliveries/{waiting['id']}").expect(204)
    receiver.wait_for(41)
    came = receiver.on("/a")[1:]
    assert [request.id for request in came[:39]] == wanted[1:], "the ids are those of the old server"
    assert [request.json["id"] for request in came[:39]] == wanted[1:]
    assert came[39].json["fire"] == 41 and came[39].id not in wanted
    told = {event["id"]: event for event in source.history_of("a")}
    for request in came[:39]:
        assert request.json == told[request.id], "the body is what it was"
        assert request.header("webhook-signature")
    assert first.id == wanted[0]


def test_dead_letters_move_too(pair, receiver):
    source, target = pair
    receiver.default = 500
    for id in ("a", "gone"):
        hooked(source, receiver.url(f"/{id}"), id)
        fire(source, id)
        event(source, id, "deliveryDead")
    source.delete("/v1/timers/gone").expect(204)
    assert move(source, target) == {"timers": 1, "deliveries": 2, "skipped": 0}
    before, after = (sorted(deliveries(api, "state=dead"), key=lambda letter: letter["timer"]) for api in pair)
    for old, new in zip(before, after, strict=True):
        assert without(new, "id") == without(old, "id")
    receiver.default = 200
    asked = receiver.on()
    for letter in after:
        target.post(f"/v1/deliveries/{letter['id']}/redrive").expect(200)
    receiver.wait_for(len(asked) + 2)
    assert {request.id for request in receiver.on()[len(asked):]} == {letter["id"] for letter in before}
    poll(lambda: not deliveries(target))


@pytest.mark.thorough
@pytest.mark.undivided
def test_deliveries_survive_kill_9_and_another_move(new_server, receiver):
    receiver.default = 500
    first, second, third = (new_server() for _ in range(3))
    hooked(first.client, receiver.url("/a"), "a", retry=LATER)
    fire(first.client, "a", 5)
    event(first.client, "a", "deliveryFailed")
    move(first.client, second.client)
    second.kill9()
    second.start()
    assert move(second.client, third.client)["deliveries"] == 5
    wanted = [event["id"] for event in first.client.history_of("a") if event["type"] == "fired"]
    receiver.default = 200
    (waiting, *_) = deliveries(third.client)
    third.client.delete(f"/v1/deliveries/{waiting['id']}").expect(204)
    receiver.wait_for(5)
    assert [request.id for request in receiver.on()] == wanted


def test_versions_lie_above_both(pair):
    source, target = pair
    source.create(id="a")
    untouched = source.create(id="untouched")
    for _ in range(5):
        source.command("a", "suspend").expect(200)
        source.command("a", "resume").expect(200)
    source.create(id="b")
    source.delete("/v1/timers/b").expect(204)
    floor = source.create(id="b")["version"]
    version = source.timer("a")["version"]
    move(source, target)
    assert target.timer("a")["version"] == version and target.timer("b")["version"] == floor
    # A version is kept though higher ones were deleted there: what a client knows of the timer still holds.
    assert untouched["version"] < floor
    target.command("untouched", "suspend", headers={"If-Match": f'"v{untouched["version"]}"'}).expect(200)
    # Nor is a version given again of a timer that was deleted before the move.
    target.delete("/v1/timers/b").expect(204)
    assert target.create(id="b")["version"] > floor


@pytest.mark.parametrize("policy", ["fail", "skip", "replace"])
def test_an_id_that_is_taken(pair, policy):
    source, target = pair
    source.create(id="a", after="1h")
    source.create(id="z", after="1h")
    target.create(id="z", after="5h")
    for _ in range(3):
        target.patch("/v1/timers/z", {"labels": {"n": str(_)}}).expect(200)
    before = target.timer("z")
    drain(source)
    lines = export(source)
    answer = send(target, lines, query=f"&onConflict={policy}")
    if policy == "fail":
        problem = answer.problem(409, "timer-exists")
        assert problem["timer"] == "z" and lines[problem["line"] - 1]["timer"]["id"] == "z"
        assert all_timers(target).keys() == {"z"}, "a refused part changes nothing"
        assert target.get(f"/v1/import/{lines[0]['export']}").expect(200).json["next"] == 0
    elif policy == "skip":
        assert answer.expect(200).json["skipped"] == 1
        assert without(target.timer("z"), "remaining") == without(before, "remaining")
    else:
        assert answer.expect(200).json["timers"] == 2
        assert target.timer("z")["after"] == "1h" and target.timer("z")["version"] > before["version"]
        assert types(target.history_of("z"))[-1] == "created"


def test_an_import_repeated_is_done_once(pair):
    source, target = pair
    for n in range(30):
        source.create(id=f"t{n}")
    drain(source)
    lines = export(source)
    id = lines[0]["export"]
    for number, part in enumerate(parts(lines, 10)):
        assert target.get(f"/v1/import/{id}").expect(200).json == {"export": id, "next": number, "complete": False}
        assert send(target, part, number, id).expect(200).json["applied"] is True
        target.command("t0", "suspend") if number == 0 else None
        assert send(target, part, number, id).expect(200).json["applied"] is False
    assert target.get(f"/v1/import/{id}").expect(200).json == {"export": id, "next": 4, "complete": True}
    assert len(all_timers(target)) == 30
    assert target.timer("t29")["version"] == 1


@pytest.mark.thorough
def test_a_part_that_comes_twice_at_once_is_done_once(pair):
    source, target = pair
    source.batch([f'{{"id": "t{n}", "after": "1h"}}' for n in range(2000)], "?results=brief").expect(200)
    drain(source)
    lines = export(source)
    with ThreadPoolExecutor(3) as threads:
        answers = list(threads.map(lambda _: send(target, lines), range(3)))
    for answer in answers:
        if answer.status != 200:
            answer.problem(409, "idempotency-in-progress")
    assert [answer.json["applied"] for answer in answers if answer.status == 200].count(True) == 1
    told = [event["timer"] for event in target.history()]
    assert len(told) == len(set(told)) == 2000


@pytest.mark.thorough
def test_a_part_that_kill_9_cut_goes_on_where_it_was(new_server):
    source, target = new_server(), new_server()
    lines = [f'{{"id": "t{n}", "after": "1h"}}' for n in range(4000)]
    source.client.batch(lines, "?results=brief").expect(200)
    drain(source.client)
    exported = export(source.client)
    id = exported[0]["export"]
    target.restart()
    sock = target.client.socket()
    body = "".join(json.dumps(line) + "\n" for line in exported).encode()
    sock.sendall(f"POST /v1/import?export={id}&part=0 HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n"
                 f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
    poll(lambda: sum(target.client.get("/v1/stats").json["timers"].values()) > 100)
    target.kill9()
    sock.close()
    target.start()
    there = all_timers(target.client)
    print(f"{len(there)} of 4000 before the crash")
    answer = send(target.client, exported).expect(200).json
    assert answer["applied"] is True and answer["complete"] is True
    assert answer["timers"] <= 4000
    after = all_timers(target.client)
    assert len(after) == 4000 and {timer["version"] for timer in after.values()} == {1}
    told = [event["timer"] for event in target.client.history()]
    assert len(told) == len(set(told)) == 4000, "each came once"
    target.restart()
    assert send(target.client, exported).expect(200).json["applied"] is False


def test_what_was_not_drained_is_a_copy_only(pair):
    source, target = pair
    source.create(id="a")
    lines = export(source)
    assert lines[0]["drained"] is False
    send(target, lines).problem(409, "still-running")
    assert not all_timers(target)
    assert bring(target, lines, query="&copy=true")["timers"] == 1
    source.command("a", "suspend").expect(200)


def test_a_masked_secret_is_refused_or_dropped(pair, receiver):
    source, target = pair
    hooked(source, receiver.url("/a"), "a", secret=SECRET)
    hooked(source, receiver.url("/b"), "b")
    drain(source)
    lines = export(source)
    assert SECRET not in json.dumps(lines)
    problem = send(target, lines).problem(400)
    assert problem["pointer"].endswith("/webhook/secret") and problem["line"]
    assert bring(target, lines, query="&secrets=drop")["timers"] == 2
    assert target.timer("a")["webhook"]["stopped"] is True and "stopped" not in target.timer("b")["webhook"]
    assert SECRET in json.dumps(export(source, "?secrets=true"))
    for id in ("a", "b"):
        target.command(id, "fire").expect(200)
    receiver.wait_for(1)
    assert [request.path for request in receiver.on()] == ["/b"]


STATE = {"state": "running", "version": 1, "createdAt": "2026-11-22T10:00:00.000Z", "updatedAt": "2026-11-22T10:00:00.000Z",
         "dueAt": "2126-11-22T11:00:00.000Z"}
ID = "0123456789abcdef0123456789abcdef"
HEAD = {"export": ID, "format": 1, "eventId": "1", "drained": True}


def line(timer=(), **state):
    return {"timer": {"id": "a", "after": "1h", **dict(timer)}, "state": {name: value for name, value in (STATE | state).items() if value is not None}}


@pytest.mark.parametrize("lines, status, where", [
    (["{"], 400, None), (["[]"], 400, None), (["{}"], 400, None), (['{"key": 1}'], 400, "/key"), (['{"namespace": "x"}'], 400, "/namespace"),
    ([line()], 400, None), ([HEAD, HEAD], 400, None), ([HEAD | {"export": "f" * 32}], 400, "/export"), ([HEAD | {"format": 2}], 400, "/format"),
    ([HEAD | {"more": 1}], 400, "/more"), ([HEAD, line() | {"more": 1}], 400, "/more"), ([HEAD, line(timer={"nope": 1})], 400, "/timer/nope"),
    ([HEAD, line(timer={"id": ".."})], 400, "/timer/id"), ([HEAD, line(timer={"after": "1y"})], 400, "/timer/after"),
    ([HEAD, line(state="dancing")], 400, "/state/state"), ([HEAD, line(version=0)], 400, "/state/version"),
    ([HEAD, line(version=1 << 60)], 400, "/state/version"), ([HEAD, line(dueAt=None)], 400, "/state/dueAt"),
    ([HEAD, line(dueAt="soon")], 400, "/state/dueAt"), ([HEAD, line(fireCount=-1)], 400, "/state/fireCount"),
    ([HEAD, line(firesSinceActivation=2, fireCount=1)], 400, "/state/firesSinceActivation"), ([HEAD, line(stalled=True)], 400, "/state/stalled"),
    ([HEAD, line(unsubscribed=True)], 400, "/state/unsubscribed"), ([HEAD, line(createdAt="1969-12-31T23:59:59.999Z")], 400, "/state/createdAt"),
    ([HEAD, line(timer={"webhook": {"url": "http://x", "headers": {"Authorization": "***"}}})], 400, "/timer/webhook/headers/Authorization"),
    ([HEAD, {"delivery": {}, "event": {}}], 400, "/delivery/state"), ([HEAD, {"end": True, "lines": 7}], 400, "/lines"),
    ([HEAD, {"end": True, "lines": 1}, line()], 400, None), ([HEAD, line(timer={"id": None})], 400, "/timer"),
])
def test_a_bad_line_is_told_and_changes_nothing(api, lines, status, where):
    reply = send(api, lines, id=ID)
    assert reply.problem(status)["line"]
    problem = reply.json
    if where:
        assert problem["pointer"] == where, problem
    assert api.get(f"/v1/import/{ID}").expect(200).json["next"] == 0


@pytest.mark.parametrize("query", ["", "export=x&part=0", f"export={ID}", f"export={ID}&part=-1", f"export={ID}&part=x", f"export={ID}&part=0&more=1",
                                   f"export={ID}&part=0&onConflict=maybe", f"export={ID.upper()}&part=0", f"export={ID}&part=1",
                                   f"export={ID}&part=0&secrets=true", f"export={ID}&part=0&copy=yes"])
def test_a_bad_parameter(api, query):
    reply = api.post(f"/v1/import?{query}", body=json.dumps(HEAD) + "\n", content_type="application/x-ndjson")
    assert reply.problem(400)["parameter"]


def test_the_import_route(api):
    api.post(f"/v1/import?export={ID}&part=0", body=json.dumps(HEAD), content_type="text/plain").problem(415)
    api.post(f"/v1/import?export={ID}&part=0", body="").problem(400)
    api.get("/v1/import/x").problem(404)
    api.get(f"/v1/export?namespace=x").problem(400)
    api.get("/v1/export?secrets=perhaps").problem(400)
    api.get(f"/v1/import?export={ID}").problem(405)
    api.head("/v1/export").expect(200)


def test_another_body_under_the_number_of_a_part_is_refused(pair):
    source, target = pair
    source.create(id="a")
    drain(source)
    lines = export(source)
    send(target, lines[:1], 0, lines[0]["export"]).expect(200)
    assert send(target, lines[1:], 2, lines[0]["export"]).problem(400)["parameter"] == "part"
    assert send(target, lines[1:], 1, lines[0]["export"]).expect(200).json["complete"] is True


@pytest.mark.thorough
def test_the_largest_lines(pair):
    source, target = pair
    source.create(id="x" * 128, payload="p" * 65_000, labels={f"{n:063}": "v" * 255 for n in range(16)},
                  webhook={"url": "http://127.0.0.1:9/" + "u" * 1000, "secret": [SECRET]})
    before = source.timer("x" * 128)
    move(source, target)
    assert without(target.timer("x" * 128), "remaining") == without(before, "remaining")


@pytest.mark.thorough
def test_a_reader_that_is_slow_is_served_to_the_end(new_server):
    server = new_server()
    api = server.client
    api.batch([f'{{"id": "t{n}", "after": "1h", "payload": "{"x" * 1000}"}}' for n in range(MANY)], "?results=brief").expect(200)
    drain(api)
    with api.socket() as sock:
        sock.sendall(b"GET /v1/export HTTP/1.0\r\nHost: localhost\r\n\r\n")
        first = sock.recv(1000)
        # It waits for its reader, and the server serves others meanwhile.
        for _ in range(20):
            assert len(api.get("/v1/timers?limit=1000").expect(200).json["timers"]) == 1000
        data = first
        while piece := sock.recv(65536):
            data += piece
    lines = data.split(b"\r\n\r\n", 1)[1].splitlines()
    assert json.loads(lines[-1]) == {"end": True, "lines": MANY + 1}
    assert len({json.loads(line)["timer"]["id"] for line in lines[1:-1]}) == MANY


def test_an_export_that_is_undrained_meanwhile_has_no_end(new_server):
    api = new_server().client
    api.batch([f'{{"id": "t{n}", "after": "1h", "payload": "{"x" * 1000}"}}' for n in range(MANY)], "?results=brief").expect(200)
    drain(api)
    with api.socket() as sock:
        sock.sendall(b"GET /v1/export HTTP/1.0\r\nHost: localhost\r\n\r\n")
        data = sock.recv(1000)
        api.delete("/v1/drain").expect(200)
        try:
            while piece := sock.recv(65536):
                data += piece
        except ConnectionResetError:
            pass
    assert b'"end"' not in data


@pytest.mark.thorough
def test_what_changes_during_an_export_comes_again(new_server):
    source, target = new_server().client, new_server().client
    source.batch([f'{{"id": "t{n}", "after": "1h", "payload": "{"x" * 1000}"}}' for n in range(MANY)], "?results=brief").expect(200)
    with source.socket() as sock:
        sock.sendall(b"GET /v1/export HTTP/1.0\r\nHost: localhost\r\n\r\n")
        data = sock.recv(1000)
        for n in range(0, MANY, MANY // 20):
            source.command(f"t{n}", "suspend").expect(200)
        while piece := sock.recv(65536):
            data += piece
    lines = [json.loads(line) for line in data.split(b"\r\n\r\n", 1)[1].splitlines()]
    assert lines[-1] == {"end": True, "lines": len(lines) - 1}
    bring(target, lines, query="&copy=true")
    assert len(target.get("/v1/timers?state=suspended&limit=1000").json["timers"]) == 20
    assert len(all_timers(target)) == MANY
