"""An outage of the server never makes the watchdog of a healthy client alarm."""

import time

import pytest

from outages import stand_still, stay_down
from timers import duration

pytestmark = [pytest.mark.alone, pytest.mark.timely]

PERIOD = 3.0
OUTAGE = 2 * PERIOD


def stalled(api):
    return [event["timer"] for event in api.history("&types=fired")]


def make(api):
    api.create(id="dog", watchdog=f"{PERIOD:.0f}s")
    api.create(id="other-clock", watchdog=f"{PERIOD:.0f}s", clock="continuous")


def kick_until(api, end):
    """Kicks as a healthy client does, and returns how often."""
    kicks = 0
    while time.monotonic() < end:
        dog = api.command("dog", "kick").expect(200).json
        assert dog["health"] == "ok", dog
        kicks += 1
        # The pause of a client that kicks in time; no alarm comes meanwhile.
        api.get(f"/v1/timers/dog/wait?timeout={int(PERIOD * 100)}ms").expect(204)
    return kicks


def test_a_stopped_process_is_nobodys_silence(new_server):
    server = new_server()
    api = server.client
    make(api)
    stand_still(server, OUTAGE)
    kicks = kick_until(api, time.monotonic() + PERIOD)
    assert stalled(api) == ["other-clock"]
    assert api.timer("dog")["kickCount"] == kicks


def test_downtime_is_nobodys_silence(new_server):
    server = new_server()
    make(server.client)
    server.kill9()
    api = stay_down(server, OUTAGE)
    dog = api.timer("dog")
    assert (dog["health"], dog["fireCount"]) == ("ok", 0)
    # The rest of the period is unchanged, but for the short time that the server was up.
    assert PERIOD * 500 < duration(dog["remaining"]) <= PERIOD * 1000
    kick_until(api, time.monotonic() + PERIOD / 2)
    assert stalled(api) == ["other-clock"]


def test_silence_counts_once_the_server_is_up_again(new_server):
    server = new_server()
    make(server.client)
    server.stop()
    api = stay_down(server, OUTAGE)
    fire = api.first_fire("dog")
    assert (fire["timer"], fire["reason"], fire["fire"]) == ("dog", "stalled", 1)
