"""What a delivery is on the wire: formats, signatures, methods, headers, and which events are delivered."""

import json
from urllib.parse import unquote

import pytest
from cloudevents.core.bindings.http import HTTPMessage, from_http_event
from standardwebhooks import Webhook, WebhookVerificationError

from receiver import Gate
from timers import instant
from webhooks import LATER, OTHER_SECRET, SECRET, attempts, event, events, fire, fired, hooked

METHODS = ["POST", "PUT", "PATCH", "GET", "DELETE"]


def delivery(api, receiver, name, payload=None, **webhook):
    """The request that a fire of a new timer makes, and the event of that fire."""
    id = hooked(api, receiver.url(f"/{name}"), name, timer={"payload": payload, "labels": {"n": name}}, **webhook)
    fire(api, id)
    request = receiver.wait_for(1, f"/{name}")[0]
    return request, event(api, id, "fired")


def verify(request, secret):
    """Has Standard Webhooks' own package verify a request."""
    Webhook(secret).verify(request.body, dict(request.headers), json_parse=False)


def test_a_delivery_is_the_event(api, receiver, name):
    request, event = delivery(api, receiver, name, {"cup": ["blue", None, 1.5]})
    assert (request.method, request.path) == ("POST", f"/{name}")
    assert request.json == event and event["payload"] == {"cup": ["blue", None, 1.5]}
    assert request.id == event["id"] and request.header("content-type").split(";")[0] == "application/json"
    assert request.header("host") == f"127.0.0.1:{receiver.port}"
    assert request.header("user-agent").startswith("timerd/")
    assert abs(int(request.header("webhook-timestamp")) * 1000 - instant(event["at"])) < 60_000
    assert not [header for header, _ in request.headers if header.lower().startswith("timerd-")]


def test_the_url_alone_is_a_webhook(api, receiver, name):
    id = api.create(id=name, every="1h", webhook=receiver.url(f"/{name}?a=b%20c"))["id"]
    fire(api, id)
    assert receiver.wait_for(1, f"/{name}?a=b%20c")[0].json["timer"] == id
    assert api.timer(id)["webhook"]["url"] == receiver.url(f"/{name}?a=b%20c")


def test_a_due_fire_is_delivered(api, receiver, name):
    api.create(id=name, after="20ms", webhook=receiver.url(f"/{name}"))
    request = receiver.wait_for(1, f"/{name}")[0]
    assert request.json["reason"] == "due" and request.id == fired(api, name)[0]


def test_the_delivery_is_an_event_of_the_timer(api, receiver, name):
    request, _ = delivery(api, receiver, name)
    delivered = attempts(api, name, 1)[0]
    assert (delivered["type"], delivered["delivery"], delivered["attempt"], delivered["status"]) == ("delivered", request.id, 1, 200)
    assert delivered["version"] == api.timer(name)["version"] and delivered["labels"] == {"n": name}


@pytest.mark.parametrize("format", ["standard", "cloudevents", "payload"])
@pytest.mark.parametrize("method", METHODS)
def test_every_method_and_format_verifies(api, receiver, name, method, format):
    request, fire = delivery(api, receiver, name, "a payload", method=method, format=format, secret=SECRET)
    assert request.method == method and request.id == fire["id"]
    verify(request, SECRET)
    with pytest.raises(WebhookVerificationError):
        verify(request, OTHER_SECRET)
    if method == "GET":
        assert request.body == b"" and request.header("content-type") is None
        assert request.header("timerd-timer") == name and request.header("timerd-event") == "fired"
    else:
        assert int(request.header("content-length")) == len(request.body) > 0


@pytest.mark.parametrize("secrets", [[SECRET], [SECRET, OTHER_SECRET], [OTHER_SECRET, SECRET]])
def test_every_secret_signs(api, receiver, name, secrets):
    request, _ = delivery(api, receiver, name, secret=secrets)
    assert len(request.header("webhook-signature").split(" ")) == len(secrets)
    for secret in secrets:
        verify(request, secret)


def test_without_a_secret_nothing_is_signed(api, receiver, name):
    request, _ = delivery(api, receiver, name)
    assert request.header("webhook-signature") is None


def test_the_file_of_secrets_signs_for_those_without_one(new_server, receiver, tmp_path):
    path = tmp_path / "secrets"
    path.write_text(f"# old, new\n{OTHER_SECRET}\n{SECRET}\n")
    server = new_server("--webhook-secret-file", path)
    request, _ = delivery(server.client, receiver, "without")
    verify(request, SECRET)
    verify(request, OTHER_SECRET)
    own = "whsec_" + "T3duIHNlY3JldCB0aGF0IG5vYm9keSBlbHNlIGhhcyEhIQ=="
    request, _ = delivery(server.client, receiver, "with", secret=own)
    verify(request, own)
    assert len(request.header("webhook-signature").split(" ")) == 1
    assert SECRET.removeprefix("whsec_") not in server.log_text() + json.dumps(server.client.timer("without"))


def test_cloudevents_are_what_their_own_package_reads(api, receiver, name):
    request, fire = delivery(api, receiver, name, {"cup": "blue"}, format="cloudevents", secret=SECRET)
    verify(request, SECRET)
    assert request.header("content-type").split(";")[0] == "application/cloudevents+json"
    event = from_http_event(HTTPMessage(headers=dict(request.headers), body=request.body))
    assert event.get_specversion() == "1.0" and event.get_id() == fire["id"] and event.get_source()
    assert event.get_type() == "timerd.timer.fired" and event.get_subject() == name
    assert round(event.get_time().timestamp() * 1000) == instant(fire["at"])
    assert event.get_data() == fire


PAYLOADS = ['{"b":1,"a":[1.50,1e3,-0.0],"é":"\\u00e9\\n"}', '"text"', "null", "17.000", "[]", "true"]


@pytest.mark.parametrize("payload", PAYLOADS)
def test_the_payload_alone_goes_out_as_it_was_given(api, receiver, name, payload):
    webhook = json.dumps({"url": receiver.url(f"/{name}"), "format": "payload", "secret": SECRET})
    body = f'{{"id":"{name}","every":"1h","payload":{payload},"webhook":{webhook}}}'
    api.request("POST", "/v1/timers", body=body).expect(201)
    fire(api, name)
    request = receiver.wait_for(1, f"/{name}")[0]
    assert request.body == payload.encode() and request.header("content-type").split(";")[0] == "application/json"
    verify(request, SECRET)


def test_the_payloads_spelling_survives_within_the_event(api, receiver, name):
    body = f'{{"id":"{name}","every":"1h","payload":{PAYLOADS[0]},"webhook":"{receiver.url("/" + name)}"}}'
    api.request("POST", "/v1/timers", body=body).expect(201)
    fire(api, name)
    assert PAYLOADS[0].encode() in receiver.wait_for(1, f"/{name}")[0].body


def test_beside_the_payload_headers_tell_the_event(api, receiver, name):
    id = f"{name}.~-_x"
    hooked(api, receiver.url("/"), id, format="payload", timer={"payload": 1})
    fire(api, id)
    request, event = receiver.wait_for(1)[0], events(api, id, "fired")[0]
    told = {header.lower().removeprefix("timerd-"): unquote(value) for header, value in request.headers
            if header.lower().startswith("timerd-")}
    assert told["event"] == "fired" and told["timer"] == id
    for member, header in {"at": "at", "version": "version", "scheduledAt": "scheduled-at", "latenessUs": "lateness-us",
                           "fire": "fire", "missed": "missed", "reason": "reason"}.items():
        assert told[header] == str(event[member]), member


def test_headers_of_its_own_go_along(api, receiver, name):
    headers = {"Authorization": "Bearer t0ken", "X-Empty": "", "X-Text": "a, b; c=\"d\"", "User-Agent": "mine/1"}
    request, _ = delivery(api, receiver, name, headers=headers)
    for header, value in headers.items():
        assert request.header(header) == value


def test_only_the_types_that_were_asked_for(api, receiver, name):
    wanted = ["created", "suspended", "fired", "cancelled", "updated"]
    id = hooked(api, receiver.url("/"), name, types=wanted)
    fire(api, id)
    api.patch(f"/v1/timers/{id}", {"labels": {"a": "b"}}).expect(200)
    for command in ("suspend", "resume", "cancel"):
        api.command(id, command).expect(200)
    told = [event for event in api.history_of(id) if event["type"] in wanted]
    assert [event["type"] for event in told] == ["created", "fired", "updated", "suspended", "cancelled"]
    requests = receiver.wait_for(len(told))
    assert [request.json for request in requests] == told
    assert [request.id for request in requests] == [event["id"] for event in told]


def test_a_replayed_fire_is_not_delivered_twice(api, receiver, name):
    id = hooked(api, receiver.url("/"), name)
    for _ in range(2):
        api.command(id, "fire", headers={"Idempotency-Key": name}).expect(200)
    fire(api, id)
    assert [request.id for request in receiver.wait_for(2)] == fired(api, id) and len(fired(api, id)) == 2


def test_connections_are_kept(api, receiver, name):
    id = hooked(api, receiver.url("/"), name)
    fire(api, id, 5)
    assert len({request.connection for request in receiver.wait_for(5)}) < 5


def test_a_version_is_not_changed_by_deliveries(api, receiver, name):
    id = hooked(api, receiver.script("/", 500, 200), name)
    fire(api, id)
    version = event(api, id, "fired")["version"]
    assert [found["version"] for found in attempts(api, id, 2)] == [version, version]
    assert api.timer(id)["version"] == version and api.get(f"/v1/timers/{id}").etag == f'"v{version}"'


def test_the_memory_store_delivers_too(new_server, receiver):
    request, fire = delivery(new_server("--store", "memory").client, receiver, "quick")
    assert request.json == fire


def test_interval_durability_delivers_too(new_server, receiver):
    request, fire = delivery(new_server("--durability", "interval=20ms").client, receiver, "quick")
    assert request.json == fire


def test_a_clean_stop_does_not_wait_for_receivers(new_server, receiver):
    server = new_server("--drain", "1s")
    receiver.script("/", gate := Gate())
    hooked(server.client, receiver.url("/"), "held", timeout="10m")
    fire(server.client, "held", 3)
    receiver.wait_for(1)
    server.stop()
    gate.open()
    receiver.script("/", 200)
    server.start()
    receiver.wait_until(lambda found: len({request.id for request in found}) == 3)
    assert sorted(set(receiver.ids())) == fired(server.client, "held")


def test_a_waiting_delivery_does_not_hold_up_a_stop(new_server, receiver):
    server = new_server()
    hooked(server.client, receiver.script("/", 500), "waits", retry=LATER)
    fire(server.client, "waits")
    attempts(server.client, "waits", 1)
    server.stop()
