"""Keys for the timers whose ids begin in one way: of any other timer they learn nothing, not even whether it is there."""

import json

import pytest

from keys import Keyring, answered_here, forbidden, protected
from receiver import Receiver
from server import Server
from webhooks import SECRET, event, fire, fired, hooked

# One server for all of them.
pytestmark = pytest.mark.xdist_group("key-prefix")


@pytest.fixture(scope="module")
def keyring(tmp_path_factory):
    """The keys of a server that the tests of this file share, which has a default secret for webhooks."""
    folder = tmp_path_factory.mktemp("keys")
    (folder / "secrets").write_text(SECRET + "\n")
    keyring = protected(Server, folder, "--webhook-secret-file", folder / "secrets")
    with keyring.server as server:
        yield keyring
        assert server.process.poll() is None, server.log_text()[-4000:]


class Own:
    """A key for the timers of one test, and ids: `inside` is for it, `outside` is not."""

    def __init__(self, keyring: Keyring, name):
        self.prefix = f"{name}-in."
        self.client = keyring.client("write", idPrefix=self.prefix)

    def inside(self, word):
        return self.prefix + word

    def outside(self, word):
        """An id as long as that of `inside`."""
        return self.prefix.replace("-in.", "-no.") + word

    def forbidden(self, reply):
        return forbidden(reply, idPrefix=self.prefix)


@pytest.fixture
def own(keyring, name):
    return Own(keyring, name)


def blurred(reply, id):
    """An answer without what differs from one time to the next, without the timer's id, and without the case of header names, of which
    a relay knows nothing."""
    headers = {name.lower(): value.replace(id, "ID") for name, value in reply.headers.items() if name not in ("Date", "Request-Id")}
    problem = json.loads(reply.body.replace(id.encode(), b"ID")) if reply.body else {}
    return reply.status, headers, {name: value for name, value in problem.items() if name != "requestId"}


@pytest.mark.parametrize("method, path, body", [
    ("GET", "", None), ("HEAD", "", None), ("PUT", "", {"watchdog": "2h"}), ("PUT", "?apply=true", {"watchdog": "2h"}), ("PATCH", "", {"labels": {"a": "b"}}),
    ("GET", "/next", None), ("GET", "/events?follow=false", None), ("GET", "/events?follow=false&since=0", None), ("GET", "/wait?timeout=0s", None),
    ("POST", "/kick", None), ("POST", "/suspend", None), ("POST", "/resume", None), ("POST", "/fire", None), ("POST", "/reschedule", {"after": "1h"}),
    ("POST", "/activate", None), ("POST", "/cancel", None), ("DELETE", "", None), ("PUT", "", "{"), ("PATCH", "", []),
], ids=str)
def test_a_route_of_one_timer(keyring, own, method, path, body):
    """Another timer is refused in the same words whether or not it is there, and before its body is read."""
    def ask(id):
        given = {} if body is None else {"body": body} if isinstance(body, str) else {"json": body}
        return own.client.request(method, f"/v1/timers/{id}{path}", **given)
    there, none = own.outside("1"), own.outside("2")
    before = keyring.admin.put(f"/v1/timers/{there}", {"watchdog": "1h"}).expect(201).json["version"]
    replies = {id: ask(id) for id in (there, none)}
    for id, reply in replies.items():
        assert reply.status == 403 and (method == "HEAD" or own.forbidden(reply))
    assert blurred(replies[there], there) == blurred(replies[none], none)
    assert keyring.admin.timer(there)["version"] == before
    keyring.admin.get(f"/v1/timers/{none}").problem(404)
    # An id that is a part of the prefix, or has it elsewhere or in other letters, does not begin so.
    for id in (own.prefix[:-1], own.prefix.upper() + "1", "x" + own.inside("1")):
        assert ask(id).status == 403
    for id, statuses in ((own.inside("1"), {200, 201, 204, 400, 409}), (own.inside("2"), {200, 201, 204, 400, 404})):
        if id.endswith("1"):
            keyring.admin.put(f"/v1/timers/{id}", {"watchdog": "1h"}).expect(201)
        assert ask(id).status in statuses


def test_what_it_makes_begins_so(keyring, own):
    there = own.outside("1")
    keyring.admin.create(id=there)
    own.client.post("/v1/timers", {"id": own.inside("1"), "after": "1h"}).expect(201)
    replies = [own.client.post("/v1/timers", {"id": id, "after": "1h"}) for id in (there, own.outside("2"))]
    assert blurred(replies[0], there) == blurred(replies[1], own.outside("2"))
    for reply in (*replies, own.client.post("/v1/timers", {"after": "1h"}), own.client.post("/v1/timers", {"id": None, "after": "1h"})):
        own.forbidden(reply)
    # The key's rights come before what else is wrong with the body.
    for body in ({"id": there, "after": "x"}, {"after": "x"}, {"id": there, "colour": 1}, {"id": 5, "after": "1h"}):
        own.forbidden(own.client.post("/v1/timers", body))
    own.client.post("/v1/timers", {"id": own.inside("3"), "after": "x"}).problem(400, "invalid-schedule")
    own.client.put(f"/v1/timers/{own.inside('2')}", {"id": there, "after": "1h"}).problem(400)
    keyring.admin.get(f"/v1/timers/{own.inside('2')}").problem(404)
    keyring.admin.get(f"/v1/timers/{own.outside('2')}").problem(404)


@pytest.mark.parametrize("line", [
    {"id": "ID", "after": "1h"}, {"apply": {"id": "ID", "after": "2h"}}, {"command": "kick", "id": "ID"}, {"command": "cancel", "id": "ID"},
    {"command": "delete", "id": "ID"}, {"command": "reschedule", "id": "ID", "after": "1m"}, {"command": "suspend", "id": "ID", "ifMatch": "v1"}], ids=str)
def test_a_batch_is_judged_line_by_line(keyring, own, line):
    there, none = own.outside("1"), own.outside("2")
    version = keyring.admin.create(id=there)["version"]
    lines = [json.dumps(line).replace("ID", id) for id in (own.inside("1"), there, none, own.inside("2"))]
    for query in ("", "?results=brief"):
        first, *refused, last = own.client.batch(lines, query).expect(200).lines
        assert 403 not in (first["status"], last["status"])
        problems = [json.dumps(result).replace(id, "ID").replace(result["problem"]["requestId"], "") for id, result in zip((there, none), refused)]
        assert problems[0] == problems[1] and {(result["status"], result["problem"]["idPrefix"]) for result in refused} == {(403, own.prefix)}
    assert keyring.admin.timer(there)["version"] == version
    keyring.admin.get(f"/v1/timers/{none}").problem(404)


def test_a_line_without_an_id_is_refused(own):
    lines = [{"after": "1h"}, {"colour": 1}, {"apply": {"after": "1h"}}, {"id": own.inside("1"), "after": "1h"}]
    reply = own.client.post("/v1/timers/batch", body=json.dumps(lines)).expect(200)
    assert [line["status"] for line in reply.json] == [403, 403, 403, 201]
    assert {line["problem"]["idPrefix"] for line in reply.json[:3]} == {own.prefix}


BEYOND = [
    ("GET", "/v1/timers", None), ("GET", "/v1/timers?idPrefix={inside}", None), ("GET", "/v1/timers?label=a%3Db", None), ("GET", "/v1/timers?sort=nextFireAt", None),
    ("GET", "/v1/events", None), ("GET", "/v1/events?follow=false", None), ("GET", "/v1/events?timer={outside}", None), ("GET", "/metrics", None),
    ("GET", "/v1/events?timer={inside}1&timer={outside}", None), ("GET", "/v1/events?follow=false&%74imer={outside}", None),
    ("GET", "/v1/stats", None), ("POST", "/v1/schedules/preview", {"after": "1h"}), ("POST", "/v1/timers/bulk/cancel", {"labels": {"a": "b"}}),
    ("POST", "/v1/timers/bulk/kick?dryRun=true", {"labels": {"a": "b"}}), ("GET", "/v1/deliveries", None), ("GET", "/v1/deliveries?label=a%3Db", None),
    ("GET", "/v1/deliveries?state=dead", None), ("GET", "/v1/deliveries?timer={outside}", None), ("GET", "/v1/deliveries/{event}", None),
    ("DELETE", "/v1/deliveries/{event}", None), ("POST", "/v1/deliveries/{event}/redrive", None), ("POST", "/v1/deliveries/redrive", {"labels": {"a": "b"}}),
    ("POST", "/v1/deliveries/redrive", {"timer": "OUTSIDE"}), ("POST", "/v1/deliveries/redrive?dryRun=true", {"timer": "OUTSIDE"}),
]


@pytest.mark.parametrize("method, path, body", [pytest.param(*row, marks=answered_here(row[1])) for row in BEYOND],
                         ids=lambda value: "-" if value is None else str(value))
def test_what_is_about_more_than_one_of_its_timers_is_403(own, method, path, body):
    target = path.format(inside=own.prefix, outside=own.outside("1"), event="1" * 19)
    given = {} if body is None else {"body": json.dumps(body).replace("OUTSIDE", own.outside("1"))}
    own.forbidden(own.client.request(method, target, **given))


@pytest.mark.parametrize("method, path", [
    ("GET", "/v1/keys"), ("POST", "/v1/keys"), pytest.param("GET", "/v1/cluster", marks=answered_here("/v1/cluster")), ("POST", "/v1/drain"),
    ("GET", "/v1/export"), ("POST", "/v1/import")])
def test_what_takes_admin_is_not_for_it(own, method, path):
    forbidden(own.client.request(method, path), scope="admin")


def test_it_may_ask_who_it_is(own):
    assert own.client.get("/v1/keys/self").expect(200).json["idPrefix"] == own.prefix


@pytest.mark.parametrize("scope", ["read", "kick"])
def test_a_lesser_scope_stays_lesser(keyring, name, scope):
    prefix = f"{name}-in."
    client = keyring.client(scope, idPrefix=prefix)
    for id in (f"{prefix}1", f"{name}-no.1"):
        keyring.admin.put(f"/v1/timers/{id}", {"watchdog": "1h"}).expect(201)
        for method, path, need in (("GET", "", "read"), ("POST", "/kick", "kick"), ("POST", "/cancel", "write")):
            reply = client.request(method, f"/v1/timers/{id}{path}")
            if need != scope:
                forbidden(reply, scope=need)
            elif id.startswith(prefix):
                reply.expect(204 if scope == "kick" else 200)
            else:
                forbidden(reply, idPrefix=prefix)


def test_histories_of_deleted_timers(keyring, own):
    """Its own are read; whether there ever was another timer is not shown."""
    gone, never = own.outside("1"), own.outside("2")
    for id in (own.inside("1"), gone):
        keyring.admin.create(id=id)
        keyring.admin.delete(f"/v1/timers/{id}").expect(204)
    assert own.client.history_of(own.inside("1"))[-1]["type"] == "deleted"
    own.client.get(f"/v1/timers/{own.inside('2')}/events?follow=false").problem(404)
    for suffix in ("/events?follow=false", "/events", "/events?since=0", "/wait?since=0&timeout=0s"):
        replies = [own.client.get(f"/v1/timers/{id}{suffix}") for id in (gone, never)]
        assert blurred(replies[0], gone) == blurred(replies[1], never)
        own.forbidden(replies[0])


def test_events_of_one_timer(keyring, own):
    """The stream of all timers is open to the key where it names one of its own, as the timer's own stream is."""
    id = own.inside("1")
    for each in (id, own.inside("2"), own.outside("1")):
        keyring.admin.create(id=each)
    events = own.client.get(f"/v1/events?timer={id}&follow=false").expect(200).lines
    assert events == own.client.history_of(id) and {shown["timer"] for shown in events} == {id}
    with own.client.stream(f"/v1/events?timer={id}").expect(200) as stream:
        keyring.admin.command(own.inside("2"), "fire").expect(200)
        own.client.command(id, "fire").expect(200)
        shown = stream.next()
        assert (shown["type"], shown["timer"]) == ("fired", id)


def test_deliveries_of_one_timer(keyring, own):
    with Receiver(answer=500) as receiver:
        letters = {}
        for id in (own.inside("1"), own.outside("1")):
            hooked(keyring.admin, receiver.url("/"), id, retry={"maxAttempts": 1})
            fire(keyring.admin, id)
            event(keyring.admin, id, "deliveryDead")
            [letters[id]] = fired(keyring.admin, id)
        inside, outside = own.inside("1"), own.outside("1")
        shown = own.client.get(f"/v1/deliveries?timer={inside}&state=dead").expect(200).json["deliveries"]
        assert [letter["id"] for letter in shown] == [letters[inside]]
        assert own.client.get(f"/v1/deliveries?timer={own.inside('2')}").expect(200).json["deliveries"] == []
        for id in (outside, own.outside("2")):
            own.forbidden(own.client.get(f"/v1/deliveries?timer={id}"))
            own.forbidden(own.client.post("/v1/deliveries/redrive", {"timer": id}))
        for letter in letters.values():
            for method, path in (("GET", ""), ("DELETE", ""), ("POST", "/redrive")):
                own.forbidden(own.client.request(method, f"/v1/deliveries/{letter}{path}"))
        # Two parameters of which one is its own are no way round.
        for pair in ((inside, outside), (outside, inside)):
            assert own.client.get(f"/v1/deliveries?timer={pair[0]}&timer={pair[1]}").status in (400, 403)
        assert own.client.post("/v1/deliveries/redrive?dryRun=true", {"timer": inside}).expect(200).json["matched"] == 1
        assert own.client.post("/v1/deliveries/redrive", {"timer": inside}).expect(200).json["changed"] == 1
        receiver.wait_for(3)
        assert receiver.ids().count(letters[inside]) == 2 and receiver.ids().count(letters[outside]) == 1


@pytest.mark.parametrize("target", ["{inside}/../{outside}", "{inside}%2f..%2f{outside}", "{inside}%00{outside}", "./{outside}", "%2e/{outside}", "{inside}/../../timers/{outside}",
                                    "{encoded}", "/{outside}", "{inside};/../{outside}"])
def test_no_spelling_leads_to_another_timer(keyring, own, target):
    outside = own.outside("1")
    version = keyring.admin.create(id=outside, watchdog="1h")["version"]
    encoded = "".join(f"%{byte:02x}" for byte in outside.encode())
    path = "/v1/timers/" + target.format(inside=own.inside("1"), outside=outside, encoded=encoded)
    for method, suffix in (("GET", ""), ("DELETE", ""), ("POST", "/kick"), ("POST", "/%6bick")):
        assert own.client.request(method, path + suffix).status >= 400
    timer = keyring.admin.timer(outside)
    assert (timer["version"], timer["kickCount"]) == (version, 0)


def test_its_own_timer_in_other_spelling_is_its_own(own):
    own.client.create(id=own.inside("1"))
    encoded = "".join(f"%{byte:02x}" for byte in own.inside("1").encode())
    assert own.client.timer(encoded)["id"] == own.inside("1")


def test_a_subscriber_starts_its_own_timers(keyring, own):
    for id in (own.inside("1"), own.outside("1")):
        keyring.admin.create(id=id, after="1h", start="subscriber")
    with own.client.stream(f"/v1/timers/{own.inside('1')}/events").expect(200) as stream:
        assert stream.next()["type"] == "activated"
    own.forbidden(own.client.get(f"/v1/timers/{own.outside('1')}/events"))
    assert keyring.admin.timer(own.outside("1"))["state"] == "idle"


HOOK = "http://hooks.example/a"


def test_its_webhooks_are_not_signed_by_the_servers_secret(keyring, own):
    """Otherwise its receivers would get what is signed as everybody else's is."""
    inside, made = f"/v1/timers/{own.inside('1')}", f"/v1/timers/{own.inside('2')}"
    versions = [keyring.admin.put(target, body).expect(201).json["version"] for target, body in (
        (inside, {"after": "1h"}), (made, {"after": "1h", "webhook": HOOK}))]
    bare = {"after": "1h", "webhook": {"url": HOOK}}
    refused = [
        own.client.post("/v1/timers", {**bare, "id": own.inside("3")}), own.client.post("/v1/timers", {"id": own.inside("3"), "after": "1h", "webhook": HOOK}),
        own.client.put(f"/v1/timers/{own.inside('3')}", bare), own.client.put(inside, bare), own.client.put(f"{inside}?apply=true", bare),
        own.client.patch(inside, {"webhook": HOOK}), own.client.patch(made, {"webhook": {"url": "http://other.example/"}}),
        own.client.put(inside, {"after": "1h", "webhook": {"url": HOOK, "secret": []}})]
    for reply in refused:
        assert reply.problem(400, "invalid-request")["pointer"].startswith("/webhook"), reply
    lines = own.client.batch([{**bare, "id": own.inside("3")}, {"apply": {**bare, "id": own.inside("1")}}]).expect(200).lines
    assert [line["status"] for line in lines] == [400, 400]
    assert [keyring.admin.get(target).json["version"] for target in (inside, made)] == versions
    keyring.admin.get(f"/v1/timers/{own.inside('3')}").problem(404)
    own.client.patch(inside, {"webhook": {"url": HOOK, "secret": SECRET}}).expect(200)
    assert own.client.patch(inside, {"webhook": {"secret": None}}).problem(400)["pointer"].startswith("/webhook")
    own.client.post("/v1/timers", {"id": own.inside("3"), "after": "1h", "webhook": {"url": HOOK, "secret": SECRET}}).expect(201)
    # A key for all timers may use it.
    keyring.client("write").post("/v1/timers", {**bare, "id": own.outside("1")}).expect(201)


def test_without_a_secret_of_the_server_none_is_needed(new_server, tmp_path):
    client = protected(new_server, tmp_path).client("write", idPrefix="a.")
    client.create(id="a.1", webhook=HOOK)
