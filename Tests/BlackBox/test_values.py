"""Durations and instants as they are read and shown."""

import pytest

DURATIONS = [
    ("250ms", "250ms"), ("10s", "10s"), ("90s", "1m30s"), ("1m30s", "1m30s"), ("1.5s", "1s500ms"), ("7d", "7d"), ("24h", "1d"),
    ("PT1M30S", "1m30s"), ("P7D", "7d"), ("PT0.25S", "250ms"), ("P1DT1H", "1d1h"), ("0s", "0s"), ("1500ms", "1s500ms"),
    ("36525d", "36525d"), ("1d2h3m4s5ms", "1d2h3m4s5ms"), ("0.5h", "30m"), ("PT36H", "1d12h"), ("3600000ms", "1h"),
]
NO_DURATIONS = ["", " ", "10", "s", "-1s", "+1s", "1y", "1w", "1M", "P1Y", "P1M", "P", "PT", "PT1", "0.5ms", "1.0005s", "PT0.0001S",
                "36526d", "36525d1ms", "99999999999999999999d", "10 s", " 10s", "10s ", "1e3s", "1,5s", "NaN", "inf", "1.s", ".5s",
                "0x10s", "１s", "1s2"]
INSTANTS = [
    ("2099-01-01T00:00:00Z", "2099-01-01T00:00:00.000Z"),
    ("2099-01-01T02:00:00+02:00", "2099-01-01T00:00:00.000Z"),
    ("2098-12-31T18:30:00-05:30", "2099-01-01T00:00:00.000Z"),
    ("2099-01-01T00:00:00.5Z", "2099-01-01T00:00:00.500Z"),
    ("2099-01-01T00:00:00.0001Z", "2099-01-01T00:00:00.001Z"),
    ("2098-12-31T23:59:59.9990001Z", "2099-01-01T00:00:00.000Z"),
    ("2096-02-29T12:00:00Z", "2096-02-29T12:00:00.000Z"),
]
NO_INSTANTS = ["", "2099-01-01", "2099-01-01T00:00:00", "2099-01-01T00:00:60Z", "2099-06-30T23:59:60Z", "2099-02-29T00:00:00Z",
               "2099-13-01T00:00:00Z", "2099-00-01T00:00:00Z", "2099-01-00T00:00:00Z", "2099-01-32T00:00:00Z", "2099-01-01T24:00:00Z",
               "2099-01-01T00:60:00Z", "2099-01-01T00:00:00+24:00", "2099-01-01T00:00:00+0200", "2099-01-01T00:00Z", "tomorrow",
               "2099-01-01T00:00:00.Z", "99-01-01T00:00:00Z", "2099-1-1T00:00:00Z", " 2099-01-01T00:00:00Z", "4070908800"]


@pytest.mark.parametrize("given, shown", DURATIONS)
def test_durations_are_shown_in_the_compact_form(api, given, shown):
    assert api.create(after=given, start="manual")["after"] == shown


@pytest.mark.parametrize("given", NO_DURATIONS)
def test_no_durations(api, given):
    assert api.post("/v1/timers", {"after": given, "start": "manual"}).problem(400)["pointer"] == "/after"


@pytest.mark.parametrize("given, shown", INSTANTS)
def test_instants_are_shown_in_utc_rounded_up(api, given, shown):
    timer = api.create(at=given)
    assert (timer["at"], timer["nextFireAt"]) == (shown, shown)


@pytest.mark.parametrize("given", NO_INSTANTS + [4070908800, None])
def test_no_instants(api, given):
    problem = api.post("/v1/timers", {"at": given}).problem(400)
    assert given is None or problem["pointer"] == "/at"


def test_every_is_at_least_a_millisecond(api):
    assert api.create(every="1ms", start="manual")["every"] == "1ms"
    assert api.post("/v1/timers", {"every": "0s", "start": "manual"}).problem(400)["pointer"] == "/every"


def test_a_century_is_as_exact_as_a_second(api):
    timer = api.create(after="36524d23h59m59s999ms", start="manual")
    assert timer["after"] == "36524d23h59m59s999ms"
