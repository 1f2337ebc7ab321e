"""`timerd apply`: a file of timers, what of it differs, and what is pruned."""

from server import run


def test_a_file_is_applied_and_pruned(server, name, tmp_path):
    file = tmp_path / "timers.toml"

    def apply(*flags, code=0):
        done = run("apply", file, *flags, "--server", server.url)
        assert (done.returncode, done.stderr) == (code, ""), done
        return done.stdout

    file.write_text(f'[{name}-a]\nevery = "1h"\nlabels = {{ app = "{name}" }}\n[{name}-b]\nevery = "1h"\nlabels = {{ app = "{name}" }}\n')
    assert apply().endswith("2 created, 0 changed, 0 unchanged\n")
    file.write_text(f'[{name}-a]\nevery = "2h"\nlabels = {{ app = "{name}" }}\n')
    shown = f'~ {name}-a\n    - every: "1h"\n    + every: "2h"\n- {name}-b\n'
    flags = ("--prune", f"app={name}")
    assert apply(*flags, "--dry-run", code=2) == shown + "0 to create, 1 to change, 1 to delete, 0 unchanged\n"
    assert apply(*flags) == shown + "0 created, 1 changed, 1 deleted, 0 unchanged\n"
    assert server.client.timer(f"{name}-a")["every"] == "2h" and server.client.get(f"/v1/timers/{name}-b").status == 404


def test_standard_input_is_read_and_a_refused_timer_is_named(server, name):
    lines = f'{{"id": "{name}", "every": "1h"}}\n{{"id": "{name}-b", "every": "soon"}}\n'
    done = run("apply", "-", "--server", server.url, stdin=lines)
    first, last = done.stderr.splitlines()
    assert done.returncode == 1 and first.startswith("timerd: line 2: 400 ") and last == "timerd: 1 of 2 timers refused"
    assert server.client.timer(name)["state"] == "running"
