"""What the program says where something is wrong, and how it exits."""

import os
import signal
import subprocess

import pytest

from server import Server, binary, environment, run


def told(done, code=1):
    """The one line on stderr of a command that failed."""
    assert (done.returncode, done.stdout) == (code, ""), done
    line, = done.stderr.splitlines()
    assert line.startswith("timerd: "), line
    return line


def test_a_misspelt_word_is_told_with_the_one_meant():
    assert told(run("canel", "tea"), 64).endswith(": did you mean cancel?")


def test_404_names_the_id(server, name):
    line = told(run("get", name, "--server", server.url))
    assert "404 not-found" in line and name in line


def test_a_server_that_is_not_there():
    assert "is `timerd serve` running?" in told(run("list", "--server", "http://127.0.0.1:1"))


def test_a_token_is_asked_for_and_taken_from_a_variable(new_server, tmp_path):
    (tmp_path / "tokens").write_text("# the first one\n\na-token-of-sixteen-bytes\n")
    server = new_server("--token-file", tmp_path / "tokens")
    line = told(run("list", "--server", server.url))
    assert "401" in line and all(word in line for word in ("--token", "--token-file", "TIMERD_TOKEN", "TIMERD_TOKEN_FILE"))
    env = {"TIMERD_SERVER": f"{server.url}\n", "TIMERD_TOKEN_FILE": str(tmp_path / "tokens")}
    assert run("stats", env=env).returncode == 0


@pytest.fixture(scope="module")
def printing():
    """A server that commands find something at, and a log."""
    with Server() as server:
        server.client.create(id="tea", every="1h")
        yield server


# A row for each way to print; `DATA` is the server's data directory, `NEW` one that does not exist.
PRINTING = ["--help", "list", "log verify --data DATA", "log dump --data DATA", "log repair --data DATA", "backup --data DATA --to NEW", "serve --check"]


def printing_command(server, words, tmp_path):
    places = {"DATA": str(server.data), "NEW": str(tmp_path / "new")}
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
@pytest.mark.parametrize("words", ["log dump --data DATA", "--help", "export"])
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
