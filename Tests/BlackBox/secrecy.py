"""With TEST_SECRETS=1: the secrets that the tests use, and all that servers and commands give out, which holds none of them.

Each server then runs with `--log-level trace` and an audit log. After each test the answers, what commands printed and what
receivers got are searched, and at the end of each server its log, its audit log, its data directory and what it still shows.
SECURITY.md has the places that may hold a secret.
"""

import atexit
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from patience import PATIENCE

ON = bool(os.environ.get("TEST_SECRETS"))

# Kinds of secrets: tokens and the secrets of keys, secrets that sign webhooks, values of webhooks' headers that authenticate.
CREDENTIAL, SIGNING, HEADER = KINDS = ("credential", "secret of webhooks", "header of webhooks")
# Places, and the kinds of secrets that are not to be there.
ANSWERS, COMMANDS, SERVER = ((place, KINDS) for place in ("answers", "commands", "server"))
RECEIVED = ("received", (CREDENTIAL, SIGNING))
# What is asked for webhooks' secrets, and the log, from which webhooks are signed and sent.
STORED = ("stored", (CREDENTIAL,))

# A shorter text may be somewhere by chance, and no token is shorter.
SHORTEST = 16
KEY = re.compile(rb"tmk_[a-z2-7]{12}_([a-z2-7]{48})")
SIGNER = re.compile(rb"whsec_([A-Za-z0-9+/]{32,}={0,2})")
VALUE = re.compile(rb'"(?:authorization|proxy-authorization|cookie)"\s*:\s*"([^"\\]{%d,})"' % SHORTEST, re.IGNORECASE)
# Clients send them for secrets, which they are not.
HASH = re.compile(rb"[0-9a-f]{64}")
MADE_KEY = re.compile(r"/v1/keys(/[^/?]*/rotate)?")
FILES = {"token": CREDENTIAL, "cluster-token": CREDENTIAL, "webhook-secret": SIGNING}
# What a server is asked for at its end.
SHOWN = ("/metrics", "/v1/stats", "/v1/cluster", "/v1/keys?limit=1000", "/v1/timers?limit=1000", "/v1/deliveries?limit=1000",
         "/v1/events?follow=false&since=0&limit=1000")
# Larger logs are searched as they are and not dumped as well.
DUMPED_BYTES = 2 << 20
# No usable file of secrets is larger.
READ_BYTES = 1 << 20
# As many are told of a search.
TOLD = 5


class Secrecy:
    """The secrets that one process of tests knows, and the places of what it was given since the last search."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="secrecy-"))
        atexit.register(shutil.rmtree, self.folder, ignore_errors=True)
        self.secrets = {kind: set() for kind in KINDS}

    def learn(self, kind, secret):
        secret = secret.encode() if isinstance(secret, str) else secret
        if key := KEY.fullmatch(secret):
            secret = key[1]
        if len(secret) >= SHORTEST and not HASH.fullmatch(secret):
            self.secrets[kind].add(secret)

    def learn_body(self, body):
        """Learns the secrets of webhooks in JSON."""
        for kind, pattern in ((SIGNING, SIGNER), (HEADER, VALUE)):
            for found in pattern.findall(body):
                self.learn(kind, found)

    def learn_file(self, kind, path):
        if not Path(path).is_file() or Path(path).stat().st_size > READ_BYTES:
            return
        for line in map(bytes.strip, Path(path).read_bytes().splitlines()):
            if not line.startswith(b"#"):
                self.learn(kind, line.removeprefix(b"whsec_"))

    def learn_settings(self, words, env):
        """Learns what the files hold that flags or variables name, and a token that is among them itself."""
        for name, kind in FILES.items():
            for path in [*values(words, f"--{name}-file"), (env or {}).get(f"TIMERD_{name.replace('-', '_').upper()}_FILE")]:
                if path:
                    self.learn_file(kind, path)
        for token in [*values(words, "--token"), (env or {}).get("TIMERD_TOKEN", "")]:
            self.learn(CREDENTIAL, token)

    def keep(self, place, text):
        with open(self.folder / place[0], "ab", buffering=0) as file:
            file.write((text.encode() if isinstance(text, str) else text) + b"\n")

    def keep_with_new_key(self, place, text):
        """Keeps what shows the secret of a new key, which it may do once."""
        key = KEY.search(text)
        if key:
            self.learn(CREDENTIAL, key[0])
            text = text[:key.start()] + text[key.end():]
        self.keep(place, text)

    def search(self, place, *paths):
        """Fails if one of the files, or a file below one of the folders, holds a secret that is not to be there."""
        name, kinds = place
        known = {secret: kind for kind in kinds for secret in self.secrets[kind]}
        paths = [path for path in paths if path.exists()]
        if not known or not paths:
            return
        # Without a word about a file that goes while it is searched.
        done = subprocess.run(["grep", "-r", "-H", "-Z", "-a", "-o", "-s", "-F", "-m", str(TOLD), "-D", "skip", "-f", "-", "--", *paths],
                              input=b"\n".join(known), capture_output=True, env={**os.environ, "LC_ALL": "C"})
        found = [line.split(b"\0", 1) for line in done.stdout.splitlines()[:TOLD]]
        told = [f"{path.decode()} holds the {known[secret]} {secret[:12].decode(errors='replace')}…" for path, secret in found]
        assert not told, f"secrets are where none of them is to be ({name}):\n" + "\n".join(told) + context(*found[0])

    def search_kept(self):
        """Searches all that was kept, and forgets it, but not the secrets."""
        try:
            for place in (ANSWERS, COMMANDS, RECEIVED, STORED):
                self.search(place, self.folder / place[0])
        finally:
            for path in self.folder.iterdir():
                path.unlink()


def values(words, flag):
    """The values of a flag among the words of a command."""
    words = list(map(str, words))
    following = [value for word, value in zip(words, words[1:]) if word == flag]
    return following + [word.removeprefix(f"{flag}=") for word in words if word.startswith(f"{flag}=")]


def context(path, secret):
    """What stands around a secret that was found."""
    text = Path(path.decode()).read_bytes()
    at = text.find(secret)
    return f"\n… {text[max(0, at - 300):at + len(secret) + 100]!r}"


kept = Secrecy() if ON else None


# What the tests' clients, commands, receivers and servers call. They do nothing without TEST_SECRETS.


def sends(headers, body):
    """A client sends this."""
    if kept:
        for name, value in headers.items():
            if name.lower() == "authorization" and value:
                kept.learn(CREDENTIAL, value.rpartition(" ")[2])
        kept.learn_body(body or b"")


def sends_raw(data):
    if kept:
        for credential in re.findall(rb"(?i)\nauthorization: *\S+ +(\S+)\r\n", data):
            kept.learn(CREDENTIAL, credential)
        kept.learn_body(data)


def is_answered(method, target, status, headers, body):
    """A client has got this."""
    if not kept:
        return
    kept.keep(ANSWERS, f"{method} {status}\n{headers}")
    if method == "POST" and status in (200, 201) and MADE_KEY.fullmatch(target):
        kept.keep_with_new_key(ANSWERS, body)
    else:
        # A problem names the target.
        kept.keep(STORED if "secrets=true" in target else ANSWERS, body.replace(target.encode(), b""))


def is_streamed(target, data):
    if kept:
        kept.keep(STORED if "secrets=true" in target else ANSWERS, data)


def is_received(data):
    """A receiver of webhooks has got this."""
    if kept:
        kept.keep(RECEIVED, data)


def has_run(words, env, stdin, done):
    """A command has ended."""
    if not kept:
        return
    words = list(map(str, words))
    kept.learn_settings(words, env)
    kept.learn_body("\n".join([*words, stdin or ""]).encode())
    kept.keep(COMMANDS, done.stderr)
    if words[:2] in (["keys", "create"], ["keys", "rotate"]):
        kept.keep_with_new_key(COMMANDS, done.stdout.encode())
    else:
        kept.keep(STORED if "--secrets" in words else COMMANDS, done.stdout)


def flags(server):
    """Further flags of a server that is started."""
    if not kept:
        return []
    kept.learn_settings(server.flags, server.env)
    chosen, env = " ".join(server.flags), server.env or {}
    level = [] if "--log-level" in chosen or "--config" in chosen or "TIMERD_LOG_LEVEL" in env else ["--log-level", "trace"]
    return level + ([] if "--audit-log" in chosen else ["--audit-log", str(audit_log(server))])


def audit_log(server):
    return server.log.with_suffix(".audit")


def is_ending(server):
    """A server is about to be killed: asks it for what it shows."""
    if kept and server.process and server.process.poll() is None and server.addresses:
        try:
            for target in SHOWN:
                server.client.get(target, timeout=5)
        except (OSError, ValueError, StopIteration):
            pass  # it was stopped, has a listener of another kind, or is in the middle of something


def has_ended(server):
    """A server has ended for good: searches all that it has left."""
    if not kept:
        return
    kept.learn_settings(server.flags, server.env)
    kept.learn(CREDENTIAL, server.token or "")
    logs = [path for each in server.processes for path in (each.log, audit_log(each))]
    logs += [Path(path) for path in values(server.flags, "--audit-log") if Path(path).is_file()]
    kept.search(SERVER, *logs)
    if server.schema or not server._data.is_dir():
        return
    kept.search(STORED, server._data)
    if len(server.command) == 1 and sum(path.stat().st_size for path in server._data.iterdir()) < DUMPED_BYTES:
        words = ["log", "dump", "--data", str(server._data)]
        done = subprocess.run([*server.command, *words], capture_output=True, text=True, errors="replace", timeout=PATIENCE)
        has_run(words, None, None, done)


def is_over():
    """Searches what a test was given."""
    if kept:
        kept.search_kept()
