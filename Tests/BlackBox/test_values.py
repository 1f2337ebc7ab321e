"""Durations and instants as a server reads and shows them. All spellings are for the tests of WireJSON."""


def test_a_duration_is_shown_in_the_compact_form(api):
    assert api.create(after="PT1M30S", start="manual")["after"] == "1m30s"


def test_an_instant_is_shown_in_utc_rounded_up(api):
    timer = api.create(at="2098-12-31T18:29:59.9990001-05:30")
    assert (timer["at"], timer["nextFireAt"]) == ("2099-01-01T00:00:00.000Z",) * 2


def test_what_is_neither_is_pointed_at(api):
    assert api.post("/v1/timers", {"after": "1y"}).problem(400, "invalid-schedule")["pointer"] == "/after"
    assert api.post("/v1/timers", {"at": "tomorrow"}).problem(400, "invalid-schedule")["pointer"] == "/at"
