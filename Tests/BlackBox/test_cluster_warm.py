"""A standby that follows the log of another server: what it has missed, and what it has when it takes over."""

import re
import signal
import threading
from http.client import HTTPException

import pytest

from client import Client
from moving import all_timers
from test_cluster_standby import TAKE_OVER, metric, taken_over, timers, warmed_up
from timers import poll

pytestmark = [pytest.mark.xdist_group("postgres"), pytest.mark.thorough]


def reread(server):
    """How often a standby began to read the log again, by cause."""
    text = server.client.get("/metrics").body.decode()
    return {cause: int(count) for cause, count in re.findall(r'^timerd_standby_reread_total\{cause="(\w+)"\} (\d+)$', text, re.M)}


def schema_of(database):
    return database.rsplit("%3D", 1)[1]


def paused(server):
    """Stops a process for the length of a with block."""
    class Pause:
        def __enter__(self):
            server.process.send_signal(signal.SIGSTOP)

        def __exit__(self, *_):
            server.process.send_signal(signal.SIGCONT)
    return Pause()


def test_every_change_that_was_answered_is_there_after_kill_9_under_load(new_node):
    first, second = new_node(), new_node()
    warmed_up(second)
    answered, isOver = [dict() for _ in range(4)], threading.Event()

    def change(number):
        """Makes, suspends and deletes timers, and notes what was answered, until the server is gone."""
        client = Client(first.port)
        try:
            for n in range(100_000):
                if isOver.is_set():
                    return
                id = f"c{number}-{n}"
                client.create(id=id, labels={"of": "batch"})
                answered[number][id] = "running"
                if n % 3 == 1:
                    answered[number].pop(id)
                    client.command(id, "suspend").expect(200)
                    answered[number][id] = "suspended"
                if n % 3 == 2:
                    answered[number].pop(id)
                    client.delete(f"/v1/timers/{id}").expect(204)
                    answered[number][id] = None
        except (OSError, HTTPException, AssertionError):
            return

    clients = [threading.Thread(target=change, args=(number,)) for number in range(len(answered))]
    for client in clients:
        client.start()
    poll(lambda: sum(map(len, answered)) > 400)
    first.kill9()
    isOver.set()
    for client in clients:
        client.join()
    api = taken_over(second)
    found = {id: timer["state"] for id, timer in all_timers(api).items()}
    for changes in answered:
        assert {id: found.get(id) for id in changes} == changes
    assert metric(api, "timerd_takeovers_total") == 1


def test_a_standby_killed_while_it_reads_for_the_first_time_reads_again(new_node):
    first, second = new_node(), new_node()
    for part in range(20):
        first.client.batch([{"id": f"p{part}-{n}", "after": "1h"} for n in range(1000)]).expect(200)
    first.client.batch([{"id": f"t{n}", "after": "1h", "labels": {"of": "batch"}} for n in range(100)]).expect(200)
    second.kill9()
    second.launch()
    second.come_up()
    poll(lambda: second.client.get("/readyz").json["status"] in ("warming", "standby"))
    second.kill9()
    first.client.delete("/v1/timers/t7").expect(204)
    second.start()
    warmed_up(second)
    shown = timers(first.client)
    first.kill9()
    api = taken_over(second)
    assert len(shown) == 99 and timers(api) == shown
    assert sum(api.get("/v1/stats").expect(200).json["timers"].values()) == 20_099


def test_a_standby_that_compaction_overtook_keeps_no_deleted_timer(new_node, postgres, database):
    first, second = new_node("--retain-events", "100ms,64KiB"), new_node("--retain-events", "100ms,64KiB")
    api, schema = first.client, schema_of(database)
    api.batch([{"id": f"t{n}", "after": "1h", "labels": {"of": "batch"}} for n in range(200)]).expect(200)
    warmed_up(second)
    end = postgres.execute("SELECT max(last) FROM timerd_log", schema)[0]
    with paused(second):
        for n in range(0, 200, 2):
            api.delete(f"/v1/timers/t{n}").expect(204)

        def is_overtaken():
            api.batch([{"id": f"g{n}", "after": "1h", "payload": "x" * 50_000} for n in range(20)]).expect(200)
            for n in range(20):
                api.delete(f"/v1/timers/g{n}").expect(204)
            return postgres.execute(f"SELECT count(*) FROM timerd_log WHERE previous BETWEEN 0 AND {end} AND octet_length(data) > 0", schema) == ["0"]
        poll(is_overtaken, TAKE_OVER)
        shown = timers(api)
    poll(lambda: reread(second)["overtaken"] == 1, TAKE_OVER)
    poll(lambda: metric(second.client, "timerd_standby_lag_seconds") == 0, TAKE_OVER)
    first.kill9()
    api = taken_over(second)
    assert len(shown) == 100 and timers(api) == shown
    assert sum(api.get("/v1/stats").expect(200).json["timers"].values()) == 100


def test_a_standby_that_has_rows_to_read_says_how_many(new_node):
    """At any server, as of a beat: a standby reads what its last beat showed, so that it lacks what came since."""
    first, second = new_node(), new_node()
    warmed_up(second)

    def lag(asked):
        nodes = asked.client.get("/v1/cluster").expect(200).json["nodes"]
        by_url = {node["url"]: (node["lagRows"], node["lagBytes"]) for node in nodes}
        assert by_url[first.url] == (None, None)
        return by_url.get(second.url, (None, None))  # a beat may be under way that shows the server

    def measured():
        return metric(second.client, "timerd_standby_lag_rows"), metric(second.client, "timerd_standby_lag_bytes")

    for look in (lambda: lag(first), lambda: lag(second), measured):
        def lacks_rows():
            first.client.create(after="1h")
            rows, stored = look()
            return rows and stored >= rows
        poll(lacks_rows)
    for look in (lambda: lag(first), lambda: lag(second), measured):
        poll(lambda: look() == (0, 0))
    assert metric(second.client, "timerd_standby_warm") == metric(second.client, "timerd_standbys_fit") == 1
    assert metric(first.client, "timerd_standbys_fit") == 1


def test_a_cold_standby_reads_nothing_before_it_takes_over(new_node):
    first, second = new_node(), new_node("--standby", "cold")
    first.client.batch([{"id": f"t{n}", "after": "1h", "labels": {"of": "batch"}} for n in range(100)]).expect(200)
    shown = timers(first.client)
    assert second.client.get("/readyz").json["status"] == "standby"
    assert reread(second) == {}
    first.kill9()
    assert timers(taken_over(second)) == shown
