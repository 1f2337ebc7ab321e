"""The recipes of docs/OPERATIONS.md in real nginx and Caddy: the page and the API work behind them, below a path too."""

import json

import pytest
import requests

from dashboard import Dashboard
from patience import PATIENCE
from proxies import Proxy
from timers import poll

pytestmark = pytest.mark.not_by_tls("the recipes are for a server without TLS")

NDJSON, SSE = "application/x-ndjson", "text/event-stream"


# With a site of its own, or below a path of another site.
@pytest.fixture(params=[
    pytest.param(("nginx", True), id="nginx-below"),
    pytest.param(("caddy", False), id="caddy-site", marks=pytest.mark.thorough),
    pytest.param(("nginx", False), id="nginx-site", marks=pytest.mark.heavy),
    pytest.param(("caddy", True), id="caddy-below", marks=pytest.mark.heavy),
])
def proxy(request, new_server):
    """A proxy, and its server as `behind`."""
    kind, is_below = request.param
    # Without a heartbeat, what the proxy holds back stays there.
    behind = new_server("--heartbeat", "1h", "--allow-host", "timers.example", "--allow-host", "site.example")
    with Proxy(kind, behind.port, is_below) as proxy:
        proxy.behind = behind
        yield proxy


@pytest.mark.thorough
def test_the_page_works(proxy, page):
    api = proxy.behind.client
    api.create(id="seen", every="1h")
    board = Dashboard(page, proxy.url).until_live()
    board.until_row("seen", state="running")
    board.click_command("seen", "suspend")
    board.until_row("seen", state="suspended")
    api.command("seen", "resume").expect(200)
    board.until_row("seen", state="running")
    board.new_timer(every="1h", kind="every", id="made")
    board.submit()
    board.until_row("made", state="running")
    links = page.run("return [...document.querySelectorAll('a')].map(link => link.href)")
    assert f"{proxy.url}/docs" in links
    assert board.alerts() == []


@pytest.mark.thorough
def test_the_documents_lead_to_each_other(proxy, page):
    page.open(f"{proxy.url}/problems/not-found")
    page.one("a").click()
    page.until(lambda: page.run("return location.href") == f"{proxy.url}/docs#problem-not-found")
    targets = set(page.run("return [...document.querySelectorAll('a')].map(link => link.href.split('#')[0])"))
    assert {f"{proxy.url}/", f"{proxy.url}/openapi.yaml", f"{proxy.url}/openapi.json"} <= targets
    for target in targets:
        assert requests.get(target, timeout=PATIENCE).status_code == 200, target


@pytest.mark.parametrize("media", [SSE, pytest.param(NDJSON, marks=pytest.mark.thorough)])
def test_an_event_comes_at_once(proxy, media):
    api = proxy.behind.client
    with requests.get(f"{proxy.url}/v1/events", headers={"Accept": media}, stream=True, timeout=PATIENCE) as stream:
        assert stream.status_code == 200 and stream.headers["Content-Type"].split(";")[0] == media
        lines = (line.decode() for line in stream.iter_lines(chunk_size=1))
        for number in range(3):
            api.create(id=f"timer-{number}")
            for type in ("created", "activated"):
                line = next(line for line in lines if "{" in line)
                event = json.loads(line.removeprefix("data: "))
                assert (event["type"], event["timer"]) == (type, f"timer-{number}")
    # The proxy leaves as well: at the latest when the next event can't be passed on.
    number = iter(range(1000))
    poll(lambda: api.create(id=f"after-{next(number)}") and "timerd_streams 0" in api.get("/metrics").body.decode())


def test_a_new_timer_is_where_the_answer_says(proxy):
    made = requests.post(f"{proxy.url}/v1/timers", json={"id": "tea", "after": "1h"}, timeout=PATIENCE)
    assert made.status_code == 201
    location = requests.compat.urljoin(made.url, made.headers["Location"])
    assert location == f"{proxy.url}/v1/timers/tea"
    assert requests.get(location, timeout=PATIENCE).json()["id"] == "tea"
    assert requests.get(f"{proxy.url}/v1/timers/tea/wait?timeout=1ms", timeout=PATIENCE).status_code == 204


@pytest.mark.thorough
def test_a_large_batch_passes(proxy):
    lines = [json.dumps({"id": f"t-{number}", "after": "1h", "payload": "x" * 60_000}) for number in range(100)]
    answer = requests.post(f"{proxy.url}/v1/timers/batch?results=brief", data="\n".join(lines), timeout=PATIENCE,
                           headers={"Content-Type": NDJSON})
    assert answer.status_code == 200 and [json.loads(line)["status"] for line in answer.text.splitlines()] == [201] * 100


def test_the_name_of_the_site_passes_and_another_sites_page_does_not(proxy):
    for origin, status in ((f"http://{proxy.name}", 201), ("http://evil.example", 403)):
        answer = requests.post(f"{proxy.url}/v1/timers", json={"after": "1h"}, timeout=PATIENCE,
                               headers={"Host": proxy.name, "Origin": origin})
        assert answer.status_code == status, answer.text


@pytest.mark.thorough
@pytest.mark.parametrize("proxy", [
    pytest.param(("nginx", True), id="nginx"), pytest.param(("caddy", True), id="caddy", marks=pytest.mark.heavy),
], indirect=True)
def test_the_path_gets_its_slash(proxy, page):
    page.open(proxy.url)
    page.until(lambda: page.run("return location.href") == f"{proxy.url}/")
    page.one("#connection[data-state=live]")


@pytest.fixture
def misled(new_server):
    """A proxy that keeps the browser's `Host` to itself, and its server."""
    server = new_server()
    with Proxy("nginx", server.port, False, ("proxy_set_header Host $http_host;", "")) as proxy:
        yield proxy, server


@pytest.mark.thorough
def test_the_page_says_why_a_click_is_refused(misled, page):
    page.expect("status of 403")
    proxy, server = misled
    server.client.create(id="seen")
    board = Dashboard(page, proxy.url).until_live()
    refusal = requests.post(f"{proxy.url}/v1/timers/seen/suspend", headers={"Origin": proxy.site}, timeout=PATIENCE).json()
    assert refusal["type"] == "/problems/cross-origin"
    board.until_row("seen", state="running")
    board.click_command("seen", "suspend")
    board.until_alert("seen", refusal["detail"][1:])
    board.new_timer(id="other")
    board.submit()
    page.until(lambda: refusal["detail"][1:] in board.text("#create-error"), told="the form does not say why")
