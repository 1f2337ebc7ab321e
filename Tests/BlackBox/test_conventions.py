"""The rules for every request, asked of the real server: one request for each class of answer."""

import uuid

import pytest
import yaml

from server import ROOT


def test_another_content_type_is_415(api, name):
    body = {"id": name, "after": "1h"}
    api.post("/v1/timers", body, content_type="text/plain").problem(415, "unsupported-media-type")
    api.post("/v1/timers", body, content_type="application/json;charset=UTF-8").expect(201)


@pytest.mark.parametrize("body", [b"{", b'{"after":"1h","payload":"\xff"}'])
def test_what_is_no_good_json_is_400(api, body):
    api.request("POST", "/v1/timers", body=body, headers={"Content-Type": "application/json"}).problem(400, "invalid-request")


def test_duplicate_keys_are_pointed_at(api):
    assert api.post("/v1/timers", body='{"after":"1h","after":"2h"}').problem(400)["pointer"] == "/after"


def test_request_id_is_echoed_or_made(api):
    assert api.get("/v1/nowhere", headers={"Request-Id": "~!visible@ASCII#"}).problem(404, "not-found")["requestId"] == "~!visible@ASCII#"
    assert uuid.UUID(api.get("/healthz", headers={"Request-Id": "a b"}).headers["Request-Id"])


def test_options_405_and_head_agree(api):
    target = f"/v1/timers/{api.create()['id']}"
    allow = api.options(target).expect(204).headers["Allow"]
    assert set(allow.split(", ")) == {"GET", "HEAD", "OPTIONS", "PUT", "PATCH", "DELETE"}
    refused = api.post(target, {})
    refused.problem(405, "method-not-allowed")
    assert refused.headers["Allow"] == allow and api.head(target).expect(200).body == b""


def test_bad_percent_escapes(api):
    api.get("/v1/timers/%zz").problem(400, "invalid-request")


def test_a_problem_has_a_page(api):
    reply = api.get("/problems/not-found").expect(200)
    assert reply.headers["Content-Type"].startswith("text/html") and len(reply.body) > 40


def test_the_openapi_document_is_served(api):
    reply = api.get("/openapi.yaml").expect(200)
    assert "yaml" in reply.headers["Content-Type"]
    assert yaml.safe_load(reply.body) == yaml.safe_load((ROOT / "openapi.yaml").read_text())
