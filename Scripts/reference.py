#!/usr/bin/env python3
"""Writes what the server shows of openapi.yaml beside the file itself: /openapi.json, and the page at /docs.

Both are files of the repository that are compiled in, so that a build needs no Python; a test fails when they are older than
openapi.yaml. The page is whole without its script, which adds the search.
"""

import html
import json
import re
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "Sources/CAssets/reference"
SERVER = "http://localhost:8080"
METHODS = ("get", "post", "put", "patch", "delete")
# What stands for a parameter in the path of an example.
EXPORT = "5f1c8a0e6b7d4c2f9a3e1d0c8b7a6f5e"
IN_PATHS = {"id": "tea", "name": "berlin", "action": "cancel", "slug": "not-found", "export": EXPORT}
DELIVERY = "1898231250945671168"
KEY = "k7c2m4xq5w3a"


def escape(text):
    return html.escape(str(text), quote=False)


class Reference:
    """The page of one document."""

    def __init__(self, document):
        self.document = document
        self.components = document["components"]
        self.schemas = self.components["schemas"]
        self.events = self.schemas["Event"]["discriminator"]["mapping"]
        self.event_schemas = {target.rpartition("/")[2]: event for event, target in self.events.items()}
        self.problems = document["x-problems"]
        self.operations = [(path, method, item[method], item.get("parameters", []))
                           for path, item in document["paths"].items() for method in METHODS if method in item]

    def resolved(self, part):
        """The part itself, or what it refers to."""
        while "$ref" in part:
            _, *names = part["$ref"].split("/")
            target = self.document
            for name in names:
                target = target[name]
            part = {**target, **{name: value for name, value in part.items() if name != "$ref"}}
        return part

    # Text.

    def place(self, word):
        """Where the page explains a word that stands in backquotes, if it does."""
        if word in self.schemas:
            return f"#{self.schema_place(word)}"
        if word in self.problems:
            return f"#problem-{word}"
        return f"#event-{word}" if word in self.events else None

    def schema_place(self, name):
        return f"schema-{name}"

    def inline(self, text):
        """A line of the document's Markdown: code, bold, and links from code that names something explained here."""
        def code(match):
            word = match[1]
            target = self.place(word)
            shown = f"<code>{escape(word)}</code>"
            return f'<a href="{target}">{shown}</a>' if target else shown
        parts = re.split(r"(`[^`]+`)", " ".join(text.split()))
        return "".join(re.sub(r"`([^`]+)`", code, part) if part.startswith("`") else
                       re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", escape(part)) for part in parts)

    def paragraphs(self, text):
        return "".join(f"<p>{self.inline(part)}</p>" for part in (text or "").strip().split("\n\n") if part.strip())

    # Schemas.

    def kind(self, schema):
        """A schema in a few words, as HTML."""
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            if name.endswith("OrNull"):
                return f"{self.kind({'$ref': name.removesuffix('OrNull')})} or null"
            return f'<a href="#{self.schema_place(name)}">{name}</a>'
        for word in ("anyOf", "oneOf"):
            if word in schema:
                return " or ".join(self.kind(option) for option in schema[word])
        types = schema.get("type", [])
        types = types if isinstance(types, list) else [types]
        return " or ".join(self.named(type, schema) for type in types) or "any JSON"

    def named(self, type, schema):
        if "enum" in schema and type != "null":
            return " | ".join(f"<code>{escape(value)}</code>" for value in schema["enum"] if value is not None)
        if type == "array":
            return f"list of {self.kind(schema.get('items', {}))}"
        if type == "object" and isinstance(schema.get("additionalProperties"), dict):
            return f"object of {self.kind(schema['additionalProperties'])}"
        return type

    @staticmethod
    def bounds(schema):
        """The bounds of a value, in words."""
        said = []
        if "minimum" in schema or "maximum" in schema:
            low, high = schema.get("minimum"), schema.get("maximum")
            said.append(f"{low} to {high}" if low is not None and high is not None else f"at least {low}" if high is None else f"at most {high}")
        for word, unit in (("Length", "characters"), ("Items", "entries"), ("Properties", "members")):
            low, high = schema.get(f"min{word}"), schema.get(f"max{word}")
            if low is not None or high is not None:
                bound = f"{low} to {high}" if low is not None and high is not None else f"{low} or more" if high is None else f"at most {high}"
                said.append(f"{bound} {unit}")
        if "pattern" in schema:
            said.append(f"<code>{escape(schema['pattern'])}</code>")
        if "default" in schema:
            said.append(f"default <code>{escape(json.dumps(schema['default']).strip(chr(34)))}</code>")
        return "; ".join(said)

    def members(self, schema):
        """The table of an object's members."""
        required = schema.get("required", [])
        rows = ""
        for name, member in schema.get("properties", {}).items():
            always = ' <small>required</small>' if name in required else ""
            bounds = self.bounds(member)
            rows += (f"<tr><td><code>{name}</code>{always}<td>{self.kind(member)}"
                     f"<td>{self.inline(member.get('description', ''))}{f' <small>{bounds}</small>' if bounds else ''}")
        return f"<table><tr><th>member<th>type<th>meaning{rows}</table>" if rows else ""

    def schema(self, name):
        schema = self.schemas[name]
        bounds = "" if "properties" in schema else self.bounds(schema)
        body = self.paragraphs(schema.get("description"))
        if "properties" not in schema:
            body += f"<p>{self.kind(schema)}{f' <small>{bounds}</small>' if bounds else ''}</p>"
        for example in [schema["example"]] if "example" in schema else schema.get("examples", []):
            body += self.sample(example)
        return self.section(self.schema_place(name), name, body + self.members(schema))

    # Parts of the page.

    @staticmethod
    def section(place, title, body, extra=""):
        return f'<section id="{place}"><h3><a href="#{place}">{title}</a></h3>{extra}{body}</section>\n'

    @staticmethod
    def sample(value):
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        # On one line: the lines of the page lose the spaces that they begin with.
        return "<pre>" + escape(text.strip()).replace("\n", "<br>") + "</pre>"

    def curl(self, path, method, operation, media, example, summary=""):
        """The command that sends a request."""
        ids = {"deliveries": DELIVERY, "keys": KEY}
        id = next((id for resource, id in ids.items() if f"/{resource}/" in path), IN_PATHS["id"])
        target = re.sub(r"\{(\w+)\}", lambda match: {**IN_PATHS, "id": id}[match[1]], path)
        quote = lambda text: "'" + text.replace("'", "'\\''") + "'"
        words = ["curl", "-sN" if operation["operationId"] in ("events", "timerEvents") else "-s"]
        if method not in ("get", "post") or method == "post" and example is None:
            words += ["-X", method.upper()]
        before = ""
        if example is not None:
            words += ["-H", quote(f"Content-Type: {media}")]
            if media == "application/x-ndjson":
                before = "printf '%s\\n' " + " ".join(quote(line) for line in example.strip().split("\n")) + " |\n    "
                words += ["--data-binary", "@-"]
            else:
                words += ["-d", quote(json.dumps(example, ensure_ascii=False))]
        if path.endswith("/{action}") and isinstance(example, dict) and {"after", "at"} & example.keys():
            target = target.replace("cancel", "reschedule")
        query = "?since=0" if words[1] == "-sN" else f"?export={EXPORT}&part=0" if path == "/v1/import" else ""
        command = f"{before}{' '.join(words)} {quote(SERVER + target + query) if query else SERVER + target}"
        comment = f"<small># {escape(summary)}</small><br>" if summary else ""
        return f'<pre class="curl">{comment}<code>{escape(command)}</code></pre>'.replace("\n", "<br>")

    def examples(self, path, method, operation):
        body = self.resolved(operation.get("requestBody", {}))
        if not body.get("required"):
            return self.curl(path, method, operation, "", None)
        commands = ""
        for media, content in body["content"].items():
            named = content.get("examples") or ({"": {"value": content["example"]}} if "example" in content else {})
            for example in named.values():
                commands += self.curl(path, method, operation, media, example["value"], example.get("summary", ""))
        return commands

    def parameters(self, parameters):
        rows = ""
        for parameter in map(self.resolved, parameters):
            if parameter["name"] == "Request-Id":
                continue
            bounds = self.bounds(parameter["schema"])
            rows += (f"<tr><td><code>{parameter['name']}</code> <small>{parameter['in']}</small><td>{self.kind(parameter['schema'])}"
                     f"<td>{self.inline(parameter.get('description', ''))}{f' <small>{bounds}</small>' if bounds else ''}")
        return f"<h4>Parameters</h4><table><tr><th>name<th>type<th>meaning{rows}</table>" if rows else ""

    def content(self, content):
        """The media types of a body, each with its schema."""
        said = []
        for media, part in content.items():
            schema = part.get("schema", {})
            lines = schema.get("x-line-schema")
            said.append(f"<code>{escape(media)}</code>: {'lines of ' + self.kind(lines) if lines else self.kind(schema)}")
        return "<br>".join(said)

    def answers(self, responses):
        rows, common = "", []
        for status, answer in responses.items():
            if "$ref" in answer and int(status) >= 400:
                name = answer["$ref"].rpartition("/")[2]
                common.append(f'<a href="#answer-{name}">{status}</a>')
                continue
            answer = self.resolved(answer)
            headers = ", ".join(f"<code>{name}</code>" for name in answer.get("headers", {}) if name != "Request-Id")
            rows += (f"<tr><td>{status}<td>{self.inline(answer['description'])}{f' <small>{headers}</small>' if headers else ''}"
                     f"<td>{self.content(answer.get('content', {}))}")
        refusals = f"<p>Refusals: {', '.join(common)}</p>" if common else ""
        return f"<h4>Answers</h4><table><tr><th>status<th>meaning<th>content{rows}</table>{refusals}"

    @staticmethod
    def need(operation):
        """The credential that an operation takes, in words."""
        if not operation["security"]:
            return "Needs no token or key."
        scopes = [scope for way in operation["security"] for scope in way.get("bearer", [])]
        return f"Needs a token, or a key with the scope `{scopes[0]}`." if scopes else "Needs a token, or any key."

    def operation(self, path, method, operation, shared):
        title = f'<b class="{method}">{method.upper()}</b> {escape(path)}'
        body = f"<p><b>{self.inline(operation['summary'])}</b></p>{self.paragraphs(operation.get('description'))}"
        body += f"<p><small>{self.inline(self.need(operation))}</small></p>"
        body += self.examples(path, method, operation)
        body += self.parameters([*shared, *operation.get("parameters", [])])
        if "requestBody" in operation:
            request = self.resolved(operation["requestBody"])
            body += f"<h4>Body</h4><p>{self.inline(request.get('description', ''))} {self.content(request['content'])}</p>"
        return self.section(operation["operationId"], title, body + self.answers(operation["responses"]))

    def answer(self, name):
        answer = self.components["responses"][name]
        statuses = sorted({status for _, _, operation, _ in self.operations for status, used in operation["responses"].items()
                           if used.get("$ref", "").endswith(f"/{name}")})
        samples = "".join(self.sample(example["value"]) for content in answer.get("content", {}).values()
                          for example in content.get("examples", {}).values() if "$ref" not in example)
        return self.section(f"answer-{name}", f"{', '.join(statuses)} {name}", self.paragraphs(answer["description"]) + samples)

    def event(self, event):
        name = self.events[event].rpartition("/")[2]
        schema = self.schemas[name]
        sample = self.sample(schema["example"]) if "example" in schema else ""
        return self.section(f"event-{event}", event, f'{self.paragraphs(schema["description"])}{sample}<div id="schema-{name}">{self.members(schema)}</div>')

    def problem(self, slug):
        problem = self.problems[slug]
        return self.section(f"problem-{slug}", slug, f"<p><b>{escape(problem['title'])}</b>, status {problem['status']}.</p>"
                            + self.paragraphs(problem["advice"]))

    def states(self):
        machine = self.document["x-state-machine"]
        head = "".join(f"<th>{state}" for state in machine["states"])
        rows = "".join(f"<tr><td><code>{command}</code>" + "".join(f"<td>{self.inline(row[state])}" for state in machine["states"])
                       for command, row in machine["commands"].items())
        note = "<p>A cell with 409 is refused with <a href=\"#problem-illegal-transition\"><code>illegal-transition</code></a>.</p>"
        return self.section("states", "Commands by state", f"{note}<table><tr><th>command{head}{rows}</table>")

    def webhook(self):
        webhook = self.document["webhooks"]["event"]["post"]
        return self.section("webhook", webhook["summary"], self.paragraphs(webhook["description"]) + self.parameters(webhook["parameters"])
                            + f"<h4>Body</h4><p>{self.content(webhook['requestBody']['content'])}</p>" + self.answers(webhook["responses"]))

    def chapters(self):
        """The page's chapters: place, title, introduction, sections as HTML."""
        for tag in self.document["tags"]:
            sections = [self.operation(*operation) for operation in self.operations if tag["name"] in operation[2]["tags"]]
            if tag["name"] == "commands":
                sections.insert(0, self.states())
            yield f"tag-{tag['name']}", tag["name"].capitalize(), tag["description"], sections
        yield "webhooks", "Webhooks", "", [self.webhook()]
        yield "events-by-type", "Events by type", self.schemas["Event"]["description"], [
            *map(self.event, self.events), self.schema("Gap")]
        refusals = [name for name in self.components["responses"] if any(
            "problem" in media for media in self.components["responses"][name].get("content", {}))]
        yield "refusals", "Refusals", "Each is a `Problem`; several operations share them.", list(map(self.answer, refusals))
        yield "problems", "Problems", "What the `type` of a `Problem` means, and what to do about it.", list(map(self.problem, self.problems))
        others = [name for name in self.schemas if name not in self.event_schemas and name != "Gap"]
        yield "schemas", "Schemas", "", list(map(self.schema, others))

    def page(self):
        chapters = list(self.chapters())
        menu = main = ""
        for place, title, introduction, sections in chapters:
            links = "".join(f'<li><a href="#{match[1]}">{match[2]}</a>' for section in sections
                            for match in [re.match(r'<section id="([^"]+)"><h3><a [^>]*>(.*?)</a></h3>', section)])
            menu += f'<details open><summary>{title}</summary><ul>{links}</ul></details>\n'
            main += f'<h2 id="{place}"><a href="#{place}">{title}</a></h2>{self.paragraphs(introduction)}\n{"".join(sections)}'
        info = self.document["info"]
        return TEMPLATE.format(title=escape(info["title"]), summary=escape(info["summary"]), version=escape(info["version"]),
                               description=self.paragraphs(info["description"]), menu=menu, main=main)


TEMPLATE = """<!doctype html>
<html lang="en">
<head>
<!-- Written by Scripts/reference.py from openapi.yaml. The server puts style.css and script.js in here. -->
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}: the API</title>
<link rel="icon" href="data:,">
<style></style>
</head>
<body>
<a class="skip" href="#introduction">Skip to the text</a>
<nav aria-label="Contents">
<p><a href="./">{title}</a> <small>{version}</small></p>
<input id="search" type="search" placeholder="Search" aria-label="Search the reference" spellcheck="false" hidden>
<p id="found" role="status" hidden></p>
{menu}<p><a href="openapi.yaml">openapi.yaml</a> · <a href="openapi.json">openapi.json</a></p>
</nav>
<main>
<h1 id="introduction">{title}: the API</h1>
<p>{summary}</p>
{description}
<p>Where the server has a token file, the commands below also take <code>-H "Authorization: Bearer TOKEN"</code>, with a token or the secret of a key.</p>
{main}</main>
<script></script>
</body>
</html>
"""


def written():
    """The files by name, as openapi.yaml makes them."""
    document = yaml.safe_load((ROOT / "openapi.yaml").read_text())
    return {"openapi.json": json.dumps(document, ensure_ascii=False, separators=(",", ":"), default=str) + "\n", "page.html": Reference(document).page()}


def main():
    for name, text in written().items():
        (FOLDER / name).write_text(text)
        print(f"{name}: {len(text.encode())} bytes", file=sys.stderr)


if __name__ == "__main__":
    main()
