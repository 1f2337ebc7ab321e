"""Headers of a webhook that carry credentials: masked wherever they are shown, and bound to the URL's origin."""

import json

from server import run
from webhooks import fire, hooked

URL = "https://hooks.example/timers"
OTHER = "https://other.example/"
MASK = "***"


def patch(api, id, webhook):
    return api.patch(f"/v1/timers/{id}", {"webhook": webhook})


def shown(api, id):
    return api.timer(id)["webhook"]


def test_credentials_are_masked_and_sent(api, receiver, name):
    id = hooked(api, receiver.url("/"), name, headers={"authorization": "s3cret", "X-Plain": "seen"})
    assert shown(api, id)["headers"] == {"authorization": MASK, "X-Plain": "seen"}
    fire(api, id)
    [request] = receiver.wait_for(1)
    assert (request.header("Authorization"), request.header("X-Plain")) == ("s3cret", "seen")


def test_others_are_secret_where_they_are_named(api, receiver, name):
    id = hooked(api, receiver.url("/"), name, headers={"X-Api-Key": "s3cret", "X-Plain": "seen"}, secretHeaders=["x-api-key", "X-Absent"])
    assert shown(api, id)["headers"] == {"X-Api-Key": MASK, "X-Plain": "seen"}
    assert shown(api, id)["secretHeaders"] == ["x-api-key", "X-Absent"]
    fire(api, id)
    assert receiver.wait_for(1)[0].header("X-Api-Key") == "s3cret"
    # A header that is set later is secret from then on.
    patch(api, id, {"headers": {"X-Absent": "later"}}).expect(200)
    assert shown(api, id)["headers"]["X-Absent"] == MASK


def test_what_get_gave_can_be_put_back(api, receiver, name):
    id = hooked(api, receiver.url("/"), name, headers={"Authorization": "Bearer x", "X-Api-Key": "k"}, secretHeaders=["X-Api-Key"])
    timer = api.timer(id)
    assert api.patch(f"/v1/timers/{id}", timer).expect(200).json["version"] == timer["version"], "it is the same"
    assert api.put(f"/v1/timers/{id}", timer).expect(200).json["webhook"] == timer["webhook"]
    fire(api, id)
    [request] = receiver.wait_for(1)
    assert (request.header("Authorization"), request.header("X-Api-Key")) == ("Bearer x", "k")


def test_a_credential_does_not_follow_to_another_origin(api, name):
    api.create(id=name, webhook={"url": URL, "headers": {"Authorization": "s3cret"}})
    problem = patch(api, name, {"url": OTHER}).problem(400, "invalid-request")
    assert problem["pointer"] == "/webhook/headers/Authorization" and "origin" in problem["detail"]
    assert patch(api, name, {"url": OTHER, "headers": {"Authorization": "new"}}).expect(200).json["webhook"]["headers"] == {"Authorization": MASK}


def test_the_same_origin_keeps_them(api, receiver, name):
    id = hooked(api, receiver.url("/a"), name, headers={"Authorization": "Bearer x"})
    patch(api, id, {"url": receiver.url("/b"), "headers": {"X-More": "1"}}).expect(200)
    fire(api, id)
    [request] = receiver.wait_for(1)
    assert (request.path, request.header("Authorization")) == ("/b", "Bearer x")


def test_no_credential_is_ever_told(new_server):
    """No answer, stored answer, list, event, log line or dump holds a credential, unless an operator asks for it."""
    server = new_server("--log-level", "debug")
    api, told = server.client, []

    def note(reply):
        told.append(reply.body.decode(errors="replace"))
        return reply

    hidden = {"Authorization": "Bearer hidden-1", "Cookie": "id=hidden-2", "X-Api-Key": "hidden-3"}
    body = {"id": "t", "after": "1h", "webhook": {"url": URL, "headers": hidden, "secretHeaders": ["X-Api-Key"], "types": ["updated", "fired"]}}
    for _ in range(2):
        note(api.post("/v1/timers", body, headers={"Idempotency-Key": "k"})).expect(201)
    note(api.post("/v1/timers", body)).problem(409)
    note(patch(api, "t", {"headers": {"X-Plain": "seen"}})).expect(200)
    note(patch(api, "t", {"url": OTHER})).problem(400)
    note(api.batch([body | {"id": "b"}])).expect(200)
    server.restart()
    api = server.client
    for target in ("/v1/timers/t", "/v1/timers", "/v1/events?follow=false", "/v1/deliveries", "/metrics", "/v1/stats"):
        note(api.get(target)).expect(200)
    told.append(run("get", "t", "--server", server.url).stdout)
    server.stop()
    dump = run("log", "dump", "--data", server.data).stdout
    assert "hidden" not in "".join(told) + dump + server.log_text() and MASK in dump
    whole = run("log", "dump", "--secrets", "--data", server.data).stdout
    webhooks = [json.loads(line).get("definition", {}).get("webhook") for line in whole.splitlines()]
    assert next(filter(None, webhooks))["headers"] == hidden
