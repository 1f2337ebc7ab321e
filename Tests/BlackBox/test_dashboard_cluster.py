"""The dashboard where several servers share a database: who takes part, and who serves."""

import re

import pytest

from browser import DESKTOP, PHONE
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


def figure(page):
    """What the header says of the servers, with an exclamation mark where that is marked as bad."""
    return page.run("""
        const {textContent, classList} = document.querySelector("#health #cluster-open, #gone #cluster-open");
        return textContent.trim() + (classList.contains("bad") ? "!" : "")""")


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
    page.until(lambda: re.fullmatch(r"1 owner, 1 standby lag \d\.\ds", figure(page)), told=f"the figure is {figure(page)}")
    assert board.text("#cluster .error") == ""
    page.shot(f"dashboard-{scheme}-{size}-cluster")
    assert page.barriers() == []
    assert page.overflow("html") <= 0 and page.overflow("#cluster") <= 0 and page.is_in_sight("#cluster [data-close]")


def test_the_figure_tells_of_a_standby_that_is_not_warm(page, new_node):
    first = new_node()
    new_node("--standby", "cold")
    board = Dashboard(page, first.url).until_live()
    page.until(lambda: figure(page) == "1 owner, 1 standby, 1 cold!", told="the figure does not tell")
    open_servers(board, page)
    page.until(lambda: [row[2] for row in page.run(ROWS)].count("cold") == 1, told="no server is shown as cold")


@pytest.mark.not_on_postgres("the page of a server that shares its database reads the servers again and again")
def test_the_figure_is_bad_where_a_standby_could_not_take_over(page, server):
    Dashboard(page, server.url).until_live()
    page.until(lambda: page.run("return cluster.json === null"), told="the page goes on to ask")

    def shown(*nodes):
        """The figure for nodes, each in words: its name; its role, its lag or what it has in memory; and whether it leaves."""
        listed = []
        for name, state, *more in map(str.split, nodes):
            role, memory, lag = ("owner", None, None) if state == "owner" else \
                ("standby", "warm", state) if state[0].isdigit() else ("standby", state, None)
            listed.append({"session": name, "url": f"http://{name}", "role": role, "memory": memory, "lag": lag, "skewUs": 0,
                           "leaving": bool(more)})
        page.run("cluster.json = {session: 'a', owner: {}, nodes: arguments[0]}; cluster.render()", listed)
        return figure(page)

    assert shown("a owner", "b 2s", "c 150ms") == "1 owner, 2 standbys lag 2.0s"
    assert shown("a owner", "b 2s1ms", "c cold") == "1 owner, 2 standbys, 1 cold lag 2.0s!"
    assert shown("a owner", "b 2s", "c warming") == "1 owner, 2 standbys, 1 warming lag 2.0s!"
    assert shown("a owner", "b 1m5s", "c 0s") == "1 owner, 2 standbys lag 1m 05s!"
    assert shown("a 0s", "b 0s", "c 0s") == "no owner, 3 standbys lag 0.0s!"
    assert shown("a owner", "b 0s") == "1 owner, 1 standby, 1 missing lag 0.0s!"
    assert roles(page) == {"http://a*": "serves", "http://b": "stands by", "http://c": "missing"}
    assert shown("a owner", "b 0s", "d 0s") == "1 owner, 2 standbys lag 0.0s", "another server has taken its place"
    assert shown("a owner", "b 0s leaves", "d 0s") == "1 owner, 2 standbys, 1 leaving lag 0.0s!"
    assert shown("a owner", "d 0s") == "1 owner, 1 standby lag 0.0s", "a server that left is missed"
    assert shown("a owner") == "1 owner, no standby, 1 missing!"


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_page_of_a_server_that_does_not_serve_leads_to_the_others(page, pair, size):
    first, second = pair
    page.expect(LOST)
    page.size(*size, phone=size == PHONE)
    board = Dashboard(page, second.url)
    page.until(lambda: page.all("#gone #cluster-open:not([hidden])"), told="the other servers are out of reach")
    assert page.is_in_sight("#cluster-open") and page.overflow() <= 0 and page.barriers() == []
    page.shot(f"dashboard-standby-{size[0]}")
    board.click("#cluster-open")
    page.until(lambda: page.all(f"#cluster [href^='{first.url}']"), told="no link leads to the other server")


@pytest.mark.heavy
def test_a_server_that_dies_goes_from_the_list_and_another_serves(page, pair):
    first, second = pair
    # The page of a standby, whose timers are the other's until then.
    page.expect(LOST)
    board = Dashboard(page, second.url)
    open_servers(board, page)
    page.until(lambda: roles(page).get(first.url) == "serves", told="the owner is not shown")
    assert roles(page)[f"{second.url}*"] == "stands by"
    board.click("#cluster [data-close]")
    page.run("document.querySelector('#gone #cluster-open').focus()")
    first.kill9()
    page.until(lambda: roles(page) == {f"{second.url}*": "serves", first.url: "missing"}, told="the page does not show the take-over")
    assert figure(page) == "1 owner, no standby, 1 missing!"
    board.until_live()
    assert page.all("#health #cluster-open") and page.run("return document.activeElement.id") == "cluster-open", "the focus is lost"


def test_a_standby_says_that_a_list_could_not_be_read(page, pair):
    page.expect(LOST)
    board = Dashboard(page, pair[1].url, "/#view=deliveries")
    refused = "nswers for the timer; nothing could be read"
    page.until(lambda: refused in board.text("#connection") and refused in board.text("#deliveries-note"),
               told=f"{board.text('#connection')}, {board.text('#deliveries-note')}")
    change = "return api.json('v1/timers', {method: 'POST', body: '{}'}).catch(({sentence}) => sentence)"
    assert page.run(change).endswith("nswers for the timer; nothing was changed.")
