"""Scopes of access keys: the requests that each may send, kicks of a key that may not read, webhooks as a reader sees them."""

import pytest

import contract
from keys import ABSENT, answered_here, forbidden, protected, unauthorized
from moving import without
from server import FORWARDED, Server
from webhooks import event, fire, fired, hooked

# One server for all of them.
pytestmark = pytest.mark.xdist_group("key-scopes")

INCLUDED = {"read": {"read"}, "kick": {"kick"}, "write": {"read", "kick", "write"}, "admin": {"read", "kick", "write", "admin"}}

# Each route, its methods besides HEAD and OPTIONS, and what they take: `any` key, or no credential where it is `open`.
TABLE = """
    /                               GET open
    /healthz                        GET open
    /readyz                         GET open
    /openapi.yaml                   GET open
    /openapi.json                   GET open
    /docs                           GET open
    /dashboard-parts                GET open
    /problems/{slug}                GET open
    /metrics                        GET read
    /v1/stats                       GET read
    /v1/stats/due                   GET read
    /v1/stats/history               GET read
    /v1/cluster                     GET admin
    /v1/cluster/promote             POST admin
    /v1/schedules/preview           POST read
    /v1/events                      GET read
    /v1/drain                       POST admin    DELETE admin
    /v1/export                      GET admin
    /v1/import                      POST admin
    /v1/import/{export}             GET admin
    /v1/calendars                   GET read
    /v1/calendars/{name}            GET read      PUT write       DELETE write
    /v1/calendars/{name}/open       GET read
    /v1/keys                        GET admin     POST admin
    /v1/keys/self                   GET any
    /v1/keys/{id}                   GET admin     PATCH admin     DELETE admin
    /v1/keys/{id}/rotate            POST admin
    /v1/deliveries                  GET read
    /v1/deliveries/redrive          POST write
    /v1/deliveries/{id}             GET read      DELETE write
    /v1/deliveries/{id}/redrive     POST write
    /v1/timers                      GET read      POST write
    /v1/timers/batch                POST kick
    /v1/timers/bulk/{action}        POST write
    /v1/timers/{id}                 GET read      PUT write       PATCH write       DELETE write
    /v1/timers/{id}/webhook/test    POST write
    /v1/timers/{id}/next            GET read
    /v1/timers/{id}/events          GET read
    /v1/timers/{id}/wait            GET read
    /v1/timers/{id}/activate        POST write
    /v1/timers/{id}/suspend         POST write
    /v1/timers/{id}/resume          POST write
    /v1/timers/{id}/cancel          POST write
    /v1/timers/{id}/kick            POST kick
    /v1/timers/{id}/fire            POST write
    /v1/timers/{id}/reschedule      POST write
"""
ROWS = [(method, path, need) for path, *cells in map(str.split, TABLE.strip().splitlines()) for method, need in zip(cells[::2], cells[1::2])]
QUERIES = {"/v1/events": "?follow=false", "/v1/import": f"?export={'a' * 32}&part=0"}


@pytest.fixture(scope="module")
def keyring(tmp_path_factory):
    """The keys of a server that the tests of this file share."""
    keyring = protected(Server, tmp_path_factory.mktemp("keys"))
    with keyring.server as server:
        yield keyring
        assert server.process.poll() is None, server.log_text()[-4000:]


@pytest.fixture(scope="module")
def clients(keyring):
    """A client for each scope alone."""
    return {scope: keyring.client(scope) for scope in INCLUDED}


@pytest.fixture
def reader(clients):
    return clients["read"]


@pytest.fixture
def writer(clients):
    return clients["write"]


@pytest.fixture
def kicker(clients):
    return clients["kick"]


def ask(client, method, path):
    """Sends a request that is about nothing that there is."""
    body = {"json": {}} if method in ("POST", "PUT", "PATCH") else {}
    if path in ("/v1/timers/batch", "/v1/import"):
        body = {"body": f'{{"command":"kick","id":"{ABSENT}"}}\n', "content_type": "application/x-ndjson"}
    for name, value in (("{id}", ABSENT), ("{name}", ABSENT), ("{action}", "cancel"), ("{slug}", "not-found"), ("{export}", "a" * 32)):
        path = path.replace(name, value)
    return client.request(method, path + QUERIES.get(path, ""), **body)


def test_the_table_has_every_route():
    assert {(method, path) for method, path, _ in ROWS} == {
        (method.upper(), path) for path, item in contract.published()["paths"].items() for method in item if method != "parameters"}


@pytest.mark.parametrize("method, path, need", [pytest.param(*row, marks=answered_here(row[1])) for row in ROWS], ids=lambda value: value)
def test_a_key_may_do_what_the_table_says_and_nothing_else(keyring, clients, method, path, need):
    nobody, wrong = keyring.holding(None), keyring.holding(f"tmk_{ABSENT}_{'a' * 48}")
    for client in (nobody, wrong):
        reply = ask(client, method, path)
        assert reply.status == 200 if need == "open" else unauthorized(reply), reply
    for scope, client in clients.items():
        reply = ask(client, method, path)
        if path == "/v1/drain" and reply.status == 200:
            keyring.admin.delete("/v1/drain").expect(200)
        if need in ("open", "any") or need in INCLUDED[scope]:
            assert reply.status not in (401, 403) and reply.status < 500, (scope, reply)
        else:
            forbidden(reply, scope=need)
        if method == "GET":
            assert (ask(client, "HEAD", path).status == 403) == (reply.status == 403), scope


@pytest.mark.parametrize("scopes", [["read", "kick"], ["kick", "write"], ["read", "write", "admin"]], ids="-".join)
def test_scopes_add_up(keyring, name, scopes):
    client = keyring.client(*scopes)
    keyring.admin.create(id=name, watchdog="1h")
    kicked = client.command(name, "kick").expect(200)
    assert kicked.json["kickCount"] == 1 and kicked.etag
    created = client.post("/v1/timers", {"after": "1h"})
    created.expect(201) if "write" in scopes else forbidden(created, scope="write")


def test_the_scope_is_judged_before_what_the_request_says(reader):
    reader.delete("/nowhere").problem(404)
    reader.delete("/v1/timers").problem(405)
    reader.delete("/v1/timers/x", headers={"Origin": "http://evil.example"}).problem(403, "cross-origin")
    forbidden(reader.delete(f"/v1/timers/{ABSENT}"), scope="write")
    forbidden(reader.post("/v1/timers", body="{", content_type="text/plain"), scope="write")
    forbidden(reader.post("/v1/timers", {"after": "1h"}, headers={"Idempotency-Key": "a b"}), scope="write")


def test_events_name_the_key(keyring, writer, name):
    own = writer.get("/v1/keys/self").json["id"]
    writer.put(f"/v1/timers/{name}", {"every": "1h"}).expect(201)
    keyring.admin.command(name, "suspend").expect(200)
    writer.batch([{"command": "cancel", "id": name}]).expect(200)
    assert [(event["type"], event["by"]) for event in keyring.admin.history_of(name)] == [
        ("created", own), ("activated", own), ("suspended", "token"), ("cancelled", own)]


# Keys that may kick and not read.


def told_nothing(reply):
    """Checks that an answer says nothing about a timer's state."""
    assert not {"ETag", "Event-Id", "Location"} & set(reply.headers), reply
    words = ("running", "suspended", "cancelled", "completed", "idle", "allowed", '"state"', '"version"', "nextFireAt", "health")
    assert not [word for word in words if word in reply.body.decode()], reply
    return reply


def test_a_kick_is_answered_204_and_kicks(keyring, kicker, name):
    keyring.admin.create(id=name, watchdog="1h", payload={"tea": 1})
    for count in (1, 2):
        reply = told_nothing(kicker.command(name, "kick").expect(204))
        assert reply.body == b"" and "Content-Type" not in reply.headers and keyring.admin.timer(name)["kickCount"] == count
    keyring.admin.command(name, "suspend").expect(200)
    told_nothing(kicker.command(name, "kick", {}).expect(204))
    assert keyring.admin.timer(name)["kickCount"] == 2
    assert kicker.command(f"{name}-none", "kick").problem(404, "not-found")["timer"] == f"{name}-none"


@pytest.mark.parametrize("fields, command, slug", [
    ({"after": "1h"}, None, "not-a-watchdog"), ({"watchdog": "1h", "start": "manual"}, None, "illegal-transition"),
    ({"watchdog": "1h"}, "cancel", "illegal-transition"), ({"watchdog": "1h", "maxFires": 1, "restartable": True}, "fire", "illegal-transition"),
], ids=str)
def test_a_refused_kick_names_no_state(keyring, kicker, name, fields, command, slug):
    keyring.admin.create(id=name, **fields)
    if command:
        keyring.admin.command(name, command).expect(200)
    problem = told_nothing(kicker.command(name, "kick")).problem(409, slug)
    contract.check("Problem", problem)
    line = told_nothing(kicker.batch([{"command": "kick", "id": name}]).expect(200)).lines[0]
    assert line["status"] == 409 and line["problem"]["detail"] == problem["detail"] and problem["timer"] == name


def test_in_a_batch_kicks_are_applied_and_other_lines_are_403(keyring, kicker, name):
    keyring.admin.create(id=name, watchdog="1h")
    others = [{"command": command, "id": name} for command in ("activate", "suspend", "resume", "cancel", "fire", "delete")]
    others += [{"command": "reschedule", "id": name, "after": "1h"}, {"after": "1h"}, {"id": name, "watchdog": "1h"}, {"apply": {"id": name, "watchdog": "2h"}}]
    kick = {"command": "kick", "id": name}
    for query in ("", "?results=brief"):
        reply = kicker.batch([kick, *others, {"command": "kick", "id": f"{name}-none"}, "{", kick], query).expect(200)
        told_nothing(reply)
        first, *refused, absent, wrong, last = reply.lines
        assert first == last == {"status": 204, "id": name} and (absent["status"], wrong["status"]) == (404, 400)
        assert [(line["status"], line["problem"]["type"], line["problem"]["scope"]) for line in refused] == [(403, "/problems/forbidden", "write")] * len(others)
        for line in reply.lines:
            contract.check("BatchResult", line)
    timer = keyring.admin.timer(name)
    assert (timer["kickCount"], timer["state"], timer["watchdog"]) == (4, "running", "1h")


def test_in_a_batch_of_a_key_that_may_read_and_kick_the_kicks_are_shown(keyring, reader, name):
    version = keyring.admin.create(id=name, watchdog="1h")["version"]
    lines = [{"command": "kick", "id": name, "ifMatch": f"v{version}"}, {"command": "cancel", "id": name}]
    kicked, refused = keyring.client("read", "kick").batch(lines).expect(200).lines
    assert kicked["timer"]["kickCount"] == 1 and (refused["status"], refused["problem"]["scope"]) == (403, "write")
    forbidden(reader.batch(lines), scope="kick")


def test_a_kick_that_names_a_version_is_403(keyring, kicker, name):
    tag = keyring.admin.put(f"/v1/timers/{name}", {"watchdog": "1h"}).expect(201).etag
    for value in (tag, '"v999"', "*"):
        forbidden(told_nothing(kicker.command(name, "kick", headers={"If-Match": value})), scope="read")
    line = kicker.batch([{"command": "kick", "id": name, "ifMatch": tag.strip('"')}]).expect(200).lines[0]
    assert (line["status"], line["problem"]["scope"]) == (403, "read") and keyring.admin.timer(name)["kickCount"] == 0


def test_a_bulk_of_kicks_needs_write(keyring, kicker, writer, name):
    keyring.admin.create(watchdog="1h", labels={"of": name})
    for query in ("", "?dryRun=true"):
        forbidden(kicker.post(f"/v1/timers/bulk/kick{query}", {"labels": {"of": name}}), scope="write")
    assert writer.post("/v1/timers/bulk/kick", {"labels": {"of": name}}).expect(200).json["changed"] == 1


def test_kicks_under_an_idempotency_key_stay_204(keyring, kicker, name):
    keyring.admin.create(id=name, watchdog="1h")
    once, lines = {"headers": {"Idempotency-Key": name}}, {"headers": {"Idempotency-Key": f"{name}-lines"}}
    kicker.command(name, "kick", **once).expect(204)
    batch = [{"command": "kick", "id": name}, {"command": "cancel", "id": name}]
    first = kicker.batch(batch, **lines).expect(200).lines
    keyring.admin.command(name, "suspend").expect(200)
    again = told_nothing(kicker.command(name, "kick", **once).expect(204))
    assert again.headers["Idempotency-Replayed"] == "true" and again.body == b"" and "Content-Type" not in again.headers
    again = told_nothing(kicker.batch(batch, **lines).expect(200))
    assert again.headers["Idempotency-Replayed"] == "true" and again.lines[0] == first[0] == {"status": 204, "id": name}
    assert again.lines[1]["status"] == 403 and keyring.admin.timer(name)["kickCount"] == 2


# Webhooks, as a key that may not write sees them.


MASK = "***"


def test_a_read_key_sees_of_a_webhook_the_origin(keyring, reader, receiver, name):
    """No answer that a read key gets has more, in whatever form."""
    receiver.default, admin = 500, keyring.admin
    url, headers = receiver.url("/s3cret-path?key=s3cret-query"), {"X-Plain": "s3cret-plain", "Authorization": "s3cret"}
    hooked(admin, url, name, retry={"maxAttempts": 1}, headers=headers, types=["fired", "updated"], timer={"labels": {"of": name}})
    fire(admin, name)
    event(admin, name, "deliveryDead")
    admin.patch(f"/v1/timers/{name}", {"payload": 1}).expect(200)
    [letter] = fired(admin, name)
    full, seen = admin.timer(name), reader.timer(name)
    assert full["webhook"]["url"] == url and full["webhook"]["headers"] == {"X-Plain": "s3cret-plain", "Authorization": MASK}
    assert seen["webhook"] == {**full["webhook"], "url": f"{receiver.origin}/***", "headers": {"X-Plain": MASK, "Authorization": MASK}}
    assert without(seen, "webhook", "remaining") == without(full, "webhook", "remaining")
    contract.check("Timer", seen)
    timer = f"/v1/timers/{name}"
    for target in (timer, f"/v1/timers?label=of%3D{name}", f"/v1/timers?label=of%3D{name}&sort=nextFireAt", f"/v1/timers?idPrefix={name}", f"{timer}/next",
                   f"{timer}/events?follow=false", f"/v1/events?follow=false&label=of%3D{name}", f"{timer}/wait?since=0", f"/v1/deliveries?timer={name}",
                   f"/v1/deliveries/{letter}", "/v1/stats", *(() if FORWARDED else ("/metrics",))):
        for accept in ("application/json", "text/event-stream"):
            reply = reader.get(target, headers={"Accept": accept}).expect(200)
            assert reply.body and b"s3cret" not in reply.body + str(reply.headers).encode(), reply
    # A body that may be refused does not show them either.
    assert b"s3cret" not in reader.post("/v1/schedules/preview", seen).body


@pytest.mark.parametrize("url, shown_as", [("http://hooks.example", "http://hooks.example/***"), ("https://hooks.example:8443/", "https://hooks.example:8443/***"),
                                           ("http://[2001:db8::1]/a?b=c", "http://[2001:db8::1]/***")])
def test_every_url_is_masked(keyring, reader, name, url, shown_as):
    keyring.admin.create(id=name, webhook=url)
    assert reader.timer(name)["webhook"]["url"] == shown_as


def test_both_masks_sent_back_keep_what_is_stored(keyring, reader, writer, receiver, name):
    """A writer that has its timer from a reader puts it back."""
    url, headers = receiver.url("/s3cret"), {"X-Plain": "plain", "Authorization": "secret"}
    hooked(keyring.admin, url, name, headers=headers)
    target, full = f"/v1/timers/{name}", keyring.admin.timer(name)["webhook"]
    assert writer.patch(target, reader.timer(name)).expect(200).json["version"] == keyring.admin.timer(name)["version"] == 1
    assert writer.put(f"{target}?apply=true&dryRun=true", reader.timer(name)).expect(200).json == {"differs": []}
    assert writer.put(target, reader.timer(name)).expect(200).json["webhook"] == full
    line = writer.batch([{"apply": reader.timer(name)}]).expect(200).lines[0]
    assert line["status"] == 200 and keyring.admin.timer(name)["webhook"] == full
    fire(writer, name)
    [request] = receiver.wait_for(1)
    assert (request.path, request.header("X-Plain"), request.header("Authorization")) == ("/s3cret", "plain", "secret")


@pytest.mark.parametrize("webhook, pointer", [
    ({"url": "http://other.example/***"}, "/webhook/url"),
    ({"url": "http://hooks.example:81/***"}, "/webhook/url"),
    ({"url": "http://other.example/a", "headers": {"X-Plain": MASK}}, "/webhook/headers/X-Plain"),
    ({"headers": {"X-Other": MASK}}, "/webhook/headers/X-Other"),
], ids=str)
def test_a_mask_leads_to_nothing_elsewhere(keyring, writer, name, webhook, pointer):
    keyring.admin.create(id=name, webhook={"url": "http://hooks.example/s3cret", "headers": {"X-Plain": "plain"}})
    before = keyring.admin.timer(name)
    problem = writer.patch(f"/v1/timers/{name}", {"webhook": webhook}).problem(400, "invalid-request")
    assert problem["pointer"] == pointer and "s3cret" not in problem["detail"]
    assert without(keyring.admin.timer(name), "remaining") == without(before, "remaining")


def test_a_mask_with_nothing_stored_is_400(writer, name):
    body = {"id": name, "after": "1h", "webhook": "http://hooks.example/***"}
    assert writer.post("/v1/timers", body).problem(400)["pointer"].startswith("/webhook")
    assert writer.put(f"/v1/timers/{name}", {**body, "webhook": {"url": "http://hooks.example/***"}}).problem(400)["pointer"] == "/webhook/url"
    writer.get(f"/v1/timers/{name}").problem(404)
