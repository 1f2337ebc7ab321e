"""The dashboard as an operator needs it: what is wrong is seen at a glance, and each figure leads to what it counts."""

import pytest

from dashboard import Dashboard
from receiver import Receiver
from webhooks import LATER, event, hooked

pytestmark = pytest.mark.thorough

ONCE = {**LATER, "maxAttempts": 1}


@pytest.fixture
def receiver():
    """A receiver that takes nothing until it is told otherwise."""
    with Receiver(answer=500) as receiver:
        yield receiver


@pytest.fixture
def own(new_server):
    return new_server()


@pytest.fixture
def board(page, own):
    return Dashboard(page, own.url).until_live()


def dead(api, url, id, **timer):
    """A timer whose one fire could not be delivered."""
    hooked(api, url, id, retry=ONCE, timer={"every": None, "after": "1ms", **timer})
    event(api, id, "deliveryDead")


def figure(page, name):
    return page.one(f"#health [data-figure={name}]")


def test_trouble_comes_first_and_each_figure_leads_to_what_it_counts(page, own, receiver):
    api = own.client
    for id in ("aaa", "bbb"):
        api.create(id=id, every="1h")
    api.create(id="zzz-dog", watchdog="1ms")
    board = Dashboard(page, own.url).until_live()
    dead(api, receiver.url(), "yyy-dead")
    page.until(lambda: ("deliveryDead", "yyy-dead") in board.feed())
    assert page.overflow("#feed .type") <= 0
    page.until(lambda: list(board.rows()) == ["zzz-dog", "yyy-dead", "aaa", "bbb"], told=f"{list(board.rows())}")
    rows = board.rows()
    assert rows["zzz-dog"]["state"] == "stalled" and rows["yyy-dead"]["state"] == "broken"
    assert "1 dead delivery, completed" in rows["yyy-dead"]["text"]
    assert len({rows[id]["shape"] for id in rows}) == 3 and rows["zzz-dog"]["color"] != rows["aaa"]["color"]
    page.until(lambda: [figure(page, name).text for name in ("running", "stalled", "overdue", "dead", "ready")]
               == ["3 running", "1 stalled", "0 overdue", "1 dead deliveries", "ready"])
    assert "B, " in figure(page, "storage").text and barriers(page) == []
    for name, ids in (("stalled", ["zzz-dog"]), ("running", ["zzz-dog", "aaa", "bbb"]), ("overdue", [])):
        board.click(f"#health [data-figure={name}]")
        page.until(lambda: list(board.rows()) == ids, told=f"{name}: {list(board.rows())}")
        assert figure(page, name).get_attribute("aria-current") == "true"
    page.driver.back()
    page.until(lambda: list(board.rows()) == ["zzz-dog", "aaa", "bbb"], told="Back does not lead back")
    page.driver.refresh()
    board.until_live()
    page.until(lambda: list(board.rows()) == ["zzz-dog", "aaa", "bbb"], told="the filter is lost with a reload")
    page.shot("dashboard-trouble")


def barriers(page):
    page.until(lambda: page.one("#health [data-figure=rate]").text != "– fires/s")
    return page.barriers()
