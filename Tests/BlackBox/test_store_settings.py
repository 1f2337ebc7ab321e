"""The settings of a database as store: what is refused, and that no password is shown."""

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


def test_a_password_in_the_variable_or_a_file_is_taken_and_not_shown(tmp_path):
    done = check(env={"TIMERD_STORE": WITH_PASSWORD})
    assert done.returncode == 0 and SECRET not in done.stdout and "postgres://***" in done.stdout, done
    (tmp_path / "password").write_text(SECRET + "\nanother line\n")
    done = check("--store", ADDRESS, "--store-password-file", tmp_path / "password")
    assert done.returncode == 0 and SECRET not in done.stdout and ADDRESS in done.stdout, done


def test_what_a_database_does_not_need_is_refused_with_what_to_use():
    assert "leave it out" in refused(78, "--store", ADDRESS, "--data", "/somewhere")
