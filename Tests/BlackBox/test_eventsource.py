"""Event streams as a browser reads them: EventSource in Chromium, in a page of the server's own."""

import json
import re
from pathlib import Path

import pytest

from gateway import Gateway
from standby import Standby
from timers import poll, types

pytestmark = pytest.mark.thorough

LOST = r"net::ERR_(CONNECTION_REFUSED|CONNECTION_RESET|EMPTY_RESPONSE|INCOMPLETE_CHUNKED_ENCODING)"
TYPES = ["created", "activated", "suspended", "resumed", "rescheduled", "updated", "fired", "recovered", "cancelled",
         "completed", "deleted"]
CLIENTS = Path(__file__).resolve().parents[2] / "docs" / "clients.md"
LISTEN = """
    const [url, types] = arguments;
    const source = new EventSource(url);
    window.source = source;
    window.seen = [];
    window.opened = 0;
    source.onopen = () => window.opened++;
    for (const type of [...types, "message"])
        source.addEventListener(type, event =>
            window.seen.push({type: event.type, id: event.lastEventId, data: event.data, origin: event.origin}));
"""
CONNECTING, OPEN, CLOSED = range(3)


def listen(page, url, target, until=OPEN):
    """Opens an EventSource in a page of this origin and waits until it is open, or in another state."""
    page.open(f"{url}/problems/not-found")
    page.run(LISTEN, target, TYPES)
    page.until(lambda: page.run("return source.readyState") == until, told=f"the stream never came to state {until}")


def seen(page, count):
    """The events the page has seen, once there are that many."""
    page.until(lambda: page.run("return seen.length") >= count, told=f"fewer than {count} events came")
    return page.run("return seen")


def check(page, expected):
    """The page saw exactly these events, each once, in order, under its own name and id."""
    events = seen(page, len(expected))
    assert [json.loads(event["data"]) for event in events] == expected
    assert [event["type"] for event in events] == types(expected)
    assert [event["id"] for event in events] == [event["id"] for event in expected]


def test_what_happens_to_timers_is_seen_live(page, server, api, name):
    listen(page, server.url, f"/v1/events?label=live%3D{name}")
    first = api.create(labels={"live": name}, payload={"text": "ü \u2028 \n </script>"})["id"]
    for count, command in enumerate(("suspend", "resume", "cancel"), 3):
        api.command(first, command).expect(200)
        assert seen(page, count)[-1]["type"] == {"suspend": "suspended", "resume": "resumed", "cancel": "cancelled"}[command]
    api.create(id=name, after="1ms", labels={"live": name}, payload=[1.0])
    assert [event["type"] for event in seen(page, 9)[5:]] == ["created", "activated", "fired", "completed"]
    api.delete(f"/v1/timers/{name}").expect(204)
    seen(page, 10)
    check(page, api.history(f"&label=live%3D{name}"))
    assert {event["origin"] for event in page.run("return seen")} == {server.url}


@pytest.mark.not_on_postgres("a server that is taking over answers 503, and a browser's EventSource gives up at that")
@pytest.mark.parametrize("end", ["kill9", pytest.param("stop", marks=pytest.mark.heavy)])
def test_a_restart_of_the_server_is_survived(page, new_server, end):
    """Each event from before, during and after the outage comes once, in order, and the page has no code for that."""
    page.expect(LOST)
    server = new_server()
    listen(page, server.url, "/v1/events")
    api = server.client
    ids = [api.create()["id"] for _ in range(3)]
    api.create(after="300ms")
    api.command(ids[0], "suspend").expect(200)
    seen(page, 9)
    getattr(server, end)()
    page.until(lambda: page.run("return source.readyState") == CONNECTING)
    server.restart(same_port=True)
    api.command(ids[0], "resume").expect(200)
    api.command(ids[1], "cancel").expect(200)
    page.until(lambda: page.run("return opened") == 2, told="the browser did not come back")
    api.command(ids[2], "fire").expect(200)
    poll(lambda: api.get("/v1/timers?state=running").json["timers"][1:] == [])
    expected = api.history()
    check(page, expected)
    assert sorted(types(expected)) == sorted([*["created", "activated"] * 4, "suspended", "resumed", "cancelled",
                                              *["fired", "completed"] * 2])
    page.run("source.close()")


@pytest.mark.heavy
def test_the_documents_function_outlives_a_server_that_stands_by(page, new_server):
    """EventSource gives up at the first 503."""
    page.expect(LOST + "|status of 503")
    function = re.search(r"```js\n(// follow in a page:.*?)```", CLIENTS.read_text(), re.DOTALL)[1]
    server = new_server()
    api = server.client
    page.open(f"{server.url}/problems/not-found")
    page.run(function + "; window.seen = []; followFires(event => seen.push(event))")
    api.create(id="early", every="1h")
    page.until(lambda: api.command("early", "fire") and page.run("return seen.length") > 0)
    server.stop()
    with Standby(server.port) as standby:
        page.until(lambda: len(standby.asked) >= 2, timeout=40, told=f"the page asks no more: {standby.asked}")
    server.restart(same_port=True)
    for _ in range(3):
        api.command("early", "fire").expect(200)
    expected = [event for event in api.history() if event["type"] == "fired"]
    first = page.run("return seen[0].id")
    page.until(lambda: page.run("return seen") == [event for event in expected if event["id"] >= first],
               told="the events are not each there once")


FUNCTIONS = [("follow in a page:", "followFires(event => seen.push(event), () => lost++)", None),
             ("follow in a page with a token:", "followWithToken('the-right-one-of-two', event => seen.push(event), () => lost++)",
              "the-right-one-of-two")]


@pytest.mark.parametrize("title, call, token", [FUNCTIONS[0], pytest.param(*FUNCTIONS[1], marks=pytest.mark.heavy)])
def test_the_documents_functions_lose_no_fire(page, new_server, tmp_path, title, call, token):
    """A proxy answers 502 before the first event; later the history is gone."""
    page.expect(LOST + "|status of (502|410)")
    function = re.search(rf"```js\n(// {title}.*?)```", CLIENTS.read_text(), re.DOTALL)[1]
    (tmp_path / "tokens").write_text(f"{token}\n")
    server = new_server(*(["--token-file", tmp_path / "tokens"] if token else []), token=token)
    api = server.client
    api.create(id="slow", every="1h")
    with Gateway(server.port) as gateway:
        gateway.refuse(502, below="/v1/events")
        page.open(f"{gateway.url}/problems/not-found")
        page.run(f"{function}; window.seen = []; window.lost = 0; window.follow = {call}; 0")
        page.until(lambda: len(gateway.refused) >= 2, told="the page does not try again")
        api.command("slow", "fire").expect(200)
        gateway.refuse(None)
        page.until(lambda: [event["fire"] for event in page.run("return seen")] == [1], told="the fire is lost")
        api.command("slow", "fire").expect(200)
        page.until(lambda: [event["fire"] for event in page.run("return seen")] == [1, 2])
        gateway.refuse(410, below="/v1/events")
        server.kill9()
        page.until(lambda: page.run("return lost") > 0, timeout=40, told="the page does not notice a 410")


def test_the_documents_function_says_that_its_token_is_refused(page, new_server, tmp_path):
    page.expect(r"status of 401")
    title, call, token = FUNCTIONS[1]
    function = re.search(rf"```js\n(// {title}.*?)```", CLIENTS.read_text(), re.DOTALL)[1]
    (tmp_path / "tokens").write_text("another-one-of-the-two\n")
    page.open(f"{new_server('--token-file', tmp_path / 'tokens', token='another-one-of-the-two').url}/problems/not-found")
    assert page.run(f"{function}; window.seen = []; window.lost = 0; return {call}") == 401


def test_a_heartbeat_moves_the_browsers_cursor(page, new_server, new_relay):
    """A reader whose filter matches no event reconnects with the newest id it was told, not with that of the last event."""
    page.expect(LOST)
    server = new_server("--heartbeat", "50ms")
    relay = new_relay(server.port)
    listen(page, relay.url, "/v1/events?types=fired")
    for _ in range(5):
        server.client.create()
    newest = server.client.get("/v1/timers").headers["Event-Id"]
    relay.until_answered(f"id: {newest}".encode())
    assert page.run("return seen") == []
    relay.cut()
    page.until(lambda: page.run("return opened") == 2, told="the browser did not come back")
    first, second = relay.streams
    assert "last-event-id" not in first[2]
    assert second[2]["last-event-id"] == newest
    server.client.create(after="1ms")
    assert [event["type"] for event in seen(page, 1)] == ["fired"]


def test_a_cursor_that_expired_ends_the_browsers_stream(page, server):
    """410 is final to an EventSource: it must not reconnect for ever."""
    page.expect(r"status of 410")
    listen(page, server.url, "/v1/events?since=9000000000000000000", until=CLOSED)
    assert page.run("return [seen, opened]") == [[], 0]


def test_the_stream_of_a_deleted_timer_ends_for_good(page, server, new_relay, api, name):
    """The browser comes back once after `deleted`, and no more."""
    relay = new_relay(server.port)
    api.create(id=name)
    listen(page, relay.url, f"/v1/timers/{name}/events?types=cancelled,deleted")
    api.delete(f"/v1/timers/{name}").expect(204)
    assert [event["type"] for event in seen(page, 1)] == ["deleted"]
    page.until(lambda: page.run("return source.readyState") == CLOSED, told="the browser asks for ever")
    assert len(relay.streams) == 2 and len(page.run("return seen")) == 1


def test_a_page_of_another_origin_gets_no_stream_and_changes_nothing(page, server, new_server, api, name):
    """Another port is the same site to a browser, localhost another one: the server tells both from its own page."""
    page.expect(r"CORS|status of 403|ERR_FAILED")
    api.create(id=name)
    before = api.timer(name)
    for other in (new_server().url, f"{server.scheme}://localhost:{server.port}"):
        listen(page, other, f"{server.url}/v1/events", until=CLOSED)
        assert page.run("return [seen, opened]") == [[], 0]
        page.run("return fetch(arguments[0], {method: 'POST', mode: 'no-cors'})", f"{server.url}/v1/timers/{name}/cancel")
        told = page.run("return fetch(arguments[0]).then(() => 'read', error => error.name)", f"{server.url}/v1/timers/{name}")
        assert told == "TypeError"
    assert api.timer(name)["version"] == before["version"]
