"""Certificates for the tests, made by openssl(1) when they are needed, and clients that trust them."""

import atexit
import base64
import functools
import hashlib
import os
import shutil
import ssl
import subprocess
import tempfile
from pathlib import Path

# Whether clients come by TLS, where a test does not choose the listeners itself.
SECURED = os.environ.get("TEST_TLS")
# Where a server may be asked for in these tests.
NAMES = "DNS:localhost,IP:127.0.0.1,IP:::1"
CURVE = ("ec", "ec_paramgen_curve:P-256")
# The ports of servers with TLS, which clients of `client.py` find by themselves.
PORTS = set()


def openssl(*arguments, stdin=b"", timeout=60):
    """Runs openssl(1) to its end; output as bytes."""
    return subprocess.run(["openssl", *map(str, arguments)], input=stdin, capture_output=True, timeout=timeout)


def made(*arguments):
    done = openssl(*arguments)
    assert done.returncode == 0, done
    return done


class Authority:
    """A root that issues certificates, into a directory."""

    def __init__(self, directory, name="test root"):
        self.directory = Path(directory)
        self.directory.mkdir(parents=True, exist_ok=True)
        self.file, self.key = self.directory / "ca.pem", self.directory / "ca.key"
        made("req", "-x509", "-newkey", CURVE[0], "-pkeyopt", CURVE[1], "-nodes", "-days", "30", "-subj", f"/CN={name}",
             "-keyout", self.key, "-out", self.file)

    def issue(self, name, alternatives=NAMES, days=30, algorithm=CURVE):
        """The files of a new certificate and its key; `days` below 0 ends it in the past."""
        certificate, key, request = (self.directory / f"{name}.{kind}" for kind in ("pem", "key", "csr"))
        kind, option = algorithm
        made("req", "-newkey", kind, "-pkeyopt", option, "-nodes", "-subj", f"/CN={name}", "-keyout", key, "-out", request)
        extensions = self.directory / f"{name}.ext"
        extensions.write_text(f"subjectAltName={alternatives}\nextendedKeyUsage=serverAuth\n")
        made("x509", "-req", "-in", request, "-CA", self.file, "-CAkey", self.key, "-CAcreateserial", "-days", days,
             "-extfile", extensions, "-out", certificate)
        return certificate, key


@functools.cache
def authority():
    """The root of this process' servers."""
    directory = tempfile.mkdtemp(prefix="timerd-tls-")
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    return Authority(directory)


@functools.cache
def server_files():
    """Certificate and key of this process' servers."""
    return authority().issue("server")


def flags():
    """What a server with a TLS listener is started with."""
    certificate, key = server_files()
    return ["--tls-certificate", str(certificate), "--tls-key", str(key)]


def public_key():
    """The SHA-256 of the public key of this process' servers, in base64, as browsers and curl pin it."""
    der = made("pkey", "-in", server_files()[1], "-pubout", "-outform", "DER").stdout
    return base64.b64encode(hashlib.sha256(der).digest()).decode()


@functools.cache
def context():
    """Trusts the root of this process' servers."""
    return client_context()


def client_context(version=None, protocols=("http/1.1",)):
    """A client's settings, for one version of TLS if it is given."""
    context = ssl.create_default_context(cafile=str(authority().file))
    if version:
        context.minimum_version = context.maximum_version = version
    if protocols:
        context.set_alpn_protocols(protocols)
    return context


def fingerprint(file):
    """The SHA-256 of a certificate in a file."""
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert(Path(file).read_text())).hexdigest()
