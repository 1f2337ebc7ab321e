"""The settings of a database as store: what is refused, and that no password is shown."""

import pytest

from server import run

ADDRESS = "postgres://timerd@127.0.0.1:1/timers"
SECRET = "sesame-17"
WITH_PASSWORD = f"postgres://timerd:{SECRET}@127.0.0.1:1/timers"


def check(*flags, env=None):
    return run("serve", "--check", *flags, env=env)


def refused(code, *flags, env=None):
    """The one line with which it is refused."""
    done = check(*flags, env=env)
    assert done.returncode == code and done.stdout == "" and len(done.stderr.splitlines()) == 1, done
    assert SECRET not in done.stderr
    return done.stderr


def test_a_password_on_the_command_line_is_a_mistake():
    assert "TIMERD_STORE" in refused(64, "--store", WITH_PASSWORD)
    assert "TIMERD_STORE" in refused(64, "--store", f"postgres://127.0.0.1:1/timers?password={SECRET}")


def test_a_password_in_the_variable_or_a_file_is_taken_and_not_shown(tmp_path):
    done = check(env={"TIMERD_STORE": WITH_PASSWORD})
    assert done.returncode == 0 and SECRET not in done.stdout and "postgres://***" in done.stdout, done
    (tmp_path / "password").write_text(SECRET + "\nanother line\n")
    done = check("--store", ADDRESS, "--store-password-file", tmp_path / "password")
    assert done.returncode == 0 and SECRET not in done.stdout and ADDRESS in done.stdout, done
    done = check(env={"TIMERD_STORE": f"postgres://127.0.0.1:1/timers?user=timerd&password={SECRET}"})
    assert done.returncode == 0 and SECRET not in done.stdout, done


@pytest.mark.parametrize("content", [None, "", "\nsecond\n", " \t\nsecond\n", "pass\x07word\n", "x" * 5000])
def test_a_password_file_without_a_password_is_refused(tmp_path, content):
    path = tmp_path / "password"
    if content is not None:
        path.write_text(content)
    assert str(path) in refused(78, "--store", ADDRESS, "--store-password-file", path)


def test_what_a_database_does_not_need_is_refused_with_what_to_use():
    assert "synchronous_commit" in refused(78, "--store", ADDRESS, "--durability", "interval=1s")
    assert "leave it out" in refused(78, "--store", ADDRESS, "--data", "/somewhere")
    assert check("--store", ADDRESS, env={"TIMERD_DATA": "/data"}).returncode == 0


@pytest.mark.parametrize("flags", [
    ("--store-password-file", "/x"), ("--cluster-url", "http://10.0.0.1:8080"), ("--migrate",), ("--accept-loss",),
    ("--cluster-listen", "127.0.0.1:8081"), ("--cluster-token-file", "/x"),
])
def test_what_only_a_database_has_is_refused_elsewhere(flags):
    assert flags[0] in refused(64, *flags)


@pytest.mark.parametrize("flags", [
    ("--cluster-url", "10.0.0.1:8080"),
    ("--cluster-url", "http://"), ("--cluster-url", "http://a b"), ("--cluster-listen", "127.0.0.1:8081"), ("--cluster-token-file", "/x"),
    ("--cluster-listen", "8081", "--cluster-token-file", "/x"), ("--cluster-listen", "unix:/x", "--cluster-token-file", "/x"), ("--store", "mysql://127.0.0.1/x"),
])
def test_values_that_make_no_sense_are_refused(flags):
    assert flags[0] in refused(64, *(() if flags[0] == "--store" else ("--store", ADDRESS)), *flags)


def test_an_address_that_libpq_does_not_understand_is_refused():
    assert "nosuchthing" in refused(64, "--store", "postgres://127.0.0.1/x?nosuchthing=1")


def test_migrate_needs_a_database_and_hides_its_password():
    done = run("store", "migrate", "--store", "sqlite")
    assert done.returncode == 64 and "postgres://" in done.stderr, done
    done = run("store", "migrate", env={"TIMERD_STORE": WITH_PASSWORD})
    assert done.returncode == 1 and SECRET not in done.stderr + done.stdout and "127.0.0.1" in done.stderr, done
