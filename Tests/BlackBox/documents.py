"""The documents as tests read them: fenced blocks, commands with the output that is shown for them, links."""

import json
import os
import re
import select
import signal
import subprocess
import time

from patience import PATIENCE
from server import ROOT, binary, environment
from timers import INSTANT

VOLATILE = {"version": "<version>", "latenessUs": "<us>", "requestId": "<request>", "remaining": "<duration>",
            "stalledFor": "<duration>", "silentFor": "<duration>"}
EVENT_ID = re.compile(r"\d{12,}")
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def documents():
    """README.md, the pages beside it, and every page of docs."""
    return [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


def name_of(path):
    return str(path.relative_to(ROOT))


def blocks(path, language):
    """The fenced blocks of a language, as (line number, text)."""
    text = path.read_text()
    for match in re.finditer(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield text[:match.start()].count("\n") + 1, match[1]


def is_open(command):
    """Whether the shell would go on reading this command: a line ends in a backslash, or inside a quotation."""
    return command.endswith("\\") or command.count("'") % 2 == 1


def steps(path):
    """(line number, command, shown output lines) for each `$ command` in a console block, which may have several lines."""
    found = []
    for number, text in blocks(path, "console"):
        for offset, line in enumerate(text.splitlines(), 1):
            if line.startswith("$ "):
                found.append((number + offset, line[2:], []))
            elif is_open(found[-1][1]):
                found[-1] = (found[-1][0], f"{found[-1][1]}\n{line}", [])
            else:
                found[-1][2].append(line)
    return found


def normal(value, key=None):
    """A shown value with everything that changes from run to run replaced by its kind."""
    if isinstance(value, dict):
        return [(name, normal(item, name)) for name, item in value.items()]  # a list: the order of keys is shown too
    if isinstance(value, list):
        return [normal(item) for item in value]
    if value is not None and key in VOLATILE:
        return VOLATILE[key]
    if isinstance(value, str):
        if UUID.fullmatch(value):
            return "<uuid>"
        if INSTANT.fullmatch(value) and not value.startswith("2030-"):
            return "<instant>"
        if EVENT_ID.fullmatch(value):
            return "<event>"
    return value


def comparable(line):
    """A line of output in which only what matters differs: JSON by its members, text up to instants, ids and blanks."""
    try:
        return normal(json.loads(line))
    except ValueError:
        line = INSTANT.sub(lambda found: found[0] if found[0].startswith("2030-") else "<instant>", line)
        return re.sub(r"\s+", " ", EVENT_ID.sub("<event>", UUID.sub("<uuid>", line))).strip()


class Shell:
    """One bash for all commands of a document, as for a reader who pastes them one after the other.

    `ports` says which ports stand in for those that the document names, in commands and back in their output.
    """

    def __init__(self, directory, server, ports):
        self.directory, self.ports = directory, ports
        programs = directory / "bin"
        programs.mkdir()
        (programs / "timerd").symlink_to(binary())
        env = environment({"PATH": f"{programs}:{os.environ['PATH']}", "TIMERD_SERVER": server.url})
        self.errors = directory / "stderr"
        with open(self.errors, "wb") as errors:
            self.process = subprocess.Popen(["bash", "--norc"], cwd=directory, env=env, stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, stderr=errors, start_new_session=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.killpg(self.process.pid, signal.SIGKILL)  # with what the document left running in the background
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def run(self, command):
        """Runs one command and returns (exit code, lines of output)."""
        self.process.stdin.write(f"{self._swap(command, self.ports)}\nprintf '\\0%s\\0' $?\n".encode())
        self.process.stdin.flush()
        said, deadline = b"", time.monotonic() + PATIENCE
        while said.count(b"\0") < 2:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, deadline - time.monotonic()))
            piece = os.read(self.process.stdout.fileno(), 65536) if ready else b""
            assert piece, f"{command}\ndid not end; so far {said!r}, stderr {self.errors.read_text()}"
            said += piece
        output, code, _ = said.split(b"\0")
        back = {there: here for here, there in self.ports.items()}
        return int(code), self._swap(output.decode(), back).splitlines()

    @staticmethod
    def _swap(text, ports):
        return re.sub(r"(?<!\d)\d{4,5}(?!\d)", lambda found: str(ports.get(int(found[0]), found[0])), text)


def anchors(path):
    """The anchors that a page's headings have on GitHub."""
    text = re.sub(r"^```.*?^```$", "", path.read_text(), flags=re.MULTILINE | re.DOTALL)
    found, seen = set(), {}
    for heading in re.findall(r"^#+ +(.+?) *$", text, re.MULTILINE):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
        anchor = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        again = seen.get(anchor, 0)
        seen[anchor] = again + 1
        found.add(f"{anchor}-{again}" if again else anchor)
    return found


def links(path):
    """(line number, target) of every link and picture that stays in the repository."""
    text = re.sub(r"^```.*?^```$", lambda block: "\n" * block[0].count("\n"), path.read_text(),
                  flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"`[^`\n]*`", lambda code: "`" * len(code[0]), text)
    for match in re.finditer(r"\]\(([^)\s]+)\)|(?:src|srcset|href)=\"([^\"]+)\"", text):
        target = match[1] or match[2]
        if not re.match(r"[a-z]+:", target):
            yield text[:match.start()].count("\n") + 1, target
