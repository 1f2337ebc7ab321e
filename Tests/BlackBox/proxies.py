"""Real nginx and Caddy with the recipes of docs/OPERATIONS.md, each on a port of its own."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import requests

from documents import blocks, free_port
from patience import PATIENCE
from server import ROOT, environment
from timers import poll

# Where Scripts/setup.sh --tests puts what is not in PATH.
UNPACKED = ROOT / ".build/proxies/usr"
# The path of the recipes for a part of a site.
PREFIX = "/timers/"
NGINX = """
daemon off;
pid {directory}/pid;
error_log stderr;
{user}
events {{}}
http {{
    access_log off;
    client_body_temp_path {directory}/body;
    proxy_temp_path {directory}/proxy;
    fastcgi_temp_path {directory}/fastcgi;
    uwsgi_temp_path {directory}/uwsgi;
    scgi_temp_path {directory}/scgi;
    include {directory}/recipe;
}}
"""
CADDY = "{\n\tadmin off\n\tauto_https off\n\tdefault_bind 127.0.0.1\n}\n"


def tool(name):
    """The path of `nginx` or `caddy`."""
    found = shutil.which(name, path=f"{UNPACKED}/sbin:{UNPACKED}/bin:{os.environ['PATH']}:/usr/sbin")
    assert found, f"there is no {name}: Scripts/setup.sh --tests gets it"
    return found


def recipe(language, is_below):
    """The recipe of the document for a site of the server's own, or for a part of another site."""
    found = [text for _, text in blocks(ROOT / "docs/OPERATIONS.md", language) if "127.0.0.1:8080" in text]
    text, = [text for text in found if (PREFIX in text) == is_below]
    return text


def changed(text, *pairs):
    """The text with the one place that each old text has replaced."""
    for old, new in pairs:
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in\n{text}"
        text = text.replace(old, new)
    return text


class Proxy:
    """A context manager; the process ends with it. `url` has no `/` at its end, and the recipe's path where it has one.

    `changes` are pairs of a text of the recipe and of what stands there instead.
    """

    def __init__(self, kind, port, is_below, *changes):
        self.directory = Path(tempfile.mkdtemp(prefix="proxy-"))
        self.prefix = PREFIX.rstrip("/") if is_below else ""
        self.name = "site.example" if is_below else "timers.example"
        self.port = free_port()
        self.site = f"http://127.0.0.1:{self.port}"
        self.url = self.site + self.prefix
        self.changes = [("127.0.0.1:8080", f"127.0.0.1:{port}"), *changes]
        self.command = self._nginx(is_below) if kind == "nginx" else self._caddy(is_below)
        self.process = None

    def _nginx(self, is_below):
        text = changed(recipe("nginx", is_below), *self.changes, ("listen 80;", f"listen 127.0.0.1:{self.port};"))
        (self.directory / "recipe").write_text(text)
        user = "user root;" if os.geteuid() == 0 else ""
        (self.directory / "configuration").write_text(NGINX.format(directory=self.directory, user=user))
        return [tool("nginx"), "-e", "stderr", "-p", self.directory, "-c", self.directory / "configuration"]

    def _caddy(self, is_below):
        text = changed(recipe("caddyfile", is_below), *self.changes, (f"{self.name} {{", f"http://:{self.port} {{"))
        (self.directory / "configuration").write_text(CADDY + text)
        return [tool("caddy"), "run", "--adapter", "caddyfile", "--config", self.directory / "configuration"]

    def __enter__(self):
        command = list(map(str, self.command))
        if setpriv := shutil.which("setpriv"):
            command = [setpriv, "--pdeathsig", "TERM", "--", *command]
        self.log = open(self.directory / "log", "w+b")
        self.process = subprocess.Popen(command, cwd=self.directory, env=environment({"HOME": str(self.directory)}),
                                        stdout=self.log, stderr=subprocess.STDOUT)
        poll(self._answers)
        return self

    def _answers(self):
        assert self.process.poll() is None, (self.directory / "log").read_text()
        try:
            return requests.get(f"{self.url}/healthz", timeout=PATIENCE).status_code == 200
        except requests.ConnectionError:
            return False

    def __exit__(self, *_):
        self.process.terminate()  # nginx ends its workers then
        try:
            self.process.wait(timeout=2)  # Caddy waits for streams that are open
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()
        shutil.rmtree(self.directory, ignore_errors=True)
