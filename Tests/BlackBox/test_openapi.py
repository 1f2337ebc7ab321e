"""openapi.yaml against the running server: no 5xx, no answer that is not in the document."""

import os

import hypothesis
import pytest
import schemathesis
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import content_type_conformance, response_schema_conformance, status_code_conformance

from server import Server

EXAMPLES = int(os.environ.get("TIMERD_TEST_EXAMPLES", "25"))
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


@pytest.fixture(scope="module")
def document():
    """A server of its own: the fuzzing would disturb others' counts."""
    with Server("--max-timers", "20000") as server:
        schema = schemathesis.openapi.from_url(f"{server.url}/openapi.yaml")
        schema.config.generation.update(modes=list(schemathesis.GenerationMode))
        schema.config.seed = 1
        yield schema
        assert server.process.poll() is None, server.log_text()[-4000:]


schema = schemathesis.pytest.from_fixture("document")


@schema.parametrize()
@hypothesis.settings(max_examples=EXAMPLES, deadline=None, derandomize=True, database=None, phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
                     suppress_health_check=list(hypothesis.HealthCheck))
@pytest.mark.timeout(60)
def test_every_answer_is_in_the_document(case):
    # Streams that stay open and long polls would only cost time; that they end well is tested elsewhere.
    if case.path.endswith("/events"):
        case.query = {**(case.query or {}), "follow": "false"}
    if case.path.endswith("/wait"):
        case.query = {**(case.query or {}), "timeout": "0s"}
    case.call_and_validate(checks=CHECKS, timeout=10)
