"""`timerd drain`, `undrain`, `export` and `import`."""

import errno
import json
import os
import stat
import subprocess

import pytest

from faults import OTHER
from moving import all_timers, export, without
from server import binary, environment, run
from webhooks import SECRET


MANY = 3000


@pytest.fixture
def pair(new_server):
    source, target = new_server(), new_server()
    for n in range(50):
        source.client.create(id=f"t{n:02}", after="1h", webhook={"url": "http://127.0.0.1:9/", "secret": SECRET})
    return source, target


def test_a_move_by_a_file(pair, tmp_path):
    source, target = pair
    file = tmp_path / "timers.ndjson"
    done = run("export", "--drain", "--server", source.url, file)
    assert done.returncode == 0 and done.stdout == "" and "52 lines exported" in done.stderr, done
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 and os.listdir(tmp_path) == ["timers.ndjson"]
    assert source.owner.get("/readyz").expect(503).json == {"status": "drained"}
    done = run("import", "--server", target.url, file)
    assert done.returncode == 0 and done.stdout == "50 timers and 0 deliveries imported\n", done
    before, after = all_timers(source.client), all_timers(target.client)
    assert {id: without(timer, "remaining") for id, timer in after.items()} == {id: without(timer, "remaining") for id, timer in before.items()}
    # Again changes nothing.
    done = run("import", "--server", target.url, "--on-conflict", "replace", file)
    assert done.stdout == "0 timers and 0 deliveries imported; the whole export was imported before\n", done
    done = run("import", "--server", target.url, "--json", file)
    assert json.loads(done.stdout) == {"timers": 0, "deliveries": 0, "skipped": 0}
    assert run("undrain", "--server", source.url).stdout == "undrained\n"
    assert run("drain", "--server", source.url).stdout == "drained\n"
    assert json.loads(run("drain", "--json", "--server", source.url).stdout) == {"drained": True, "attemptsUnderWay": 0}


def test_a_move_by_a_pipe(pair):
    source, target = pair
    out = subprocess.Popen([binary(), "export", "--drain", "--server", source.url, "-"], stdout=subprocess.PIPE, env=environment())
    done = subprocess.run([binary(), "import", "--server", target.url, "-"], stdin=out.stdout, capture_output=True, text=True, env=environment(), timeout=30)
    assert out.wait(30) == 0 and done.stdout.startswith("50 timers"), done
    assert len(all_timers(target.client)) == 50


def test_what_is_refused_is_told(pair, tmp_path):
    source, target = pair
    file = tmp_path / "timers.ndjson"
    assert run("export", "--server", source.url, file).returncode == 0
    done = run("import", "--server", target.url, file)
    assert done.returncode == 1 and "not drained" in done.stderr, done
    assert run("import", "--copy", "--server", target.url, file).returncode == 0
    assert run("export", "--drain", "--mask-secrets", "--server", source.url, file).returncode == 0
    assert SECRET not in file.read_text()
    done = run("import", "--server", target.url, file)
    assert done.returncode == 1 and "line 2: " in done.stderr and "mask" in done.stderr, done
    done = run("import", "--drop-secrets", "--server", target.url, file)
    assert done.returncode == 1 and "a timer with this id exists" in done.stderr, done
    done = run("import", "--drop-secrets", "--on-conflict", "replace", "--server", target.url, file)
    assert done.stdout == "50 timers and 0 deliveries imported\n", done
    assert run("import", "--on-conflict", "maybe", file).returncode == 64
    done = run("export", "--server", "http://127.0.0.1:9", tmp_path / "none")
    assert done.returncode == 1 and not (tmp_path / "none").exists() and not (tmp_path / "none.partial").exists(), done


@pytest.mark.parametrize("call, every, line", [("write", 1, "can't write"), ("sync", 1, "can't write"), ("sync", 2, "can't sync")])
def test_an_export_that_the_disk_does_not_take_fails_at_once(pair, faults, call, every, line):
    source, _ = pair
    faults.data.mkdir()
    faults.set(call, files=OTHER, every=every, error=errno.ENOSPC)
    done = run("export", "--server", source.url, faults.data / "timers.ndjson", env=faults.env)
    assert done.returncode == 1 and done.stderr.startswith(f"timerd: {line}") and done.stderr.count("\n") == 1, done
    assert not (faults.data / "timers.ndjson.partial").exists()


def test_an_export_that_is_not_whole_is_not_taken_for_whole(pair, tmp_path):
    source, target = pair
    run("drain", "--server", source.url)
    lines = export(source.client, "?secrets=true")
    file = tmp_path / "cut.ndjson"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines[:-1]))
    done = run("import", "--server", target.url, file)
    assert done.returncode == 1 and "not whole" in done.stderr, done
    file.write_text('{"timer": {}}\n')
    done = run("import", "--server", target.url, file)
    assert done.returncode == 64 and "no export" in done.stderr, done


@pytest.mark.thorough
@pytest.mark.undivided
def test_an_import_goes_on_after_a_restart_of_the_server(new_server, tmp_path):
    source, target = new_server(), new_server()
    source.client.batch([f'{{"id": "t{n}", "after": "1h"}}' for n in range(MANY)], "?results=brief").expect(200)
    file = tmp_path / "timers.ndjson"
    run("export", "--drain", "--server", source.url, file)
    target.listen = [target.bound]
    sending = subprocess.Popen([binary(), "import", "--server", target.url, file], stdout=subprocess.PIPE, text=True, env=environment())
    while sum(target.client.get("/v1/stats").json["timers"].values()) < 100:
        assert sending.poll() is None
    target.kill9()
    target.start()
    out, _ = sending.communicate(timeout=50)
    assert sending.returncode == 0, out
    assert len(all_timers(target.client)) == MANY
    told = [event["timer"] for event in target.client.history()]
    assert len(told) == len(set(told)) == MANY
