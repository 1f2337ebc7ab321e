"""How the dashboard is shown: light and dark, on a phone, with a keyboard or a screen reader."""

import re

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from browser import DESKTOP, PHONE
from dashboard import Dashboard, vanished
from timers import STATES, timer_in
from webhooks import events, hooked

pytestmark = pytest.mark.thorough


@pytest.fixture
def own(new_server):
    """A server with a timer in each state, a stalled watchdog, and some fires."""
    server = new_server()
    for number, state in enumerate(STATES):
        timer_in(server.client, state, id=f"timer-{state}", labels={"team": ["blue", "red"][number % 2]}, after=f"{number + 1}h")
    server.client.create(id="timer-dog", watchdog="1ms", labels={"team": "red"})
    server.client.create(id="timer-cron", cron="0 9 * * MON-FRI", timeZone="Europe/Berlin", payload={"cup": "blue"})
    return server


@pytest.fixture
def board(page, own):
    board = Dashboard(page, own.url).until_live()
    board.until_row("timer-dog", state="stalled")
    return board


def focus(page):
    """The element that has the focus: its field's name, id, timer or filter, else its tag."""
    return page.run("""
        const element = document.activeElement, {timer, filter} = element.dataset;
        return element.name || element.id || timer || filter || element.tagName""")


@pytest.mark.parametrize("scheme", ["dark", pytest.param("light", marks=pytest.mark.heavy)])
def test_states_differ_in_shape_and_in_colour(board, page, scheme):
    page.prefers(color_scheme=scheme)
    rows = board.rows()
    shown = [rows[f"timer-{state}"] for state in STATES]
    assert len({row["shape"] for row in [*shown, rows["timer-dog"]]}) == 6
    assert len({row["color"] for row in shown}) == 5
    for state, row in zip(STATES, shown):
        assert row["state"] == state  # and in a word


SIZES = {"desktop": DESKTOP, "phone": PHONE, "wide": (2560, 1440)}
# The targets that are smaller than 24 pixels and nearer to others than WCAG 2.2 allows (2.5.8), which axe does not look for here.
CRAMPED = """
    const isSmall = box => box.width < 24 || box.height < 24;
    const middle = box => [box.left + box.width / 2, box.top + box.height / 2];
    const distance = ([x, y], box) =>
        Math.hypot(Math.max(box.left - x, 0, x - box.right), Math.max(box.top - y, 0, y - box.bottom));
    const isNear = (box, other) => isSmall(other) ? Math.hypot(...middle(box).map((part, axis) => part - middle(other)[axis])) < 24
        : distance(middle(box), other) < 12;
    const open = document.querySelector("dialog[open]");
    const targets = [...document.querySelectorAll(":is(a[href], button, input, select, textarea, summary):not(.skip)")]
        .filter(target => target.closest("dialog") === open && target.checkVisibility({visibilityProperty: true, opacityProperty: true}))
        .map(target => [target, (target.closest("label:has(:is([type=checkbox], [type=radio]))") ?? target).getBoundingClientRect()]);
    return targets.filter(([target, box]) => isSmall(box) && targets.some(([other, near]) => other !== target && isNear(box, near)))
        .map(([target]) => target.outerHTML)"""


@pytest.mark.parametrize("scheme, size", [("dark", "desktop"), *(pytest.param("light", size, marks=pytest.mark.heavy) for size in SIZES)])
def test_nobody_is_shut_out(board, own, page, scheme, size):
    """No violation that axe knows, on the page and in each of its dialogs; nothing is wider than the window or too near to hit."""
    page.prefers(color_scheme=scheme, reduced_motion="reduce")
    page.size(*SIZES[size], phone=size == "phone")
    own.client.create(id="timer-brief", every="200ms", maxFires=5)
    board.until_row("timer-brief", state="completed")
    name, barriers = f"dashboard-{scheme}-{size}", []

    def look(what, dialog=None):
        if dialog:
            page.until(lambda: page.run("return document.querySelector(arguments[0]).open", dialog), told=dialog)
        page.shot(f"{name}-{what}" if what else name)
        barriers.extend(f"{what or 'page'}: {barrier}" for barrier in page.barriers() + page.run(CRAMPED))
        for css in ("html", "body", *([dialog] if dialog else [])):
            assert page.overflow(css) <= 0, f"{what}: {css} is too wide"
        if dialog:
            assert page.is_in_sight(f"{dialog} [data-close]"), f"{what}: it can't be closed"
            board.keys(Keys.ESCAPE)
            page.until(lambda: not page.all("dialog[open]"), told=f"Escape does not close {dialog}")

    look("")
    board.click('#rows .row[data-timer="timer-cron"] b')
    page.until(lambda: "Europe/Berlin" in page.one("#details pre").text)
    look("details", "#details")
    board.click("#new")
    page.until(lambda: page.all("#preview li"))
    look("create", "#create")
    board.click("#help-open")
    look("help", "#help")
    hooked(own.client, "http://127.0.0.1:1/", "timer-hooked", retry={"maxAttempts": 1})
    own.client.command("timer-hooked", "fire").expect(200)
    page.run("location.hash = 'view=deliveries'")
    page.until(lambda: "attempts used up" in page.one("#deliveries tbody").text)
    look("deliveries")
    assert barriers == []


@pytest.mark.parametrize("size", [pytest.param("desktop", marks=pytest.mark.heavy), "phone"])
def test_the_details_can_do_all_that_a_row_can(board, own, page, size):
    """On a phone the rows have no buttons: the details are the only way."""
    page.expect(vanished("timer-running"))
    if size == "phone":
        page.size(*PHONE, phone=True)
    board.click('#rows .row[data-timer="timer-running"] b')
    for command, state in (("suspend", "suspended"), ("resume", "running"), ("cancel", "cancelled"), ("delete", None)):
        allowed = set(own.client.timer("timer-running")["allowed"])
        page.until(lambda: {button.get_attribute("data-command") for button in page.all("#details .buttons button:enabled")}
                   == {*allowed, "delete"}, told=f"the buttons are not {allowed}")
        board.click(f"#details .buttons [data-command={command}]")
        if command in ("cancel", "delete"):
            board.send_now()
        if command == "delete":
            page.until(lambda: "no longer exists" in page.one("#details-title").text)
        else:
            page.until(lambda: state in page.one("#details dl").text, told=f"{command} did nothing")
            assert own.client.timer("timer-running")["state"] == state
    own.client.get("/v1/timers/timer-running").expect(404)


def test_details_show_what_the_server_says_and_stay_so(board, own, page):
    page.expect(vanished("timer-running"))
    board.go_to("timer-running")
    board.keys(Keys.ENTER)
    page.until(lambda: "team=red" in page.one("#details dl").text and '"after": "2h"' in page.one("#details pre").text)
    own.client.command("timer-running", "suspend").expect(200)
    page.until(lambda: "suspended" in page.one("#details dl").text and '"state": "suspended"' in page.one("#details pre").text)
    own.client.delete("/v1/timers/timer-running").expect(204)
    page.until(lambda: "no longer exists" in page.one("#details-title").text)
    assert not [button for button in page.all("#details .buttons button") if button.is_displayed()]


@pytest.mark.heavy
def test_the_keyboard_leads_everywhere_and_back(board, page):
    page.expect(r"/v1/schedules/preview.*status of 400")  # of the letter that is typed where a duration belongs
    board.keys("/")
    assert focus(page) == "search"
    board.keys("timer", Keys.ARROW_DOWN)
    first, *_, last = board.rows()
    page.until(lambda: focus(page) == first)
    board.keys(Keys.END)
    page.until(lambda: focus(page) == last)
    board.keys(Keys.ARROW_UP, Keys.HOME)
    page.until(lambda: focus(page) == first)
    board.keys(Keys.ENTER)
    page.until(lambda: page.run("return document.querySelector('#details').open"))
    board.keys(Keys.ESCAPE)
    page.until(lambda: focus(page) == first, told="the focus did not come back from the details")
    board.keys("n")
    page.until(lambda: focus(page) == "after")
    board.keys("n")  # in a field a letter is a letter
    assert "n" in page.one("#create [name=after]").get_attribute("value")
    board.keys(Keys.ESCAPE)
    page.until(lambda: focus(page) == first, told="the focus did not come back from the form")
    board.keys("p")
    page.until(lambda: page.one("#feed-pause").get_attribute("aria-pressed") == "true")
    board.keys("?")
    page.until(lambda: page.run("return document.querySelector('#help').open"))
    board.click("#keys")
    board.keys(Keys.ESCAPE, "n")
    assert not page.all("dialog[open]")  # single keys are switched off


@pytest.mark.heavy
def test_tab_goes_through_the_page_and_the_list_is_one_stop(board, page):
    stops = []
    while len(stops) < 40 and "BODY" not in stops[1:]:
        board.keys(Keys.TAB)
        stops.append(focus(page))
    wanted = ["help-open", "new", "search", "label", *STATES, "sort", "timer-dog", "feed-pause"]
    assert [stop for stop in stops if stop in wanted or stop.startswith("timer-")][:len(wanted)] == wanted, stops


@pytest.mark.heavy
def test_fires_are_drawn(board, own, page):
    def shape(css):
        return page.run("return document.querySelector(arguments[0]).getAttribute('d')", css)
    flat = shape("#rate .curve")
    own.client.create(every="20ms", maxFires=25)
    page.until(lambda: re.search(r"\b(2[5-9]|3\d) fires", page.one("#rate small").text))
    page.until(lambda: shape("#rate .curve") != flat and shape("#lateness .curve") and shape("#storage .curve"))
    assert re.search(r"p99 \d", page.one("#lateness svg").get_attribute("aria-label"))
    assert "fires in the hour" in page.one("#rate svg").get_attribute("aria-label")
    page.driver.refresh()
    board.until_live()
    page.until(lambda: re.search(r"\b(2[5-9]|3\d) fires", page.one("#rate small").text), told="the hour before is lost")
    page.shot("dashboard-charts")


@pytest.mark.heavy
def test_a_paused_feed_keeps_still_and_one_timer_can_be_followed_alone(board, own, page):
    api = own.client
    api.command("timer-running", "fire").expect(200)
    page.until(lambda: ("completed", "timer-running") in board.feed())
    before = board.feed()
    board.click("#feed-pause")
    api.command("timer-suspended", "resume").expect(200)
    page.until(lambda: "1 new" in page.one("#feed-pause").text)
    assert board.feed() == before
    board.click("#feed-pause")
    api.command("timer-suspended", "suspend").expect(200)
    page.until(lambda: ("suspended", "timer-suspended") in board.feed())
    board.click("#feed li button", text="timer-suspended")
    page.until(lambda: {timer for _, timer in board.feed()} == {"timer-suspended"})
    api.command("timer-suspended", "resume").expect(200)
    page.until(lambda: board.feed()[0] == ("resumed", "timer-suspended"))


def test_while_events_stream_the_feed_draws_those_in_sight_and_the_rest_afterwards(board, own, page):
    own.client.create(id="timer-burst", every="1ms", maxFires=120)
    expected = [(event["type"], event["timer"]) for event in reversed(events(own.client, "timer-burst", count=123))]
    page.until(lambda: board.feed()[:123] == expected, told=f"{board.feed()}")
    shown = page.run("""
        const {log, box} = feed;
        const old = () => [...box.children].filter((item, index) => {
            return item.lastElementChild.textContent !== feed.detail(feed.events.at(-1 - index));
        });
        const isInSight = item => item.getBoundingClientRect().top < log.getBoundingClientRect().bottom;
        const stream = () => {
            feed.take({type: "fired", timer: "timer-burst", at: new Date().toISOString(), fire: 121, reason: "manual"});
            feed.tick();
        };
        stream();
        const streaming = [old().length > 0, old().some(isInSight)];
        feed.tick();
        const quiet = old().length;
        stream();
        log.scrollTop = log.scrollHeight;
        log.dispatchEvent(new Event("scroll"));
        return {streaming, quiet, scrolled: old().length};""")
    assert shown == {"streaming": [True, False], "quiet": 0, "scrolled": 0}


def test_a_window_that_grows_and_a_list_that_is_scrolled_show_more_rows(board, own, page):
    page.size(1280, 600)
    own.client.batch([{"id": f"timer-z{number:02}", "after": "2d"} for number in range(60)], "?results=brief").expect(200)
    page.until(lambda: page.one("#count").text == "67 timers")

    def is_full():
        return page.run("""
            const {left, bottom} = list.box.getBoundingClientRect();
            return Boolean(document.elementFromPoint(left + 100, bottom - 30).closest("#rows .row"))""")
    page.until(is_full, told="the list has a hole")
    page.size(1280, 1400)
    page.until(is_full, told="the window grew, the list did not")
    page.size(1280, 600)
    page.run("list.box.scrollTop = list.box.scrollHeight")
    page.until(lambda: is_full() and "timer-z59" in board.rows(), told="no row where it is scrolled to")


def test_buttons_come_with_the_mouse_and_with_the_focus(board, page):
    def opacities():
        return page.run("""return Object.fromEntries([...document.querySelectorAll("#rows .row")].map(row =>
            [row.dataset.timer, getComputedStyle(row.querySelector(".actions")).opacity]))""")
    board.leave_list()
    page.until(lambda: set(opacities().values()) == {"0"}, told=f"{opacities()}")
    assert page.one("#rows .row").size["height"] == 44
    ActionChains(page.driver, duration=0).move_to_element(page.one('#rows [data-timer="timer-running"] b')).perform()
    page.until(lambda: [id for id, shown in opacities().items() if shown == "1"] == ["timer-running"], told=f"{opacities()}")
    board.leave_list()
    board.go_to("timer-cron")
    page.until(lambda: opacities()["timer-cron"] == "1", told=f"{opacities()}")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_delete_and_trouble_are_red_and_nothing_else_is(board, page, scheme):
    page.prefers(color_scheme=scheme)
    board.click('#rows .row[data-timer="timer-running"] b')
    page.until(lambda: page.all("#details [data-command=delete]:enabled"))
    colors = page.run("""
        const color = css => getComputedStyle(document.querySelector(css)).color;
        return ['.row[data-timer="timer-running"] [data-command=delete]', "#details [data-command=delete]", "#drop",
            '.row[data-timer="timer-dog"] .ring', "#details [data-command=suspend]", '.row[data-timer="timer-running"] .ring'].map(color)""")

    def is_red(color):
        red, green, blue = map(int, re.findall(r"\d+", color)[:3])
        return red > 1.4 * max(green, blue)
    assert [is_red(color) for color in colors] == [True] * 4 + [False] * 2, colors


def test_the_next_fire_comes_first_and_trouble_before_it(board, own, page):
    own.client.create(id="timer-soon", after="20m", labels={f"label-{number}": "W" * 30 for number in range(9)})

    def order():
        """The rows from the top, without the timer whose place depends on the time of day."""
        return [id for id in board.rows() if id != "timer-cron"]

    page.until(lambda: order()[:3] == ["timer-dog", "timer-soon", "timer-running"], told=f"{order()}")
    board.until_row("timer-soon", text="after 20m")  # its text changes no more
    cut = page.one('#rows [data-timer="timer-soon"] small')
    ActionChains(page.driver, duration=0).move_to_element(cut).perform()
    page.until(lambda: cut.get_attribute("title") == cut.get_attribute("textContent"), told="what is cut has no tooltip")
    whole = page.one('#rows [data-timer="timer-dog"] b')
    ActionChains(page.driver, duration=0).move_to_element(whole).perform()
    page.until(lambda: whole.get_attribute("title") == "", told="what is whole has a tooltip")
    event = page.one("#feed button")
    ActionChains(page.driver, duration=0).move_to_element(event).perform()
    page.until(lambda: event.get_attribute("title") == f"Only the events of {event.get_attribute('textContent')}")


def test_toolbars_are_folded_on_a_phone(board, page):
    page.size(*PHONE, phone=True)
    assert page.one("#search") and not page.one("#filters-more").get_attribute("aria-expanded") == "true"
    assert not [css for css in ("#label", "#states", "#sort") if any(part.is_displayed() for part in page.all(css))]
    board.click("#filters-more")
    board.click("#states [data-filter=running]")
    page.until(lambda: page.one("#filters-more").text == "Filters (1)")
    assert page.one("#label") and page.one("#sort") and page.one("#filters-more").get_attribute("aria-expanded") == "true"
    assert page.barriers() == [] and page.overflow() <= 0


@pytest.mark.heavy
def test_a_ring_shows_the_part_that_is_left(board, own, page):
    def offset(id):
        return page.run("""return parseFloat(document.querySelector(`#rows [data-timer="${arguments[0]}"] .arc`)
                           .style.strokeDashoffset) || 0""", id)
    own.client.create(id="timer-ring", after="100s")
    own.client.command("timer-ring", "reschedule", {"after": "50s"}).expect(200)
    board.until_row("timer-ring", text="s")
    earlier = page.until(lambda: offset("timer-ring") > 0 and offset("timer-ring"))
    page.until(lambda: offset("timer-ring") > earlier)
    own.client.command("timer-ring", "suspend").expect(200)
    board.until_row("timer-ring", state="suspended", text="left")
    assert "s" in board.rows()["timer-ring"]["text"]


def test_no_row_of_the_feed_is_a_button_without_a_name(board, page):
    """During a burst, which here does not end, only the rows in sight are drawn with each event."""
    page.run("""
        feed.tick = () => {};
        const at = new Date().toISOString();
        for (let fire = 1; fire <= 150; fire += 1) {
            feed.take({at, type: "fired", timer: `burst-${fire}`, fire, reason: "manual"});
        }
        feed.render(false)""")
    assert page.barriers() == []
    assert board.feed()[:150] == [("fired", f"burst-{fire}") for fire in range(150, 0, -1)]
