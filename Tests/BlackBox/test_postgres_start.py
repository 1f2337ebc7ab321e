"""What a server says, and whether it starts, where a PostgreSQL is not as it needs it."""

import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from patience import PATIENCE
from postgres import ROLE, Postgres, as_user, folder
from server import Server, run
from timers import poll

pytestmark = pytest.mark.xdist_group("postgres")
SECRET = "sesame-open-17"


def refused(code, *flags, env=None):
    """The one line with which a server ends."""
    done = run("serve", "--listen", "127.0.0.1:0", *flags, env=env, timeout=60)
    assert done.returncode == code and done.stdout == "" and len(done.stderr.splitlines()) == 1, done
    return done.stderr


def test_a_database_without_tables_is_refused_until_they_are_made(database):
    assert "timerd store migrate" in refused(78, "--store", database)
    made = run("store", "migrate", "--store", database)
    assert made.returncode == 0 and "version 3 made" in made.stdout, made
    again = run("store", "migrate", "--store", database)
    assert again.returncode == 0 and "already" in again.stdout, again
    with Server("--store", database) as server:
        server.client.create(id="tea")


def test_tables_of_a_newer_version_are_refused(postgres, database):
    schema = database.rsplit("%3D", 1)[1]
    assert run("store", "migrate", "--store", database).returncode == 0
    postgres.execute("UPDATE timerd_meta SET value = '99' WHERE key = 'schema'", schema)
    for line in (refused(78, "--store", database), refused(78, "--store", database, "--migrate"),
                 run("store", "migrate", "--store", database).stderr):
        assert "version 99" in line and "newer timerd" in line, line


@pytest.mark.parametrize("version", [1, 2])
def test_tables_of_an_earlier_design_are_refused_with_the_way_out(postgres, database, version):
    schema = database.rsplit("%3D", 1)[1]
    postgres.execute("CREATE TABLE timerd_meta(key text PRIMARY KEY, value bytea NOT NULL);"
                     f"INSERT INTO timerd_meta VALUES ('schema', '{version}'); GRANT SELECT, UPDATE ON timerd_meta TO {ROLE}", schema)
    for line in (refused(78, "--store", database), refused(78, "--store", database, "--migrate"),
                 run("store", "migrate", "--store", database).stderr, run("log", "verify", "--store", database).stderr):
        assert f"version {version}" in line and "timerd export" in line and "timerd import" in line, line


def test_a_role_without_rights_is_refused(postgres):
    postgres.execute("CREATE ROLE guest LOGIN; CREATE SCHEMA closed; GRANT USAGE ON SCHEMA closed TO guest")
    uri = postgres.uri("closed", "guest")
    assert "permission denied" in refused(78, "--store", uri, "--migrate")
    owner = postgres.schema("rights")
    assert run("store", "migrate", "--store", owner).returncode == 0
    postgres.execute("GRANT USAGE ON SCHEMA rights TO guest")
    guest = postgres.uri("rights", "guest")
    assert "permission denied" in refused(78, "--store", guest)
    # It may read and not write.
    postgres.execute("GRANT SELECT ON ALL TABLES IN SCHEMA rights TO guest")
    assert run("log", "verify", "--store", guest).returncode == 0
    line = refused(78, "--store", guest)
    assert "UPDATE on timerd_node" in line and "SELECT" not in line, line
    postgres.execute("GRANT INSERT, UPDATE, DELETE ON timerd_node, timerd_log TO guest;"
                     "GRANT UPDATE ON timerd_owner, timerd_meta TO guest", "rights")
    with Server("--store", guest) as server:
        server.client.create(id="tea")


def waits_for(reason, uri, mend=None):
    """A server that says, seldom, why it can't reach its database, and starts once that is mended."""
    with Server("--store", uri, "--migrate").launch() as server:
        poll(lambda: reason in server.log_text(), 30)
        assert server.process.poll() is None
        assert server.log_text().count("it is tried again") == 1, server.log_text()
        if mend:
            mend()
            server.come_up().client.create(id="tea")


def test_a_server_waits_for_a_database_that_can_not_be_reached():
    waits_for("127.0.0.1", "postgres://127.0.0.1:1/x")
    waits_for("/nowhere", "postgres:///x?host=/nowhere")


def test_a_server_waits_while_there_are_too_many_connections(postgres, database):
    def limit(count):
        postgres.execute(f"ALTER ROLE {ROLE} CONNECTION LIMIT {count}")
    limit(0)
    try:
        waits_for("too many connections", database, lambda: limit(-1))
    finally:
        limit(-1)


def test_a_server_waits_for_a_database_that_takes_writes(postgres, database):
    def read_only(word):
        postgres.execute(f"ALTER ROLE {ROLE} SET default_transaction_read_only = {word}")
    read_only("on")
    try:
        waits_for("read-only", database, lambda: read_only("off"))
    finally:
        read_only("off")


@pytest.fixture
def locked():
    """A server that wants passwords, and the URI of a schema there, without one."""
    with Postgres() as server:
        server.execute(f"ALTER ROLE {ROLE} PASSWORD '{SECRET}'")
        rules = server.folder / "data" / "pg_hba.conf"
        rules.write_text(f"local all {ROLE} scram-sha-256\nlocal all all trust\n")
        server.execute("SELECT pg_reload_conf()")
        yield server, server.schema("locked")


def test_a_password_is_shown_nowhere(locked, tmp_path):
    postgres, uri = locked
    with_password = uri.replace("postgres:///", f"postgres://{ROLE}:{SECRET}@/").replace(f"&user={ROLE}", "")
    (tmp_path / "password").write_text(SECRET + "\n")
    (tmp_path / "pgpass").write_text(f"*:*:*:*:{SECRET}\n")
    (tmp_path / "pgpass").chmod(0o600)
    wrong = refused(78, env={"TIMERD_STORE": with_password.replace(SECRET, SECRET + "x")})
    assert "password authentication failed" in wrong and SECRET not in wrong
    for flags, env in [([], {"TIMERD_STORE": with_password}), (["--store", uri, "--store-password-file", tmp_path / "password"], None),
                       (["--store", uri], {"PGPASSFILE": str(tmp_path / "pgpass")})]:
        with Server(*flags, "--migrate", "--log-level", "trace", env=env) as server:
            api = server.client
            api.create()
            shown = [api.get(path).body.decode() for path in ("/metrics", "/v1/stats", "/readyz", "/healthz")]
            postgres.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'timerd:%'")
            # A create may be refused until the lost connections are there again.
            poll(lambda: api.post("/v1/timers", {"after": "1h"}).status == 201)
            # The words of the variable are the environment's own; a flag would be in the command line.
            command = Path(f"/proc/{server.pid}/cmdline").read_bytes().decode()
            server.stop()
            assert SECRET not in "".join(shown) + server.log_text() + command
            for words in (["log", "verify"], ["store", "migrate"], ["log", "repair"], ["backup", "--to", tmp_path / "copy"]):
                done = run(*words, *flags, env=env)
                assert SECRET not in done.stdout + done.stderr


@pytest.fixture
def pooler(postgres):
    """A pooler before the server, as a function of how it pools; its URI of a schema."""
    program = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")
    if not program:
        pytest.skip("pgbouncer is not installed")
    started = []

    def start(mode, schema):
        place = folder()
        (place / "users").write_text(f'"{ROLE}" ""\n')
        (place / "ini").write_text(f"""[databases]
postgres = host={postgres.folder} user={ROLE}
[pgbouncer]
listen_addr =
unix_socket_dir = {place}
auth_type = any
pool_mode = {mode}
default_pool_size = 20
ignore_startup_parameters = options,extra_float_digits,search_path
logfile = {place}/log
""")
        process = subprocess.Popen(as_user(program, "-q", place / "ini"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/")
        started.append(process)
        poll(lambda: list(place.glob(".s.PGSQL.*")), PATIENCE)
        port = next(place.glob(".s.PGSQL.*")).name.rsplit(".", 1)[1].removesuffix("lock").rstrip(".")
        postgres.execute(f"ALTER ROLE {ROLE} SET search_path = {schema}")
        return f"postgres:///postgres?host={place}&port={port}&user={ROLE}"
    yield start
    postgres.execute(f"ALTER ROLE {ROLE} RESET search_path")
    for process in started:
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)


def test_a_pooler_of_transactions_is_refused_and_one_of_sessions_is_not(postgres, pooler):
    direct = postgres.schema("pooled")
    assert run("store", "migrate", "--store", direct).returncode == 0
    line = refused(78, "--store", pooler("transaction", "pooled"))
    assert "pool" in line, line
    with Server("--store", pooler("session", "pooled")) as server:
        server.client.create(id="tea")
        server.stop()
