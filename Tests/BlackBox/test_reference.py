"""The reference at /docs and /openapi.json: made from openapi.yaml, whole, and one page that loads nothing else."""

import re
import subprocess
import sys
from html.parser import HTMLParser
from urllib.parse import urljoin

import pytest

import contract
from patience import PATIENCE
from server import ROOT
from test_dashboard import directives, source

sys.path.append(str(ROOT / "Scripts"))
import reference  # noqa: E402

OPERATIONS = {operation["operationId"]: (path, method, operation) for path, item in contract.published()["paths"].items()
              for method, operation in item.items() if method != "parameters"}


class Parts(HTMLParser):
    """What a page's markup holds: places, links, inline scripts and styles, commands, and the text of each section."""

    def __init__(self, text):
        super().__init__()
        self.places, self.links, self.attributes, self.commands, self.text = [], [], [], [], {}
        self.inline = {"script": [], "style": []}
        self._open = self._section = self._command = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        named = dict(attributes)
        self.attributes += [(tag, name, value) for name, value in attributes]
        self.places += [named["id"]] if "id" in named else []
        self.links += [named["href"]] if tag == "a" else []
        if tag == "section":
            self._section = named["id"]
            self.text[self._section] = ""
        if tag in self.inline:
            self.inline[tag].append("")
            self._open = tag
        if tag == "pre" and named.get("class") == "curl":
            self._command = "before"
        if tag == "code" and self._command == "before":
            self._command = "in"
            self.commands.append([self._section, ""])
        if tag == "br" and self._command == "in":
            self.commands[-1][1] += "\n"

    def handle_endtag(self, tag):
        if tag == self._open:
            self._open = None
        if tag == "code" and self._command == "in":
            self._command = None
        if tag == "section":
            self._section = None

    def handle_data(self, data):
        if self._open:
            self.inline[self._open][-1] += data
        if self._section:
            self.text[self._section] += data
        if self._command == "in":
            self.commands[-1][1] += data


@pytest.fixture
def reply(api):
    return api.get("/docs").expect(200)


@pytest.fixture
def parts(reply):
    return Parts(reply.body.decode())


@pytest.mark.parametrize("name", ["openapi.json", "page.html"])
def test_the_files_are_as_new_as_the_document(name):
    """`make reference` writes them anew."""
    assert (reference.FOLDER / name).read_text() == reference.written()[name]


def test_the_json_is_the_yaml(api):
    assert api.get("/openapi.json").expect(200).json == contract.published()


def test_the_page_is_sent_once(api, reply):
    assert reply.headers["Content-Type"] == "text/html; charset=utf-8" and reply.headers["Cache-Control"] == "no-cache"
    assert api.get("/docs", headers={"If-None-Match": reply.etag}).expect(304).body == b""


def test_the_policy_lets_in_what_stands_in_the_page_and_nothing_else(reply, parts):
    assert len(parts.inline["script"]) == len(parts.inline["style"]) == 1
    policy = directives(reply)
    assert policy["default-src"] == ["'none'"]
    assert policy["script-src"] == [source(parts.inline["script"][0])] and policy["style-src"] == [source(parts.inline["style"][0])]
    assert [name for _, name, _ in parts.attributes if name == "style" or name.startswith("on")] == []
    assert [(tag, value) for tag, name, value in parts.attributes if name in ("src", "srcset", "data", "action")] == []
    assert not re.search(r"@import|url\(", reply.body.decode())


def test_every_link_leads_somewhere(api, parts):
    assert len(parts.places) == len(set(parts.places)), "two places have one name"
    for link in set(parts.links):
        if link.startswith("#"):
            assert link[1:] in parts.places, link
        else:
            # Relative, so that it leads to the server below a proxy's prefix too.
            assert not link.startswith("/") and ":" not in link, link
            api.get(urljoin("/docs", link)).expect(200)


def test_everything_has_a_place(parts):
    document = contract.published()
    wanted = {*OPERATIONS, *(f"schema-{name}" for name in document["components"]["schemas"]),
              *(f"problem-{slug}" for slug in document["components"]["schemas"]["Slug"]["enum"]),
              *(f"event-{event}" for event in document["components"]["schemas"]["EventType"]["enum"])}
    assert wanted <= set(parts.places), wanted - set(parts.places)


def test_an_operation_shows_its_path_parameters_and_answers(parts):
    for name, (path, method, operation) in OPERATIONS.items():
        text = parts.text[name]
        assert f"{method.upper()} {path}" in text and "curl " in text, name
        for status in operation["responses"]:
            assert status in text, (name, status)
        for parameter in operation.get("parameters", []):
            parameter = contract.published()["components"]["parameters"][parameter["$ref"].rpartition("/")[2]] if "$ref" in parameter else parameter
            assert parameter["name"] == "Request-Id" or parameter["name"] in text, (name, parameter["name"])


def test_a_problem_is_explained_as_in_the_document(parts):
    for slug, problem in contract.published()["x-problems"].items():
        text = " ".join(parts.text[f"problem-{slug}"].split())
        assert problem["title"] in text and problem["advice"].replace("`", "") in text, slug


@pytest.mark.thorough
def test_each_command_shown_gets_an_answer_that_the_document_has(new_server, parts, tmp_path):
    """Each is run as it stands, in the order of the page; a stream is left after a second."""
    # A server without a token file makes no keys.
    token = "token-of-this-test"
    (tmp_path / "tokens").write_text(f"{token}\n")
    server = new_server("--webhook-deny", "0.0.0.0/0", "--webhook-deny", "::/0", "--token-file", tmp_path / "tokens", token=token)
    curl = f"curl --max-time 1 -w '\\n%{{http_code}}' -H 'Authorization: Bearer {token}' "
    assert {name for name, _ in parts.commands} == set(OPERATIONS)
    for name, command in parts.commands:
        command = command.replace(reference.SERVER, server.url).replace("curl ", curl)
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode in (0, 28), (command, done)
        status = done.stdout.rstrip().rpartition("\n")[2]
        documented = OPERATIONS[name][2]["responses"]
        # No answer has come from a wait that was left.
        assert status in documented or (done.returncode, status) == (28, "000"), (command, done.stdout)
        # The timers and keys that the page names are not here, nor is a second server that could take the timers.
        absent = {"id", "name"} & set(re.findall(r"{(\w+)}", OPERATIONS[name][0])) or name == "promote"
        assert status < "300" or absent, (command, done.stdout)


# In a browser.


@pytest.mark.thorough
@pytest.mark.parametrize("scheme", ["dark", pytest.param("light", marks=pytest.mark.heavy)])
def test_the_page_is_shown(page, new_server, scheme):
    """No violation of the policy, no request but for the page, no barrier, and nothing wider than the window."""
    page.prefers(color_scheme=scheme)
    page.open(f"{new_server().url}/docs")
    assert page.run("return performance.getEntriesByType('resource').map(entry => entry.name)") == []
    luminance = page.run("return getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3).reduce((a, b) => +a + +b, 0)")
    assert (luminance < 200) == (scheme == "dark")
    assert page.overflow() <= 0
    page.shot(f"reference-{scheme}")
    # Of the whole page the check would take a minute.
    page.one("#search").send_keys("kicktimer")
    page.until(lambda: 0 < len(shown(page)) < 60)
    page.run("for (const hidden of document.querySelectorAll('section[hidden], li[hidden]')) hidden.remove()")
    assert page.barriers() == []


def shown(page):
    return page.run("return [...document.querySelectorAll('main section:not([hidden])')].map(section => section.id)")


@pytest.mark.thorough
def test_a_link_leads_to_its_section(page, new_server):
    page.open(f"{new_server().url}/docs#problem-timer-exists")
    page.until(lambda: page.is_in_sight("#problem-timer-exists h3"))


@pytest.mark.thorough
def test_the_search_finds(page, new_server):
    page.open(f"{new_server().url}/docs")
    everything = shown(page)
    assert len(everything) > 100
    page.driver.switch_to.active_element.send_keys("/")
    field = page.one("#search")
    assert page.run("return document.activeElement.id") == "search"
    field.send_keys("Timer-Exists")
    page.until(lambda: len(shown(page)) < 20)
    assert "problem-timer-exists" in shown(page) and "listDeliveries" not in shown(page)
    assert page.one("#found").text == f"{len(shown(page))} found"
    field.send_keys("\n")
    page.until(lambda: page.run("return location.hash") == "#problem-timer-exists")
    page.run("location.hash = '#listDeliveries'")  # a link to what is hidden ends the search
    page.until(lambda: shown(page) == everything and page.is_in_sight("#listDeliveries h3"))
    field.send_keys("no such word")
    page.until(lambda: page.one("#found").text == "Nothing found")
    assert shown(page) == []


@pytest.mark.thorough
def test_it_is_whole_on_a_phone(page, new_server):
    page.size(360, 740, phone=True)
    page.open(f"{new_server().url}/docs")
    assert page.overflow() <= 0
    page.shot("reference-phone")
