"""The dashboard where several servers share a database: who takes part, and who serves."""

import pytest

from browser import PHONE
from dashboard import LOST, Dashboard

ROWS = """
    return [...document.querySelectorAll("#cluster tbody tr")].map(row => [...row.cells].map(cell => cell.innerText.trim()));
"""

pytestmark = pytest.mark.thorough


@pytest.fixture
def pair(new_node):
    """Two servers, of which the first serves."""
    return new_node(), new_node()


def open_servers(board, page):
    page.until(lambda: not is_hidden(page), told="the page does not say that there are several servers")
    board.click("#cluster-open")


def is_hidden(page):
    return page.run("return document.querySelector('#cluster-open').hidden")


def roles(page):
    """What the page says of each server: its role by its URL, the one that sent the page marked with a star."""
    return {url.removesuffix(" this one") + "*" * url.endswith("this one"): role for url, role, _, _ in page.run(ROWS)}


@pytest.mark.not_on_postgres("a server there is one of several, were it the only one")
def test_a_server_that_is_alone_says_nothing_of_others(page, server):
    board = Dashboard(page, server.url).until_live()
    page.until(lambda: page.run("return cluster.json === null"), told="the page goes on to ask")
    assert is_hidden(page) and board.text("#cluster tbody") == ""


@pytest.mark.parametrize("scheme, size", [("dark", "desktop"), *(pytest.param("light", size, marks=pytest.mark.heavy) for size in ("desktop", "phone"))])
def test_the_servers_of_a_cluster_are_shown(page, pair, scheme, size):
    first, second = pair
    page.prefers(color_scheme=scheme, reduced_motion="reduce")
    if size == "phone":
        page.size(*PHONE, phone=True)
    board = Dashboard(page, first.url).until_live()
    open_servers(board, page)
    page.until(lambda: roles(page) == {f"{first.url}*": "serves", second.url: "stands by"},
               told=f"the roles are {roles(page)}")
    page.until(lambda: all(row[3].endswith(("ahead", "behind")) for row in page.run(ROWS)), told="no clock was measured")
    page.until(lambda: board.text("#cluster-open") == "2 servers", told="the standby does not become warm")
    assert board.text("#cluster .error") == ""
    page.shot(f"dashboard-{scheme}-{size}-cluster")
    assert page.barriers() == []
    assert page.overflow("html") <= 0 and page.overflow("#cluster") <= 0 and page.is_in_sight("#cluster [data-close]")


def test_the_button_tells_of_a_standby_that_is_not_warm(page, new_node):
    first = new_node()
    new_node("--standby", "cold")
    board = Dashboard(page, first.url).until_live()
    page.until(lambda: board.text("#cluster-open") == "2 servers, 1 not warm", told="the button does not tell")
    open_servers(board, page)
    page.until(lambda: [row[2] for row in page.run(ROWS)].count("cold") == 1, told="no server is shown as cold")


@pytest.mark.heavy
def test_a_server_that_dies_goes_from_the_list_and_another_serves(page, pair):
    first, second = pair
    # The page of a standby, whose timers are the other's until then.
    page.expect(LOST)
    board = Dashboard(page, second.url)
    open_servers(board, page)
    page.until(lambda: roles(page).get(first.url) == "serves", told="the owner is not shown")
    assert roles(page)[f"{second.url}*"] == "stands by"
    first.kill9()
    page.until(lambda: roles(page) == {f"{second.url}*": "serves"}, told="the page does not show the take-over")
    assert board.text("#cluster-open") == "1 server"
    board.until_live()
