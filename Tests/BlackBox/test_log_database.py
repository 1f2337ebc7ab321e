"""`timerd log` and `timerd backup` beside a database: what is read of it, and what is refused with what to use instead."""

import json

import pytest

from server import Server, run
from timers import poll

pytestmark = pytest.mark.xdist_group("postgres")


@pytest.fixture(scope="module")
def written(postgres):
    """The URI of a schema with twenty timers, whose server has ended."""
    uri = postgres.schema("written")
    with Server("--store", uri, "--migrate") as server:
        for n in range(20):
            server.client.create(id=f"t{n}")
        server.stop()
    return uri


def test_verify_reads_the_log(written):
    done = run("log", "verify", "--store", written)
    assert done.returncode == 0 and done.stderr == "", done
    assert "20 timers: 0 idle, 20 running" in done.stdout, done
    assert run("log", "verify", env={"TIMERD_STORE": written}).stdout == done.stdout


def test_verify_works_beside_a_server(postgres):
    uri = postgres.schema("beside")
    with Server("--store", uri, "--migrate") as server:
        server.client.create(id="tea")
        done = run("log", "verify", "--store", uri)
        assert done.returncode == 0 and "1 timers" in done.stdout, done
        server.client.create(id="more")


def test_dump_prints_each_record_in_order(written):
    done = run("log", "dump", "--store", written)
    assert done.returncode == 0, done
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    created = [line for line in lines if line.get("type") == "created"]
    assert sorted(line["timer"] for line in created) == sorted(f"t{n}" for n in range(20))
    positions = [int(line["position"]) for line in lines]
    assert positions == sorted(set(positions))
    middle = positions[len(lines) // 2]
    rest = run("log", "dump", "--from", middle, "--store", written)
    assert [json.loads(line) for line in rest.stdout.splitlines()] == [line for line in lines if int(line["position"]) >= middle]


def test_damage_is_found(postgres):
    uri = postgres.schema("damaged")
    with Server("--store", uri, "--migrate") as server:
        for n in range(20):
            server.client.create(id=f"t{n}")
        server.stop()
    newest = "previous = (SELECT max(previous) FROM timerd_log)"
    last = "length(data) - 1"
    postgres.execute(f"UPDATE timerd_log SET data = set_byte(data, {last}, (get_byte(data, {last}) + 1) % 256) WHERE {newest}", "damaged")
    done = run("log", "verify", "--store", uri)
    assert done.returncode == 78 and done.stdout == "" and len(done.stderr.splitlines()) == 1, done
    assert "damaged" in done.stderr and "good up to position" in done.stderr, done
    done = run("log", "dump", "--store", uri)
    assert done.returncode == 78 and "damaged" in done.stderr, done
    postgres.execute(f"DELETE FROM timerd_log WHERE {newest}", "damaged")
    assert run("log", "verify", "--store", uri).returncode == 0
    # A row that is missing breaks the chain.
    postgres.execute(f"DELETE FROM timerd_log WHERE last = (SELECT previous FROM timerd_log WHERE {newest})", "damaged")
    done = run("log", "verify", "--store", uri)
    assert done.returncode == 78 and "follows position" in done.stderr, done


@pytest.mark.thorough
def test_logs_that_servers_wrote_in_turn_are_read_verified_and_dumped(postgres):
    schema = "turns"
    uri = postgres.schema(schema)
    server = Server("--store", uri, "--migrate")
    with server:
        for life, end in enumerate((server.stop, server.kill9, server.stop)):
            api = server.client
            for n in range(6):
                api.create(id=f"life-{life}-{n}", watchdog="1d", payload={"life": life})
                if life > 0:
                    api.command(f"life-{life - 1}-{n}", "kick").expect(200)
                    api.command(f"life-{life - 1}-{n}", "suspend" if n % 2 else "reschedule", {"after": "2d"} if n % 2 == 0 else {})
            end()
            check_lives(postgres, uri, schema, life)
            server.start()
            poll(lambda: server.client.get("/readyz").status == 200, 30)
        api = server.client
        shown = timers(api)
        assert len(shown) == 18
        server.kill9()
        server.start()
        poll(lambda: server.client.get("/readyz").status == 200, 30)
        assert timers(server.client) == shown
        server.stop()
    done = run("log", "verify", "--store", uri, timeout=60)
    assert done.returncode == 0, done


def check_lives(postgres, uri, schema, life):
    """Each life has begun an epoch, in the midst of the log, and none of them is in the way of a reader."""
    epochs = postgres.execute("SELECT count(DISTINCT epoch) - 1 FROM timerd_log", schema)
    assert epochs == [str(life + 1)]
    done = run("log", "verify", "--store", uri)
    assert done.returncode == 0 and f"{6 * (life + 1)} timers" in done.stdout, done
    lines = dumped(uri)
    begun = [line for line in lines if line["kind"] == "versionFloor"]
    assert len(begun) >= life + 1, lines
    created = [line["timer"] for line in lines if line.get("type") == "created"]
    assert sorted(created) == sorted(f"life-{past}-{n}" for past in range(life + 1) for n in range(6))
    positions = [int(line["position"]) for line in lines]
    assert positions == sorted(set(positions))


def dumped(uri):
    done = run("log", "dump", "--store", uri, timeout=60)
    assert done.returncode == 0, done
    return [json.loads(line) for line in done.stdout.splitlines()]


def timers(api):
    """What must not change by itself, of all."""
    page = api.get("/v1/timers?limit=1000").expect(200).json
    return {timer["id"]: (timer["version"], timer["state"], timer["payload"], timer["updatedAt"]) for timer in page["timers"]}


@pytest.mark.parametrize(("words", "instead"), [
    (["log", "repair"], "PostgreSQL's backup"), (["log", "repair", "--after", "5", "--yes"], "PostgreSQL's backup"),
    (["backup", "--to", "NEW"], "pg_basebackup"), (["log", "verify", "--data", "NEW"], "leave one out"),
    (["backup", "--data", "NEW", "--to", "NEW"], "leave one out"),
])
def test_what_is_for_a_directory_alone_says_what_to_use(written, tmp_path, words, instead):
    new = tmp_path / "new"
    words = [str(new) if word == "NEW" else word for word in words]
    for done in (run(*words, "--store", written), run(*words, env={"TIMERD_STORE": written})):
        assert done.returncode == 78 and instead in done.stderr and len(done.stderr.splitlines()) == 1, done
        assert not new.exists()


def test_other_stores_have_no_log_of_a_database():
    done = run("log", "verify", "--store", "memory")
    assert done.returncode == 64 and "keeps no log" in done.stderr, done
    done = run("log", "verify", "--store", "postgres://127.0.0.1:1/x")
    assert done.returncode == 1 and "127.0.0.1" in done.stderr, done
