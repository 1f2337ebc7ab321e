"""Answers are bounded, however much there is to show: pages end early, and the results of batches become brief."""

import socket
from contextlib import closing
from urllib.parse import quote

import pytest

PAGE = 4 << 20
WHOLE_RESULTS = 8 << 20
PAYLOAD = "x" * 65_000
MOST_OF_ONE = 70_000  # the size of a whole timer with that payload


def pages(api, path, most=PAGE + MOST_OF_ONE):
    """The pages of a walk; each is within its bound."""
    cursor = ""
    while True:
        reply = api.get(path + cursor).expect(200)
        assert len(reply.body) < most
        yield reply.json
        if reply.json["next"] is None:
            return
        cursor = "&cursor=" + quote(reply.json["next"], safe="")


@pytest.fixture
def heavy(new_server):
    """A server with 150 timers of 65 kB each, which are due one after the other."""
    api = new_server().client
    ids = [f"heavy-{number:03}" for number in range(150)]
    for start in range(0, len(ids), 50):
        api.batch([{"id": id, "after": f"{ids.index(id) + 3600}s", "payload": PAYLOAD, "labels": {"size": "large"}}
                   for id in ids[start:start + 50]], "?results=brief").expect(200)
    return api, ids


@pytest.mark.parametrize("query", ["", "&label=size%3Dlarge", "&state=running", "&sort=nextFireAt"])
def test_pages_of_large_timers_end_early_and_miss_none(heavy, query):
    api, ids = heavy
    shown = [[timer["id"] for timer in page["timers"]] for page in pages(api, f"/v1/timers?limit=1000{query}")]
    assert len(shown) == 3  # as few as the bound allows: 150 of 65 kB
    shown = [id for page in shown for id in page]
    assert (shown if "sort" in query else sorted(shown)) == ids


@pytest.mark.alone
def test_what_escapes_make_longer_counts_as_it_is_shown(new_server):
    api = new_server().client
    labels = {f"key-{number}": "\x01" * 255 for number in range(16)}  # four kB that are shown as 24
    ids = [f"escaped-{number:03}" for number in range(400)]
    api.batch([{"id": id, "after": "1h", "labels": labels} for id in ids], "?results=brief").expect(200)
    shown = [timer["id"] for page in pages(api, "/v1/timers?limit=1000", PAGE + 30_000) for timer in page["timers"]]
    assert sorted(shown) == ids


def test_a_batch_of_large_timers_becomes_brief(new_server):
    api = new_server().client
    api.create(id="large", watchdog="1h", payload=PAYLOAD)
    reply = api.batch([{"command": "kick", "id": "large"}] * 400).expect(200)
    whole = sum("timer" in line for line in reply.lines)
    assert WHOLE_RESULTS // MOST_OF_ONE < whole <= WHOLE_RESULTS // len(PAYLOAD) + 1
    assert all(line["timer"]["payload"] == PAYLOAD for line in reply.lines[:whole])
    # The first version is that of the create.
    assert reply.lines[whole:] == [{"status": 200, "id": "large", "version": kick + 2} for kick in range(whole, 400)]


@pytest.mark.alone
def test_pages_of_deliveries_end_early_and_miss_none(new_server):
    with closing(socket.socket()) as closed:
        closed.bind(("127.0.0.1", 0))  # no process listens on that port
        api = new_server().client
        labels = {f"key-{number}": "\x01" * 255 for number in range(16)}
        api.create(id="owing", every="1h", labels=labels,
                   webhook={"url": f"http://127.0.0.1:{closed.getsockname()[1]}/", "retry": {"initial": "1h"}})
        api.batch([{"command": "fire", "id": "owing"}] * 250, "?results=brief").expect(200)
        fired = [event["id"] for event in api.history("&types=fired")]
        shown = [entry["id"] for page in pages(api, "/v1/deliveries?limit=1000", PAGE + 30_000) for entry in page["deliveries"]]
        assert len(fired) == 250 and shown == fired
