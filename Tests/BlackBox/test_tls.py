"""TLS as clients see it: versions, ciphers, protocols, sessions, and what is no TLS at all."""

import json
import socket
import ssl
import subprocess
import threading
import warnings
from contextlib import suppress

import pytest

import secure
from client import Client
from patience import PATIENCE
from secure import client_context, openssl
from server import Server
from timers import poll

V1_2, V1_3 = ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3
LISTEN = ("https://127.0.0.1:0",)
HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.fixture(scope="module")
def tls():
    """A server that the tests of this file share."""
    with Server(listen=LISTEN) as server:
        yield server
        assert server.client.get("/readyz").status == 200


def connect(server, **options):
    """A client's socket after the handshake."""
    return Client(server.port, tls=client_context(**options)).socket()


def s_client(server, *flags, stdin=b"Q\n"):
    """What `openssl s_client` says about the server, and whether it came through the handshake."""
    done = openssl("s_client", "-connect", f"127.0.0.1:{server.port}", "-CAfile", secure.authority().file, *flags, stdin=stdin)
    return done.returncode == 0, (done.stdout + done.stderr).decode(errors="replace")


def s_client_until(server, *flags, send, awaited):
    """What `openssl s_client` says up to the line that is awaited, once it was given something to send."""
    command = ["openssl", "s_client", "-connect", f"127.0.0.1:{server.port}", "-CAfile", secure.authority().file, *flags]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        process.stdin.write(send)
        process.stdin.flush()
        said = b""
        while awaited not in said and (line := process.stdout.readline()):
            said += line
        process.kill()
    return said


def test_the_address_is_printed_with_its_scheme(tls):
    assert tls.addresses == [f"https://127.0.0.1:{tls.port}"]


def test_curl_gets_an_answer(tls):
    done = subprocess.run(["curl", "-sS", "--cacert", secure.authority().file, "--json", '{"after":"1h"}', "-D", "-",
                           f"{tls.url}/v1/timers"], capture_output=True, text=True, timeout=PATIENCE)
    head, body = done.stdout.split("\n\n")
    assert done.returncode == 0 and head.startswith("HTTP/1.1 201"), done
    # Relative, so that it follows the scheme.
    assert f"Location: /v1/timers/{json.loads(body)['id']}" in head


def test_a_client_that_does_not_know_the_root_gives_up(tls):
    with pytest.raises(ssl.SSLCertVerificationError):
        Client(tls.port, tls=ssl.create_default_context(cafile="/etc/ssl/certs/ca-certificates.crt")).socket()


@pytest.mark.parametrize("version, name", [(V1_2, "TLSv1.2"), (V1_3, "TLSv1.3")])
def test_new_versions_are_spoken(tls, version, name):
    with connect(tls, version=version) as sock:
        assert sock.version() == name and sock.selected_alpn_protocol() == "http/1.1" and sock.compression() is None


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1])
def test_old_versions_are_refused(tls, version):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        context = client_context(version)
    context.set_ciphers("ALL:@SECLEVEL=0")
    with pytest.raises(ssl.SSLError, match="PROTOCOL_VERSION|protocol version"):
        Client(tls.port, tls=context).socket()


@pytest.mark.thorough
def test_of_the_ciphers_of_1_2_only_those_with_forward_secrecy_and_authentication_are_spoken(tls):
    listed = openssl("ciphers", "-v", "-tls1_2", "ALL:@SECLEVEL=0").stdout.decode().splitlines()
    ciphers = [line.split()[0] for line in listed if " TLSv1.3 " not in line]
    spoken = {cipher for cipher in ciphers if s_client(tls, "-tls1_2", "-cipher", f"{cipher}:@SECLEVEL=0")[0]}
    assert spoken and all(cipher.startswith("ECDHE-ECDSA-") for cipher in spoken), spoken
    assert all("GCM" in cipher or "CHACHA20" in cipher for cipher in spoken), spoken


@pytest.mark.parametrize("offered, chosen", [(["h2", "http/1.1"], "http/1.1"), (["http/1.1"], "http/1.1"), ([], None)])
def test_http_1_1_is_agreed_on(tls, offered, chosen):
    with connect(tls, protocols=offered) as sock:
        assert sock.selected_alpn_protocol() == chosen


def test_a_client_of_other_protocols_alone_is_refused(tls):
    with pytest.raises(ssl.SSLError, match="NO_APPLICATION_PROTOCOL|no application protocol"):
        connect(tls, protocols=["h2"])


@pytest.mark.parametrize("groups, is_served", [("X448:P-256", True), ("X448", False)])
def test_a_key_share_of_a_group_that_is_not_spoken_is_asked_for_again(tls, groups, is_served):
    """s_client guesses the first of its groups; the server names another of them (HelloRetryRequest) or gives up."""
    came, said = s_client(tls, "-tls1_3", "-groups", groups, "-msg")
    assert came == is_served and said.count("ClientHello") == (2 if is_served else 1), said


def test_renegotiation_is_refused(tls):
    """s_client renegotiates at a line of R; the server answers with a warning, and serves on."""
    said = s_client_until(tls, "-tls1_2", send=b"R\n", awaited=b"no renegotiation")
    assert b"RENEGOTIATING" in said and b"no renegotiation" in said


def resumable(client, session=None):
    """A session that can be resumed, and whether this connection did: the ticket of 1.3 comes with the first answer."""
    with client.secured(socket.create_connection((client.host, client.port), timeout=PATIENCE), session=session) as sock:
        sock.sendall(HEALTH)
        assert sock.recv(65536).startswith(b"HTTP/1.1 200")
        return sock.session, sock.session_reused


@pytest.mark.parametrize("version", [V1_2, V1_3])
def test_a_session_goes_on(tls, version):
    client = Client(tls.port, tls=client_context(version))
    session, was_reused = resumable(client)
    assert not was_reused
    assert resumable(client, session)[1]


def test_no_early_data_is_taken(tls):
    request = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    said = s_client(tls, "-tls1_3", "-ign_eof", stdin=request)[1]
    assert "Max Early Data: 0" in said and '{"status":"ok"}' in said


@pytest.mark.parametrize("sent", [HEALTH, b"\0" * 70_000, b"\x16\x03\x01\xff\xff" + b"x" * 70_000, b"\x16\x03\x01\x00\x04\x01\x00\x00\x00"],
                         ids=["http", "zeros", "long", "short"])
def test_what_is_no_tls_gets_the_end_of_the_connection(tls, sent):
    """At most an alert before it."""
    with socket.create_connection(("127.0.0.1", tls.port), timeout=PATIENCE) as sock:
        answer = b""
        try:
            sock.sendall(sent)
            with suppress(OSError):  # where it is reset already
                sock.shutdown(socket.SHUT_WR)
            while piece := sock.recv(65536):
                answer += piece
        except ConnectionError:
            pass
        assert len(answer) <= 7 and (not answer or answer[0] == 0x15), answer


def test_requests_on_one_connection_are_answered_in_turn(tls):
    with connect(tls) as sock:
        sock.sendall(b"".join(b"GET /v1/timers/none-%d HTTP/1.1\r\nHost: localhost\r\n\r\n" % number for number in range(50)))
        said = b""
        while said.count(b"HTTP/1.1 404") < 50 or b"none-49" not in said:
            piece = sock.recv(65536)
            assert piece
            said += piece


def test_a_large_body_and_a_large_answer_pass(tls):
    client = tls.client
    lines = [{"id": f"large-{number}", "after": "1h", "payload": "x" * 1000} for number in range(3000)]
    assert len(client.batch(lines).expect(200).lines) >= 3000
    listed = client.get("/v1/timers?limit=1000&idPrefix=large-").expect(200)
    assert len(listed.json["timers"]) == 1000


def test_the_end_of_an_answer_is_told(tls):
    """With a close_notify, so that the client knows that nothing was cut off."""
    plain = socket.create_connection(("127.0.0.1", tls.port), timeout=PATIENCE)
    with tls.client.secured(plain, suppress_ragged_eofs=False) as sock:
        sock.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        said = b""
        while piece := sock.recv(65536):
            said += piece
        assert said.endswith(b'{"status":"ok"}')


def test_the_rules_for_names_and_origins_are_those_of_any_listener(tls):
    """The default port of the origin's scheme, which is https, is left out on both sides."""
    client = tls.client
    client.get("/v1/timers", headers={"Host": "evil.example"}).problem(421, "misdirected")
    for host, origin in ((f"127.0.0.1:{tls.port}", f"https://127.0.0.1:{tls.port}"), ("localhost", "https://localhost"),
                         ("localhost:443", "https://localhost"), ("localhost", "https://localhost:443")):
        client.post("/v1/timers", {"after": "1h"}, headers={"Host": host, "Origin": origin}).expect(201)
    for host, origin in (("localhost:80", "https://localhost"), ("localhost", "https://localhost:8443"), ("localhost", "https://127.0.0.1")):
        client.post("/v1/timers", {"after": "1h"}, headers={"Host": host, "Origin": origin}).problem(403, "cross-origin")


def test_the_log_names_the_peer(new_server):
    server = new_server("--log-level", "debug", listen=LISTEN)
    with Client(server.port, source="127.0.0.3").socket() as sock:
        port = sock.getsockname()[1]
        sock.sendall(HEALTH)
        assert sock.recv(65536).startswith(b"HTTP/1.1 200")
        poll(lambda: f"peer=127.0.0.3:{port}" in server.log_text())


@pytest.mark.parametrize("version", [V1_2, V1_3])
@pytest.mark.parametrize("headers", [{}, {"Accept": "text/event-stream"}], ids=["ndjson", "sse"])
def test_a_stream_brings_events(tls, headers, version):
    client = Client(tls.port, tls=client_context(version))
    with client.stream("/v1/events?types=created", headers).expect(200) as stream:
        ids = [client.create()["id"] for _ in range(3)]
        said = b""
        while not all(id.encode() in said for id in ids):
            said += next(iter(stream))


def test_a_long_poll_waits_and_is_answered(tls):
    client = tls.client
    client.create(id="polled")
    answers = []
    waiting = threading.Thread(target=lambda: answers.append(client.get("/v1/timers/polled/wait?timeout=50s")))
    waiting.start()
    poll(lambda: client.get("/v1/stats").json["streams"] > 0)
    client.command("polled", "fire").expect(200)
    waiting.join(PATIENCE)
    assert answers and answers[0].status == 200, answers


def test_a_stream_ends_properly_with_the_server(new_server):
    server = new_server(listen=LISTEN)
    with server.client.stream("/v1/events").expect(200) as stream:
        server.terminate()
        list(stream.lines())
        assert stream.ended_properly
        assert server.wait() == 0


def test_listeners_with_tls_and_without_serve_side_by_side(new_server):
    server = new_server(listen=["127.0.0.1:0", *LISTEN])
    assert [address.split(":")[0] for address in server.addresses] == ["http", "https"]
    plain, secured = (Client(int(address.rsplit(":", 1)[1])) for address in server.addresses)
    assert plain.tls is None and secured.tls
    plain.create(id="a")
    assert secured.timer("a")["id"] == "a"


def test_the_metric_says_when_the_certificate_expires(tls, api):
    ends = openssl("x509", "-in", secure.server_files()[0], "-noout", "-enddate").stdout.decode().split("=")[1].strip()
    assert f"\ntimerd_tls_certificate_expiry_seconds {ssl.cert_time_to_seconds(ends)}\n" in tls.client.get("/metrics").body.decode()
    if not secure.SECURED:
        assert b"timerd_tls_" not in api.get("/metrics").body
