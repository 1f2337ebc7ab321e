"""The dashboard's two "More" buttons: the longer history of a timer, and the deliveries after those that are shown."""

import pytest
from selenium.webdriver.common.keys import Keys

from dashboard import Dashboard, board, own, refusing_receiver  # noqa: F401
from webhooks import LATER, deliveries, event, fire, hooked

pytestmark = pytest.mark.thorough

# A page of a history that is full with one event, so that a short history takes many requests.
ONE_BY_ONE = """
    return parts.with(() => {
        const {open} = api, {readPage} = about;
        api.open = (path, options) => open.call(api, path.replace(`limit=${MOST_PAST}`, "limit=1"), options);
        about.readPage = async past => {
            const {at} = past;
            await readPage.call(about, past);
            past.hasMore = past.at !== at;
        };
    })"""


def focus(page):
    return page.run("return document.activeElement.id || document.activeElement.className")


def until_history(page, types):
    page.until(lambda: page.run("return [...document.querySelectorAll('#past tr')].map(row => row.dataset.type)") == types,
               told=f"{len(page.all('#past tr'))} events, not {len(types)}")


def until_deliveries(page, ids):
    page.until(lambda: page.run("return [...deliveries.body.rows].map(row => row.dataset.delivery)") == ids,
               told=f"{len(page.all('#deliveries tbody tr'))} deliveries, not {len(ids)}")


def test_more_of_a_history_is_read_until_nothing_is_left(page, own):
    own.client.create(id="beat", every="1ms", maxFires=22)
    event(own.client, "beat", "completed")
    types = [one["type"] for one in own.client.history_of("beat")]
    assert len(types) == 25
    board = Dashboard(page, own.url).until_live()
    page.run(ONE_BY_ONE)
    page.run("details.open('beat')")
    until_history(page, types[:10][::-1])
    board.click("#past-more")
    until_history(page, types[:20][::-1])
    assert board.text("#said") == board.text("#late-words") != "" and focus(page) == "past-more"
    assert board.text("#late-words").endswith("later events are not read yet.")
    board.keys(Keys.ENTER)
    until_history(page, types[::-1])
    assert board.text("#said") == board.text("#late-words") and board.text("#said").startswith("22 fires by the schedule")
    assert not page.all("#past-more:not([hidden])") and focus(page) == "past"


def test_more_deliveries_are_appended_until_nothing_is_left(page, own, receiver):
    hooked(own.client, receiver.url(), "mail", retry=LATER)
    fire(own.client, "mail", 205)
    ids = [one["id"] for one in deliveries(own.client)]
    assert len(ids) == 205
    board = Dashboard(page, own.url, "/#view=deliveries").until_live()
    until_deliveries(page, ids[:100])
    assert board.text("#deliveries-count") == "100 deliveries of more"
    board.click("#deliveries-more")
    until_deliveries(page, ids[:200])
    assert focus(page) == "deliveries-more" and board.text("#said") == "200 deliveries of more"
    board.keys(Keys.ENTER)
    until_deliveries(page, ids)
    assert board.text("#said") == board.text("#deliveries-count") == "205 deliveries"
    assert not page.all("#deliveries-more:not([hidden])") and focus(page) == "deliveries"
