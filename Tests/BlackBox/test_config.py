"""--config: a TOML file whose keys are the flags; --check prints what would be used and from where."""

import os
import re
import tomllib

import pytest

from server import run

FLAGS = {
    "listen": ["127.0.0.1:0"], "data": "/nowhere/data", "store": "memory", "durability": "interval=50ms", "max-timers": 5,
    "max-streams": 6, "max-connections": 12, "max-connections-per-address": 13, "idle-timeout": "90s", "max-idempotency-keys": 7,
    "max-idempotency-bytes": "1MiB", "retain-events": ["1h", "1MiB"], "heartbeat": "3s", "drain": "1s", "alarm": "dispatch",
    "allow-host": ["timers.example", ".svc.cluster.local"], "log-level": "warning", "log-format": "json", "webhook-per-host": 8,
    "webhook-concurrency": 9, "webhook-backlog": 10, "webhook-dead-letters": 11, "webhook-allow": ["10.0.0.0/8"],
    "webhook-deny": ["10.1.0.0/16", ".example"], "migrate": False, "accept-loss": False,
}
# What a file says of a database alone.
SHARED = {"store-password-file", "cluster-url", "cluster-listen", "cluster-token-file"}


def toml(values):
    """The values as a TOML file, a line each."""
    def text(value):
        if isinstance(value, list):
            return "[" + ", ".join(map(text, value)) + "]"
        return str(value).lower() if isinstance(value, int) else f'"{value}"'
    return "".join(f"{key} = {text(value)}\n" for key, value in values.items())


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "timerd.toml"

    def write(content):
        path.write_text(toml(content) if isinstance(content, dict) else content)
        return path
    return write


def check(*flags, env=None):
    return run("serve", "--check", *flags, env=env)


def checked(*flags, env=None):
    """What --check prints: the values, and where each comes from."""
    done = check(*flags, env=env)
    assert done.returncode == 0 and done.stderr == "", done
    places = dict(line.split("  # ") for line in done.stdout.splitlines() if not line.startswith("#"))
    return tomllib.loads(done.stdout), {line.split(" = ")[0]: place for line, place in places.items()}


def refusal(*flags, env=None, code=78):
    """The one line with which --check refuses."""
    done = check(*flags, env=env)
    assert done.returncode == code and done.stdout == "" and len(done.stderr.splitlines()) == 1, done
    return done.stderr


def test_every_flag_of_serve_is_a_key(config, tmp_path):
    (tmp_path / "tokens").write_text("sixteen-byte-key\n")
    (tmp_path / "secrets").write_text("whsec_" + "A" * 40 + "\n")
    given = {**FLAGS, "token-file": str(tmp_path / "tokens"), "webhook-secret-file": str(tmp_path / "secrets")}
    path = config(given)
    values, places = checked("--config", path)
    assert values == {**given, "retain-events": "1h,1MiB"}
    assert places == {key: f"{path}:{line}" for line, key in enumerate(given, 1)}
    flags = set(re.findall(r"^  --([\w-]+)", run("serve", "--help").stdout, re.MULTILINE))
    assert given.keys() | {"webhook-proxy"} | SHARED == flags - {"config", "check", "version"}


def test_a_flag_wins_over_a_variable_and_a_variable_over_the_file(config):
    path = config({"max-timers": 1, "max-streams": 2, "heartbeat": "3s", "webhook-deny": ["10.0.0.1", "10.0.0.2"]})
    values, places = checked("--config", path, "--max-timers", "7", "--webhook-deny", "10.0.0.9",
                             env={"TIMERD_MAX_TIMERS": "8", "TIMERD_MAX_STREAMS": "9", "TIMERD_ALLOW_HOST": "a.example,b.example"})
    assert (values["max-timers"], values["max-streams"], values["heartbeat"], values["drain"]) == (7, 9, "3s", "10s")
    assert values["webhook-deny"] == ["10.0.0.9"] and values["allow-host"] == ["a.example", "b.example"]
    assert [places[key] for key in ("max-timers", "max-streams", "heartbeat", "drain", "allow-host")] == [
        "--max-timers", "TIMERD_MAX_STREAMS", f"{path}:3", "default", "TIMERD_ALLOW_HOST"]


def test_the_variable_names_the_file_too(config):
    assert checked(env={"TIMERD_CONFIG": str(config({"max-timers": 3}))})[0]["max-timers"] == 3


def test_the_file_configures_a_server(config, new_server):
    path = config("max-timers = 1\nlisten = ['127.0.0.1:0', '127.0.0.1:0']\nallow-host = 'timers.example'\n")
    server = new_server("--config", path, listen=[], data=path.parent / "data")
    server.client.create()
    server.client.post("/v1/timers", {"after": "1h"}, headers={"Host": "timers.example"}).problem(429, "timer-limit")


def test_check_opens_neither_data_nor_sockets(tmp_path, new_server):
    server = new_server()
    checked("--data", tmp_path / "data", "--listen", f"127.0.0.1:{server.port}")
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("proxy, shown", [("http://user:hunter2@proxy.example:3128", "http://***@proxy.example:3128"),
                                          ("http://proxy.example:3128", "http://proxy.example:3128")])
def test_check_masks_the_password_of_the_proxy(config, proxy, shown):
    for flags, env in ((["--webhook-proxy", proxy], None), ([], {"TIMERD_WEBHOOK_PROXY": proxy}), (["--config", config({"webhook-proxy": proxy})], None)):
        done = check(*flags, env=env)
        assert done.returncode == 0 and f'webhook-proxy = "{shown}"' in done.stdout
        assert "hunter2" not in done.stdout and "user" not in done.stdout


@pytest.mark.parametrize("text, line, words", [
    ("max-timers = 5\n\nheart-beat = '1s'\n", 3, "heart-beat"), ("[serve]\nmax-timers = 5\n", 1, "serve"), ("config = 'other.toml'\n", 1, "config"),
    ("token = 'x'\n", 1, "token"), ("server = 'http://x'\n", 1, "server"), ("max_timers = 5\n", 1, "max_timers"), ("check = true\n", 1, "check"),
    ("Max-Timers = 5\n", 1, "Max-Timers"), ("\nmax-timers = '5'\n", 2, "whole number"), ("max-timers = 5.0\n", 1, "whole number"),
    ("max-timers = [5]\n", 1, "whole number"), ("heartbeat = 15\n", 1, "string"), ("heartbeat = ['15s']\n", 1, "string"),
    ("store = true\n", 1, "string"), ("heartbeat.a = '15s'\n", 1, "string"), ("listen = 8080\n", 1, "list of strings"),
    ("listen = [\n'127.0.0.1:0',\n8080]\n", 3, "list of strings"), ("retain-events = 24\n", 1, "list of strings"),
    ("listen = [['127.0.0.1:0']]\n", 1, "list of strings"), ("max-timers = 0\n", 1, "expected a whole number"),
    ("heartbeat = '0s'\n", 1, "expected from"), ("webhook-deny = ['10.0.0.0/8',\n'nonsense/99']\n", 2, "nonsense"),
    ("listen = ['127.0.0.1:0', 'nonsense']\n", 1, "nonsense"), ("log-level = 'shouting'\n", 1, "shouting"), ("allow-host = '*.example'\n", 1, "example"),
    ("max-timers = 5\nmax-timers = 6\n", 2, "max-timers"), ("max-timers\n", 1, ""), ("max-timers = 5 6\n", 1, ""),
    ("max-timers = 99999999999999999999\n", 1, ""), ("heartbeat = '", 1, ""),
])
def test_a_bad_line_is_refused_by_its_number(config, text, line, words):
    path = config(text)
    told = refusal("--config", path)
    assert f"{path}:{line}: " in told and words in told
    done = run("serve", "--config", path, "--data", path.parent / "data")
    assert done.returncode == 78 and done.stderr == told and not (path.parent / "data").exists()


def test_a_password_in_a_bad_line_is_not_shown(config):
    told = refusal("--config", config("webhook-proxy = 'ftp://user:topsecret@proxy:1'\n"))
    assert "topsecret" not in told and "webhook-proxy" in told


@pytest.mark.parametrize("address, word", [
    ("*:8080", "0.0.0.0"), ("example.com:80", "example.com is neither"), (" 127.0.0.1:8080", "blanks"), ("127.0.0.1:1, [::1]:8080", "blanks nor commas"),
    ("unix:/" + "a" * 120, "107"), ("127.1:80", "neither an IP address"),
])
def test_an_address_that_no_server_could_have_is_refused_by_both(address, word, tmp_path):
    said = refusal("--listen", address, code=64)
    assert said.startswith("timerd: --listen: ") and word in said
    assert run("serve", "--listen", address, "--data", tmp_path / "data").stderr == said


def test_the_values_of_a_variable_may_have_white_space_around_them(config):
    path = config({"drain": "1s"})
    values, _ = checked(env={"TIMERD_LISTEN": " 127.0.0.1:0, [::1]:0\n", "TIMERD_MAX_TIMERS": "5\n", "TIMERD_CONFIG": f"{path}\n"})
    assert (values["listen"], values["max-timers"], values["drain"]) == (["127.0.0.1:0", "[::1]:0"], 5, "1s")
    assert "TIMERD_HEARTBEAT is set and empty" in refusal(env={"TIMERD_HEARTBEAT": " \n"}, code=64)


def test_a_control_character_in_a_value_is_refused(config):
    assert "TIMERD_DATA: the value has a control character" in refusal(env={"TIMERD_DATA": "/a\n/b"}, code=64)
    path = config('store = "memory"\ndata = "/a\\n/b"\n')
    assert f"{path}:2: data: the value has a control character" in refusal("--config", path)


def test_no_listener_at_all_is_refused(config):
    assert "listen" in refusal("--config", config("listen = []\n"))


def test_an_empty_list_is_none(config):
    assert "webhook-deny" not in checked("--config", config("webhook-deny = []\n"))[0]


def test_files_that_can_not_be_used(tmp_path, config):
    os.mkfifo(tmp_path / "pipe")
    with open(tmp_path / "large", "wb") as file:
        file.truncate(1 << 30)
    for path in (tmp_path, tmp_path / "absent", tmp_path / "pipe", tmp_path / "large"):
        assert str(path) in refusal("--config", path)
    assert "config" in refusal("--config", "", code=64)
    assert "TIMERD_CONFIG" in refusal(env={"TIMERD_CONFIG": ""}, code=64)


def test_a_large_file_and_a_deep_one(config):
    path = config("".join(f"# line {n:6} of a comment that goes on\n" for n in range(20_000)) + "max-timers = 9\n")
    assert checked("--config", path)[0]["max-timers"] == 9
    path = config("".join(f"key-{n} = {n}\n" for n in range(50_000)))
    assert f"{path}:1: " in refusal("--config", path)
    for opening in ("[", "{a=", "[{a="):
        refusal("--config", config("listen = " + opening * 100_000))
    refusal("--config", config("a." * 100_000 + "b = 1\n"))


def test_check_refuses_values_of_flags_as_usage():
    assert "--heartbeat" in refusal("--heartbeat", "0s", code=64)
    assert "TIMERD_HEARTBEAT" in refusal(env={"TIMERD_HEARTBEAT": "bogus"}, code=64)


def test_check_reads_the_files_that_are_named(tmp_path):
    assert "absent" in refusal("--token-file", tmp_path / "absent")
    (tmp_path / "tokens").write_text("sixteen-byte-key\n")
    done = check("--token-file", tmp_path / "tokens")
    assert done.returncode == 0 and "sixteen" not in done.stdout + done.stderr and str(tmp_path / "tokens") in done.stdout
