"""The dashboard's calendars: listed, drawn as a week, changed, and deleted where no timer goes by them."""

import json

import pytest

from browser import PHONE
from dashboard import Dashboard, board, own  # noqa: F401

WEEK = {"mon-sun": ["09:00-12:30", "13:30-18:00"]}


def shown(page, name):
    page.until(lambda: page.all("#calendars-list a"))
    page.run("document.querySelector(`#calendars-list a[href*='calendar=${arguments[0]}']`).click()", name)
    page.until(lambda: page.all("#open-week li") and page.run("return calendars.form.name.value") == name, told=f"{name} is not drawn")


def hours(page):
    """Each day's open hours in words, and its bars in hundredths of the day."""
    return page.run("""
        return [...document.querySelectorAll("#open-week li")].map(day => [day.querySelector("small").textContent,
            [...day.querySelectorAll("i")].map(bar => [bar.style.left, bar.style.width].map(text => Math.round(parseFloat(text) * 14.4)))])""")


def define(page, definition):
    page.run("calendars.form.text.value = arguments[0]", definition if isinstance(definition, str) else json.dumps(definition))


def begin(board, name):
    """Opens the form for a new calendar."""
    board.click("#calendar-new")
    board.type_into("#calendar-form [name=name]", name)


def test_a_calendar_is_listed_and_drawn_as_a_week(page, own):
    own.client.put("/v1/calendars/day", {"timeZone": "Asia/Tokyo", "week": WEEK}).expect(201)
    own.client.put("/v1/calendars/night", {"timeZone": "America/New_York", "week": {"mon-sun": ["22:00-04:00"]}}).expect(201)
    board = Dashboard(page, own.url).until_live()
    board.click(".top nav a", text="Calendars")
    shown(page, "day")
    page.until(lambda: hours(page) == [["09:00–12:30, 13:30–18:00", [[540, 210], [810, 270]]]] * 7, told="the week is not drawn")
    assert "Asia/Tokyo" in page.one("#open-words").text
    assert page.barriers() == [] and page.overflow() <= 0
    page.shot("dashboard-calendars")
    shown(page, "night")
    page.until(lambda: hours(page) == [["00:00–04:00, 22:00–24:00", [[0, 240], [1320, 120]]]] * 7, told="the week is not drawn")
    page.driver.refresh()
    board.until_live()
    page.until(lambda: page.all("#open-week li") and page.run("return calendars.form.name.value") == "night", told="a reload forgets it")
    page.size(*PHONE, phone=True)
    assert page.barriers() == [] and page.overflow() <= 0
    page.shot("dashboard-calendars-phone")


@pytest.mark.thorough
def test_a_calendar_is_made_and_changed_and_an_error_is_shown_where_it_is(page, own):
    page.expect(r"status of (400|412)")
    api = own.client
    board = Dashboard(page, own.url, "/#view=calendars").until_live()
    begin(board, "berlin")
    board.click("#calendar-form .primary")
    page.until(lambda: api.get("/v1/calendars/berlin").status == 200, told="no calendar is made")
    shown(page, "berlin")
    define(page, {"timeZone": "Europe/Berlin", "week": {"mon": ["09:00-12:00", "33:00-34:00"]}})
    board.click("#calendar-form .primary")
    page.until(lambda: "/week/mon/1: '33:00-34:00' is no interval" in page.one("#calendar-error").text)
    assert page.run("const {text} = calendars.form; return text.value.slice(text.selectionStart, text.selectionEnd)") == '"33:00-34:00"'
    define(page, {"timeZone": "Europe/Berlin", "week": {"mon-sun": ["10:00-11:00"]}})
    board.click("#calendar-form .primary")
    page.until(lambda: hours(page) == [["10:00–11:00", [[600, 60]]]] * 7, told=f"{hours(page)}")
    assert api.get("/v1/calendars/berlin").json["week"] == {"mon-sun": ["10:00-11:00"]}
    api.put("/v1/calendars/berlin", {"timeZone": "Europe/Berlin", "week": WEEK}).expect(200)
    define(page, {"timeZone": "Europe/Berlin", "week": {"mon": ["10:00-11:00"]}})
    board.click("#calendar-form .primary")
    page.until(lambda: "version" in page.one("#calendar-error").text, told="another client's change is written over")
    assert api.get("/v1/calendars/berlin").json["week"] == WEEK
    assert json.loads(page.run("return calendars.form.text.value"))["week"] == {"mon": ["10:00-11:00"]}, "the text is lost"
    board.click("#calendar-form .primary")
    page.until(lambda: api.get("/v1/calendars/berlin").json["week"] == {"mon": ["10:00-11:00"]}, told="Save is a dead end")


@pytest.mark.thorough
def test_a_week_has_each_day_once_where_the_clocks_change_and_a_strange_zone_is_told(page, own):
    own.client.put("/v1/calendars/berlin", {"timeZone": "Europe/Berlin", "week": WEEK}).expect(201)
    Dashboard(page, own.url, "/#view=calendars&calendar=berlin").until_live()
    shown(page, "berlin")
    week = """
        const [now, from, until] = arguments;
        clock.now = () => Date.parse(now);
        return weekOf([{from, until}], "Europe/Berlin").map(({spans}) => spans)"""
    autumn = page.run(week, "2026-10-24T12:00:00Z", "2026-10-24T22:00:00Z", "2026-10-26T23:00:00Z")
    assert autumn == [[], [[0, 1440]], [[0, 1440]], [], [], [], []]
    spring = page.run(week, "2027-03-27T12:00:00Z", "2027-03-27T22:30:00Z", "2027-03-29T08:00:00Z")
    assert spring == [[[1410, 1440]], [[0, 1440]], [[0, 600]], [], [], [], []]
    page.run("calendars.open = {...calendars.open, timeZone: 'Mars/Base'}; calendars.draw()")
    page.until(lambda: "Mars/Base" in page.one("#open-words").text)


@pytest.mark.thorough
def test_a_late_list_leaves_a_calendar_that_is_typed(page, own):
    own.client.put("/v1/calendars/berlin", {"timeZone": "Europe/Berlin", "week": WEEK}).expect(201)
    board = Dashboard(page, own.url, "/#view=calendars&calendar=berlin").until_live()
    shown(page, "berlin")
    define(page, "typed")
    page.run("return calendars.show()")
    assert page.run("return calendars.form.text.value") == "typed"
    # What is typed until a save is answered.
    define(page, {"timeZone": "Europe/Berlin", "week": {"mon": ["10:00-11:00"]}})
    board.delay("PUT")
    board.click("#calendar-form .primary")
    board.until_delayed()
    define(page, "typed")
    board.release()
    page.until(lambda: "berlin is saved." in board.text("#notices"))
    page.run("return calendars.show()")
    assert page.run("return calendars.form.text.value") == "typed"
    page.run("const late = calendars.show(); document.querySelector('#calendar-new').click(); return late")
    assert page.one("#calendar-form").is_displayed() and page.run("return calendars.form.name.value") == ""


@pytest.mark.thorough
def test_a_calendar_that_was_deleted_and_made_again_is_shown_as_it_is(page, own):
    """What was typed into the one before is not in sight any more."""
    api = own.client
    api.put("/v1/calendars/berlin", {"timeZone": "Europe/Berlin", "week": WEEK}).expect(201)
    Dashboard(page, own.url, "/#view=calendars&calendar=berlin").until_live()
    shown(page, "berlin")
    define(page, "typed")
    api.delete("/v1/calendars/berlin").expect(204)
    page.run("return calendars.show()")
    assert not [form for form in page.all("#calendar-form") if form.is_displayed()]
    api.put("/v1/calendars/berlin", {"timeZone": "UTC", "week": WEEK}).expect(201)
    page.run("return calendars.show()")
    assert page.one("#calendar-form").is_displayed()
    assert json.loads(page.run("return calendars.form.text.value"))["timeZone"] == "UTC"


@pytest.mark.thorough
def test_a_calendar_that_timers_go_by_stays(page, own):
    page.expect(r"status of 409")
    api = own.client
    api.put("/v1/calendars/berlin", {"timeZone": "Europe/Berlin", "week": WEEK}).expect(201)
    api.create(id="job", cron="0 9 * * *", calendar="berlin")
    board = Dashboard(page, own.url, "/#view=calendars&calendar=berlin").until_live()
    for answer in ("1 timer goes by it", ""):
        board.click("#calendar-delete")
        board.click("#ask-yes")
        if answer:
            page.until(lambda: answer in page.one("#ask-error").text)
            board.click("#ask [data-close]")
            api.command("job", "cancel").expect(200)
    page.until(lambda: "no calendars yet" in page.one("#calendars-note").text)
    api.get("/v1/calendars/berlin").expect(404)


@pytest.mark.thorough
def test_two_new_calendars_are_kept_apart(page, own):
    page.expect(r"status of 412")
    api = own.client
    api.put("/v1/calendars/taken", {"timeZone": "Europe/Berlin", "week": WEEK}).expect(201)
    board = Dashboard(page, own.url, "/#view=calendars").until_live()
    for first, words in (("one", "one is saved."), ("taken", "taken: ")):
        begin(board, first)
        board.delay("PUT")
        board.click("#calendar-form .primary")
        board.until_delayed()
        begin(board, "two")
        board.release()
        page.until(lambda: words in board.text("#toasts"), told=f"no word of {first}")
        form = page.run("const {open, form} = calendars; return [open, form.name.value, form.name.readOnly]")
        assert form == [None, "two", False] and board.text("#calendar-error") == "", first
    board.click("#calendar-form .primary")
    page.until(lambda: api.get("/v1/calendars/two").status == 200, told="the second calendar is not made")


@pytest.mark.thorough
def test_a_calendar_that_another_client_deleted_is_saved_again(page, own):
    page.expect(r"status of (404|412)")
    api = own.client
    api.put("/v1/calendars/berlin", {"timeZone": "Europe/Berlin", "week": WEEK}).expect(201)
    board = Dashboard(page, own.url, "/#view=calendars&calendar=berlin").until_live()
    shown(page, "berlin")
    define(page, {"timeZone": "Europe/Berlin", "week": {"mon": ["10:00-11:00"]}})
    api.delete("/v1/calendars/berlin").expect(204)
    board.click("#calendar-form .primary")
    page.until(lambda: "deleted it" in page.one("#calendar-error").text, told=board.text("#calendar-error"))
    board.click("#calendar-form .primary")
    page.until(lambda: api.get("/v1/calendars/berlin").status == 200, told="Save is a dead end")
    assert api.get("/v1/calendars/berlin").json["week"] == {"mon": ["10:00-11:00"]}


@pytest.mark.thorough
def test_an_older_listing_takes_no_place_of_a_newer_one(page, own):
    board = Dashboard(page, own.url, "/#view=calendars").until_live()
    page.until(lambda: board.text("#calendars-note") == "There are no calendars yet.")
    board.delay("GET v1/calendars?", most=1)
    page.run("calendars.show()")
    board.until_delayed()
    own.client.put("/v1/calendars/berlin", {"timeZone": "Europe/Berlin", "week": WEEK}).expect(201)
    page.run("return calendars.show()")
    board.release()
    assert [link.text for link in page.all("#calendars-list a")] == page.run("return [...calendars.all.keys()]") == ["berlin"]
    assert board.text("#calendars-note") == ""


@pytest.mark.thorough
def test_calendars_that_come_late_do_not_take_the_place_of_the_list(page, board):
    board.delay("dashboard-parts")
    board.click(".top nav a", text="Calendars")
    board.until_delayed()
    board.click(".top nav a", text="Timers")
    board.release()
    page.until(lambda: page.run("return parts.isLoaded"))
    assert page.one("#timers").is_displayed() and page.run("return calendars.box.checkVisibility()") is False
