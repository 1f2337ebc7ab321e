"""The dashboard in Chromium over TLS: the page is a secure context, and its events come as without TLS."""

import pytest

from dashboard import Dashboard

pytestmark = pytest.mark.thorough


def test_the_page_works_over_tls(page, new_server):
    server = new_server(listen=["https://127.0.0.1:0"])
    api = server.client
    api.create(id="seen", every="1h")
    board = Dashboard(page, server.url).until_live()
    assert page.run("return [location.protocol, isSecureContext]") == ["https:", True]
    board.until_row("seen", state="running")
    board.click_command("seen", "suspend")
    board.until_row("seen", state="suspended")
    api.create(id="pushed", every="1h")
    board.until_row("pushed", state="running")
    assert board.alerts() == []


def test_an_event_source_goes_on_after_a_restart(page, new_server):
    page.expect(r"net::ERR_(CONNECTION_REFUSED|CONNECTION_RESET|CONNECTION_CLOSED|EMPTY_RESPONSE|INCOMPLETE_CHUNKED_ENCODING)|status of 503")
    server = new_server(listen=["https://127.0.0.1:0"])
    page.open(f"{server.url}/problems/not-found")
    page.run("""
        window.seen = [];
        window.source = new EventSource("/v1/events?types=created");
        source.addEventListener("created", event => seen.push(JSON.parse(event.data).timer));
    """)
    page.until(lambda: page.run("return source.readyState") == 1)
    server.client.create(id="before")
    page.until(lambda: page.run("return seen") == ["before"])
    server.restart(same_port=True)
    server.client.create(id="after")
    page.until(lambda: page.run("return seen") == ["before", "after"])
    page.run("source.close()")
