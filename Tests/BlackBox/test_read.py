"""GET /v1/timers/{id}, its next fires, and the preview."""

import pytest

from timers import STATES, allowed, duration, instant, now, timer_in


@pytest.mark.parametrize("restartable", [False, True])
@pytest.mark.parametrize("state", STATES)
def test_a_timer_in_each_state(api, state, restartable):
    timer = api.timer(timer_in(api, state, restartable=restartable)["id"])
    assert timer["state"] == state
    assert set(timer["allowed"]) == allowed(state, restartable)
    assert (timer["nextFireAt"] is not None) == (state == "running")
    assert (timer["remaining"] is not None) == (state in ("running", "suspended"))
    assert timer["fireCount"] == (state == "completed")
    assert (timer["lastFiredAt"] is not None) == (state == "completed")


@pytest.mark.parametrize("mode", ["deadline", "skip"])
def test_remaining_is_null_while_suspended_on_a_fixed_grid(api, mode):
    timer = timer_in(api, "suspended", onResume=mode)
    assert (timer["remaining"], timer["nextFireAt"]) == (None, None)


def test_etag_is_the_version_and_304_spares_the_body(api):
    id = api.create()["id"]
    reply = api.get(f"/v1/timers/{id}").expect(200)
    assert reply.etag == f'"v{reply.json["version"]}"'
    for match in (reply.etag, "*", f'"v0", {reply.etag}', f"W/{reply.etag}"):
        unchanged = api.get(f"/v1/timers/{id}", headers={"If-None-Match": match}).expect(304)
        assert unchanged.body == b"" and unchanged.etag == reply.etag
    api.get(f"/v1/timers/{id}", headers={"If-None-Match": '"v0"'}).expect(200)


def test_the_etag_moves_with_every_change(api):
    id = api.create(every="1h")["id"]
    seen = [api.get(f"/v1/timers/{id}").etag]
    for command in ("suspend", "resume", "fire", "cancel"):
        reply = api.command(id, command).expect(200)
        assert reply.etag == f'"v{reply.json["version"]}"' == api.get(f"/v1/timers/{id}").etag
        api.get(f"/v1/timers/{id}", headers={"If-None-Match": seen[-1]}).expect(200)
        seen.append(reply.etag)
    versions = [int(etag.strip('"v')) for etag in seen]
    assert versions == sorted(set(versions))


def test_remaining_runs_down_under_one_etag(api):
    timer = api.create(after="10m")
    before = now()
    again = api.get(f"/v1/timers/{timer['id']}", headers={"If-None-Match": '"v0"'}).json
    assert again["version"] == timer["version"] and again["nextFireAt"] == timer["nextFireAt"]
    assert duration(again["remaining"]) <= duration(timer["remaining"])
    # The instant of the answer, to the millisecond.
    assert before - 1 <= instant(again["nextFireAt"]) - duration(again["remaining"]) <= now() + 1


def test_the_event_id_is_usable_as_since(api):
    id = api.create()["id"]
    event_id = api.get(f"/v1/timers/{id}").headers["Event-Id"]
    api.command(id, "suspend").expect(200)
    events = api.get(f"/v1/timers/{id}/events?follow=false&since={event_id}").expect(200).lines
    assert [event["type"] for event in events] == ["suspended"]


def test_head_is_get_without_a_body(api):
    id = api.create()["id"]
    got, head = api.get(f"/v1/timers/{id}").expect(200), api.head(f"/v1/timers/{id}").expect(200)
    assert head.body == b"" and head.etag == got.etag
    assert head.headers["Content-Type"] == got.headers["Content-Type"]
    assert api.head("/v1/timers/no-such-timer").expect(404).body == b""


def test_options_names_the_methods(api):
    id = api.create()["id"]
    reply = api.options(f"/v1/timers/{id}").expect(204)
    assert {word.strip() for word in reply.headers["Allow"].split(",")} == {"GET", "HEAD", "OPTIONS", "PUT", "PATCH", "DELETE"}


def test_an_unknown_timer(api):
    problem = api.get("/v1/timers/no-such-timer").problem(404, "not-found")
    assert problem["timer"] == "no-such-timer"


def test_post_on_a_timer_is_not_a_method_of_it(api):
    id = api.create()["id"]
    api.post(f"/v1/timers/{id}", {}).problem(405, "method-not-allowed")


def test_an_unknown_parameter_is_named(api):
    id = api.create()["id"]
    assert api.get(f"/v1/timers/{id}?pretty=1").problem(400)["parameter"] == "pretty"


def test_next_lists_the_nominal_fires_of_a_running_timer(api):
    timer = api.create(every="1h", maxFires=3)
    first = instant(timer["nextFireAt"])
    reply = api.get(f"/v1/timers/{timer['id']}/next").expect(200).json
    assert [instant(fire) for fire in reply["fires"]] == [first, first + 3_600_000, first + 7_200_000]
    assert api.get(f"/v1/timers/{timer['id']}/next?count=1").json["fires"] == [timer["nextFireAt"]]


@pytest.mark.parametrize("state", ["idle", "suspended", "cancelled", "completed"])
def test_next_is_empty_when_not_running(api, state):
    assert api.get(f"/v1/timers/{timer_in(api, state)['id']}/next").expect(200).json["fires"] == []


def test_a_preview_stores_nothing(api, name):
    body = {"id": name, "every": "1d", "at": "2099-01-01T00:00:00Z", "until": "2099-01-03T00:00:00Z"}
    fires = api.post("/v1/schedules/preview", body).expect(200).json["fires"]
    assert fires == [f"2099-01-0{day}T00:00:00.000Z" for day in (1, 2, 3)]
    api.get(f"/v1/timers/{name}").expect(404)


def test_a_preview_counts_ten_unless_told_and_a_thousand_at_most(api):
    body = {"every": "1s"}
    assert len(api.post("/v1/schedules/preview", body).json["fires"]) == 10
    assert len(api.post("/v1/schedules/preview?count=1000", body).json["fires"]) == 1000
    for count in ("0", "1001", "x", "-1"):
        assert api.post(f"/v1/schedules/preview?count={count}", body).problem(400)["parameter"] == "count"
    api.post("/v1/schedules/preview", {"every": "nonsense"}).problem(400)
