"""The field `webhook`: what may stand in it, how it is shown, and that a secret never is."""

import json

import pytest
from standardwebhooks import Webhook

from webhooks import OTHER_SECRET, SECRET, fire

URL = "http://127.0.0.1:9/hook"
DEFAULTS = {"url": URL, "method": "POST", "headers": {}, "format": "standard", "timeout": "15s", "types": ["fired"],
            "retry": {"maxAttempts": 12, "initial": "1s", "multiplier": 2, "max": "1h", "jitter": 0.2}}


def masked(secret):
    return "whsec_…" + secret[-4:]


def hook(api, name, webhook=URL, **fields):
    return api.create(id=name, every="1h", webhook=webhook, **fields)["webhook"]


@pytest.mark.parametrize("given", [URL, {"url": URL}, {"url": URL, "method": None, "secret": None, "retry": None, "headers": {}},
                                   {"url": URL, "retry": {}}])
def test_it_is_shown_as_an_object_with_its_defaults(api, name, given):
    shown = hook(api, name, given)
    assert shown.items() >= DEFAULTS.items() and "stopped" not in shown and not shown.get("secret")
    assert api.timer(name)["webhook"] == shown


def test_all_of_it_is_shown_as_given(api, name):
    given = {"url": "https://hooks.example:8443/a?b=c", "method": "PATCH", "headers": {"X-B": "2", "Authorization": "Bearer x"},
             "format": "cloudevents", "timeout": "1m30s", "types": ["fired", "completed", "deleted"],
             "retry": {"maxAttempts": 100, "initial": "250ms", "multiplier": 1.5, "max": "7d", "jitter": 0}}
    shown = hook(api, name, given)
    assert shown.items() >= given.items() and list(shown["headers"]) == ["X-B", "Authorization"]


def test_without_one_it_is_null(api, name):
    assert api.create(id=name)["webhook"] is None
    hook(api, f"{name}-b")
    assert api.patch(f"/v1/timers/{name}-b", {"webhook": None}).expect(200).json["webhook"] is None


REFUSED = [
    ("", "/url"), ("ftp://a/", "/url"), ("http://", "/url"), ("/path", "/url"), ("http://user:pw@a/", "/url"), ("http://user@a/", "/url"),
    ("http://a/#part", "/url"), ("http://a b/", "/url"), ("http://a/ b", "/url"), ("http://ä/", "/url"), ("http://a:0/", "/url"),
    ("http://a:65536/", "/url"), ("http://[::1/", "/url"), ("http://a/\r\nX: y", "/url"), ("http://a/" + "x" * 2048, "/url"),
    (17, ""), ([], ""), (True, ""), ({}, ""), ({"url": None}, ""), ({"method": "POST"}, ""), ({"url": URL, "colour": "red"}, "/colour"),
    ({"method": "HEAD"}, "/method"), ({"method": "post"}, "/method"), ({"method": 1}, "/method"), ({"format": "xml"}, "/format"),
    ({"timeout": "99ms"}, "/timeout"), ({"timeout": "10m1ms"}, "/timeout"), ({"timeout": 5}, "/timeout"),
    ({"types": ["delivered"]}, "/types"), ({"types": ["deliveryFailed"]}, "/types"), ({"types": ["fired", "deliveryDead"]}, "/types"),
    ({"types": ["exploded"]}, "/types"), ({"types": []}, "/types"), ({"types": "fired"}, "/types"),
    ({"headers": {"Host": "a"}}, "/headers"), ({"headers": {"content-length": "1"}}, "/headers"), ({"headers": {"Content-Type": "a/b"}}, "/headers"),
    ({"headers": {"Connection": "close"}}, "/headers"), ({"headers": {"Transfer-Encoding": "chunked"}}, "/headers"),
    ({"headers": {"TE": "x"}}, "/headers"), ({"headers": {"Upgrade": "x"}}, "/headers"), ({"headers": {"webhook-id": "x"}}, "/headers"),
    ({"headers": {"Webhook-Signature": "x"}}, "/headers"), ({"headers": {"X: y\r\nA": "b"}}, "/headers"), ({"headers": {"": "b"}}, "/headers"),
    ({"headers": {"X": "a\r\nB: c"}}, "/headers"), ({"headers": {"X": "\u0000"}}, "/headers"), ({"headers": {"X": 1}}, "/headers"),
    ({"headers": {f"X-{n}": "" for n in range(21)}}, "/headers"), ({"headers": []}, "/headers"),
    ({"secret": "hunter2"}, "/secret"), ({"secret": "whsec_c2hvcnQ="}, "/secret"), ({"secret": [SECRET, 1]}, "/secret"), ({"secret": 5}, "/secret"),
    ({"secret": [SECRET] * 6}, "/secret"), ({"secret": masked(SECRET)}, "/secret"),
    ({"retry": {"maxAttempts": 0}}, "/retry/maxAttempts"), ({"retry": {"maxAttempts": 101}}, "/retry/maxAttempts"),
    ({"retry": {"maxAttempts": 1.5}}, "/retry/maxAttempts"), ({"retry": {"initial": "0s"}}, "/retry/initial"),
    ({"retry": {"initial": "25h"}}, "/retry/initial"), ({"retry": {"initial": "2s", "max": "1s"}}, "/retry/max"),
    ({"retry": {"max": "8d"}}, "/retry/max"), ({"retry": {"multiplier": 0.5}}, "/retry/multiplier"),
    ({"retry": {"multiplier": 11}}, "/retry/multiplier"), ({"retry": {"jitter": -0.1}}, "/retry/jitter"),
    ({"retry": {"jitter": 1.1}}, "/retry/jitter"),
    ({"retry": {"tries": 1}}, "/retry/tries"), ({"retry": "often"}, "/retry"),
]


@pytest.mark.parametrize("webhook, member", REFUSED, ids=[f"{n}" for n in range(len(REFUSED))])
def test_nonsense_is_refused_by_its_place(api, name, webhook, member):
    if isinstance(webhook, dict) and member:
        webhook = {"url": URL, **webhook}
    problem = api.post("/v1/timers", {"id": name, "after": "1h", "webhook": webhook}).problem(400)
    assert problem["pointer"].startswith("/webhook"), problem
    if not isinstance(webhook, str):
        assert problem["pointer"].startswith("/webhook" + member), problem
    assert "hunter2" not in json.dumps(problem) and SECRET.removeprefix("whsec_") not in json.dumps(problem)
    api.get(f"/v1/timers/{name}").expect(404)


def test_a_secret_is_shown_as_its_mask_everywhere(new_server, tmp_path):
    server = new_server("--log-level", "trace")
    api = server.client
    assert hook(api, "one", {"url": URL, "secret": SECRET})["secret"] == masked(SECRET)
    assert hook(api, "two", {"url": URL, "secret": [SECRET, OTHER_SECRET]})["secret"] == [masked(SECRET), masked(OTHER_SECRET)]
    api.patch("/v1/timers/one", {"payload": 1}).expect(200)
    targets = ["/v1/timers/one", "/v1/timers", "/v1/events?follow=false", "/metrics", "/v1/stats"]
    shown = [api.get(target).expect(200).body.decode() for target in targets]
    for text in [*shown, server.log_text()]:
        assert SECRET.removeprefix("whsec_") not in text and OTHER_SECRET.removeprefix("whsec_") not in text


@pytest.mark.parametrize("way", ["put", "patch"])
def test_what_get_gave_can_be_sent_back(api, receiver, name, way):
    """The mask keeps the stored secret while the URL's origin is the same."""
    hook(api, name, {"url": receiver.url("/a"), "secret": [SECRET, OTHER_SECRET]})
    timer = api.timer(name)
    if way == "put":
        api.put(f"/v1/timers/{name}", timer).expect(200)
    else:
        webhook = timer["webhook"] | {"url": receiver.url("/b?c")}
        assert api.patch(f"/v1/timers/{name}", {"webhook": webhook}).expect(200).json["version"] > timer["version"]
    fire(api, name)
    request = receiver.wait_for(1)[0]
    for secret in (SECRET, OTHER_SECRET):
        Webhook(secret).verify(request.body, dict(request.headers))


@pytest.mark.parametrize("url", ["https://127.0.0.1:9/hook", "http://127.0.0.1:10/hook", "http://127.0.0.2:9/hook", "http://localhost:9/hook"])
def test_a_secret_does_not_follow_to_another_origin(api, name, url):
    shown = hook(api, name, {"url": URL, "secret": SECRET})
    for send in (api.put(f"/v1/timers/{name}", {"every": "1h", "webhook": shown | {"url": url}}),
                 api.patch(f"/v1/timers/{name}", {"webhook": {"url": url, "secret": masked(SECRET)}})):
        assert send.problem(400)["pointer"] == "/webhook/secret"
    assert api.timer(name)["webhook"] == shown


def test_a_patch_merges_into_it(api, name):
    shown = hook(api, name, {"url": URL, "secret": SECRET, "headers": {"A": "1", "B": "2"}})
    change = {"webhook": {"headers": {"A": None, "C": "3"}, "retry": {"maxAttempts": 2}}}
    patched = api.patch(f"/v1/timers/{name}", change).expect(200).json["webhook"]
    assert patched["headers"] == {"B": "2", "C": "3"} and patched["retry"] == shown["retry"] | {"maxAttempts": 2}
    assert patched["secret"] == masked(SECRET)


def test_a_change_of_the_webhook_is_an_update_and_no_change_none(api, name):
    shown = hook(api, name)
    before = api.timer(name)
    for same in ({}, {"url": URL}, shown):
        assert api.patch(f"/v1/timers/{name}", {"webhook": same}).expect(200).json["version"] == before["version"]
    after = api.patch(f"/v1/timers/{name}", {"webhook": {"format": "payload"}}).expect(200).json
    assert after["version"] == before["version"] + 1 and after["nextFireAt"] == before["nextFireAt"]
    assert [event["type"] for event in api.history_of(name)] == ["created", "activated", "updated"]


def test_a_batch_makes_webhooks_too(api, receiver, name):
    lines = [{"id": name, "every": "1h", "webhook": receiver.url()}, {"id": f"{name}-b", "after": "1h", "webhook": "nonsense"},
             {"command": "fire", "id": name}]
    answers = api.batch(lines).expect(200).lines
    assert [answer["status"] for answer in answers] == [201, 400, 200] and answers[1]["problem"]["pointer"].startswith("/webhook")
    assert receiver.wait_for(1)[0].json["timer"] == name


def test_it_survives_a_crash(new_server):
    server = new_server()
    shown = hook(server.client, "t", {"url": URL, "secret": [SECRET, OTHER_SECRET], "headers": {"A": "1"}, "retry": {"jitter": 0},
                                      "types": ["cancelled", "fired"]})
    server.kill9()
    assert server.start().client.timer("t")["webhook"] == shown
