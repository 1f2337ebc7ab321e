"""Real nginx, Caddy and hitch with the recipes of docs/OPERATIONS.md and docs/ACCESS.md, each on a port of its own."""

import grp
import http.client
import os
import shutil
import socket
import ssl
import subprocess
import tempfile
from pathlib import Path

import requests

from client import Client
from documents import blocks
from free_ports import free_port
from patience import PATIENCE
from recipes import changed, tool, tool_environment
from server import ROOT
from timers import poll

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


# What hitch runs as where it is started by root, in place of its own user and the group of the socket.
USER, GROUP = "nobody", "nogroup"
# The name of the sites that speak TLS.
NAME = "timers.example"


def recipe(language, is_below):
    """The recipe of the document for a site of the server's own, or for a part of another site."""
    found = [text for _, text in blocks(ROOT / "docs/OPERATIONS.md", language) if "127.0.0.1:8080" in text]
    text, = [text for text in found if (PREFIX in text) == is_below]
    return text


class Program:
    """A proxy in a process of its own, which a subclass configures. A context manager; the process ends with it."""

    def __init__(self):
        self.directory = Path(tempfile.mkdtemp(prefix="proxy-"))
        self.port = free_port()
        self.command, self.process = None, None

    def nginx(self, text):
        """The command for a recipe of nginx."""
        (self.directory / "recipe").write_text(text)
        user = "user root;" if os.geteuid() == 0 else ""
        (self.directory / "configuration").write_text(NGINX.format(directory=self.directory, user=user))
        return [tool("nginx"), "-e", "stderr", "-p", self.directory, "-c", self.directory / "configuration"]

    def caddy(self, text):
        """The command for a recipe of Caddy."""
        (self.directory / "configuration").write_text(CADDY + text)
        return [tool("caddy"), "run", "--adapter", "caddyfile", "--config", self.directory / "configuration"]

    def hitch(self, text):
        """The command for a recipe of hitch."""
        (self.directory / "configuration").write_text(text)
        return [tool("hitch"), f"--config={self.directory / 'configuration'}"]

    def __enter__(self):
        command = list(map(str, self.command))
        if setpriv := shutil.which("setpriv"):
            command = [setpriv, "--pdeathsig", "TERM", "--", *command]
        self.log = open(self.directory / "log", "w+b")
        self.process = subprocess.Popen(command, cwd=self.directory, env=tool_environment({"HOME": str(self.directory)}),
                                        stdout=self.log, stderr=subprocess.STDOUT)
        poll(self._is_there)
        return self

    def _is_there(self):
        assert self.process.poll() is None, (self.directory / "log").read_text()
        return self.answers()

    def __exit__(self, *_):
        self.process.terminate()  # nginx ends its workers then
        try:
            self.process.wait(timeout=2)  # Caddy waits for streams that are open
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()
        shutil.rmtree(self.directory, ignore_errors=True)


class Proxy(Program):
    """A recipe of docs/OPERATIONS.md. `url` has no `/` at its end, and the recipe's path where it has one.

    `changes` are pairs of a text of the recipe and of what stands there instead.
    """

    def __init__(self, kind, port, is_below, *changes):
        super().__init__()
        self.prefix = PREFIX.rstrip("/") if is_below else ""
        self.name = "site.example" if is_below else NAME
        self.site = f"http://127.0.0.1:{self.port}"
        self.url = self.site + self.prefix
        changes = [("127.0.0.1:8080", f"127.0.0.1:{port}"), *changes]
        if kind == "nginx":
            changes.append(("listen 80;", f"listen 127.0.0.1:{self.port};"))
            self.command = self.nginx(changed(recipe("nginx", is_below), *changes))
        else:
            changes.append((f"{self.name} {{", f"http://:{self.port} {{"))
            self.command = self.caddy(changed(recipe("caddyfile", is_below), *changes))

    def answers(self):
        try:
            return requests.get(f"{self.url}/healthz", timeout=PATIENCE).status_code == 200
        except requests.ConnectionError:
            return False


class TLSProxy(Program):
    """A recipe of docs/ACCESS.md: it speaks TLS, with a certificate of its own, before the server's Unix socket at a path."""

    def __init__(self, kind, path):
        super().__init__()
        language = {"caddy": "caddyfile"}.get(kind, kind)
        text, = [text for _, text in blocks(ROOT / "docs/ACCESS.md", language) if NAME in text]
        certificate, key = self.directory / "certificate.pem", self.directory / "key.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", f"/CN={NAME}",
             "-addext", f"subjectAltName=DNS:{NAME}", "-keyout", key, "-out", certificate], check=True, capture_output=True, timeout=PATIENCE)
        self.context = ssl.create_default_context(cafile=certificate)
        text = changed(text, ("/run/timerd.socket", path))
        if kind == "nginx":
            self.command = self.nginx(changed(
                text, ("listen 443 ", f"listen 127.0.0.1:{self.port} "), (f"/etc/ssl/certs/{NAME}.pem", certificate),
                (f"/etc/ssl/private/{NAME}.key", key)))
        elif kind == "caddy":
            # Caddy gets a certificate by itself where its name is known to the world.
            self.command = self.caddy(changed(text, (f"{NAME} {{", f"https://{NAME}:{self.port} {{\n\ttls {certificate} {key}")))
        else:
            both = self.directory / "both.pem"
            both.write_text(key.read_text() + certificate.read_text())
            user, group = 'user = "_hitch"\n', 'group = "timerd"\n'
            as_root = os.geteuid() == 0
            self.command = self.hitch(changed(
                text, ("[*]:443", f"[127.0.0.1]:{self.port}"), (f"/etc/hitch/{NAME}.pem", both),
                (user, f'user = "{USER}"\n' if as_root else ""), (group, f'group = "{GROUP}"\n' if as_root else "")))

    def client(self, token=None):
        return TLSClient(self, token)

    def answers(self):
        try:
            return self.client().get("/healthz").status == 200
        except (ConnectionError, http.client.HTTPException):
            return False


class TLSClient(Client):
    """A client that trusts the certificate of a proxy, and checks the name in it."""

    def __init__(self, proxy, token):
        super().__init__(proxy.port, host=NAME, token=token)
        self.context = proxy.context

    def socket(self, timeout=PATIENCE):
        return self.context.wrap_socket(socket.create_connection(("127.0.0.1", self.port), timeout=timeout), server_hostname=NAME)

    def connection(self, timeout=PATIENCE):
        connection = http.client.HTTPConnection(self.host, self.port, timeout=timeout)
        connection.sock = self.socket(timeout)
        return connection


def share(path):
    """Lets hitch's workers open a Unix socket, as timerd.socket lets the group of the server."""
    if os.geteuid() == 0:
        os.chown(path, -1, grp.getgrnam(GROUP).gr_gid)
        path.chmod(0o660)
        path.parent.chmod(0o755)
