"""Health, metrics, stats, limits, logs, and a clean stop."""

import json
import math
import time
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

import secrecy
from timers import STATES, poll, timer_in, types

COUNTERS = ["timerd_fires_total", "timerd_http_requests_total", "timerd_events_total", "timerd_wakeups_total", "process_cpu_seconds_total"]
GAUGES = ["timerd_timers", "timerd_streams", "timerd_log_bytes", "process_resident_memory_bytes", "process_open_fds", "timerd_build_info", "timerd_ready",
          "timerd_overdue_seconds", "process_start_time_seconds", "timerd_storage_writable", "timerd_drained", "process_max_fds"]
HISTOGRAMS = ["timerd_fire_lateness_seconds", "timerd_commit_seconds", "timerd_commit_records", "timerd_http_request_seconds", "timerd_lock_hold_seconds"]


def samples(api):
    """{name: [(labels, value)]} through the parser of the Prometheus client."""
    reply = api.get("/metrics").expect(200)
    assert reply.headers["Content-Type"].replace(" ", "").startswith("text/plain;version=0.0.4")
    found = {}
    for family in text_string_to_metric_families(reply.body.decode()):
        assert family.documentation and family.type != "unknown", family.name
        for sample in family.samples:
            assert (sample.labels, sample.value) not in found.get(sample.name, [])
            found.setdefault(sample.name, []).append((sample.labels, sample.value))
    return found


def value(found, name, **labels):
    return sum(value for given, value in found.get(name, []) if labels.items() <= given.items())


def test_the_health_checks(api):
    api.get("/healthz").expect(200)
    api.get("/readyz").expect(200)


def test_the_required_metrics_are_there(api):
    timer_in(api, "completed")
    found = samples(api)
    for name in COUNTERS + GAUGES:
        assert name in found, name
    for name in HISTOGRAMS:
        assert {f"{name}_bucket", f"{name}_sum", f"{name}_count"} <= set(found), name
    assert any(name.startswith("timerd_loop_stall_seconds") for name in found)
    assert {labels["state"] for labels, _ in found["timerd_timers"]} == set(STATES)
    assert {"route", "method", "code"} <= set(found["timerd_http_requests_total"][0][0])


def test_metrics_tell_what_runs_and_since_when(new_server):
    before = time.time()
    server = new_server()
    found = samples(server.client)
    assert found["timerd_build_info"] == [({"version": server.client.get("/v1/stats").json["version"]}, 1)]
    (_, started), = found["process_start_time_seconds"]
    assert before - 2 <= started <= time.time() + 2
    assert found["timerd_ready"] == found["timerd_storage_writable"] == [({}, 1)]
    (_, most), = found["process_max_fds"]
    soft = Path(f"/proc/{server.pid}/limits").read_text().split("Max open files")[1].split()[0]
    assert str(int(most)) == soft
    assert found["timerd_overdue_seconds"] == [({}, 0)]
    assert "timerd_lock_hold_longest_seconds" not in found


def test_every_hold_of_the_lock_is_measured_where_that_is_asked_for(new_server):
    server = new_server(env={"TIMERD_MEASURE_HOLDS": "1"})
    api = server.client
    for _ in range(3):
        api.create(after="1h")
    found = samples(server.owner)
    assert value(found, "timerd_lock_hold_seconds_count") > 3
    longest = {(labels["cause"], labels["time"]): seconds for labels, seconds in found["timerd_lock_hold_longest_seconds"]}
    assert {cause for cause, _ in longest} >= {"turn", "fire", "commit"}
    assert longest["turn", "cpu"] > 0 and longest["turn", "wall"] > 0
    assert "variable looks like a setting" not in server.log_text()


def test_histograms_are_well_formed(api):
    api.get("/v1/timers").expect(200)  # a route has a histogram from its first request on
    found = samples(api)
    for name in HISTOGRAMS:
        series = {}
        for labels, count in found[f"{name}_bucket"]:
            key = tuple(sorted((k, v) for k, v in labels.items() if k != "le"))
            series.setdefault(key, []).append((float(labels["le"]), count))
        for key, buckets in series.items():
            assert buckets == sorted(buckets) and buckets[-1][0] == math.inf
            counts = [count for _, count in buckets]
            assert counts == sorted(counts) and counts[-1] == value(found, f"{name}_count", **dict(key))


def test_metrics_count_what_happens(new_server):
    server = new_server()
    api = server.client
    before = samples(server.owner)
    timer_in(api, "suspended")
    timer_in(api, "cancelled")
    api.command(timer_in(api, "running", every="1h")["id"], "fire").expect(200)
    api.get("/v1/timers/no-such-timer").expect(404)
    with api.stream("/v1/events").expect(200):
        after = samples(server.owner)
    for state, count in {"idle": 0, "running": 1, "suspended": 1, "cancelled": 1, "completed": 0}.items():
        assert value(after, "timerd_timers", state=state) == count
    for name, labels, growth in (("timerd_fires_total", {"reason": "manual"}, 1), ("timerd_events_total", {"type": "created"}, 3),
                                 ("timerd_events_total", {"type": "cancelled"}, 1), ("timerd_streams", {}, 1),
                                 ("timerd_http_requests_total", {"method": "POST", "code": "201"}, 3),
                                 ("timerd_http_requests_total", {"method": "GET", "code": "404"}, 1)):
        assert value(after, name, **labels) - value(before, name, **labels) == growth, name
    assert value(after, "timerd_commit_records_count") > value(before, "timerd_commit_records_count")


def test_labels_are_bounded_whatever_clients_ask_for(api, name):
    for n in range(5):
        api.get(f"/v1/timers/{name}-{n}").expect(404)
        api.get(f"/{name}/{n}").expect(404)
        api.request(f"X{name.upper()}-{n}", "/healthz")
    assert name.lower() not in api.get("/metrics").body.decode().lower()


def test_stats_is_an_object(api):
    stats = api.get("/v1/stats").expect(200).json
    assert isinstance(stats, dict) and stats


def test_streams_end_properly_on_sigterm_and_the_exit_code_is_0(new_server):
    server = new_server()
    api = server.client
    id = api.create(after="1h")["id"]
    with api.stream("/v1/events").expect(200) as ndjson, \
            api.stream("/v1/events", headers={"Accept": "text/event-stream"}).expect(200) as sse, \
            api.stream(f"/v1/timers/{id}/wait?timeout=10m", wait_for_head=False) as waiting:
        api.command(id, "suspend").expect(200)
        assert ndjson.next()["type"] == "suspended"
        poll(lambda: value(samples(api), "timerd_streams") >= 2)
        server.asked.terminate()
        assert ndjson.rest() == []
        list(sse)
        assert sse.ended_properly
        assert waiting.read_head() in (204, 503)
        assert server.asked.wait() == 0
    with pytest.raises(ConnectionRefusedError):
        api.socket()


def test_everything_is_there_after_a_clean_stop(new_server):
    server = new_server()
    api = server.client
    before = {state: timer_in(api, state) for state in STATES}
    history = api.history()
    server.restart()
    api = server.client
    for state, timer in before.items():
        assert api.timer(timer["id"]) | {"remaining": 0} == timer | {"remaining": 0}
    assert api.history() == history
    after = api.create()
    assert after["version"] >= 1 and api.history()[-1]["id"] > history[-1]["id"]


def test_max_timers(new_server):
    api = new_server("--max-timers", "2").client
    first = api.create()["id"]
    api.create()
    api.post("/v1/timers", {"after": "1h"}).problem(429, "timer-limit")
    api.put("/v1/timers/another", {"after": "1h"}).problem(429, "timer-limit")
    assert [line["status"] for line in api.batch([{"after": "1h"}]).expect(200).lines] == [429]
    api.delete(f"/v1/timers/{first}").expect(204)
    api.create()


def test_max_streams(new_server):
    api = new_server("--max-streams", "1").client
    with api.stream("/v1/events").expect(200):
        reply = api.get("/v1/events")
        reply.problem(503, "stream-limit")
        assert reply.headers["Retry-After"].isdigit()
        api.create()
    poll(lambda: open_and_close(api) == 200)


def open_and_close(api):
    with api.stream("/v1/events") as stream:
        return stream.status


def test_the_memory_store_serves_and_forgets(new_server):
    server = new_server("--store", "memory")
    api = server.client
    id = api.create()["id"]
    api.command(id, "suspend").expect(200)
    assert types(api.history_of(id)) == ["created", "activated", "suspended"]
    server.restart()
    server.client.get(f"/v1/timers/{id}").expect(404)


def test_interval_durability_keeps_everything_over_a_clean_stop(new_server):
    server = new_server("--durability", "interval=50ms")
    ids = [server.client.create()["id"] for _ in range(20)]
    server.restart()
    for id in ids:
        server.client.timer(id)


@pytest.mark.skipif(secrecy.ON, reason="no server logs at the default level")
def test_the_access_log_is_off_by_default_and_names_the_request_id_when_on(new_server):
    quiet, loud = new_server(), new_server("--log-level", "debug")
    for server in (quiet, loud):
        server.client.get("/healthz", headers={"Request-Id": "look-for-me"}).expect(200)
    poll(lambda: "look-for-me" in loud.asked.log_text())
    assert "look-for-me" not in quiet.asked.log_text()


def test_json_logs_are_json(new_server):
    server = new_server("--log-level", "debug", "--log-format", "json")
    server.client.get("/healthz", headers={"Request-Id": "look-for-me"}).expect(200)
    poll(lambda: "look-for-me" in server.asked.log_text())
    server.stop()
    lines = [json.loads(line) for line in server.asked.log_text().splitlines()]
    assert lines and all(isinstance(line, dict) for line in lines)
