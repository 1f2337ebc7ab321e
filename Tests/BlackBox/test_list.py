"""GET /v1/timers: pages over several servers and over restarts. Filters and parameters are for the Swift tests of the API."""

import re
from urllib.parse import quote

from timers import instant, poll


def label(value, key="list"):
    return "label=" + quote(f"{key}={value}", safe="")


def ids(reply):
    return {timer["id"] for timer in reply.expect(200).json["timers"]}


def walk(api, query, between=lambda page: None, limit=7):
    """All pages through the cursor; `between` runs after each page."""
    seen, cursor = [], ""
    for page in range(1000):
        reply = api.get(f"/v1/timers?limit={limit}{query}{cursor}").expect(200).json
        assert len(reply["timers"]) <= limit
        seen += [timer["id"] for timer in reply["timers"]]
        if reply["next"] is None:
            return seen
        cursor = "&cursor=" + quote(reply["next"], safe="")
        between(page)
    raise AssertionError("the walk does not end")


def test_labels_all_match_whole(api, name):
    both = api.create(labels={"list": name, "tier": "gold"})["id"]
    one = api.create(labels={"list": name, "tier": "golden"})["id"]
    assert ids(api.get(f"/v1/timers?{label(name)}")) == {both, one}
    assert ids(api.get(f"/v1/timers?{label(name)}&{label('gold', 'tier')}")) == {both}
    assert ids(api.get(f"/v1/timers?{label(name[:-1] + 'no-such')}")) == set()


def test_soonest_first_over_everything_is_in_order(api):
    for minutes in (3, 1, 2):
        api.create(after=f"{minutes}m")
    timers = api.get("/v1/timers?sort=nextFireAt&limit=50").expect(200).json["timers"]
    dues = [instant(timer["nextFireAt"]) for timer in timers]
    assert len(dues) >= 3 and dues == sorted(dues)


def test_the_next_link_keeps_the_filters(api, name):
    made = {api.create(labels={"list": name})["id"] for _ in range(5)}
    seen, target = set(), f"/v1/timers?{label(name)}&limit=2"
    for _ in range(20):
        reply = api.get(target).expect(200)
        seen |= ids(reply)
        if "Link" not in reply.headers:
            assert reply.json["next"] is None
            break
        link = re.fullmatch(r'<([^>]+)>; rel="next"', reply.headers["Link"])
        target = re.sub(r"^https?://[^/]+", "", link[1])
    assert seen == made


def test_a_walk_under_churn_returns_each_lasting_timer_once(api, name):
    lasting = {api.create(labels={"list": name})["id"] for _ in range(40)}
    passing = [api.create(labels={"list": name})["id"] for _ in range(20)]

    def churn(page):
        api.create(labels={"list": name})
        if passing:
            api.delete(f"/v1/timers/{passing.pop()}").expect(204)
        victim = sorted(lasting)[page % len(lasting)]
        api.command(victim, "suspend" if api.timer(victim)["state"] == "running" else "resume").expect(200)

    seen = walk(api, f"&{label(name)}", churn)
    assert len(seen) == len(set(seen)) and lasting <= set(seen)


def test_a_bad_parameter_is_named(api):
    assert api.get("/v1/timers?state=asleep").problem(400, "invalid-request")["parameter"] == "state"


def dogs(api, name, count=3):
    """Watchdogs: some that alarm, a healthy one, one that was suspended after its alarm, one that was cancelled after it."""
    made = {}
    for state in [f"stalled-{n}" for n in range(count)] + ["suspended", "cancelled", "deleted", "kicked"]:
        made[state] = api.create(id=f"{name}-{state}", watchdog="1ms", labels={"list": name})["id"]
    poll(lambda: all(timer["health"] == "stalled" for timer in api.get(f"/v1/timers?{label(name)}").json["timers"]))
    api.command(made["suspended"], "suspend").expect(200)
    api.command(made["cancelled"], "cancel").expect(200)
    api.delete(f"/v1/timers/{made['deleted']}").expect(204)
    api.patch(f"/v1/timers/{made['kicked']}", {"watchdog": "1h"}).expect(200)
    api.command(made["kicked"], "kick").expect(200)
    made["well"] = api.create(id=f"{name}-well", watchdog="1h", labels={"list": name})["id"]
    api.create(id=f"{name}-other", after="1h", labels={"list": name})
    return made


def test_health_finds_the_watchdogs_that_alarm_now(new_server, name):
    server = new_server()
    api = server.client
    made = dogs(api, name)
    stalled = {id for state, id in made.items() if state.startswith("stalled")}
    for _ in range(2):
        assert ids(api.get("/v1/timers?health=stalled")) == stalled
        assert set(walk(api, "&health=stalled", limit=1)) == stalled
        assert ids(api.get(f"/v1/timers?health=stalled&{label(name)}&state=running&kind=watchdog")) == stalled
        assert ids(api.get("/v1/timers?health=stalled&state=suspended,cancelled")) == set()
        assert ids(api.get(f"/v1/timers?health=stalled&idPrefix={name}-stalled-1")) == {made["stalled-1"]}
        assert ids(api.get("/v1/timers?health=ok")) == {made["well"], made["kicked"]}
        # Of several servers each counts its own.
        assert f"timerd_watchdogs_stalled {len(stalled)}\n" in server.owner.get("/metrics").body.decode()
        server.kill9()
        api = server.start().client
    for id in stalled:
        api.delete(f"/v1/timers/{id}").expect(204)
    assert api.get("/v1/timers?health=stalled").expect(200).json == {"timers": [], "next": None}
