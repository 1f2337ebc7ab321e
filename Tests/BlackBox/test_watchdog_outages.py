"""An outage of the server never makes a healthy client look dead."""

import os
import signal
import time

from timers import duration

PERIOD = 3.0
OUTAGE = 2 * PERIOD


def stalled(api):
    return [event["timer"] for event in api.history("&types=fired")]


def make(api):
    api.create(id="dog", watchdog=f"{PERIOD:.0f}s")
    api.create(id="other-clock", watchdog=f"{PERIOD:.0f}s", clock="continuous")


def kick_until(api, end):
    """Kicks as a healthy client does, and says how often."""
    kicks = 0
    while time.monotonic() < end:
        dog = api.command("dog", "kick").expect(200).json
        assert dog["health"] == "ok", dog
        kicks += 1
        time.sleep(PERIOD / 10)
    return kicks


def test_a_stopped_process_is_nobodys_silence(new_server):
    server = new_server()
    api = server.client
    make(api)
    os.kill(server.pid, signal.SIGSTOP)
    time.sleep(OUTAGE)
    os.kill(server.pid, signal.SIGCONT)
    kicks = kick_until(api, time.monotonic() + PERIOD)
    assert stalled(api) == ["other-clock"]
    assert api.timer("dog")["kickCount"] == kicks


def test_downtime_is_nobodys_silence(new_server):
    server = new_server()
    make(server.client)
    server.kill9()
    time.sleep(OUTAGE)
    server.start()
    api = server.client
    dog = api.timer("dog")
    assert (dog["health"], dog["fireCount"]) == ("ok", 0)
    # What was left is left, but for the little that the server was up.
    assert PERIOD * 500 < duration(dog["remaining"]) <= PERIOD * 1000
    kick_until(api, time.monotonic() + PERIOD / 2)
    assert stalled(api) == ["other-clock"]


def test_silence_counts_once_the_server_is_up_again(new_server):
    server = new_server()
    make(server.client)
    server.stop()
    time.sleep(OUTAGE)
    server.start()
    api = server.client
    back = time.monotonic()
    while "dog" not in stalled(api):
        assert time.monotonic() - back < PERIOD + 10
        time.sleep(0.05)
    fire = next(event for event in api.history("&types=fired") if event["timer"] == "dog")
    assert fire["reason"] == "stalled"
