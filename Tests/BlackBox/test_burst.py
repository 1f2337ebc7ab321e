"""Many timers due at one instant: every one fires once, with and without a stream that follows all of them."""

import re

import pytest

from timers import now, poll, shown

pytestmark = pytest.mark.alone

COUNT = 50_000
FIRES = re.compile(r'timerd_fires_total\{reason="(\w+)"\} (\d+)')


def fires(api):
    return sum(int(count) for _, count in FIRES.findall(api.get("/metrics").expect(200).body.decode()))


@pytest.mark.parametrize("follows", [False, True])
def test_a_burst_fires_every_timer_once(new_server, follows):
    api = new_server().client
    api.create(id="far")
    due = shown(now() + 8000)
    for start in range(0, COUNT, 10_000):
        lines = [{"id": f"b-{number}", "at": due} for number in range(start, start + 10_000)]
        api.batch(lines, query="?results=brief", timeout=30).expect(200)
    if follows:
        with api.stream("/v1/events?since=0&types=fired", timeout=60) as stream:
            seen = [event["timer"] for event in stream.take(COUNT)]
        assert sorted(seen) == sorted(f"b-{number}" for number in range(COUNT))
    # Other requests are answered meanwhile.
    poll(lambda: api.timer("far")["state"] == "running" and fires(api) >= COUNT, timeout=50)
    history = api.get("/v1/events?follow=false&types=fired", timeout=50).expect(200).lines
    assert len(history) == len({event["timer"] for event in history}) == COUNT
    assert fires(api) == COUNT
    assert {(event["fire"], event["missed"], event["scheduledAt"]) for event in history} == {(1, 0, due)}
    assert min(event["latenessUs"] for event in history) >= 0
