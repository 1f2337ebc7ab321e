"""What TEST_SECRETS=1 has every test searched for is found wherever a server or a command would show it."""

import shlex
import shutil
import subprocess

import pytest

import secrecy
from client import Client
from keys import TOKEN, protected
from played import Handler, PlayedServer
from receiver import Receiver
from server import Server, binary, run
from webhooks import SECRET, event, fire, hooked

COOKIE = "session=of-a-cookie-of-these-tests"


@pytest.fixture(autouse=True)
def kept(monkeypatch):
    """Secrets and answers of this test alone."""
    kept = secrecy.Secrecy()
    monkeypatch.setattr(secrecy, "kept", kept)
    yield kept
    shutil.rmtree(kept.folder)


@pytest.fixture
def spilling(tmp_path):
    """A factory of guarded servers, at each start of which a command is run."""
    def start(command):
        return protected(lambda *flags, **options: Server(*flags, command=[
            "sh", "-c", f'cd {shlex.quote(str(tmp_path))} && {command} && exec {shlex.quote(binary())} "$@"', "sh"], **options), tmp_path)
    return start


@pytest.mark.not_forwarded("the log is that of the owner")
def test_a_whole_life_spills_nothing(tmp_path, kept):
    """Every kind of secret is used, and known."""
    with protected(Server, tmp_path).server as server, Receiver(answer=500) as receiver:
        key = server.client.post("/v1/keys", {"name": "a", "scopes": ["admin"]}).expect(201).json
        client = Client(server.port, token=key["secret"])
        hooked(client, receiver.url("/"), "tea", retry={"maxAttempts": 1}, secret=SECRET, headers={"Cookie": COOKIE})
        fire(client, "tea")
        event(client, "tea", "deliveryDead")
        client.get("/v1/export?secrets=true").expect(200)
        done = run("keys", "create", "b", "--scope", "read", "--server", server.url, "--token", TOKEN)
        assert done.returncode == 0, done
        secrecy.is_over()
        assert "method=POST" in server.log_text() and server.log.with_suffix(".audit").read_text().count("\n") > 3
    random = {each.strip().rpartition("_")[2].encode() for each in (key["secret"], done.stdout)}
    assert kept.secrets == {secrecy.CREDENTIAL: {TOKEN.encode(), *random}, secrecy.SIGNING: {SECRET.removeprefix("whsec_").encode()},
                            secrecy.HEADER: {COOKIE.encode()}}


@pytest.mark.parametrize("command", [
    "cat tokens >&2", pytest.param("mkdir -p data && cat tokens > data/copy", marks=pytest.mark.not_on_postgres("there is no data directory"))])
def test_a_token_in_a_servers_log_or_data_is_found(spilling, tmp_path, command):
    keyring = spilling(command)
    keyring.server._data = tmp_path / "data"
    with pytest.raises(AssertionError, match="holds the credential a-token-of-t…"):
        with keyring.server:
            pass


@pytest.mark.not_forwarded("the second server is another one")
def test_what_is_learned_later_is_found_in_an_earlier_log(tmp_path):
    """A log that has the random part alone of a key."""
    with pytest.raises(AssertionError, match="holds the credential"), protected(Server, tmp_path).server as server:
        key = server.client.post("/v1/keys", {"name": "a", "scopes": ["admin"]}).expect(201).json
        with open(server.log, "a") as log:
            log.write(f"secret={key['secret'][17:]}")


class Indiscreet(Handler):
    """Answers everything with all that was sent."""

    def do_POST(self):
        body = f"{self.headers} {self.rfile.read(int(self.headers['Content-Length'])).decode()}".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.mark.parametrize("token, body, kind", [
    ("a-token-that-comes-back", {}, secrecy.CREDENTIAL), (f"tmk_{'a' * 12}_{'b' * 48}", {}, secrecy.CREDENTIAL),
    (None, {"webhook": {"secret": SECRET}}, secrecy.SIGNING), (None, {"webhook": {"headers": {"authorization": COOKIE}}}, secrecy.HEADER)], ids=str)
def test_a_secret_in_an_answer_is_found(token, body, kind):
    with PlayedServer(Indiscreet) as played:
        Client(played.http.server_address[1], token=token).post("/v1/timers", body).expect(200)
    with pytest.raises(AssertionError, match=f"answers holds the {kind}"):
        secrecy.is_over()
    secrecy.is_over()


def test_the_answer_to_a_new_key_may_show_it_once(kept):
    secret = f"tmk_{'a' * 12}_{'b' * 48}"
    for body, is_fine in ((f'{{"secret":"{secret}"}}', True), (f'{{"secret":"{secret}","name":"{secret[17:]}"}}', False)):
        secrecy.is_answered("POST", "/v1/keys", 201, "", body.encode())
        if is_fine:
            secrecy.is_over()
    with pytest.raises(AssertionError, match="holds the credential"):
        secrecy.is_over()


@pytest.mark.parametrize("stdout, stderr", [(TOKEN, ""), ("", TOKEN)])
def test_what_a_command_prints_is_searched(stdout, stderr):
    for words in (["export", "--secrets", "--token", "another-token"], ["list", "--token", TOKEN], ["list"]):
        secrecy.has_run(["--token", TOKEN], None, None, subprocess.CompletedProcess([], 0, "", ""))
        secrecy.has_run(words, None, None, subprocess.CompletedProcess([], 0, stdout, stderr))
        with pytest.raises(AssertionError, match="holds the credential"):
            secrecy.is_over()


def test_receivers_get_what_authenticates_and_not_what_signs(kept):
    kept.learn_body(f'{{"secret":"{SECRET}","headers":{{"Cookie":"{COOKIE}"}}}}'.encode())
    secrecy.is_received(COOKIE.encode())
    secrecy.is_over()
    secrecy.is_received(SECRET.encode())
    with pytest.raises(AssertionError, match="received holds the secret of webhooks"):
        secrecy.is_over()
