"""timerd list: its order, and what it looks like on a terminal and elsewhere."""

import re
import signal

import pytest

from patience import PATIENCE
from server import run
from terminal import Terminal

COLOUR = re.compile(r"\x1b\[\d+m")


def shown(server, *arguments, **options):
    done = run("list", *arguments, "--server", server.url, **options)
    assert done.returncode == 0, done
    return done


def ids(text):
    """The ids in the first column, without the title."""
    return [line.split()[0] for line in text.splitlines() if not line.startswith("ID ")]


@pytest.fixture
def five(server, name):
    """Timers of every part of a list, with the label that selects them; their names in the order of the list."""
    api, labels = server.client, {"list": name}
    api.create(id=f"{name}-idle", after="1h", start="manual", labels=labels)
    api.create(id=f"{name}-late", every="2h", labels=labels)
    api.create(id=f"{name}-soon", after="1h", labels=labels)
    api.create(id=f"{name}-hung", watchdog="1ms", labels=labels)
    api.create(id=f"{name}-held", cron="0 9 * * *", labels=labels)
    api.command(f"{name}-held", "suspend").expect(200)
    api.first_fire(f"{name}-hung")
    return [f"{name}-{part}" for part in ("hung", "soon", "late")], {f"{name}-idle", f"{name}-held"}


def test_what_alarms_comes_first_then_what_fires_next(server, five, name):
    first, rest = five
    listed = ids(shown(server, "--label", f"list={name}").stdout)
    assert listed[:3] == first and set(listed[3:]) == rest and len(listed) == 5


def test_a_pipe_gets_no_colours_and_whole_cells(server, name):
    server.client.create(id=f"{name}-", after="1h", labels={"l": "x" * 200})
    done = shown(server, "--id-prefix", f"{name}-", env={"COLUMNS": "40"})
    assert "x" * 200 in done.stdout and "\x1b" not in done.stdout


@pytest.mark.parametrize("columns", [30, 80])
def test_it_fits_the_terminal(server, name, columns):
    server.client.create(id=name + "-" + "i" * 60, after="1h", labels={"l": "x" * 200})
    with Terminal("list", "--id-prefix", f"{name}-", "--server", server.url, columns=columns) as terminal:
        assert terminal.end() == 0
        lines = [COLOUR.sub("", line) for line in terminal.screen.split("\r\n")]
    assert len(lines) == 3 and lines[2] == "" and all(len(line) <= columns for line in lines), lines
    assert lines[1].startswith(name[:8]) and "running" in lines[1] and ("…" in lines[1])


def test_colours_on_a_terminal_unless_it_says_no(server, five, name):
    for env, coloured in [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]:
        with Terminal("list", "--label", f"list={name}", "--server", server.url, columns=120, env=env) as terminal:
            assert terminal.end() == 0
            assert bool(COLOUR.search(terminal.screen)) == coloured, (env, terminal.screen)
            if coloured:
                assert "\x1b[31mstalled\x1b[0m" in terminal.screen and "\x1b[33msuspended\x1b[0m" in terminal.screen


def test_watch_follows_what_happens_until_ctrl_c(server, name):
    name += "-"
    server.client.create(id=name, after="1h")
    with Terminal("list", "--watch", "--id-prefix", name, "--server", server.url) as terminal:
        terminal.read_until(lambda screen: "running" in screen)
        server.client.command(name, "suspend").expect(200)
        terminal.read_until(lambda screen: "suspended" in screen)
        server.client.delete(f"/v1/timers/{name}").expect(204)
        terminal.read_until(lambda screen: "no timers" in screen)
        terminal.process.send_signal(signal.SIGINT)
        assert terminal.process.wait(PATIENCE) == 130


def test_watch_shows_no_more_than_fits(server, name):
    name += "-"
    for number in range(20):
        server.client.create(id=f"{name}{number}", after="1h")
    with Terminal("list", "--watch", "--id-prefix", name, "--server", server.url, lines=10) as terminal:
        screen = terminal.read_until(lambda screen: screen.count("\x1b[H") >= 2)
    drawn = screen.split("\x1b[H")[1]
    assert drawn.count("\r\n") < 10 and drawn.count(name) == 7 and "…" in drawn


def test_watch_waits_for_a_server_that_is_away(new_server):
    server = new_server()
    server.client.create(id="tea", after="1h")
    with Terminal("list", "--watch", "--server", server.url, columns=150) as terminal:
        terminal.read_until(lambda screen: "tea" in screen)
        server.stop()
        terminal.read_until(lambda screen: "timerd serve" in screen)
        before = len(terminal.screen)
        server.restart(same_port=True)
        terminal.read_until(lambda screen: "tea" in screen[before:])
