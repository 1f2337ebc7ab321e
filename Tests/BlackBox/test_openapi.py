"""openapi.yaml, made stricter by strict.yaml, against the running server: no 5xx, no answer that the document lacks."""

import json
import os
import random

import hypothesis
import pytest
import schemathesis
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import content_type_conformance, response_schema_conformance, status_code_conformance

import contract
from patience import PATIENCE
from server import ROOT, Server

EXAMPLES = int(os.environ.get("TIMERD_TEST_EXAMPLES", "25"))
# One run is the same every time, so that it judges the change; another makes new requests each time.
FIXED_SEED = 1
FRESH_SEED = int(os.environ.get("TIMERD_TEST_SEED") or random.randrange(2, 1 << 32))
SETTINGS = hypothesis.settings(max_examples=EXAMPLES, deadline=None, database=None, phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
                               suppress_health_check=list(hypothesis.HealthCheck))
# The explicit examples, which cover what the schemas say, are the same for every seed.
FRESH_SETTINGS = hypothesis.settings(SETTINGS, phases=[hypothesis.Phase.generate])
FRAMING = ("transfer-encoding", "content-length")
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


@schemathesis.serializer("application/x-ndjson")
def ndjson(_, value):
    """To the document a batch is a string; any JSON is generated for it."""
    return (value if isinstance(value, str) else json.dumps(value)).encode("utf-8", "surrogatepass")


def document(seed):
    schema = schemathesis.openapi.from_dict(contract.strict())
    schema.config.generation.update(modes=list(schemathesis.GenerationMode))
    schema.config.seed = seed
    return schema


@pytest.fixture(scope="module")
def fuzzed():
    """A separate server: fuzzing would disturb the counts of other tests."""
    # Generated timers have webhooks too: none may be sent.
    denied = ("--webhook-deny", "0.0.0.0/0", "--webhook-deny", "::/0")
    with Server("--max-timers", "20000", *denied) as server:
        yield server
        assert server.process.poll() is None, server.log_text()[-4000:]


def test_the_served_document_is_the_one_in_the_project(api):
    assert api.get("/openapi.yaml").expect(200).body == (ROOT / "openapi.yaml").read_bytes()


def check(case, server):
    # Streams that stay open and long polls would only cost time; other tests check how they end.
    if case.path.endswith("/events"):
        case.query = {**(case.query or {}), "follow": "false"}
    if case.path.endswith("/wait"):
        case.query = {**(case.query or {}), "timeout": "0s"}
    # A generated header may say how the body is framed: what nonsense of that kind gets is tested elsewhere.
    case.headers = {name: value for name, value in (case.headers or {}).items() if name.lower() not in FRAMING}
    # A YAML document is a string to its schema and an object to the checker.
    checks = CHECKS[:-1] if case.path == "/openapi.yaml" else CHECKS
    answer = case.call_and_validate(base_url=server.url, checks=checks, timeout=PATIENCE)
    if case.path == "/v1/drain":
        server.client.delete("/v1/drain").expect(200)
    media = answer.headers.get("content-type", [""])[0]
    if "json" in media and "ndjson" not in media and answer.content:
        # The checker above lets members pass that the schema forbids.
        assert not contract.complaints(case.operation.path, case.method, answer.status_code, media, answer.json())


@document(FIXED_SEED).parametrize()
@SETTINGS
def test_every_answer_is_in_the_document(case, fuzzed):
    check(case, fuzzed)


@document(FRESH_SEED).parametrize()
@FRESH_SETTINGS
def test_so_is_every_answer_to_what_was_not_asked_before(case, fuzzed):
    print(f"again with TIMERD_TEST_SEED={FRESH_SEED}")
    check(case, fuzzed)
