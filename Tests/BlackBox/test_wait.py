"""GET /v1/timers/{id}/wait: the long poll for the next fire."""

import threading

import pytest

from patience import PATIENCE
from timers import instant, timer_in


def wait(api, id, query=""):
    return api.get(f"/v1/timers/{id}/wait{query}")


def in_background(call):
    """Starts call() in a thread; the returned function gives its result."""
    result = []
    thread = threading.Thread(target=lambda: result.append(call()), daemon=True)
    thread.start()

    def join():
        thread.join(PATIENCE)
        assert result, "still waiting"
        return result[0]
    return join


def test_the_next_fire_is_answered(api):
    id = api.create(every="40ms")["id"]
    reply = wait(api, id, "?timeout=50s").expect(200)
    fired = reply.json
    assert (fired["type"], fired["timer"], fired["reason"]) == ("fired", id, "due")
    assert reply.headers["Event-Id"] >= fired["id"]
    again = wait(api, id, f"?since={fired['id']}&timeout=50s").expect(200).json
    assert again["fire"] == fired["fire"] + 1 and again["id"] > fired["id"]
    assert instant(again["scheduledAt"]) == instant(fired["scheduledAt"]) + 40 * (again["missed"] + 1)
    api.command(id, "cancel").expect(200)


def test_since_finds_a_fire_that_already_was(api):
    id = timer_in(api, "completed")["id"]
    fired = wait(api, id, "?since=0").expect(200).json
    assert (fired["type"], fired["reason"]) == ("fired", "manual")
    wait(api, id, f"?since={fired['id']}").expect(204)


def test_without_since_it_is_from_now(api):
    id = api.create(every="1h")["id"]
    api.command(id, "fire").expect(200)
    wait(api, id, "?timeout=30ms").expect(204)


def test_204_at_the_timeout(api):
    reply = wait(api, api.create()["id"], "?timeout=50ms").expect(204)
    assert reply.body == b"" and reply.headers["Event-Id"].isdecimal()


@pytest.mark.parametrize("end", ["cancel", "delete"])
def test_204_once_no_fire_can_follow_any_more(api, end):
    id = api.create()["id"]
    started = threading.Event()

    def call():
        started.set()
        return wait(api, id, "?timeout=5m")

    waiting = in_background(call)
    assert started.wait(PATIENCE)
    if end == "cancel":
        api.command(id, "cancel").expect(200)
        waiting().expect(204)
    else:
        api.delete(f"/v1/timers/{id}").expect(204)
        assert waiting().status in (204, 404)  # 404 when the delete came first


def test_a_manual_fire_answers_too(api):
    id = api.create(every="1h")["id"]
    since = api.get(f"/v1/timers/{id}").headers["Event-Id"]
    waiting = in_background(lambda: wait(api, id, f"?since={since}&timeout=5m"))
    api.command(id, "fire").expect(200)
    assert waiting().expect(200).json["reason"] == "manual"


def test_many_wait_for_one_fire(api):
    id = api.create(every="1h")["id"]
    since = api.get(f"/v1/timers/{id}").headers["Event-Id"]
    waiting = [in_background(lambda: wait(api, id, f"?since={since}&timeout=5m")) for _ in range(8)]
    api.command(id, "fire").expect(200)
    assert len({join().expect(200).json["id"] for join in waiting}) == 1


def test_a_bad_parameter_is_named(api):
    assert wait(api, api.create()["id"], "?timeout=10m1ms").problem(400)["parameter"] == "timeout"


def test_an_end_that_was_undone_ends_no_wait(api):
    id = api.create(after="1h")["id"]
    created = api.history_of(id)[0]["id"]
    api.command(id, "cancel").expect(200)
    api.put(f"/v1/timers/{id}", {"after": "1h"}).expect(200)
    api.command(id, "fire").expect(200)
    assert wait(api, id, f"?since={created}").expect(200).json["fire"] == 1
