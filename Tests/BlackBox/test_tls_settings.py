"""The flags of TLS and their files: what is refused at the start, and what SIGHUP and a change of the files do."""

import contextlib
import hashlib
import os
import shutil
import socket
import ssl

import pytest

import secure
from client import Client
from patience import PATIENCE
from secure import Authority, client_context
from server import run
from test_reload import DONE, FAILED, FIRST, SECOND, reload, status
from test_service_manager import refused, start, tcp, unix
from timers import poll

LISTEN = ("https://127.0.0.1:0",)
REPLACED, UNUSABLE = "the certificate was replaced", "certificate and key have changed and can't be used"


@pytest.fixture
def files(tmp_path):
    """Certificate and key of the server, in files of the test's own."""
    return [shutil.copy(file, tmp_path / kind) for file, kind in zip(secure.server_files(), ("tls.crt", "tls.key"))]


def flags(files):
    return ["--tls-certificate", str(files[0]), "--tls-key", str(files[1])]


def place(new, files):
    """Puts other contents into the files, the key first."""
    for source, file in reversed(list(zip(new, files))):
        shutil.copy(source, file)


def refusal(*given, listen=LISTEN[0], env=None):
    """The exit code and the line with which the server refuses to start."""
    done = run("serve", "--store", "memory", "--listen", listen, *given, env=env)
    assert not done.stdout and len(done.stderr.splitlines()) == 1, done
    return done.returncode, done.stderr


def test_check_shows_the_files(files):
    done = run("serve", "--check", "--listen", LISTEN[0], *flags(files))
    assert done.returncode == 0 and f'tls-key = "{files[1]}"  # --tls-key' in done.stdout, done


def test_variables_and_a_file_of_settings_name_them_too(new_server, files, tmp_path):
    config = tmp_path / "timerd.toml"
    config.write_text(f'listen = "{LISTEN[0]}"\ntls-certificate = "{files[0]}"\n')
    done = run("serve", "--check", "--config", config, env={"TIMERD_TLS_KEY": str(files[1])})
    assert done.returncode == 0 and "# TIMERD_TLS_KEY" in done.stdout, done
    server = new_server("--config", config, *flags(files)[2:], listen=[], listeners=1)
    assert Client(server.port, tls=client_context()).get("/healthz").status == 200


def test_a_certificate_that_has_expired_is_refused(tmp_path):
    old = secure.authority().issue("expired", days=-1)
    code, said = refusal(*flags(old))
    assert code == 78 and f"--tls-certificate {old[0]}: the certificate has expired" in said


def test_a_key_with_a_password_is_refused_and_not_asked_for(files, tmp_path):
    key = tmp_path / "locked.pem"
    secure.made("pkcs8", "-topk8", "-in", files[1], "-passout", "pass:secret", "-out", key)
    code, said = refusal(*flags([files[0], key]))
    assert code == 78 and f"--tls-key {key}: " in said and "without a password" in said


def test_files_that_do_not_fit_are_named(files, tmp_path):
    other = secure.authority().issue("other")
    code, said = refusal(*flags([files[0], other[1]]))
    assert code == 78 and f"--tls-key {other[1]}: the key is not that of the certificate" in said
    absent = tmp_path / "absent"
    code, said = refusal(*flags([absent, files[1]]))
    assert code == 78 and f"--tls-certificate {absent}: the file can't be read" in said


@pytest.mark.thorough
@pytest.mark.parametrize("algorithm", [("rsa", "rsa_keygen_bits:2048"), ("ec", "ec_paramgen_curve:P-384"), ("ed25519", None)],
                         ids=["rsa", "p384", "ed25519"])
def test_certificates_of_other_algorithms_are_served(new_server, tmp_path, algorithm):
    authority = secure.authority()
    if algorithm[1]:
        files = authority.issue(algorithm[0], algorithm=algorithm)
    else:
        key, request = tmp_path / "ed.key", tmp_path / "ed.csr"
        certificate = tmp_path / "ed.pem"
        secure.made("genpkey", "-algorithm", "ed25519", "-out", key)
        secure.made("req", "-new", "-key", key, "-subj", "/CN=ed", "-addext", f"subjectAltName={secure.NAMES}", "-out", request)
        secure.made("x509", "-req", "-in", request, "-CA", authority.file, "-CAkey", authority.key, "-copy_extensions", "copy",
                    "-out", certificate)
        files = certificate, key
    assert new_server(*flags(files), listen=LISTEN).client.get("/healthz").status == 200


def test_a_chain_is_sent_whole(new_server, tmp_path):
    """The client knows the root alone, and the file has the certificate and the one between."""
    root = secure.authority()
    between = Authority(tmp_path / "between", "between")
    request, extensions = tmp_path / "between.csr", tmp_path / "ca.ext"
    secure.made("req", "-new", "-key", between.key, "-subj", "/CN=between", "-out", request)
    extensions.write_text("basicConstraints=critical,CA:true\nkeyUsage=critical,keyCertSign\n")
    secure.made("x509", "-req", "-in", request, "-CA", root.file, "-CAkey", root.key, "-days", "30", "-extfile", extensions,
                "-out", between.file)
    certificate, key = between.issue("leaf")
    chain = tmp_path / "chain.pem"
    chain.write_text(certificate.read_text() + between.file.read_text())
    assert new_server(*flags([chain, key]), listen=LISTEN).client.get("/healthz").status == 200


# Sockets that are passed on.


def test_a_passed_socket_that_is_called_https_has_tls(new_server, files):
    with tcp() as plain, tcp() as secured:
        server = start(new_server, [plain, secured], *flags(files), env={"LISTEN_FDNAMES": "timerd.socket:https"})
        ports = [listener.getsockname()[1] for listener in (plain, secured)]
        assert server.addresses == [f"http://127.0.0.1:{ports[0]}", f"https://127.0.0.1:{ports[1]}"]
        for port in ports:
            Client(port).get("/readyz").expect(200)


def test_a_passed_socket_with_tls_needs_a_certificate_and_tcp(files, tmp_path):
    with tcp() as passed:
        said = refused([passed], tmp_path, LISTEN_FDNAMES="https")
        assert "the passed socket 3, called https" in said and "--tls-certificate" in said
    with unix(tmp_path / "s") as passed:
        said = refused([passed], tmp_path, LISTEN_FDNAMES="https", TIMERD_TLS_CERTIFICATE=str(files[0]), TIMERD_TLS_KEY=str(files[1]))
        assert "the passed socket 3: TLS is for TCP sockets" in said


# SIGHUP.


def shown(server, context=None):
    """The certificate that the server shows to a new connection, by its SHA-256."""
    with Client(server.port, tls=context).socket() as sock:
        return hashlib.sha256(sock.getpeercert(binary_form=True)).hexdigest()


def test_a_new_certificate_is_shown_while_a_hundred_streams_go_on(new_server, files):
    server = new_server(*flags(files), listen=LISTEN)
    client = server.client
    with contextlib.ExitStack() as stack:
        streams = [stack.enter_context(client.stream("/v1/events?types=created").expect(200)) for _ in range(100)]
        kept = stack.enter_context(client.socket())
        new = secure.authority().issue("renewed")
        place(new, files)
        assert shown(server) != secure.fingerprint(new[0])
        reload(server)
        assert shown(server) == secure.fingerprint(new[0])
        assert "certificateExpires=20" in server.log_text().splitlines()[-1]
        client.create(id="after")
        assert [stream.next()["timer"] for stream in streams] == ["after"] * 100
        kept.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert kept.recv(65536).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("broken", ["certificate", "key", "half", "absent", "expired", "mismatch"])
def test_files_that_can_not_be_used_change_nothing(new_server, files, broken):
    server = new_server(*flags(files), listen=LISTEN)
    before = shown(server)
    if broken == "absent":
        os.unlink(files[1])
    elif broken == "half":
        text = files[0].read_text()
        files[0].write_text(text[:len(text) // 2])
    elif broken == "expired":
        place(secure.authority().issue("past", days=-1), files)
    elif broken == "mismatch":
        shutil.copy(secure.authority().issue("another")[0], files[0])
    else:
        files[broken == "key"].write_text("nonsense\n")
    reload(server, FAILED)
    last = server.log_text().splitlines()[-1]
    assert str(files[broken in ("key", "absent", "mismatch")]) in last and "nonsense" not in last
    assert shown(server) == before
    place(secure.authority().issue("mended"), files)
    reload(server)
    assert shown(server) != before


def test_a_token_is_taken_away_whatever_the_certificate_says(new_server, files, tmp_path):
    """The files of the certificate are as they were, so they keep nothing from being read."""
    tokens = tmp_path / "tokens"
    tokens.write_text(f"{FIRST}\n")
    server = new_server(*flags(files), "--token-file", tokens, listen=LISTEN)
    tokens.write_text(f"{SECOND}\n")
    reload(server, DONE)
    assert (status(server, FIRST), status(server, SECOND)) == (401, 200)
    assert REPLACED not in server.log_text()


def session_of(server, context, session=None):
    client = Client(server.port, tls=context)
    with client.secured(socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE), session=session) as sock:
        sock.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert sock.recv(65536).startswith(b"HTTP/1.1 200")
        return sock.session, sock.session_reused


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_sessions_survive_a_reload(new_server, files, version):
    server = new_server(*flags(files), listen=LISTEN)
    context = client_context(version)
    session, _ = session_of(server, context)
    place(secure.authority().issue("next"), files)
    reload(server)
    assert session_of(server, context, session)[1]


# The files, looked at once a minute.


@pytest.mark.heavy
@pytest.mark.timeout(400)
def test_a_link_that_leads_to_new_files_is_noticed_without_a_signal(new_server, tmp_path):
    """As Kubernetes and cert-manager replace a Secret: `tls.crt` leads through a link to a folder, which is replaced. A pair
    that does not fit is told once, though it is looked at each minute.
    """
    for number, name in enumerate(("one", "two", "three")):
        folder = tmp_path / str(number)
        folder.mkdir()
        place(secure.authority().issue(name), [folder / "tls.crt", folder / "tls.key"])
    shutil.copy(tmp_path / "2" / "tls.key", tmp_path / "1" / "tls.key")

    def lead_to(number):
        os.symlink(str(number), tmp_path / "next")
        os.replace(tmp_path / "next", tmp_path / "..data")

    lead_to(0)
    files = []
    for name in ("tls.crt", "tls.key"):
        os.symlink(f"..data/{name}", tmp_path / name)
        files.append(tmp_path / name)
    server = new_server(*flags(files), listen=LISTEN)
    first = shown(server)
    lead_to(1)
    poll(lambda: UNUSABLE in server.log_text(), timeout=90)
    assert shown(server) == first
    lead_to(2)
    poll(lambda: REPLACED in server.log_text(), timeout=90)
    assert shown(server) == secure.fingerprint(tmp_path / "2" / "tls.crt") != first
    assert server.log_text().count(UNUSABLE) == 1
