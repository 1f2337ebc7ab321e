"""The dashboard on a phone: what an operator needs is in sight at once, and nothing covers anything."""

import pytest

from browser import PHONE
from dashboard import LOST, Dashboard, board, own, refusing_receiver  # noqa: F401
from webhooks import LATER, event, hooked

pytestmark = pytest.mark.thorough

# How far elements reach over the top and the bottom of another one, in pixels.
SPILL = """
    const [box, ...parts] = [...arguments].map(css => document.querySelector(css).getBoundingClientRect());
    return Math.max(...parts.map(({top, bottom}) => Math.max(box.top - top, bottom - box.bottom)))"""

# The widths of a button, in pixels, at which the mark at its end is not in the line of the character before it.
WIDTHS_OF_A_LONE_MARK = """
    const button = document.querySelector(arguments[0]), text = button.firstChild, end = text.data.length;
    const top = place => {
        const range = document.createRange();
        range.setStart(text, place);
        range.setEnd(text, place + 1);
        return range.getBoundingClientRect().top;
    };
    return [...Array(320).keys()].map(less => 380 - less).filter(width => {
        button.style.width = `${width}px`;
        return top(end - 1) > top(end - 3);
    })"""


@pytest.fixture
def phone(page):
    page.size(*PHONE, phone=True)
    page.prefers(reduced_motion="reduce")
    return page


def is_one_row(page, *parts):
    """Whether these elements are beside each other."""
    return page.run("""
        const boxes = [...arguments].map(css => document.querySelector(css).getBoundingClientRect());
        return Math.max(...boxes.map(box => box.top)) < Math.min(...boxes.map(box => box.bottom))""", *parts)


def test_trouble_and_the_tools_of_a_list_are_in_sight(phone, own, receiver):
    api = own.client
    hooked(api, receiver.url(), "dead", retry={**LATER, "maxAttempts": 1}, timer={"every": None, "after": "1ms"})
    event(api, "dead", "deliveryDead")
    board = Dashboard(phone, own.url).until_live()
    phone.until(lambda: phone.is_in_sight("#health .bad"), told="what is wrong has to be looked for")
    assert is_one_row(phone, "#search", "#count", "#filters-more")
    phone.until(lambda: board.text("#due-words"))
    assert is_one_row(phone, "#due h2", "#due-within")
    board.click("#health [data-figure=dead]")
    phone.until(lambda: board.deliveries() == ["dead"])
    assert is_one_row(phone, "#deliveries-form [name=status]", "#deliveries-form .more") and is_one_row(phone, "#redrive", "#drop")
    assert phone.barriers() == [] and phone.overflow() <= 0


def test_the_commands_to_many_fit_into_their_bar(phone, own):
    for number in range(3):
        own.client.create(id=f"job-{number}", every="1h")
    board = Dashboard(phone, own.url).until_live()
    board.until_row("job-1")
    # The page still moves by a line while it loads, so that a click at a place may miss the ring.
    phone.run("""document.querySelector('#rows [data-timer="job-1"] .ring').dispatchEvent(new MouseEvent("click", {bubbles: true}))""")
    phone.until(lambda: "1 timer chosen" in board.text("#bulk-count"))
    assert all(phone.is_in_sight(css) for css in ("#bulk-none", "#bulk-all", "#bulk [data-command=suspend]"))
    assert phone.run(SPILL, "#bulk", "#bulk-none", "#bulk-commands") <= 0
    board.click("#bulk-all")
    phone.until(lambda: "3 timers chosen" in board.text("#bulk-count"))
    assert phone.barriers() == [] and phone.overflow() <= 0


def test_a_server_that_is_gone_is_told_without_covering_anything(phone, own):
    phone.expect(LOST)
    board = Dashboard(phone, own.url).until_live()
    own.kill9()
    phone.until(lambda: "can't be reached" in phone.one("#gone").text)
    assert phone.run(SPILL, "#gone", "#gone-words", "#retry") <= 0
    assert phone.run("return document.querySelector('#gone').getBoundingClientRect().bottom") \
        <= phone.run("return document.querySelector('#search').getBoundingClientRect().top")
    assert board.connection() != "live" and phone.barriers() == [] and phone.overflow() <= 0
    phone.shot("dashboard-gone-phone")


def test_the_end_of_a_due_filter_stays_beside_its_text(phone, own):
    phone.size(390, 844, phone=True)
    Dashboard(phone, own.url, "/#due=1800000000000-1800003600000").until_live()
    phone.one("#due-only")
    assert phone.overflow() <= 0 and phone.run(WIDTHS_OF_A_LONE_MARK, "#due-only") == []
