"""POST /v1/timers/bulk/<command>: an answer of each kind. Commands and selectors are for the Swift tests of the API."""

from timers import STATES, timer_in


def bulk(api, command, body, query="", **options):
    return api.post(f"/v1/timers/bulk/{command}{query}", body, **options)


def zoo(api, name):
    """One timer in each state, all under one label."""
    return {state: timer_in(api, state, labels={"bulk": name})["id"] for state in STATES}


def test_each_timer_is_changed_or_skipped(api, name):
    made = zoo(api, name)
    selector, counts = {"labels": {"bulk": name}}, {"matched": 5, "changed": 1, "skipped": 4}
    assert bulk(api, "suspend", selector, "?dryRun=true").expect(200).json == counts
    assert api.timer(made["running"])["state"] == "running"
    assert bulk(api, "suspend", selector).expect(200).json == counts
    assert api.timer(made["running"])["state"] == "suspended"


def test_more_than_one_piece_of_work(api, name):
    api.batch([{"after": "1h", "labels": {"bulk": name}}] * 1500, query="?results=brief").expect(200)
    answer = bulk(api, "suspend", {"labels": {"bulk": name}}).expect(200).json
    assert answer == {"matched": 1500, "changed": 1500, "skipped": 0}
    events = api.history(f"&types=suspended&label=bulk%3D{name}")
    assert len({event["timer"] for event in events}) == len(events) == 1500


def test_an_empty_selector(api):
    bulk(api, "suspend", {"labels": {}}).problem(400, "invalid-request")
