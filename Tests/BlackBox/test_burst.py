"""Many timers due at one instant: every one fires once, with and without a stream that follows all of them."""

import re

import pytest

from timers import now, poll, shown

pytestmark = pytest.mark.alone

FIRES = re.compile(r'timerd_fires_total\{reason="(\w+)"\} (\d+)')


def fires(api):
    return sum(int(count) for _, count in FIRES.findall(api.get("/metrics").expect(200).body.decode()))


@pytest.mark.parametrize("count, follows", [
    (2000, True), *(pytest.param(50_000, follows, marks=pytest.mark.heavy) for follows in (False, True)),
])
def test_a_burst_fires_every_timer_once(new_server, count, follows):
    api = new_server().client
    api.create(id="far")
    due = shown(now() + 2000 + count // 8)
    for start in range(0, count, 2000):
        lines = [{"id": f"b-{number}", "at": due} for number in range(start, start + 2000)]
        api.batch(lines, query="?results=brief", timeout=30).expect(200)
    if follows:
        with api.stream("/v1/events?since=0&types=fired", timeout=60) as stream:
            seen = [event["timer"] for event in stream.take(count)]
        assert sorted(seen) == sorted(f"b-{number}" for number in range(count))
    # Other requests are answered meanwhile.
    poll(lambda: api.timer("far")["state"] == "running" and fires(api) >= count, timeout=50)
    history = api.get("/v1/events?follow=false&types=fired", timeout=50).expect(200).lines
    assert len(history) == len({event["timer"] for event in history}) == count
    assert fires(api) == count
    assert {(event["fire"], event["missed"], event["scheduledAt"]) for event in history} == {(1, 0, due)}
    assert min(event["latenessUs"] for event in history) >= 0
