"""--alarm dispatch: the server keeps its promises over a DispatchSourceTimer as it does over timerfd."""

import pytest

from server import ON_POSTGRES, run
from timers import instant, now, poll

# Longer than a restart after kill -9: on a database the killed server's lease has to end first.
AFTER_RESTART = "10s" if ON_POSTGRES else "2s"


@pytest.fixture
def server(new_server):
    return new_server("--alarm", "dispatch")


def fires(api, id):
    return [event for event in api.history_of(id) if event["type"] == "fired"]


def until_fires(api, id, count):
    """The timer's fires, once there are so many, none of them early."""
    poll(lambda: len(fires(api, id)) >= count)
    found = fires(api, id)
    assert all(fire["latenessUs"] >= 0 for fire in found), found
    assert all(fire["at"] >= fire["scheduledAt"] for fire in found), found
    return found


def test_timers_fire_when_they_are_due(server):
    api = server.client
    api.create(id="once", after="300ms")
    api.create(id="grid", every="50ms", maxFires=20)
    api.create(id="dog", watchdog="200ms")
    assert len(until_fires(api, "once", 1)) == 1
    assert [fire["fire"] for fire in until_fires(api, "grid", 20)] == list(range(1, 21))
    poll(lambda: api.timer("dog")["health"] == "stalled")


def test_a_nearer_timer_is_not_kept_waiting_by_a_far_one(server):
    api = server.client
    api.create(id="far", after="30d")
    api.create(id="near", after="200ms")
    until_fires(api, "near", 1)
    api.post("/v1/timers/far/reschedule", {"after": "200ms"}).expect(200)
    until_fires(api, "far", 1)


def test_what_is_put_off_does_not_fire_at_its_old_instant(server):
    api = server.client
    # A machine that is slower than that has fired the timer before it could be put off, and gets a longer one.
    for wait in (400, 4000, 40_000):
        api.put("/v1/timers/put-off", {"after": f"{wait}ms"})
        if api.post("/v1/timers/put-off/reschedule", {"after": "1h"}).status == 200:
            break
    before = fires(api, "put-off")
    api.create(id="later", after=f"{wait + 200}ms")
    until_fires(api, "later", 1)
    assert fires(api, "put-off") == before


@pytest.mark.parametrize("end", ["stop", "kill9"])
def test_what_was_due_during_an_outage_fires_after_it(server, end):
    api = server.client
    due = instant(api.create(id="missed", after="300ms")["nextFireAt"])
    api.create(id="comes", after=AFTER_RESTART)
    getattr(server, end)()
    poll(lambda: now() > due)
    server.restart()
    api = server.client
    poll(lambda: len(fires(api, "missed")) == 1)
    poll(lambda: len(fires(api, "comes")) == 1)
    until_fires(api, "comes", 1)


def test_a_stop_waits_for_no_timer(server):
    server.client.create(after="1h")
    server.stop()


def test_another_word_is_refused():
    refused = run("serve", "--check", "--alarm", "bell")
    assert refused.returncode == 64
    assert refused.stderr == "timerd: --alarm bell: expected timerfd, dispatch\n"
