"""Commands that change timers, as far as that shows by the real program: standard input, editors, progress, webhooks."""

import os
import re

import pytest

from server import run
from terminal import Terminal
from timers import poll


def client(server, *arguments, **options):
    return run(*arguments, "--server", server.url, **options)


def done_well(done):
    assert (done.returncode, done.stderr) == (0, ""), done
    return done.stdout


def refused(done, word, code=1):
    assert done.returncode == code and word in done.stderr and done.stdout == "", done


# One timer.

def test_bodies_come_from_standard_input(server, name):
    done_well(client(server, "create", name, "--body", "-", stdin='{"after": "1h"}'))
    done_well(client(server, "patch", name, "--body", "-", stdin='{"after": null, "every": "2h"}'))
    assert server.client.timer(name)["every"] == "2h"
    refused(client(server, "create", "--body", "-", stdin="{"), "not JSON", 64)


def editing(server, name, script, tmp_path, *, visual=None):
    """Runs edit with a Python script as the editor, which gets the path as sys.argv[1]."""
    path = tmp_path / "editor.py"
    path.write_text("import json, sys\npath = sys.argv[1]\ntimer = json.load(open(path))\n" + script)
    env = {"EDITOR": f"python3 {path}", "TMPDIR": str(tmp_path)}
    return client(server, "edit", name, env=env | ({"VISUAL": visual} if visual else {}))


SAVE = "\njson.dump(timer, open(path, 'w'), indent=4)\n"


def kept(tmp_path):
    return [entry for entry in os.listdir(tmp_path) if entry.startswith("timerd-")]


def test_edit_sends_what_changed(server, name, tmp_path):
    server.client.create(id=name, after="1h", labels={"a": "b", "gone": "x"}, payload={"n": 1.50, "list": [1, None], "same": {"x": None}})
    script = "assert 'state' not in timer and 'id' not in timer and timer['payload']['list'] == [1, None]\n" \
             "timer['labels'] = {'a': 'c', 'new': 'é'}\ndel timer['payload']['n']\ntimer['payload']['list'] = [None]\ntimer['maxFires'] = 3"
    before = server.client.timer(name)
    assert done_well(editing(server, name, script + SAVE, tmp_path)).startswith(f"{name}: running")
    after = server.client.timer(name)
    assert after["labels"] == {"a": "c", "new": "é"}
    assert after["payload"] == {"list": [None], "same": {"x": None}} and after["maxFires"] == 3
    assert after["version"] == before["version"] + 1 and after["nextFireAt"] == before["nextFireAt"]
    assert kept(tmp_path) == []


def test_edit_without_a_change_sends_nothing(server, name, tmp_path):
    version = server.client.create(id=name, after="1h", payload={"a": [1, 2]})["version"]
    done = editing(server, name, SAVE, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", f"{name}: not changed\n") and kept(tmp_path) == []
    assert server.client.timer(name)["version"] == version


@pytest.mark.parametrize("script, word, code", [
    ("sys.exit(3)", "editor failed", 1), ("open(path, 'w').write('{')", "not JSON", 64), ("import os\nos.unlink(path)", "can't read", 1),
])
def test_an_edit_that_goes_wrong_changes_nothing_and_keeps_the_text(server, name, tmp_path, script, word, code):
    version = server.client.create(id=name, after="1h", payload={"a": 1})["version"]
    done = editing(server, name, script, tmp_path)
    refused(done, word, code)
    assert server.client.timer(name)["version"] == version
    assert "unlink" in script or [str(tmp_path / file) for file in kept(tmp_path)] == [done.stderr.split()[-1]]


def test_an_edit_of_what_changed_meanwhile_is_refused(server, name, tmp_path):
    server.client.create(id=name, after="1h")
    script = f"import urllib.request as r\nr.urlopen(r.Request('{server.url}/v1/timers/{name}/suspend', method='POST'))\ntimer['maxFires'] = 2"
    refused(editing(server, name, script + SAVE, tmp_path), "412")
    assert server.client.timer(name)["maxFires"] is None and len(kept(tmp_path)) == 1


def test_the_visual_editor_wins_and_only_its_owner_reads_the_file(server, name, tmp_path):
    server.client.create(id=name, after="1h")
    seen = tmp_path / "seen"
    done = editing(server, name, "sys.exit(9)", tmp_path, visual=f"stat -c %a > {seen}")
    assert done.returncode == 0 and seen.read_text() == "600\n", done


# Many timers.

def test_batch_names_each_refused_line(server, name, tmp_path):
    lines = ['{"id": "%s.1", "after": "1h"}' % name, "", "  ", "nonsense", '{"id": "%s.1", "after": "1h"}' % name, '{"command": "cancel", "id": "%s.1"}' % name,
             '{"id": "%s.2", "after": "1h"}' % name]
    file = tmp_path / "batch.ndjson"
    file.write_text("\n".join(lines))
    done = client(server, "batch", file)
    first, second, last = done.stderr.splitlines()
    assert done.returncode == 1 and first.startswith("timerd: line 4: 400 ") and second.startswith("timerd: line 5: 409 timer-exists")
    assert last == "timerd: 2 of 5 lines refused, 3 done"
    assert server.client.timer(f"{name}.1")["state"] == "cancelled" and server.client.timer(f"{name}.2")["state"] == "running"
    assert done_well(client(server, "batch", "-", stdin=lines[5].replace("cancel", "delete"))) == "1 lines done\n"
    assert done_well(client(server, "batch", "-", stdin="\n\n")) == "0 lines done\n"


# Progress.

@pytest.mark.undivided
def test_long_work_shows_its_progress_on_a_terminal(new_server, tmp_path):
    server = new_server()
    file = tmp_path / "batch.ndjson"
    file.write_text("".join('{"id": "t%d", "after": "1h"}\n' % n for n in range(200)))
    for words, shown in [(["batch", file, "--server", server.url], "200 lines, 0 refused"), (["log", "verify", "--data", server.data], " rows, "),
                         (["backup", "--data", server.data, "--to", tmp_path / "copy"], " rows, ")]:
        with Terminal(*words, errors=True) as terminal:
            assert terminal.end() == 0
            assert f"\r\x1b[K" in terminal.screen and shown in terminal.screen and terminal.screen.endswith("\r\x1b[K"), terminal.screen
    for words in (["log", "verify", "--data", server.data], ["backup", "--data", server.data, "--to", tmp_path / "other"]):
        done_well(run(*words))


# What is on its way.

def test_deliveries_say_why_and_when_and_can_be_dropped(server, name):
    server.client.create(id=name, after="1h", webhook={"url": "http://127.0.0.1:9/", "retry": {"maxAttempts": 1}})
    server.client.create(id=f"{name}p", after="1h", webhook={"url": "http://127.0.0.1:9/", "retry": {"initial": "1h", "jitter": 0}})
    for timer in (name, f"{name}p"):
        server.client.command(timer, "fire").expect(200)
    def row(timer):
        lines = done_well(client(server, "deliveries", "--timer", timer)).splitlines()
        return lines[1] if len(lines) > 1 else ""
    poll(lambda: "dead" in row(name) and "unreachable" in row(f"{name}p"))
    assert re.search(r" unreachable  \S+ ago  expires in 6d23h$", row(name)), row(name)
    assert re.search(r" unreachable  \S+ ago  in 59m\d+s$", row(f"{name}p")), row(f"{name}p")
    assert "WHY" in done_well(client(server, "deliveries", "list", "--timer", name))
    ids = [row(timer).split()[0] for timer in (name, f"{name}p")]
    assert done_well(client(server, "deliveries", "drop", *ids)) == f"{ids[0]}: dropped\n{ids[1]}: dropped\n"
    refused(client(server, "deliveries", "drop", ids[0]), "404")
    assert row(name) == ""
    refused(client(server, "deliveries", "redrive", ids[0]), "404")
