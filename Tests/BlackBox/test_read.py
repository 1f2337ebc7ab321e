"""GET /v1/timers/{id}, and the preview: an answer of each kind. Fields and parameters are for the Swift tests of the API."""

from timers import duration, instant, now


def test_etag_is_the_version_and_304_spares_the_body(api):
    id = api.create(start="manual")["id"]
    reply = api.get(f"/v1/timers/{id}").expect(200)
    assert reply.etag == f'"v{reply.json["version"]}"'
    for match in (reply.etag, "*", f'"v0", {reply.etag}', f"W/{reply.etag}"):
        unchanged = api.get(f"/v1/timers/{id}", headers={"If-None-Match": match}).expect(304)
        assert unchanged.body == b"" and unchanged.etag == reply.etag
        assert unchanged.headers["Content-Length"] == reply.headers["Content-Length"]
    api.get(f"/v1/timers/{id}", headers={"If-None-Match": '"v0"'}).expect(200)


def test_remaining_runs_down_under_one_etag(api):
    timer = api.create(after="10m")
    before = now()
    again = api.get(f"/v1/timers/{timer['id']}", headers={"If-None-Match": '"v0"'}).json
    assert again["version"] == timer["version"] and again["nextFireAt"] == timer["nextFireAt"]
    assert duration(again["remaining"]) <= duration(timer["remaining"])
    # The instant of the answer, to the millisecond.
    assert before - 1 <= instant(again["nextFireAt"]) - duration(again["remaining"]) <= now() + 1


def test_an_unknown_timer(api):
    problem = api.get("/v1/timers/no-such-timer").problem(404, "not-found")
    assert problem["timer"] == "no-such-timer"


def test_a_preview_stores_nothing(api, name):
    body = {"id": name, "every": "1d", "at": "2099-01-01T00:00:00Z", "until": "2099-01-03T00:00:00Z"}
    fires = api.post("/v1/schedules/preview", body).expect(200).json["fires"]
    assert fires == [f"2099-01-0{day}T00:00:00.000Z" for day in (1, 2, 3)]
    api.get(f"/v1/timers/{name}").expect(404)
