"""GET /v1/timers: filters, pages, and walks while other clients change timers."""

import re
from urllib.parse import quote

import pytest

from server import FORWARDED
from timers import STATES, instant, now, poll, shown, timer_in


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


def test_a_list_shows_whole_timers_and_an_event_id(api, name):
    timer = api.create(labels={"list": name})
    reply = api.get(f"/v1/timers?{label(name)}").expect(200)
    assert set(reply.json) == {"timers", "next"} and reply.json["next"] is None
    assert [entry | {"remaining": 0} for entry in reply.json["timers"]] == [timer | {"remaining": 0}]
    api.command(timer["id"], "cancel").expect(200)
    since = reply.headers["Event-Id"]
    assert [event["type"] for event in api.history_of(timer["id"]) if event["id"] > since] == ["cancelled"]


def test_a_last_page_gathered_in_several_steps_ends_the_walk(api, name):
    count = 600  # more timers than one hold of the lock examines
    lines = [{"after": "1h", "labels": {"list": name}} for _ in range(count)]
    api.batch(lines).expect(200)
    reply = api.get(f"/v1/timers?limit=1000&{label(name)}").expect(200).json
    assert len(reply["timers"]) == count and reply["next"] is None


def test_labels_all_match_whole(api, name):
    both = api.create(labels={"list": name, "tier": "gold"})["id"]
    one = api.create(labels={"list": name, "tier": "golden"})["id"]
    assert ids(api.get(f"/v1/timers?{label(name)}")) == {both, one}
    assert ids(api.get(f"/v1/timers?{label(name)}&{label('gold', 'tier')}")) == {both}
    assert ids(api.get(f"/v1/timers?{label(name[:-1] + 'no-such')}")) == set()


@pytest.mark.parametrize("suffix", ["=", " a&b", "é", "%41", "+", "/?#"])
def test_label_values_are_decoded(api, name, suffix):
    timer = api.create(labels={"list": name + suffix})
    assert ids(api.get(f"/v1/timers?{label(name + suffix)}")) == {timer["id"]}


def test_state_takes_a_list(api, name):
    made = {state: timer_in(api, state, labels={"list": name})["id"] for state in STATES}
    for state in STATES:
        assert ids(api.get(f"/v1/timers?{label(name)}&state={state}")) == {made[state]}
    assert ids(api.get(f"/v1/timers?{label(name)}&state=idle,completed")) == {made["idle"], made["completed"]}


def test_kind_takes_a_list(api, name):
    one = api.create(after="1h", labels={"list": name})["id"]
    many = api.create(every="1h", labels={"list": name})["id"]
    assert ids(api.get(f"/v1/timers?{label(name)}&kind=oneShot")) == {one}
    assert ids(api.get(f"/v1/timers?{label(name)}&kind=repeating,cron,watchdog")) == {many}


def test_due_before_and_soonest_first(api, name):
    dues = {api.create(after=f"{minutes}m", labels={"list": name})["id"]: minutes for minutes in (50, 10, 30, 20, 40)}
    timer_in(api, "suspended", labels={"list": name})
    timer_in(api, "idle", labels={"list": name})
    reply = api.get(f"/v1/timers?{label(name)}&sort=nextFireAt").expect(200).json
    assert [dues[timer["id"]] for timer in reply["timers"]] == [10, 20, 30, 40, 50]
    assert [dues[id] for id in walk(api, f"&{label(name)}&sort=nextFireAt", limit=2)] == [10, 20, 30, 40, 50]
    before = quote(shown(now() + 35 * 60_000))
    soon = api.get(f"/v1/timers?{label(name)}&dueBefore={before}").expect(200).json["timers"]
    assert {dues.get(timer["id"]) for timer in soon} == {10, 20, 30}


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


def test_the_next_link_holds_whatever_was_asked_for(api, name):
    """Neither a character that ends links early nor a cursor in another spelling breaks the walk."""
    made = {api.create(labels={"list": f"{name}>, <"})["id"] for _ in range(3)}
    page = f"/v1/timers?label=list%3D{name}>,+<&limit=1"
    first = api.get(page).expect(200)
    seen, target = ids(first), f"{page}&%63ursor={first.json['next']}"
    for _ in range(20):
        reply = api.get(target).expect(200)
        seen |= ids(reply)
        if "Link" not in reply.headers:
            break
        target = re.fullmatch(r'<([^<>]+)>; rel="next"', reply.headers["Link"])[1]
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


def test_a_plain_walk_under_churn_returns_each_lasting_timer_once(new_server):
    api = new_server().client
    lasting = {result["timer"]["id"] for result in api.batch([{"after": "1h"}] * 200).expect(200).lines}
    seen = walk(api, "&sort=nextFireAt", limit=60)
    assert len(seen) == len(set(seen)) and set(seen) == lasting
    seen = walk(api, "", lambda page: api.batch([{"after": "1h"}] * 30).expect(200), limit=40)
    assert len(seen) == len(set(seen)) and lasting <= set(seen)


def test_a_page_is_100_unless_told_and_1000_at_most(new_server):
    api = new_server().client
    api.batch([{"after": "1h"}] * 1100).expect(200)
    assert len(api.get("/v1/timers").expect(200).json["timers"]) <= 100
    page = api.get("/v1/timers?limit=1000").expect(200).json
    assert 0 < len(page["timers"]) <= 1000 and page["next"]
    assert len(set(walk(api, "", limit=1000))) == 1100


@pytest.mark.parametrize("query, parameter", [
    ("limit=0", "limit"), ("limit=1001", "limit"), ("limit=x", "limit"), ("limit=-1", "limit"), ("limit=", "limit"),
    ("state=asleep", "state"), ("state=idle,", "state"), ("kind=sometimes", "kind"), ("sort=id", "sort"), ("label=novalue", "label"),
    ("cursor=garbage!", "cursor"), ("dueBefore=soon", "dueBefore"), ("dueBefore=2099-01-01T00:00:00", "dueBefore"),
    ("colour=red", "colour"), ("limit=1&limit=2", "limit"),
])
def test_bad_parameters_are_named(api, query, parameter):
    assert api.get(f"/v1/timers?{query}").problem(400)["parameter"] == parameter


def test_head_and_options(api):
    assert api.head("/v1/timers?limit=1").expect(200).body == b""
    allow = api.options("/v1/timers").expect(204).headers["Allow"]
    assert {word.strip() for word in allow.split(",")} == {"GET", "HEAD", "OPTIONS", "POST"}


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
        assert FORWARDED or f"timerd_watchdogs_stalled {len(stalled)}\n" in api.get("/metrics").body.decode()
        server.kill9()
        api = server.start().client
    for id in stalled:
        api.delete(f"/v1/timers/{id}").expect(204)
    assert api.get("/v1/timers?health=stalled").expect(200).json == {"timers": [], "next": None}


def test_a_page_of_alarms_costs_what_it_finds(new_server):
    """More timers than a page looks at: without an index the page would end early."""
    api = new_server().client
    for _ in range(3):
        api.batch([{"watchdog": "1h"}] * 10_000, "?results=brief", timeout=60).expect(200)
    timer = api.create(watchdog="1ms")
    poll(lambda: api.timer(timer["id"])["health"] == "stalled")
    reply = api.get("/v1/timers?health=stalled").expect(200).json
    assert [entry["id"] for entry in reply["timers"]] == [timer["id"]] and reply["next"] is None


def test_an_id_prefix(api, name):
    made = {api.create(id=f"{name}-{n}")["id"] for n in range(12)}
    uuid = api.create()["id"]
    assert set(walk(api, f"&idPrefix={name}-", limit=5)) == made
    assert set(walk(api, f"&idPrefix={name}-1")) == {f"{name}-1", f"{name}-10", f"{name}-11"}
    assert uuid in walk(api, f"&idPrefix={uuid[:20]}") and walk(api, f"&idPrefix={uuid}-") == []
    assert made <= set(walk(api, f"&idPrefix={name}&sort=nextFireAt"))


def test_a_page_by_prefix_looks_at_a_bounded_number(new_server):
    api = new_server().client
    for n in range(3):
        api.batch([{"id": f"a-{n}-{m}", "after": "1h"} for m in range(7000)], "?results=brief", timeout=60).expect(200)
    api.create(id="b")
    pages, cursor, found = 0, "", []
    while cursor is not None:
        reply = api.get(f"/v1/timers?idPrefix=b&limit=1000{cursor and '&cursor=' + cursor}").expect(200).json
        found += [timer["id"] for timer in reply["timers"]]
        pages, cursor = pages + 1, reply["next"]
    assert (pages, found) == (3, ["b"])


@pytest.mark.parametrize("query, parameter", [("health=stalled,ok", "health"), ("health=sick", "health"), ("health=", "health"), ("idPrefix=", "idPrefix"),
                                              ("idPrefix=a%20b", "idPrefix"), ("idPrefix=" + "x" * 129, "idPrefix"), ("idPrefix=a&idPrefix=b", "idPrefix")])
def test_bad_filters(api, query, parameter):
    assert api.get(f"/v1/timers?{query}").problem(400, "invalid-request")["parameter"] == parameter
