"""The create field `webhook`: what is accepted, what is shown, and that secrets never leave the server."""

import base64
import json
import os
import threading

from server import run
from timers import types

URL = "https://hooks.example/timers"
SHOWN = {"url": URL, "method": "POST", "headers": {}, "format": "standard", "secret": None, "timeout": "15s", "types": ["fired"],
         "retry": {"maxAttempts": 12, "maxAge": None, "giveUpOn": [], "initial": "1s", "multiplier": 2, "max": "1h", "jitter": 0.2}}
FULL = {"url": URL, "method": "PUT", "headers": {"X-B": "2", "Authorization": "Bearer x", "X-A": ""}, "format": "cloudevents",
        "timeout": "1m30s", "types": ["created", "fired", "deleted"],
        "retry": {"maxAttempts": 3, "maxAge": "2d", "giveUpOn": ["4xx", 501], "initial": "10ms", "multiplier": 1.5, "max": "2m", "jitter": 0}}
SHOWN_FULL = FULL | {"headers": FULL["headers"] | {"Authorization": "***"}}
EVENTS = "created activated suspended resumed rescheduled updated fired recovered cancelled completed deleted".split()


def secret():
    return "whsec_" + base64.b64encode(os.urandom(30)).decode()


def mask(secret):
    return "whsec_…" + secret[-4:]


def put(api, id, webhook, **options):
    return api.put(f"/v1/timers/{id}", {"after": "1h", "webhook": webhook}, **options)


def patch(api, id, webhook, **options):
    return api.patch(f"/v1/timers/{id}", {"webhook": webhook}, **options)


def refused(api, webhook, kind="invalid-request"):
    problem = api.post("/v1/timers", {"after": "1h", "webhook": webhook}).problem(400, kind)
    assert problem["pointer"].startswith("/webhook"), problem
    return problem["pointer"].removeprefix("/webhook")


def test_defaults_are_filled_in(api):
    timer = api.create(webhook=URL)
    assert timer["webhook"] == SHOWN == api.timer(timer["id"])["webhook"]


def test_all_members(api):
    timer = api.create(webhook=FULL)
    assert timer["webhook"] == SHOWN_FULL | {"secret": None}
    assert list(timer["webhook"]["headers"]) == list(FULL["headers"]), "their order is kept"
    assert api.create(webhook={"url": URL, "types": EVENTS + EVENTS})["webhook"]["types"] == EVENTS


def test_no_webhook(api):
    assert api.create()["webhook"] is None
    assert api.create(webhook=None)["webhook"] is None


def test_what_is_wrong_is_pointed_at(api):
    assert refused(api, {"url": URL, "retry": {"giveUpOn": ["4xx", 410]}}) == "/retry/giveUpOn/1"
    assert refused(api, {"url": URL, "secret": "swordfish"}) == "/secret"
    assert refused(api, {"url": URL, "retry": {"attempts": None}}, "unknown-field") == "/retry/attempts"
    assert refused(api, "ftp://hooks.example/") == ""


def test_a_preview_takes_a_webhook_and_checks_it(api):
    api.post("/v1/schedules/preview", {"after": "1h", "webhook": URL}).expect(200)
    api.post("/v1/schedules/preview", {"after": "1h", "webhook": "nonsense"}).problem(400)


def test_what_get_gave_can_be_put_back_and_patched_back(api):
    own = secret()
    timer = api.create(webhook=FULL | {"secret": [own]})
    assert timer["webhook"]["secret"] == mask(own)
    target = f"/v1/timers/{timer['id']}"
    assert api.patch(target, api.timer(timer["id"])).expect(200).json["version"] == timer["version"], "it is the same"
    back = api.put(target, api.timer(timer["id"])).expect(200).json
    assert back["webhook"] == timer["webhook"] and back["version"] > timer["version"]


def test_a_patch_that_sends_masks_and_secrets_tells_whether_they_are_the_same(api):
    """The definitions are compared: a mask stands for the whole secret, and for no other."""
    one, two = secret(), secret()
    timer = api.create(webhook={"url": URL, "secret": [one, two]})
    id, version = timer["id"], timer["version"]
    for same in ([one, two], [mask(one), two], [mask(one), mask(two)]):
        assert patch(api, id, {"secret": same}).expect(200).json["version"] == version
    assert put(api, id, {"url": URL + "/other", "secret": [mask(two), mask(one)]}).expect(200).json["webhook"]["url"] == URL + "/other"
    version = api.timer(id)["version"]
    assert patch(api, id, {"secret": [two, one]}).expect(200).json["version"] == version


def test_a_secret_does_not_follow_to_another_origin(api):
    own, url = secret(), "https://hooks.example:8443/"
    timer = api.create(webhook={"url": URL, "secret": own})
    for reply in (put(api, timer["id"], {"url": url, "secret": mask(own)}), patch(api, timer["id"], {"url": url})):
        problem = reply.problem(400, "invalid-request")
        assert problem["pointer"] == "/webhook/secret" and "origin" in problem["detail"]
    assert api.timer(timer["id"])["version"] == timer["version"]
    assert patch(api, timer["id"], {"url": url, "secret": own}).expect(200).json["webhook"]["secret"] == mask(own)
    assert patch(api, timer["id"], {"url": URL, "secret": None}).expect(200).json["webhook"]["secret"] is None


def test_a_mask_of_nothing_is_refused(api, name):
    problem = put(api, name, {"url": URL, "secret": mask(secret())}).problem(400, "invalid-request")
    assert problem["pointer"] == "/webhook/secret"
    api.get(f"/v1/timers/{name}").expect(404)
    api.create(id=name, webhook=URL)
    assert put(api, name, {"url": URL, "secret": [mask(secret())]}).problem(400)["pointer"] == "/webhook/secret/0"
    put(api, name, {"url": URL, "secret": secret()}).expect(200)
    assert put(api, name, {"url": URL, "secret": mask(secret())}).problem(400)["pointer"] == "/webhook/secret"


def test_conditions_hold_for_a_put_with_masks(api):
    own = secret()
    timer = api.create(webhook={"url": URL, "secret": own})
    id, masked, etag = timer["id"], {"url": URL, "secret": mask(own)}, f'"v{timer["version"]}"'
    put(api, id, masked, headers={"If-None-Match": "*"}).problem(412, "version-mismatch")
    newer = put(api, id, masked, headers={"If-Match": etag}).expect(200).etag
    put(api, id, masked, headers={"If-Match": etag}).problem(412, "version-mismatch")
    put(api, id, masked, headers={"If-Match": newer}).expect(200)


def test_patches(api):
    own = secret()
    timer = api.create(webhook=FULL | {"secret": own})
    id, before = timer["id"], timer["webhook"]
    assert patch(api, id, {"timeout": "5s"}).expect(200).json["webhook"] == before | {"timeout": "5s"}
    assert patch(api, id, {"timeout": None, "headers": {"X-B": None, "X-C": "3"}}).expect(200).json["webhook"] == before | {
        "timeout": "15s", "headers": {"Authorization": "***", "X-A": "", "X-C": "3"}}
    assert patch(api, id, {"retry": {"max": "3m"}}).expect(200).json["webhook"]["retry"] == FULL["retry"] | {"max": "3m"}
    final = patch(api, id, {"retry": {"giveUpOn": [404], "maxAge": None}}).expect(200).json["webhook"]["retry"]
    assert final == FULL["retry"] | {"max": "3m", "giveUpOn": [404], "maxAge": None}
    added = secret()
    assert patch(api, id, {"secret": [added, mask(own)]}).expect(200).json["webhook"]["secret"] == [mask(added), mask(own)]
    after = api.timer(id)
    told = [type for type in types(api.history_of(id)) if not type.startswith("deliver")]
    assert after["nextFireAt"] == timer["nextFireAt"] and told[-1] == "updated"
    assert api.patch(f"/v1/timers/{id}", {"labels": {"a": "b"}}).expect(200).json["webhook"] == after["webhook"]
    assert patch(api, id, {"tmeout": None}).problem(400, "unknown-field")["pointer"] == "/webhook/tmeout"
    assert patch(api, id, URL).expect(200).json["webhook"] == SHOWN
    assert patch(api, id, None).expect(200).json["webhook"] is None
    assert patch(api, id, {"timeout": "5s"}).problem(400)["pointer"] == "/webhook"


def test_batch_lines(api, name):
    own = secret()
    replies = api.batch([{"id": name, "after": "1h", "webhook": {"url": URL, "secret": own}}, {"after": "1h", "webhook": "x"},
                         {"after": "1h", "webhook": {"url": URL, "secret": mask(own)}}]).expect(200).lines
    assert replies[0]["timer"]["webhook"] == SHOWN | {"secret": mask(own)}
    assert [reply["problem"]["pointer"] for reply in replies[1:]] == ["/webhook", "/webhook/secret"]


def test_a_put_of_masks_brings_no_secret_back_that_was_rotated_away(api, name):
    """A PUT with a mask replaces exactly the version whose secret it keeps, however other changes interleave."""
    api.create(id=name, webhook={"url": URL, "secret": secret()})
    outcomes, done = set(), threading.Event()

    def put_back():
        while not done.is_set():
            outcomes.add(put(api, name, api.timer(name)["webhook"]).status)

    threads = [threading.Thread(target=put_back) for _ in range(4)]
    try:
        for thread in threads:
            thread.start()
        for _ in range(100):
            new = secret()
            patch(api, name, {"secret": new}).expect(200)
            for _ in range(3):
                assert api.timer(name)["webhook"]["secret"] == mask(new)
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert 200 in outcomes and outcomes <= {200, 400}, "400: its mask means no secret any more"


def test_it_survives_a_crash(new_server):
    server = new_server()
    webhook = FULL | {"secret": [secret(), secret()], "types": ["cancelled", "fired"]}
    shown = server.client.create(id="t", every="1h", webhook=webhook)["webhook"]
    server.kill9()
    assert server.start().client.timer("t")["webhook"] == shown


def test_no_secret_is_ever_told(new_server):
    """No answer, stored answer, event, log line or dump holds a secret; the server still has it after a restart."""
    server = new_server("--log-level", "debug")
    api, secrets = server.client, [secret() for _ in range(4)]
    replies = []

    def note(reply):
        replies.append(reply)
        return reply.expect(reply.status)

    key = {"Idempotency-Key": "k"}
    body = {"id": "t", "after": "1h", "webhook": {"url": URL, "secret": secrets[:2], "types": EVENTS}}
    first = note(api.post("/v1/timers", body, headers=key)).expect(201)
    again = note(api.post("/v1/timers", body, headers=key)).expect(201)
    assert again.headers["Idempotency-Replayed"] == "true" and again.body == first.body
    lines = [{"id": f"b{n}", "after": "1h", "webhook": {"url": URL, "secret": secrets[2]}} for n in range(2)]
    note(api.batch(lines, headers={"Idempotency-Key": "b"})).expect(200)
    note(api.batch(lines, headers={"Idempotency-Key": "b"})).expect(200)
    note(patch(api, "t", {"secret": [mask(secrets[1]), secrets[3]]})).expect(200)
    note(put(api, "t", {"url": URL, "secret": [mask(secrets[1]), mask(secrets[3])]})).expect(200)
    note(api.post("/v1/timers", body)).problem(409)
    note(patch(api, "t", {"url": "https://other.example/"})).problem(400)
    note(patch(api, "t", {"secret": secrets[0] + "x"})).problem(400)
    server.restart()
    api = server.client
    assert patch(api, "t", {"secret": [secrets[1], secrets[3]]}).expect(200).json["version"] == api.timer("t")["version"]
    note(api.post("/v1/timers", body, headers=key)).expect(201)
    for target in ("/v1/timers/t", "/v1/timers", "/v1/events?follow=false", "/metrics", "/v1/stats", "/"):
        note(api.get(target)).expect(200)
    text = run("get", "t", "--server", server.url).stdout
    server.stop()
    dump = run("log", "dump", "--data", server.data).stdout
    assert mask(secrets[1]) in dump and f"POST {URL}" in text
    webhooks = [json.loads(line).get("definition", {}).get("webhook") for line in dump.splitlines()]
    assert {"secret": [mask(secrets[0]), mask(secrets[1])], "url": URL}.items() <= next(filter(None, webhooks)).items()
    for whole in secrets:
        told = whole.removeprefix("whsec_")[:-4]
        assert not any(told.encode() in reply.body for reply in replies)
        assert told not in dump and told not in text and told not in server.log_text()


def test_create_and_get_from_the_shell(server, name):
    done = run("create", "--id", name, "--after", "1h", "--webhook", URL, "--json", "--server", server.url)
    assert done.returncode == 0 and json.loads(done.stdout)["webhook"] == SHOWN
    patch(server.client, name, {"types": ["fired", "deleted"], "method": "PUT"}).expect(200)
    lines = run("get", name, "--server", server.url).stdout.splitlines()
    assert [line.split(None, 1) for line in lines if line.startswith("webhook")] == [["webhook", f"PUT {URL} (fired, deleted)"]]
    both = run("create", "--body", '{"after":"1h"}', "--webhook", URL, "--server", server.url)
    assert both.returncode == 64
