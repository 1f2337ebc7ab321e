"""Commands that change timers, one or many: create, patch, edit, bulk, batch; and those that tell: next, stats, events, deliveries."""

import json
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

def test_create_takes_the_id_like_every_other_verb(server, name):
    assert done_well(client(server, "create", name, "--after", "4m")).startswith(f"{name}: running, ")
    refused(client(server, "create", name + ".1", "--id", name + ".2", "--after", "4m"), "twice", 64)


def test_bodies_come_from_the_line_a_file_or_standard_input(server, name, tmp_path):
    file = tmp_path / "body.json"
    file.write_text(json.dumps({"after": "1h", "payload": {"from": "file"}}, indent=2))
    assert json.loads(done_well(client(server, "create", f"{name}.1", "--body", f"@{file}", "--json")))["payload"] == {"from": "file"}
    assert json.loads(done_well(client(server, "create", "--body", "-", "--json", stdin=f'{{"id": "{name}.2", "after": "1h"}}')))["id"] == f"{name}.2"
    assert json.loads(done_well(client(server, "create", "--after", "1h", "--payload", f"@{file}", "--json")))["payload"]["after"] == "1h"
    refused(client(server, "create", "--body", f"@{tmp_path}/none"), f"{tmp_path}/none", 64)
    refused(client(server, "create", "--body", "-", stdin="{"), "not JSON", 64)
    refused(client(server, "create", "--body", f"@{tmp_path}"), "directory", 64)
    refused(client(server, "create", "--body", "@/dev/zero"), "over", 64)
    refused(client(server, "create", name, "--body", '{"id": "a", "after": "1h"}'), "400")
    refused(client(server, "create", name, "--body", "[]"), "400")


def test_patch(server, name, tmp_path):
    timer = server.client.create(id=name, after="1h", labels={"a": "b"})
    file = tmp_path / "patch.json"
    file.write_text('{"labels": {"a": null, "c": "d"}}')
    assert done_well(client(server, "patch", name, "--body", f"@{file}")).startswith(name)
    assert server.client.timer(name)["labels"] == {"c": "d"}
    done_well(client(server, "patch", name, "--body", "-", stdin='{"after": null, "every": "2h"}'))
    assert server.client.timer(name)["every"] == "2h"
    refused(client(server, "patch", name, "--body", '{"payload": 1}', "--if-match", f'"v{timer["version"]}"'), "412")
    version = server.client.timer(name)["version"]
    assert json.loads(done_well(client(server, "patch", name, "--body", '{"payload": 1}', "--if-match", f'"v{version}"', "--json")))["payload"] == 1
    refused(client(server, "patch", name, "--body", '{"start": "manual"}'), "400")


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


def test_edit_takes_fields_away_and_changes_the_schedule(server, name, tmp_path):
    server.client.create(id=name, after="1h", payload=7)
    done_well(editing(server, name, "del timer['after']\ndel timer['payload']\ntimer['every'] = '3h'" + SAVE, tmp_path))
    timer = server.client.timer(name)
    assert (timer["kind"], timer["every"], timer["payload"]) == ("repeating", "3h", None)


def test_edit_without_a_change_sends_nothing(server, name, tmp_path):
    version = server.client.create(id=name, after="1h", payload={"a": [1, 2]})["version"]
    done = editing(server, name, SAVE, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", f"{name}: not changed\n") and kept(tmp_path) == []
    assert server.client.timer(name)["version"] == version


@pytest.mark.parametrize("script, word, code", [
    ("sys.exit(3)", "editor failed", 1), ("open(path, 'w').write('{')", "not JSON", 64), ("timer['maxFires'] = -1" + SAVE, "400", 1),
    ("timer['payload'] = {'a': None}" + SAVE, "null", 64), ("import os\nos.unlink(path)", "can't read", 1), ("open(path, 'w').write('[]')", "object", 64),
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

def test_bulk(server, name):
    for number in range(3):
        server.client.create(id=f"{name}.{number}", after="1h", labels={"bulk": name})
    server.client.command(f"{name}.0", "suspend").expect(200)
    label = ("--label", f"bulk={name}")
    assert done_well(client(server, "bulk", "suspend", *label, "--dry-run")) == "3 matched, 2 would change, 1 skipped\n"
    assert done_well(client(server, "bulk", "suspend", *label)) == "3 matched, 2 changed, 1 skipped\n"
    assert json.loads(done_well(client(server, "bulk", "reschedule", *label, "--after", "2h", "--json"))) == {"matched": 3, "changed": 3, "skipped": 0}
    assert done_well(client(server, "bulk", "delete", *label, "--state", "suspended,idle")).startswith("3 matched, 3 changed")
    for arguments in (["cancel"], ["cancle", *label], ["reschedule", *label], ["cancel", "--label", "x"]):
        assert client(server, "bulk", *arguments).returncode == 64
    refused(client(server, "bulk", "cancel", *label, "--state", "runing"), "400")


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


def test_a_batch_goes_in_parts_in_order(new_server, tmp_path):
    """More lines than one request takes, and lines that fill one by their bytes."""
    server = new_server("--store", "memory")
    file = tmp_path / "batch.ndjson"
    lines = ["{}"] * 10_050
    lines[9_998:10_002] = ['{"id": "t", "after": "1h"}', '{"command": "suspend", "id": "t"}', '{"command": "resume", "id": "t"}', '{"command": "x"}']
    file.write_text("\n".join(lines))
    done = client(server, "batch", file, "--json")
    results = [json.loads(line)["status"] for line in done.stdout.splitlines()]
    assert len(results) == 10_050 and results[9_998:10_002] == [201, 200, 200, 400] and set(results) == {200, 201, 400}
    assert done.returncode == 1 and "timerd: line 9998: 400" in done.stderr and "line 10001:" not in done.stderr and "line 10002: 400" in done.stderr
    assert done.stderr.splitlines()[-1] == "timerd: 10047 of 10050 lines refused, 3 done"
    file.write_text(('{"payload": "%s"}\n' % ("x" * 1_000_000)) * 20)
    done = client(server, "batch", file)
    assert done.returncode == 1 and "timerd: line 20: 4" in done.stderr and "20 of 20 lines refused" in done.stderr


def test_a_batch_under_a_key_can_be_sent_again(server, name):
    line = '{"after": "1h", "labels": {"key": "%s"}}\n' % name
    for _ in range(2):
        assert done_well(client(server, "batch", "-", "--idempotency-key", name, stdin=line)) == "1 lines done\n"
    assert len(server.client.get(f"/v1/timers?label=key%3D{name}").json["timers"]) == 1


def test_a_line_that_no_request_could_hold(server, tmp_path):
    file = tmp_path / "batch.ndjson"
    file.write_text("\n" + "x" * (17 << 20))
    refused(client(server, "batch", file), "line 2: over", 64)


def test_a_batch_that_loses_its_server_says_what_is_done():
    refused(run("batch", "-", "--server", "http://127.0.0.1:1", stdin='{"after": "1h"}\n'), "lines 1 to 1: ")


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


# What tells.

def test_next(server, name):
    server.client.create(id=name, cron="0 9 * * *", timeZone="UTC")
    lines = done_well(client(server, "next", name, "--count", "2")).splitlines()
    assert len(lines) == 2 and all(re.fullmatch(r"\S+T09:00:00\.000Z  in \S+", line) for line in lines)
    assert len(json.loads(done_well(client(server, "next", name, "--json")))["fires"]) == 10
    server.client.command(name, "suspend").expect(200)
    done = client(server, "next", name)
    assert (done.returncode, done.stdout) == (0, "") and "no fire is planned" in done.stderr
    refused(client(server, "next", name, "--count", "0"), "count")


def test_stats(server, name):
    server.client.create(id=name, after="1h")
    stats = server.client.get("/v1/stats").json
    told = dict(line.split(maxsplit=1) for line in done_well(client(server, "stats")).splitlines())
    assert f"timerd {stats['version']}, up " in told["server"] and re.match(r"\d+: .*running", told["timers"])
    assert re.fullmatch(r"\d+ pending, \d+ dead", told["deliveries"]) and told["memory"].endswith("MiB")
    assert json.loads(done_well(client(server, "stats", "--json")))["version"] == stats["version"]


def test_events_of_a_timer_by_type_and_since(server, name):
    server.client.create(id=name, after="1h", labels={"of": name})
    for command in ("suspend", "resume", "fire"):
        server.client.command(name, command).expect(200)
    of = ("--timer", name)
    lines = done_well(client(server, "events", *of)).splitlines()
    assert [line.split()[1] for line in lines] == ["created", "activated", "suspended", "resumed", "fired", "completed"]
    events = [json.loads(line) for line in done_well(client(server, "events", "--label", f"of={name}", "--json")).splitlines()]
    assert [event["type"] for event in events] == [line.split()[1] for line in lines]
    behind = done_well(client(server, "events", *of, "--since", events[2]["id"], "--type", "fired,resumed")).splitlines()
    assert [line.split()[1] for line in behind] == ["resumed", "fired"]
    assert len(done_well(client(server, "events", *of, "--limit", "2")).splitlines()) == 2
    refused(client(server, "events", *of, "--since", "x"), "400")
    refused(client(server, "events", "--timer", name + "x"), "404")
    assert len(done_well(client(server, "watch", *of, "--since", "0", "--limit", "3")).splitlines()) == 3


def test_deliveries_say_why_and_when_and_can_be_dropped(server, name):
    server.client.create(id=name, after="1h", webhook={"url": "http://127.0.0.1:9/", "retry": {"maxAttempts": 1}})
    server.client.create(id=f"{name}p", after="1h", webhook={"url": "http://127.0.0.1:9/", "retry": {"initial": "1h", "jitter": 0}})
    for timer in (name, f"{name}p"):
        server.client.command(timer, "fire").expect(200)
    def row(timer):
        lines = done_well(client(server, "deliveries", "--timer", timer)).splitlines()
        return lines[1] if len(lines) > 1 else ""
    poll(lambda: "dead" in row(name) and "unreachable" in row(f"{name}p"))
    assert re.search(r" unreachable  \S+ ago  gone in 6d23h$", row(name)), row(name)
    assert re.search(r" unreachable  \S+ ago  in 59m\d+s$", row(f"{name}p")), row(f"{name}p")
    assert "WHY" in done_well(client(server, "deliveries", "list", "--timer", name))
    ids = [row(timer).split()[0] for timer in (name, f"{name}p")]
    assert done_well(client(server, "deliveries", "drop", *ids)) == f"{ids[0]}: dropped\n{ids[1]}: dropped\n"
    refused(client(server, "deliveries", "drop", ids[0]), "404")
    assert row(name) == ""
    refused(client(server, "deliveries", "redrive", ids[0]), "404")
