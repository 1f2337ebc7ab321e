"""What the program says where something is wrong, and how it exits."""

import os
import re
import signal
import subprocess

import pytest

from server import ROOT, binary, environment, run

TOKEN = "a-token-of-sixteen-bytes"
NOBODY = "http://127.0.0.1:1"


def client(server, *arguments, **options):
    return run(*arguments, "--server", server.url, **options)


def told(done, code=1):
    """The one line on stderr of a command that failed."""
    assert (done.returncode, done.stdout) == (code, ""), done
    line, = done.stderr.splitlines()
    assert line.startswith("timerd: "), line
    return line


@pytest.mark.parametrize("words, meant", [
    ("creat", "create"), ("lsit", "list"), ("canel tea", "cancel"), ("pause tea", "suspend"), ("rm tea", "delete"), ("log verfy", "verify"),
    ("bulk suspnd --label a=b", "suspend"), ("deliverys", "deliveries"), ("list --stat running", "--state"),
    ("stop tea", "cancel"), ("reset tea", "reschedule"), ("bulk stop --label a=b", "cancel"), ("help creat", "create"), ("help log verfy", "verify"),
    ("creat --help", "create"),
])
def test_a_misspelt_word_is_told_with_the_one_meant(words, meant):
    assert re.search(rf"[Dd]id you mean '?{meant}'?\?", told(run(*words.split()), 64))


def test_a_word_that_is_near_no_other_gets_no_guess():
    line = told(run("xyzzy"), 64)
    assert "xyzzy" in line and "mean" not in line and "timerd --help" in line


def test_help_for_a_word_that_is_no_command_is_refused():
    assert "`timerd xyzzy`; `timerd --help` lists them" in told(run("help", "xyzzy"), 64)
    for words in ("help", "help log", "help log verify", "log verify --help", "help deliveries"):
        assert run(*words.split()).returncode == 0, words


def test_a_mistake_names_the_help_of_its_command():
    assert "`timerd log dump --help`" in told(run("log", "dump", "--form", "3"), 64)


def test_404_names_the_id(server, name):
    for command in ("get", "suspend", "delete", "next"):
        line = told(client(server, command, name))
        assert "404 not-found" in line and name in line


def test_409_names_what_is_legal(server, name):
    server.client.create(id=name, after="1h", start="manual")
    assert "(legal now: activate)" in told(client(server, "suspend", name))


def test_an_id_that_is_taken_is_named(server, name):
    server.client.create(id=name, after="1h")
    line = told(client(server, "create", name, "--after", "1h"))
    assert "409 timer-exists" in line and name in line


@pytest.mark.parametrize("command", ["list", "watch", "stats", "events"])
def test_a_server_that_is_not_there(command, tmp_path):
    assert "is `timerd serve` running?" in told(run(command, "--server", NOBODY))
    assert "is `timerd serve` running?" in told(run(command, "--server", f"unix:{tmp_path}/no.sock"))


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    from server import Server
    path = tmp_path_factory.mktemp("token") / "tokens"
    path.write_text(f"# the first one\n\n{TOKEN}\nanother-token-of-this-server\n")
    with Server("--token-file", path, token=TOKEN) as server:
        server.tokens = path
        yield server


def test_401_says_how_to_give_a_token(guarded):
    line = told(client(guarded, "list"))
    assert "401" in line and all(word in line for word in ("--token", "--token-file", "TIMERD_TOKEN", "TIMERD_TOKEN_FILE"))


def test_a_token_from_everywhere_it_may_come_from(guarded, tmp_path):
    wrong = tmp_path / "wrong"
    wrong.write_text("this-token-is-another-one\n")
    file, other = {"TIMERD_TOKEN_FILE": str(guarded.tokens)}, {"TIMERD_TOKEN": "this-token-is-another-one"}
    for flags, env in [(["--token", TOKEN], {**other, "TIMERD_TOKEN_FILE": str(wrong)}), (["--token-file", guarded.tokens], other), ([], {"TIMERD_TOKEN": TOKEN}),
                       ([], {"TIMERD_TOKEN": TOKEN, "TIMERD_TOKEN_FILE": str(wrong)}), ([], file)]:
        assert client(guarded, "stats", *flags, env=env).returncode == 0, (flags, env)
    assert "401" in told(client(guarded, "stats", env=other | file))
    assert client(guarded, "watch", "--since", "0", "--limit", "1", "--token", "x" * 16).returncode == 1


def test_white_space_around_a_variable_is_no_part_of_it(guarded):
    """Kubernetes passes a secret on with the newline that ends its file."""
    for env in ({"TIMERD_TOKEN": TOKEN + "\n"}, {"TIMERD_TOKEN": f" \t{TOKEN}\r\n"}, {"TIMERD_TOKEN_FILE": f"{guarded.tokens}\n"}):
        assert client(guarded, "stats", env=env).returncode == 0, env
    assert run("stats", env={"TIMERD_SERVER": f"{guarded.url}\n", "TIMERD_TOKEN": TOKEN}).returncode == 0
    assert "TIMERD_TOKEN is set and empty" in told(client(guarded, "stats", env={"TIMERD_TOKEN": "\n"}), 64)


@pytest.mark.parametrize("name, flags, env", [
    ("TIMERD_TOKEN", [], {"TIMERD_TOKEN": "secret-part\nanother-part"}), ("--token", ["--token", "secret-part\n"], {}),
    ("TIMERD_TOKEN", [], {"TIMERD_TOKEN": "secret-part\x1banother"}), ("TIMERD_SERVER", [], {"TIMERD_SERVER": "http://secret-part\n:80"}),
])
def test_a_control_character_in_a_value_is_told_by_the_name_of_its_setting(name, flags, env):
    line = told(run("stats", *flags, env=env), 64)
    assert line.startswith(f"timerd: {name}: ") and "control character" in line and "secret-part" not in line


def test_a_token_file_that_can_not_be_used(server, tmp_path):
    line = told(client(server, "list", "--token-file", tmp_path / "none"), 78)
    assert str(tmp_path / "none") in line
    assert "--token-file" in told(client(server, "list", "--token-file", ""), 64)


def test_several_ids_are_all_tried(server, name):
    for part in "ac":
        server.client.create(id=f"{name}{part}", after="1h")
    ids = [name + part for part in "abcd"]
    done = client(server, "suspend", *ids)
    assert done.returncode == 1 and [line.split(":")[0] for line in done.stdout.splitlines()] == [ids[0], ids[2]]
    first, second, last = done.stderr.splitlines()
    assert ids[1] in first and ids[3] in second and "2 of 4 failed" in last
    for command in ("resume", "get", "reschedule"):
        more = ["--after", "2h"] if command == "reschedule" else []
        assert client(server, command, ids[0], ids[2], *more).returncode == 0
    assert client(server, "delete", ids[0], ids[2]).returncode == 0
    assert server.client.get(f"/v1/timers/{ids[2]}").status == 404


def test_ids_are_not_tried_where_there_is_no_server():
    done = run("cancel", "a", "b", "c", "--server", NOBODY)
    first, last = done.stderr.splitlines()
    assert done.returncode == 1 and "timerd: a: " in first and "2 of 3 not tried" in last


@pytest.fixture(scope="module")
def printing(tmp_path_factory):
    """A server that every command finds something at, and a log."""
    from server import Server
    with Server() as server:
        server.client.create(id="tea", every="1h")
        server.client.create(id="calm", every="1h")
        server.client.create(id="held", every="1h", labels={"a": "b"})
        server.client.command("held", "suspend").expect(200)
        server.client.create(id="dead", after="1h", webhook={"url": "http://127.0.0.1:9/", "retry": {"maxAttempts": 1}})
        server.client.command("dead", "fire").expect(200)
        server.client.get("/v1/timers/dead/wait?since=0&types=deliveryDead&timeout=8s")
        yield server


# Every command that prints; `DATA` is the server's data directory, `NEW` one that does not exist.
PRINTING = ["--help", "help list", "list --help", "--version", "version", "health", "stats", "list", "list --json", "list --sort nextFireAt", "list --all", "get tea",
            "get tea --json", "next tea", "next tea --json", "suspend calm", "resume held --json", "kick --help", "fire tea", "reschedule tea --after 2h",
            "patch tea --body {}", "create --after 1h", "create --after 1h --json", "bulk suspend --label a=b --dry-run", "batch EMPTY", "apply EMPTY",
            "events", "events --json", "watch --since 0 --limit 1", "watch --since 0 --limit 1 --json", "deliveries", "deliveries list --json",
            "redrive --timer tea", "preview @daily", "preview @daily --json", "log verify --data DATA", "log dump --data DATA", "log repair --data DATA",
            "backup --data DATA --to NEW", "serve --check", "completion bash", "completion zsh", "completion fish"]


def printing_command(server, words, tmp_path):
    empty = tmp_path / "empty.ndjson"
    empty.write_text("")
    places = {"DATA": str(server.data), "NEW": str(tmp_path / "new"), "EMPTY": str(empty)}
    words = [places.get(word, word) for word in words.split()]
    return [binary(), *words], environment({"TIMERD_SERVER": server.url})


@pytest.mark.undivided
@pytest.mark.parametrize("words", PRINTING)
def test_what_can_not_be_written_is_an_error(printing, words, tmp_path):
    command, env = printing_command(printing, words, tmp_path)
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, env=env, timeout=30, text=True)
    assert done.returncode == 1 and done.stderr == "timerd: can't write to standard output: No space left on device\n", done


@pytest.mark.undivided
@pytest.mark.parametrize("words", ["list --all", "log dump --data DATA", "events --json", "--help", "completion bash"])
@pytest.mark.parametrize("ignored", [False, True])
def test_a_reader_that_has_gone_ends_it_quietly(printing, words, ignored, tmp_path):
    command, env = printing_command(printing, words, tmp_path)
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, env=env, timeout=30, text=True, restore_signals=not ignored,
                              preexec_fn=(lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN)) if ignored else None)
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (-signal.SIGPIPE, ""), done


def test_the_exit_codes_are_one_table():
    """What the help says is what the documents say."""
    shown = re.findall(r"^  (\d+) +(.+)$", run("--help", env={"COLUMNS": "200"}).stdout.split("Exit codes:")[1].split("USAGE")[0], re.M)
    assert [code for code, _ in shown] == ["0", "1", "2", "64", "78", "130", "143"]
    operations = (ROOT / "docs/OPERATIONS.md").read_text()
    assert re.findall(r"^\| (\d+) \| (.+) \|$", operations, re.M) == shown
