"""The field `webhook`: what it may not contain, and what counts as a change of it."""

import json

import pytest

from webhooks import OTHER_SECRET, SECRET

URL = "http://127.0.0.1:9/hook"


def masked(secret):
    return "whsec_…" + secret[-4:]


def hook(api, name, webhook=URL, **fields):
    return api.create(id=name, every="1h", webhook=webhook, **fields)["webhook"]


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


def test_a_change_of_the_webhook_is_an_update_and_no_change_none(api, name):
    shown = hook(api, name)
    before = api.timer(name)
    for same in ({}, {"url": URL}, shown):
        assert api.patch(f"/v1/timers/{name}", {"webhook": same}).expect(200).json["version"] == before["version"]
    after = api.patch(f"/v1/timers/{name}", {"webhook": {"format": "payload"}}).expect(200).json
    assert after["version"] == before["version"] + 1 and after["nextFireAt"] == before["nextFireAt"]
    assert [event["type"] for event in api.history_of(name)] == ["created", "activated", "updated"]


def test_it_survives_a_crash(new_server):
    server = new_server()
    shown = hook(server.client, "t", {"url": URL, "secret": [SECRET, OTHER_SECRET], "headers": {"A": "1"}, "retry": {"jitter": 0},
                                      "types": ["cancelled", "fired"]})
    server.kill9()
    assert server.start().client.timer("t")["webhook"] == shown
