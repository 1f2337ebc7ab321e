"""openapi.yaml, and the stricter document that the tests judge answers by."""

from functools import cache
from pathlib import Path

import jsonschema_rs
import yaml

from server import ROOT

STRICT = Path(__file__).with_name("strict.yaml")


def merged(document, patch):
    """The document after a JSON merge patch (RFC 7396)."""
    if not isinstance(patch, dict):
        return patch
    result = dict(document) if isinstance(document, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name), value)
    return result


@cache
def published():
    """openapi.yaml as it is."""
    return yaml.safe_load((ROOT / "openapi.yaml").read_text())


@cache
def strict():
    """openapi.yaml with strict.yaml over it."""
    return merged(published(), yaml.safe_load(STRICT.read_text()))


def _validator(document, schema):
    return jsonschema_rs.Draft202012Validator({**schema, "components": document["components"]})


@cache
def validators(name):
    """Validators of the component's schema: as published, and strict."""
    return [_validator(document(), {"$ref": f"#/components/schemas/{name}"}) for document in (published, strict)]


@cache
def _answer(path, method, status, media):
    """The strict validator for the content of an answer; None where the document says nothing of it."""
    responses = strict()["paths"][path].get(method, {}).get("responses", {})
    response = responses.get(str(status), {})
    if reference := response.get("$ref"):
        response = strict()["components"]["responses"][reference.rpartition("/")[2]]
    content = response.get("content", {}).get(media)
    return content and _validator(strict(), content["schema"])


def complaints(path, method, status, media, value):
    """What the strict document objects to in the JSON of an answer, a line each."""
    validator = _answer(path, method.lower(), status, media.partition(";")[0])
    return [f"{error.instance_path}: {error.message}" for error in validator.iter_errors(value)] if validator else []


def check(name, value):
    """Asserts that a value is one of this schema, as published and strict."""
    for validator in validators(name):
        errors = [f"{error.instance_path}: {error.message}" for error in validator.iter_errors(value)]
        assert not errors, f"{value} is no {name}: {errors}"
