"""The client commands over TLS: which servers they trust, what they say of others, and health on the server's own machine."""

import socket
import struct
import subprocess
import threading

import pytest

import secure
from secure import Authority
from server import Server, binary, environment, run
from timers import poll

LISTEN = ("https://127.0.0.1:0",)
HINT = "; --ca or TIMERD_CA names a file with the authorities to trust\n"


@pytest.fixture(scope="module")
def tls():
    """A server that the tests of this file share."""
    with Server(listen=LISTEN) as server:
        yield server


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """A factory of servers that show a certificate, and answer nothing that a command would take; their URLs."""
    processes = []

    def start(certificate, key):
        process = subprocess.Popen(["openssl", "s_server", "-accept", "127.0.0.1:0", "-cert", certificate, "-key", key, "-www"],
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        processes.append(process)
        return "https://127.0.0.1:" + next(line.rsplit(":", 1)[1].strip() for line in process.stdout if line.startswith("ACCEPT "))
    yield start
    for process in processes:
        process.kill()
        process.wait()
        process.stdout.close()


def root():
    return str(secure.authority().file)


def untrusted(url, *flags, env=None):
    """What a command says of a server that it does not trust."""
    done = run("stats", "--server", url, *flags, env=env)
    assert done.returncode == 1 and done.stdout == "" and done.stderr.count("\n") == 1, done
    assert done.stderr.startswith(f"timerd: {url}: "), done
    return done.stderr


def test_a_command_trusts_what_it_is_told_to(tls):
    done = run("create", "--id", "by-cli", "--after", "1h", "--server", tls.url, "--ca", root())
    assert done.returncode == 0, done
    done = run("get", "by-cli", "--json", env={"TIMERD_SERVER": tls.url, "TIMERD_CA": root()})
    assert done.returncode == 0 and '"by-cli"' in done.stdout, done


def test_an_unknown_issuer_is_told_with_the_way_to_trust_it(tls, tmp_path):
    other = Authority(tmp_path, "another root")
    for flags in (["--ca", other.file], ["--ca", "/etc/ssl/certs/ca-certificates.crt"]):
        said = untrusted(tls.url, *flags)
        assert "no authority that is trusted has issued the server's certificate (" in said and said.endswith(HINT)


def test_a_certificate_that_is_its_own_issuer_is_trusted_by_its_file(new_server, tmp_path):
    certificate, key = tmp_path / "self.pem", tmp_path / "self.key"
    secure.made("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30", "-subj", "/CN=self",
                "-addext", f"subjectAltName={secure.NAMES}", "-keyout", key, "-out", certificate)
    server = new_server("--tls-certificate", certificate, "--tls-key", key, listen=LISTEN)
    assert untrusted(server.url, "--ca", root()).endswith(HINT)
    assert run("stats", "--server", server.url, "--ca", certificate).returncode == 0


def test_another_name_is_told(shown):
    url = shown(*secure.authority().issue("named", alternatives="DNS:timers.example"))
    said = untrusted(url, "--ca", root())
    assert "the server's certificate is not for this name" in said and "127.0.0.1" in said and HINT not in said


def test_a_certificate_that_has_expired_is_told(shown):
    said = untrusted(shown(*secure.authority().issue("expired", days=-1)), "--ca", root())
    assert "the server's certificate has expired" in said and HINT not in said


@pytest.mark.not_by_tls("its server has no TLS")
def test_a_server_without_tls_is_told(new_server):
    server = new_server(listen=["127.0.0.1:0"])
    assert "speaks no TLS" in untrusted(f"https://127.0.0.1:{server.port}", "--ca", root())


def test_a_server_with_tls_alone_is_told(tls):
    said = untrusted(f"http://127.0.0.1:{tls.port}")
    assert said.endswith("or takes TLS alone; is its address https://…?\n"), said


def test_a_server_that_resets_the_handshake_is_told():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        def reset():
            connection, _ = listener.accept()
            with connection:
                connection.recv(1)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        server = threading.Thread(target=reset)
        server.start()
        said = untrusted(f"https://127.0.0.1:{listener.getsockname()[1]}", "--ca", root())
        server.join()
    assert "has failed, or speaks no TLS" in said


def test_a_stream_is_followed(tls):
    tls.client.create(id="watched")
    with subprocess.Popen([binary(), "watch", "--timer", "watched", "--server", tls.url, "--ca", root()], env=environment(),
                          stdout=subprocess.PIPE, text=True) as process:
        poll(lambda: tls.client.get("/v1/stats").json["streams"] > 0)
        tls.client.command("watched", "fire").expect(200)
        assert "watched" in process.stdout.readline()
        process.terminate()


def test_a_file_of_authorities_that_can_not_be_used_is_named(tls, tmp_path):
    absent = tmp_path / "absent"
    for flags, env in ((["--ca", absent], None), ([], {"TIMERD_CA": str(absent)})):
        done = run("stats", "--server", tls.url, *flags, env=env)
        assert done.returncode == 78 and f"the file of authorities {absent} can't be read" in done.stderr, done
    (tmp_path / "nonsense").write_text("nonsense\n")
    assert str(tmp_path / "nonsense") in untrusted(tls.url, "--ca", tmp_path / "nonsense")


@pytest.mark.not_by_tls("its server has no TLS")
def test_a_file_of_authorities_does_not_matter_without_tls(new_server, tmp_path):
    server = new_server(listen=["127.0.0.1:0"])
    assert run("stats", "--server", server.url, env={"TIMERD_CA": str(tmp_path / "absent")}).returncode == 0


@pytest.mark.undivided
def test_health_finds_a_server_of_this_machine_by_its_key(new_server, tmp_path):
    """Its certificate is for another name and of an authority that nobody knows: the list in the data directory has its key."""
    files = Authority(tmp_path / "unknown").issue("far", alternatives="DNS:timers.example")
    kept = [file.rename(tmp_path / name) for file, name in zip(files, ("tls.crt", "tls.key"))]
    server = new_server("--tls-certificate", kept[0], "--tls-key", kept[1], listen=["https://0.0.0.0:0"])
    listed = server.data / "listeners"
    first = listed.read_text()
    assert first.startswith(f"https://0.0.0.0:{server.port} sha256//")
    for done in (run("health", "--data", server.data), run("health", env={"TIMERD_DATA": str(server.data)})):
        assert done.returncode == 0 and done.stdout == f"https://127.0.0.1:{server.port} is healthy\n", done
    # Asked for by its address it is a server like any other.
    done = run("health", "--server", server.url, "--ca", root())
    assert done.returncode == 1 and done.stderr.endswith(HINT), done
    for source, file in zip(Authority(tmp_path / "next").issue("far", alternatives="DNS:timers.example"), kept):
        source.replace(file)
    server.process.send_signal(1)
    poll(lambda: listed.read_text() != first)
    assert run("health", "--data", server.data).returncode == 0
    listed.write_text(first)
    done = run("health", "--data", server.data)
    assert done.returncode == 1 and "another key than expected" in done.stderr, done
    listed.unlink()


@pytest.mark.undivided
def test_health_verifies_a_server_that_no_list_names(tls, tmp_path):
    settings = {"TIMERD_DATA": str(tmp_path), "TIMERD_LISTEN": f"https://127.0.0.1:{tls.port}"}
    assert run("health", env={**settings, "TIMERD_CA": "/etc/ssl/certs/ca-certificates.crt"}).returncode == 1
    assert run("health", "--ca", root(), env=settings).returncode == 0
