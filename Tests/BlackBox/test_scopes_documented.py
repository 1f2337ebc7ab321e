"""The table of docs/ACCESS.md and the `security` of openapi.yaml say the same of every operation."""

import re

import contract
from server import ROOT
from test_documents import lines_between

METHODS = ("get", "post", "put", "patch", "delete")


def in_the_document():
    """The need of each operation: a scope, `any key` or `none`."""
    found = {}
    for path, item in contract.published()["paths"].items():
        for method in METHODS:
            if method in item:
                security = item[method]["security"]
                roles = [role for way in security for role in way.get("bearer", ())]
                found[method.upper(), path] = roles[0] if roles else "any key" if security else "none"
                assert len(roles) < 2 and security in ([], [{}, {"bearer": roles}]), (method, path)
    return found


def in_the_table():
    found = {}
    for line in lines_between(ROOT / "docs/ACCESS.md", "scopes").splitlines()[2:]:
        paths, methods, scope = (cell.strip() for cell in line.split("|")[1:4])
        need = re.match(r"`?(none|any key|read|kick|write|admin)\b", scope)
        assert need, line
        for path in re.findall(r"`([^`]+)`", paths):
            for method in re.findall(r"`([^`]+)`", methods):
                assert (method, path) not in found, line
                found[method, path] = need[1]
    return found


def test_the_table_and_the_document_agree():
    assert in_the_table() == in_the_document()


def test_what_takes_a_credential_documents_its_refusals():
    for (method, path), need in in_the_document().items():
        answers = contract.published()["paths"][path][method.lower()]["responses"]
        assert ("401" in answers) == (need != "none"), (method, path)
        assert ("403" in answers) == (need not in ("none", "any key")), (method, path)
