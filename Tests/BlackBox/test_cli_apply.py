"""`timerd apply`: a file of timers, what of it differs, and what is pruned."""

import json

import pytest

from server import run


def apply(server, *arguments, stdin=None, file="-", timeout=30):
    return run("apply", file, *arguments, "--server", server.url, stdin=stdin, timeout=timeout)


def done_well(done):
    assert (done.returncode, done.stderr) == (0, ""), done
    return done.stdout


def refused(done, *words, code=64):
    assert done.returncode == code and done.stdout == "", done
    line = done.stderr.splitlines()[-1]
    assert line.startswith("timerd: ") and all(word in line for word in words), line


def lines(*timers):
    return "".join(json.dumps(timer) + "\n" for timer in timers)


def labelled(server, name):
    return {timer["id"] for timer in server.client.get(f"/v1/timers?label=app%3D{name}").json["timers"]}


# How a file is written.

def test_lines_an_array_and_tables_declare_the_same_timers(server, name, tmp_path):
    a, b = f"{name}.a", f"{name}.b"
    timers = [{"id": a, "every": "1h", "labels": {"app": name}, "payload": {"n": 1.5, "list": [1, True, "x"]}}, {"id": b, "at": "2030-01-01T00:00:00Z"}]
    toml = f"""# the timers of a shop
        ["{a}"]
        every = "1h"
        payload = {{ n = 1.5, list = [1, true, "x"] }}
        [{json.dumps(a)}.labels]
        app = "{name}"
        [second]
        id = "{b}"
        at = 2030-01-01T00:00:00Z
        """
    for number, text in enumerate([lines(*timers), "\n\n" + lines(*timers), json.dumps(timers, indent=2), toml]):
        out = done_well(apply(server, stdin=text))
        assert out.splitlines()[-1] == ("2 created, 0 changed, 0 unchanged" if number == 0 else "0 created, 0 changed, 2 unchanged"), (text, out)
    assert server.client.timer(a)["payload"] == timers[0]["payload"] and server.client.timer(b)["at"] == "2030-01-01T00:00:00.000Z"
    file = tmp_path / "timers.toml"
    file.write_text(toml)
    assert done_well(apply(server, file=file)) == "0 created, 0 changed, 2 unchanged\n"


@pytest.mark.parametrize("text", ["", "\n \n", "[]", "# nothing\n"])
def test_an_empty_file_does_nothing(server, text):
    assert done_well(apply(server, stdin=text)) == "0 created, 0 changed, 0 unchanged\n"
    refused(apply(server, "--prune", "app=shop", stdin=text), "no timer", "app=shop")


@pytest.mark.parametrize("text, words", [
    ('{"id": "a", "every": "1h"}\nnonsense\n', ["line 2", "not JSON"]), ('{"id": "a"}\n[1]\n', ["line 2", "object"]),
    ('{"every": "1h"}\n', ["line 1", "`id`"]), ('{"id": 5}\n', ["line 1", "5"]), ('{"id": "a b"}\n', ["line 1", '"a b"']), ('{"id": "batch"}\n', ["batch"]),
    ('{"id": "a", "a": 1, "a": 2}\n', ["line 1", "not JSON"]),
    ('\n{"id": "tea"}\n{"id": "b"}\n\n{"id": "tea"}\n', ["tea", "twice", "lines 2 and 5"]), ('[\n{"id": "tea"},\n\n{"id": "tea"}]', ["lines 2 and 4"]),
    ('[a]\nid = "tea"\n[tea]\nevery = "1h"\n', ["tea", "lines 1 and 3"]), ("[tea]\nevery = 1h\n", ["line 2"]), ('every = "1h"\n', ["line 1", "table"]),
    ("[tea]\nevery = inf\n", ["line 1", "every", "inf"]), ('[{"id": "a"}', ["no end"]), ('[{"id": "a"},]', ["missing"]), ('[{"id": "a"}] x', ["follows"]),
])
def test_a_file_with_a_mistake_is_refused_before_anything_is_sent(server, text, words):
    refused(apply(server, stdin=text), *words)
    refused(run("apply", "-", "--server", "http://127.0.0.1:1", stdin=text), *words)


def test_a_file_that_can_not_be_read(server, tmp_path):
    refused(apply(server, file=tmp_path / "none"), str(tmp_path / "none"))
    refused(apply(server, file=tmp_path), "directory")
    refused(apply(server, file="/dev/zero"), "over")


# What differs.

def test_what_differs_is_shown_and_changed(server, name):
    old = {"id": name, "every": "1h", "labels": {"app": name, "tier": "a"}, "payload": [1], "webhook": {"url": "http://127.0.0.1:9/a"}}
    assert done_well(apply(server, stdin=lines(old))).splitlines()[0] == f"+ {name}"
    server.client.command(name, "suspend").expect(200)
    version = server.client.timer(name)["version"]
    assert done_well(apply(server, stdin=lines(old | {"every": "60m"}))) == "0 created, 0 changed, 1 unchanged\n"
    assert server.client.timer(name)["version"] == version
    new = {"id": name, "every": "2h", "labels": {"app": name, "team": "blue"}, "webhook": {"url": "http://127.0.0.1:9/b"}}
    done = apply(server, "--dry-run", stdin=lines(new))
    assert (done.returncode, done.stderr) == (2, ""), done
    first, *fields, last = done.stdout.splitlines()
    assert (first, last) == (f"~ {name}", "0 to create, 1 to change, 0 unchanged")
    assert set(fields) == {'    - every: "1h"', '    + every: "2h"', "    - payload: [1]", '    - labels.tier: "a"', '    + labels.team: "blue"',
                           '    - webhook.url: "http://127.0.0.1:9/a"', '    + webhook.url: "http://127.0.0.1:9/b"'}
    assert server.client.timer(name)["version"] == version
    shown = done_well(apply(server, stdin=lines(new))).splitlines()
    assert shown[:-1] == [first, *fields] and shown[-1] == "0 created, 1 changed, 0 unchanged"
    timer = server.client.timer(name)
    assert (timer["state"], timer["every"], timer["payload"]) == ("suspended", "2h", None)
    assert apply(server, "--dry-run", stdin=lines(new)).returncode == 0


def test_differences_as_json(server, name):
    server.client.create(id=f"{name}.a", every="1h")
    done = apply(server, "--dry-run", "--json", stdin=lines({"id": f"{name}.a", "every": "2h"}, {"id": f"{name}.b", "after": "1h"}))
    change, create, counts = map(json.loads, done.stdout.splitlines())
    assert change == {"action": "change", "id": f"{name}.a", "fields": [{"field": "every", "old": "1h", "new": "2h"}]}
    assert create == {"action": "create", "id": f"{name}.b", "fields": [{"field": "after", "old": None, "new": "1h"}]}
    assert done.returncode == 2 and counts == {"created": 1, "changed": 1, "deleted": 0, "unchanged": 0}


def test_secrets_are_not_shown(server, name):
    webhook = {"url": "http://127.0.0.1:9/", "secret": "whsec_c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0", "headers": {"Authorization": "Bearer hidden"}}
    timer = {"id": name, "after": "1h", "webhook": webhook}
    for text in (lines(timer), lines(timer | {"webhook": webhook | {"url": "http://127.0.0.1:9/b"}})):
        out = done_well(apply(server, stdin=text))
        assert "whsec_c2" not in out and "hidden" not in out and "***" in out


def test_a_refused_timer_is_named_and_the_others_stand(server, name):
    text = lines({"id": f"{name}.a", "every": "1h", "labels": {"app": name}}, {"id": f"{name}.b", "every": "soon", "labels": {"app": name}})
    server.client.create(id=f"{name}.c", every="1h", labels={"app": name})
    for flags in (["--dry-run"], []):
        done = apply(server, *flags, "--prune", f"app={name}", stdin=text)
        first, last = done.stderr.splitlines()
        assert done.returncode == 1 and first.startswith("timerd: line 2: 400 ") and "every" in first, done
        assert last == "timerd: 1 of 2 timers refused; nothing is pruned"
        assert f"- {name}.c" not in done.stdout
        assert labelled(server, name) == {f"{name}.c"} | (set() if flags else {f"{name}.a"})


# What is pruned.

def test_what_has_the_label_and_is_not_in_the_file_is_pruned(server, name):
    keep, gone, other = f"{name}.keep", f"{name}.gone", f"{name}.other"
    for id, app in [(keep, name), (gone, name), (other, "x")]:
        server.client.create(id=id, every="1h", labels={"app": app})
    server.client.command(gone, "cancel").expect(200)
    text = lines({"id": keep, "every": "1h", "labels": {"app": name}})
    done = apply(server, "--prune", f"app={name}", "--dry-run", stdin=text)
    assert (done.returncode, done.stdout) == (2, f"- {gone}\n0 to create, 0 to change, 1 to delete, 1 unchanged\n"), done
    assert labelled(server, name) == {keep, gone}
    assert done_well(apply(server, "--prune", f"app={name}", stdin=text)) == f"- {gone}\n0 created, 0 changed, 1 deleted, 1 unchanged\n"
    assert labelled(server, name) == {keep}
    server.client.timer(other)
    assert done_well(apply(server, "--prune", f"app={name}", stdin=text)) == "0 created, 0 changed, 1 unchanged\n"


def test_prune_is_refused_unless_every_timer_has_the_label(server, name):
    text = lines({"id": f"{name}.a", "every": "1h", "labels": {"app": name}}, {"id": f"{name}.b", "every": "1h"})
    refused(apply(server, "--prune", f"app={name}", stdin=text), "line 2", f"{name}.b", f"app={name}")
    for label in ("app", "=x", ""):
        refused(apply(server, "--prune", label, stdin=text), "key=value")
    assert labelled(server, name) == set()


# Many.

@pytest.mark.timeout(300)
def test_a_long_file_goes_in_parts(new_server, tmp_path):
    server = new_server("--store", "memory")
    file = tmp_path / "timers.ndjson"
    file.write_text("".join('{"id": "t%d", "every": "1h", "labels": {"app": "shop"}}\n' % n for n in range(10_050)))
    out = done_well(apply(server, "--json", file=file, timeout=120)).splitlines()
    assert [json.loads(line)["id"] for line in out[:-1]] == [f"t{n}" for n in range(10_050)]
    assert json.loads(out[-1]) == {"created": 10_050, "changed": 0, "deleted": 0, "unchanged": 0}
    file.write_text('{"id": "t7", "every": "1h", "labels": {"app": "shop"}}\n')
    out = done_well(apply(server, "--prune", "app=shop", file=file, timeout=120)).splitlines()
    assert out[-1] == "0 created, 0 changed, 10049 deleted, 1 unchanged" and len(out) == 10_050


def test_without_a_server_nothing_is_done():
    done = run("apply", "-", "--server", "http://127.0.0.1:1", stdin='{"id": "tea", "after": "1h"}\n')
    assert done.returncode == 1 and done.stdout == "" and "is `timerd serve` running?" in done.stderr
