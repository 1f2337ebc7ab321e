"""A request's trace context is kept with the timer: its events say it, its webhooks carry it on. Events name their client."""

import re

import pytest

from server import run
from webhooks import events, fire

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
STATE = "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"
PARENT = re.compile(r"00-([0-9a-f]{32})-([0-9a-f]{16})-(0[0-3])")
TOKEN = "a-token-of-these-tests"


def parent(number=0, flags="01"):
    return f"00-{int(TRACE, 16) + number:032x}-{SPAN}-{flags}"


def traced(number=0, state=None, **more):
    return {"traceparent": parent(number), "tracestate": state, **more}


def shown(api, id):
    """The traces that the events of a timer say, oldest first."""
    return [(event["type"], event.get("traceparent")) for event in api.history_of(id)]


@pytest.mark.parametrize("headers", [
    {"traceparent": parent().upper()}, {"traceparent": parent().replace(SPAN, "0" * 16)}, {"traceparent": "ff" + parent()[2:]},
    {"traceparent": ""}, {"traceparent": "00-é" + parent()[4:]}, {"tracestate": STATE}, {"traceparent": "x" * 3000}],
    ids=lambda headers: str(headers)[:40])
def test_a_malformed_one_is_ignored(api, name, headers):
    api.post("/v1/timers", {"id": name, "after": "1h"}, headers={key: value.encode("utf-8") for key, value in headers.items()}).expect(201)
    assert shown(api, name) == [("created", None), ("activated", None)]


@pytest.mark.parametrize("state, sent", [(STATE, STATE), ("a=" + "b" * 510, "a=" + "b" * 510), ("a=" + "b" * 511, None)],
                         ids=["some", "the longest", "too long"])
def test_a_webhook_carries_it_with_a_span_of_each_attempt(api, receiver, name, state, sent):
    receiver.script("/", 500, 200)
    api.post("/v1/timers", {"id": name, "every": "1h", "webhook": {"url": receiver.url("/"), "retry": {"initial": "10ms"}}},
             headers=traced(1, state)).expect(201)
    fire(api, name)
    attempts = receiver.wait_for(2)
    found = [PARENT.fullmatch(request.header("traceparent")) for request in attempts]
    assert {match[1] for match in found} == {parent(1)[3:35]} and {match[3] for match in found} == {"01"}
    assert len({match[2] for match in found} | {SPAN}) == 3, "each attempt is a span of its own"
    assert {request.header("tracestate") for request in attempts} == {sent}
    assert [request.json["traceparent"] for request in attempts] == [parent(1)] * 2
    outcomes = events(api, name, "deliveryFailed", "delivered", count=2)
    assert [event["traceparent"] for event in outcomes] == [parent(1)] * 2


@pytest.mark.parametrize("header", ["traceparent", "TraceState", "timerd-event", "Timerd-Anything"])
def test_a_webhook_sets_no_header_of_traces_itself(api, name, header):
    problem = api.post("/v1/timers", {"id": name, "after": "1h", "webhook": {"url": "http://hooks.example/", "headers": {header: "x"}}}).problem(400)
    assert problem["pointer"] == f"/webhook/headers/{header}"


def test_both_outlive_a_crash_and_the_log_shows_them(new_server, receiver, tmp_path):
    receiver.script("/", 500, 200)
    (tmp_path / "tokens").write_text(TOKEN + "\n")
    server = new_server("--token-file", tmp_path / "tokens", token=TOKEN)
    api = server.client
    hook = {"url": receiver.url("/"), "retry": {"initial": "1s", "max": "1s"}}
    api.post("/v1/timers", {"id": "t", "every": "1h", "labels": {"a": "b"}, "webhook": hook}, headers=traced(1, STATE)).expect(201)
    api.command("t", "fire").expect(200)
    first = receiver.wait_for(1)[0]
    assert first.json["by"] == "token"
    server.kill9()
    lines = [line for line in run("log", "dump", "--data", server.data).stdout.splitlines() if '"fired"' in line]
    wanted = ('"by":"token"', f'"traceparent":"{parent(1)}"', f'"tracestate":"{STATE}"')
    assert lines and all(word in line for line in lines for word in wanted), lines
    server.start()
    again = receiver.wait_for(2)[1]
    assert again.header("traceparent")[3:35] == parent(1)[3:35] and again.header("tracestate") == STATE
    assert again.json["by"] == "token"
    assert server.client.timer("t")["labels"] == {"a": "b"}
    made = [event for event in server.client.history_of("t") if event["type"] in ("created", "activated", "fired")]
    assert {event["by"] for event in made} == {"token"} and {event["traceparent"] for event in made} == {parent(1)}


def test_a_payload_webhook_says_both_in_headers(new_server, receiver, tmp_path):
    (tmp_path / "tokens").write_text(TOKEN + "\n")
    api = new_server("--token-file", tmp_path / "tokens", token=TOKEN).client
    hook = {"url": receiver.url("/"), "format": "payload"}
    api.post("/v1/timers", {"id": "t", "every": "1h", "payload": {"n": 1}, "webhook": hook}, headers=traced(1)).expect(201)
    api.command("t", "fire").expect(200)
    request = receiver.wait_for(1)[0]
    assert request.json == {"n": 1}
    assert request.header("timerd-by") == "token" and request.header("timerd-traceparent") == parent(1)


def test_no_credential_and_time_itself_have_no_name(api, name):
    api.post("/v1/timers", {"id": name, "after": "0s"}).expect(201)
    api.first_fire(name)
    assert not [event for event in api.history_of(name) if "by" in event]
