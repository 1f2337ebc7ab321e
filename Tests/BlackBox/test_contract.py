"""What the server shows is what openapi.yaml says, and openapi.yaml is simple enough for generators of clients."""

import pytest

import contract
from timers import STATES, poll, timer_in

KINDS = [{"after": "1h"}, {"at": "2040-01-01T00:00:00Z"}, {"every": "1h"}, {"every": "1h", "at": "2040-01-01T00:00:00Z", "mode": "fixedDelay"},
         {"cron": "0 9 * * MON", "timeZone": "Europe/Berlin", "until": "2040-01-01T00:00:00Z"}, {"watchdog": "1h", "misses": 2},
         {"watchdog": "1h", "cron": "0 3 * * *", "timeZone": "Europe/Berlin"}, {"every": "7d", "at": "2040-01-01T00:00:00Z", "timeZone": "Europe/Berlin"},
         {"after": "1h", "start": "subscriber", "stop": "subscriber"},
         {"after": "1h", "webhook": "http://127.0.0.1:1/"},
         {"after": "1h", "webhook": {"url": "http://127.0.0.1:1/", "secret": ["whsec_BfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_AfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSA"]}}]


@pytest.mark.parametrize("fields", KINDS, ids=lambda fields: "-".join(fields))
def test_a_timer_of_each_kind_is_a_timer(api, fields):
    shown = api.create(**fields)
    contract.check("Timer", shown)
    published, strict = contract.validators("TimerCreate")
    strict.validate(fields)
    published.validate({**fields, "webhook": {"url": fields["webhook"]}} if isinstance(fields.get("webhook"), str) else fields)


@pytest.mark.parametrize("state", STATES)
def test_a_timer_in_each_state_is_a_timer(api, state):
    contract.check("Timer", timer_in(api, state))


# Host, Expect, the sizes of target and head, and the framing are judged before the route is looked at.
ANY_REQUEST = {"400", "414", "417", "421", "431", "501", "503"}


def test_each_operation_documents_what_any_request_may_get():
    missing = {f"{method} {path}": sorted(ANY_REQUEST - set(operation["responses"]))
               for path, operations in contract.published()["paths"].items()
               for method, operation in operations.items() if "responses" in operation}
    assert len(missing) >= 50 and not any(missing.values()), {name: lacks for name, lacks in missing.items() if lacks}


def test_what_get_gave_can_be_sent_back_to_the_document_too(api):
    timer = api.create(labels={"team": "blue"})
    contract.validators("TimerCreate")[1].validate(timer)
    api.put(f"/v1/timers/{timer['id']}", timer).expect(200)


def test_every_type_of_event_fits_its_schema(new_server, receiver):
    """Each type happens once at least, and no event fits a schema but its own."""
    server = new_server()
    api, hook = server.client, {"url": receiver.url(), "retry": {"maxAttempts": 2, "initial": "1ms"}}
    api.create(id="tea", every="1h", payload={"cup": "blue"}, webhook=hook)
    for command in ("suspend", "resume", "fire"):
        api.command("tea", command).expect(200)
    api.command("tea", "reschedule", {"after": "2h"}).expect(200)
    api.patch("/v1/timers/tea", {"labels": {"team": "blue"}}).expect(200)
    api.command("tea", "cancel").expect(200)
    api.create(id="once", after="0s")
    api.create(id="worker", watchdog="1ms")
    api.create(id="refused", after="0s", webhook={**hook, "url": "http://127.0.0.1:1/"})
    poll(lambda: api.timer("worker")["health"] == "stalled")
    api.command("worker", "kick").expect(200)
    wanted = set(contract.published()["components"]["schemas"]["EventType"]["enum"])
    poll(lambda: wanted - {"deleted"} <= {event["type"] for event in api.history()})
    api.delete("/v1/timers/tea").expect(204)
    history = api.history()
    assert {event["type"] for event in history} == wanted
    own = contract.published()["components"]["schemas"]["Event"]["discriminator"]["mapping"]
    assert set(own) == wanted
    for event in history:
        contract.check("Event", event)
        contract.check(own[event["type"]].rpartition("/")[2], event)
    for delivery in api.get("/v1/deliveries").expect(200).json["deliveries"]:
        contract.check("Delivery", delivery)


def test_a_refusal_is_a_problem(api, name):
    api.create(id=name, restartable=True)
    for reply in (api.command(name, "resume"), api.command(name, "kick"), api.command(name, "explode"), api.get(f"/v1/timers/{name}-x"),
                  api.post("/v1/timers", {"afer": "1h"}), api.get("/v1/timers?limit=0"), api.get("/v1/events?since=1&follow=false")):
        assert reply.status >= 400
        contract.check("Problem", reply.json)
    for result in api.batch([{"command": "kick", "id": name}, {"afer": "1h"}, "{", {"after": "1h"}]).expect(200).lines:
        contract.check("BatchResult", result)


def schemas(value, place=""):
    """Every object of a document that may be a schema, with its place."""
    if isinstance(value, dict):
        yield place, value
        for name, member in value.items():
            if name not in ("example", "examples", "x-line-schema"):
                yield from schemas(member, f"{place}/{name}")
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from schemas(member, f"{place}/{index}")


def test_the_document_has_nothing_that_generators_stumble_over():
    """Clients that are generated from it are tested in test_generated_clients.py and by `make clients`; this says sooner what is wrong."""
    for place, schema in schemas(contract.published()):
        # YAML reads what follows a comma in a text without quotes as a member of its own.
        assert None not in schema.values(), (place, schema)
        assert "const" not in schema and "dependentRequired" not in schema, place
        assert schema.get("additionalProperties") is not False, place
        assert "/properties/" not in schema.get("$ref", ""), place
        assert place.endswith(("/properties", "/mapping")) or "enum" not in schema or "type" in schema, place
        types = schema.get("type") if isinstance(schema.get("type"), list) else [schema.get("type")]
        assert "integer" not in types or schema["format"] == "int64", place
    components = contract.published()["components"]["schemas"]
    for name in ("Timer", "TimerCreate", "BulkSelector", "RedriveSelector", "Reschedule"):
        assert not {"oneOf", "anyOf", "allOf"} & components[name].keys(), name
    for name, schema in components.items():
        for place, part in schemas(schema, name):
            if "anyOf" in part:  # a reference or null, which every generator knows
                assert [set(option) for option in part["anyOf"]] == [{"$ref"}, {"type"}] and part["anyOf"][1] == {"type": "null"}, place
            assert "oneOf" not in part or "discriminator" in part, place
