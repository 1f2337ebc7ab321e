"""The dashboard at /: one page, the parts that it loads on first use, and a policy that admits nothing else."""

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest

from server import ROOT

# Bytes of the page, and of the parts.
LIMIT, PARTS_LIMIT = 120_000, 60_000
SOURCE = ROOT / "Sources/CAssets"
BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"


class Page(HTMLParser):
    """What a policy has to know of a page: its scripts and styles, and what its markup would load or run."""

    def __init__(self, text):
        super().__init__()
        self.inline, self.attributes = {"script": [], "style": []}, []
        self._open = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.attributes += [(tag, name, value) for name, value in attributes]
        if tag in self.inline:
            self.inline[tag].append("")
            self._open = tag

    def handle_endtag(self, tag):
        if tag == self._open:
            self._open = None

    def handle_data(self, data):
        if self._open:
            self.inline[self._open][-1] += data


def directives(reply):
    parts = [part.split() for part in reply.headers["Content-Security-Policy"].split(";")]
    assert len({name for name, *_ in parts}) == len(parts), "a directive that comes twice counts once"
    return {name: values for name, *values in parts}


def source(text):
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@pytest.fixture
def reply(api):
    return api.get("/").expect(200)


@pytest.fixture
def parts(api):
    return api.get("/dashboard-parts").expect(200)


@pytest.fixture
def page(reply):
    return Page(reply.body.decode())


def served_lines(text):
    """The lines of a source that are served: none that are empty or a comment, and each without its indentation."""
    lines = (line.lstrip(" ") for line in text.splitlines())
    return "".join(line + "\n" for line in lines if line and not line.startswith(("//", "/*", "<!--")))


def joined_page(folder):
    """The page that the files in a folder of the project make, in the order in which they are compiled in."""
    parts = re.findall(rf'#embed "({folder}/[^"/]+)"', (SOURCE / "CAssets.c").read_text())
    text = {suffix: served_lines("".join((SOURCE / part).read_text() for part in parts if part.endswith(suffix)))
            for suffix in (".html", ".css", ".js")}
    page = text[".html"].replace("<style></style>", f"<style>\n{text['.css']}</style>")
    return page.replace("<script></script>", f"<script>\n{text['.js']}</script>")


def test_the_page_is_the_one_in_the_project(reply):
    assert reply.body.decode() == joined_page("dashboard")
    assert reply.headers["Content-Type"] == "text/html; charset=utf-8"
    assert len(reply.body) <= LIMIT


def test_the_parts_are_those_in_the_project(parts):
    """No browser shows them as a page: they are for the page at / alone."""
    assert parts.body.decode() == joined_page("dashboard/parts")
    assert parts.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert parts.headers["X-Content-Type-Options"] == "nosniff"
    assert len(parts.body) <= PARTS_LIMIT


def test_the_policy_lets_in_what_stands_in_the_page_and_nothing_else(reply, page, parts):
    inline = {name: page.inline[name] + Page(parts.body.decode()).inline[name] for name in page.inline}
    assert len(inline["script"]) == len(inline["style"]) == 2
    assert directives(reply) == {
        "default-src": ["'none'"],
        "script-src": [source(text) for text in inline["script"]],
        "style-src": [source(text) for text in inline["style"]],
        "connect-src": ["'self'"],
        "img-src": ["data:"],
        "base-uri": ["'none'"],
        "form-action": ["'none'"],
        "frame-ancestors": ["'none'"],
    }


def test_nothing_in_the_markup_is_left_to_the_policy_to_refuse(page, parts):
    """Style attributes and handlers in the markup would have no effect under this policy."""
    attributes = page.attributes + Page(parts.body.decode()).attributes
    assert [(tag, name) for tag, name, _ in attributes if name == "style" or name.startswith("on")] == []


def test_the_page_needs_no_other_resource(reply, page, parts):
    text = reply.body.decode() + parts.body.decode()
    assert not re.search(r"https?://|@import|url\(", text)
    links = [(tag, value) for tag, name, value in page.attributes if name in ("src", "href", "srcset", "action", "data")]
    assert {value for tag, value in links if tag == "link"} == {value for _, value in links if value.startswith("data:")}
    assert all(value.startswith(("data:", "#")) or re.fullmatch(r"[a-z][a-z./]*", value) for _, value in links)


def test_the_scripts_name_documented_paths_only(page, parts, api):
    """The page, an example of a client, uses only the public API."""
    documented = api.get("/openapi.yaml").body.decode()
    paths = set(re.findall(r"[`\"](v1/[a-z/]*[a-z])", page.inline["script"][0] + parts.body.decode()))
    assert {"v1/stats/due", "v1/calendars"} <= paths
    for path in paths:
        assert f"\n  /{path}:\n" in documented, path


def test_the_other_headers(reply):
    assert reply.headers["X-Content-Type-Options"] == "nosniff"
    assert reply.headers["Referrer-Policy"] == "no-referrer"
    assert reply.headers["Cache-Control"] == "no-cache"
    assert re.fullmatch(r'"[!#-~]+"', reply.etag)


def test_a_browser_that_has_the_page_gets_304(api, reply):
    for tag in (reply.etag, f"W/{reply.etag}", f'"other", {reply.etag}', "*"):
        again = api.get("/", headers={"If-None-Match": tag}).expect(304)
        assert again.body == b"" and again.etag == reply.etag
        assert again.headers["Content-Security-Policy"] == reply.headers["Content-Security-Policy"]
    api.get("/", headers={"If-None-Match": '"other"'}).expect(200)


def test_head_has_the_same_headers(api, reply):
    head = api.head("/").expect(200)
    assert head.body == b"" and head.headers["Content-Length"] == str(len(reply.body))
    for name in ("Content-Type", "Content-Security-Policy", "ETag", "Cache-Control"):
        assert head.headers[name] == reply.headers[name]


def test_an_unknown_parameter_is_400(api):
    problem = api.get("/?theme=dark", headers={"Accept": BROWSER}).problem(400, "unknown-field")
    assert problem["parameter"] == "theme"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    from server import Server
    path = tmp_path_factory.mktemp("token") / "tokens"
    path.write_text("open-sesame-open\n")
    with Server("--token-file", path) as server:
        yield server.client


@pytest.mark.parametrize("headers", [{}, {"Accept": BROWSER}, {"Authorization": "Bearer wrong"}, {"Authorization": "Bearer open-sesame-open"}])
def test_the_page_needs_no_token(guarded, reply, parts, headers):
    page = guarded.get("/", headers=headers).expect(200)
    assert page.body == reply.body and page.etag == reply.etag
    assert guarded.head("/", headers=headers).expect(200).body == b""
    assert guarded.get("/dashboard-parts", headers=headers).expect(200).etag == parts.etag


@pytest.mark.parametrize("method, target", [("GET", "/v1/timers"), ("GET", "/metrics"), ("GET", "/nowhere"), ("GET", "//"), ("GET", "/%"),
                                            ("OPTIONS", "*")])
def test_all_else_needs_one(guarded, method, target):
    refused = guarded.request(method, target, headers={"Accept": BROWSER})
    refused.problem(401, "unauthorized")
    assert refused.headers["WWW-Authenticate"] == "Bearer"
