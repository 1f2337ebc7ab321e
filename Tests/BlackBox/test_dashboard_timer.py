"""The dashboard's page of one timer: what it was and will be, and how it is changed or made again."""

import json

import pytest
from selenium.webdriver.common.keys import Keys

from dashboard import Dashboard, board, own, refusing_receiver  # noqa: F401
from receiver import hang
from webhooks import SECRET, event, hooked


def opened(board, id, css="#past tr"):
    """Opens a timer's page, and waits until it has such an element."""
    board.leave_list()
    board.until_row(id)
    board.click(f'#rows .row[data-timer="{id}"] b')
    board.page.until(lambda: board.page.all(css), told=f"the page of {id} has no {css}")


def until_form(page, title, is_open=True):
    page.until(lambda: page.run("return document.querySelector('#create')?.open ?? false") is is_open, told=f"the form, open: {not is_open}")
    if is_open:
        page.until(lambda: page.one("#create-title").text == title, told=title)


def history(page):
    """The rows of the history, newest first, without their times."""
    return page.run("return [...document.querySelectorAll('#past tr')].map(row => [...row.cells].slice(1).map(cell => cell.textContent))")


def facts(page):
    return page.run("""return Object.fromEntries([...document.querySelectorAll("#facts dt")].map(
        name => [name.textContent, name.nextElementSibling.textContent]))""")


@pytest.mark.thorough
def test_a_timer_tells_its_history_from_the_log_and_goes_on_with_it(page, own):
    api = own.client
    api.create(id="beat", every="5ms", maxFires=3, labels={"team": "blue"})
    event(api, "beat", "completed")
    board = Dashboard(page, own.url).until_live()
    opened(board, "beat")
    page.until(lambda: len(history(page)) == 6, told=f"{history(page)}")
    assert [row[0] for row in history(page)] == ["completed", "fired", "fired", "fired", "activated", "created"]
    late = sorted(one["latenessUs"] for one in api.history_of("beat") if one["type"] == "fired")
    words = page.one("#late-words").text
    assert words.startswith("3 fires by the schedule: half at most "), words
    shown = page.run("return arguments[0].map(micros)", late)
    assert words.endswith(f"half at most {shown[1]} late, the latest {shown[2]}"), words
    assert facts(page)["Schedule"] == "every 5ms" and facts(page)["Most fires"] == "3"
    board.keys(Keys.ESCAPE)
    api.create(id="dog", watchdog="1ms")
    event(api, "dog", "fired")
    opened(board, "dog")
    api.command("dog", "kick").expect(200)
    page.until(lambda: any(row[0] == "recovered" for row in history(page)), told=f"{history(page)}")
    recovered = event(api, "dog", "recovered")
    words = next(row[1] for row in history(page) if row[0] == "recovered")
    assert words == f"silent for {recovered['silentFor']}, stalled for {recovered['stalledFor']}"
    page.until(lambda: facts(page).get("Kicks") == "1" and "Last kick" in facts(page), told=f"{facts(page)}")
    assert page.barriers() == [] and page.overflow("#details") <= 0
    page.shot("dashboard-timer-history")


def test_the_next_fires_are_shown_in_the_zone_of_the_timer_and_in_the_readers(page, board, own):
    own.client.create(id="standup", cron="0 9 * * MON", timeZone="Asia/Tokyo")
    opened(board, "standup", "#next li:nth-child(10)")
    fires = own.client.get("/v1/timers/standup/next?count=10").json["fires"]
    items = [item.text for item in page.all("#next li")]
    here, there = page.run("return [ZONE, 'Asia/Tokyo'].map(zone => zonedText(Date.parse(arguments[0]), zone))", fires[0])
    assert there in items[0] and f"{here}, here" in items[0] and "09:00:00" in items[0] and there.startswith("Mon"), items[0]
    assert page.run("return document.querySelector('#next-line path').getAttribute('d').split('M').length") == 12
    assert page.one("#next-plain").text == own.client.get("/v1/timers/standup/next?describe=true").json["description"]
    assert "10 fires within" in page.one("#next-line").get_attribute("aria-label")
    page.shot("dashboard-timer-next")


@pytest.mark.thorough
def test_an_edit_shows_what_it_changes_and_changes_no_more(page, board, own, receiver):
    page.expect(r"status of 412")  # the timer fires meanwhile
    api = own.client
    hooked(api, receiver.url(), "job", secret=SECRET, headers={"Authorization": "let-me-in", "X-Team": "blue"},
           timer={"labels": {"team": "blue"}, "maxFires": 10, "payload": {"n": 1, "big": 1}})
    api.patch("/v1/timers/job", body=b'{"payload": {"n": 1.50, "big": 12345678901234567890}}').expect(200)
    before = api.timer("job")
    opened(board, "job")
    board.click("#details-edit")
    until_form(page, "Edit job")
    assert page.one("#changes-title").text == "Nothing is changed yet"
    assert not page.one("#create-submit").is_enabled()
    board.type_into("#create [name=every]", "2h")
    page.run("form.maxFires.closest('details').open = true")
    board.type_into("#create [name=labels]", "team=red\nroom=7")
    board.type_into("#create [name=maxFires]", "")
    board.keys(Keys.SPACE, Keys.BACKSPACE)
    page.until(lambda: page.one("#changes-title").text == "4 changes", told=page.one("#changes").text)
    shown = dict(zip((part.text for part in page.all("#changes dt")), (part.text for part in page.all("#changes dd"))))
    assert shown == {"/every": '"1h" → "2h"', "/labels/team": '"blue" → "red"', "/labels/room": 'none → "7"', "/maxFires": "10 → none"}
    assert f"-X PATCH -H 'If-Match: \"v{before['version']}\"' --json" in page.one("#curl").text
    assert page.barriers() == [] and page.overflow("#create") <= 0
    page.shot("dashboard-edit")
    api.command("job", "fire").expect(200)  # another version, of the same definition
    board.submit()
    until_form(page, "", is_open=False)
    after = api.timer("job")
    assert (after["every"], after["labels"], after["maxFires"]) == ("2h", {"team": "red", "room": "7"}, None)
    assert after["webhook"] == before["webhook"] and after["fireCount"] == 1
    assert b'"payload":{"n":1.50,"big":12345678901234567890}' in api.get("/v1/timers/job").body
    page.until(lambda: facts(page)["Schedule"] == "every 2h", told=f"{facts(page)}")
    page.until(lambda: any(row[0] in ("updated", "rescheduled") for row in history(page)))


@pytest.mark.thorough
def test_an_edit_of_what_another_has_changed_is_refused(page, board, own):
    page.expect(r"status of 412")
    api = own.client
    api.create(id="job", every="1h")
    opened(board, "job")
    board.click("#details-edit")
    until_form(page, "Edit job")
    api.patch("/v1/timers/job", {"labels": {"by": "another"}}).expect(200)
    board.type_into("#create [name=every]", "3h")
    page.until(lambda: page.one("#create-submit").is_enabled())
    board.submit()
    page.until(lambda: "has changed since this form was opened" in page.one("#create-error").text)
    assert api.timer("job")["every"] == "1h"


@pytest.mark.thorough
def test_a_timer_is_made_like_another_without_its_secrets(page, board, own, receiver):
    api = own.client
    hooked(api, receiver.url(), "one", secret=SECRET, headers={"Authorization": "let-me-in", "X-Team": "blue"}, timeout="7s",
           timer={"labels": {"team": "blue"}, "payload": {"n": 1}, "jitter": "3s", "misfire": "skip"})
    opened(board, "one")
    board.click("#details-duplicate")
    until_form(page, "New timer like one")
    board.type_into("#create [name=id]", "two")
    board.submit()
    until_form(page, "", is_open=False)
    one, two = api.timer("one"), api.timer("two")
    for name in ("every", "labels", "payload", "jitter", "misfire", "clock", "retain"):
        assert one[name] == two[name], name
    assert two["webhook"]["headers"] == {"X-Team": "blue"} and two["webhook"]["timeout"] == "7s"
    assert two["webhook"]["secret"] is None


@pytest.mark.thorough
def test_the_json_can_be_copied(page, board, own):
    own.client.create(id="job", every="1h")
    opened(board, "job", "#details pre")
    page.until(lambda: '"every": "1h"' in page.one("#details pre").text)
    page.run("navigator.clipboard.writeText = text => { window.copied = text }")
    board.click("#details-copy")
    assert json.loads(page.until(lambda: page.run("return window.copied")))["id"] == "job"


@pytest.mark.thorough
def test_a_test_of_one_webhook_leaves_the_button_of_another(page, board, own, receiver):
    receiver.default = hang
    for id in ("one", "two"):
        hooked(own.client, receiver.url(f"/{id}"), id, timeout="2m")
    opened(board, "one", "#details-test:not([hidden])")
    board.click("#details-test")
    receiver.wait_for(1, "/one")
    assert not page.one("#details-test").is_enabled()
    board.keys(Keys.ESCAPE)
    opened(board, "two", "#details-test:not([hidden])")
    page.until(lambda: page.one("#details-test").is_enabled(), told="the test of one timer disables that of another")


@pytest.mark.thorough
def test_a_history_that_is_asked_for_twice_or_lost_has_each_event_once(page, board, own):
    for id in ("one", "two"):
        own.client.create(id=id, every="1h")
    opened(board, "one")
    once = history(page)
    page.run("for (const id of ['one', 'two', 'one']) about.show(id); return new Promise(go => setTimeout(go))")
    page.until(lambda: page.run("return !about.past.isRead"))
    assert history(page) == once
    # The events after the newest one that was read are no longer kept.
    page.run("""
        const {readPage} = about;
        about.readPage = past => past.at ? Promise.reject(new Problem(410, {})) : readPage.call(about, past)""")
    own.client.command("one", "fire").expect(200)
    page.until(lambda: history(page)[1:] == once, told=f"{history(page)}")
    assert history(page)[0][0] == "fired" and page.run("return about.past.hasMore") is False


@pytest.mark.thorough
def test_a_history_that_is_lost_again_at_once_is_not_read_for_ever(page, board, own):
    own.client.create(id="one", every="1h")
    opened(board, "one")
    reads = page.run("""
        let reads = 0;
        about.readPage = () => {
            reads += 1;
            return Promise.reject(new Problem(reads < 9 ? 410 : 500, {detail: "this page fell behind"}));
        };
        return about.readPast().then(() => reads)""")
    assert reads == 2 and board.text("#late-words") == "This page fell behind."


@pytest.mark.thorough
def test_a_history_goes_on_after_events_that_the_page_missed(page, board, own):
    own.client.create(id="one", every="1h")
    opened(board, "one")
    page.run("about.take = () => {}")
    own.client.command("one", "fire").expect(200)
    page.run("watch.restart()")  # the timers are listed again: events are no longer kept
    page.until(lambda: history(page)[0][0] == "fired", told=f"{history(page)}")


@pytest.mark.thorough
def test_a_history_that_comes_once_its_sheet_is_closed_does_no_harm(page, board, own):
    own.client.create(id="one", every="1h")
    board.delay("v1/timers/one/events")
    page.run("details.open('one')")
    board.close_before_release()
    assert page.complaints() == [] and history(page) == []


@pytest.mark.thorough
def test_a_history_that_is_not_read_to_its_end_says_up_to_when_it_goes(page, board, own):
    own.client.create(id="beat", every="5ms", maxFires=2)
    event(own.client, "beat", "completed")
    opened(board, "beat", "#past tr:nth-child(5)")
    page.until(lambda: page.one("#late-words").text.startswith("2 fires"))
    page.run("about.past.hasMore = true; about.tell('')")
    at = page.run("return zonedText(Date.parse(about.past.events.at(-1).at), ZONE)")
    assert page.one("#late-words").text == f"Up to {at}: later events are not read yet."


@pytest.mark.thorough
def test_the_next_fires_go_with_the_time_and_survive_a_failure(page, board, own):
    own.client.create(id="job", every="1h")
    opened(board, "job", "#next li:nth-child(10)")
    assert page.one("#next small").text.startswith("in 59m")
    page.run("const {now} = clock; clock.now = () => now.call(clock) + 1800000")
    page.until(lambda: page.one("#next small").text.startswith("in 29m"), told=page.one("#next").text)
    asked = page.run("""
        const {json} = api;
        window.asked = 0;
        api.json = async (path, options) => {
            if (!path.includes("/next?")) return json.call(api, path, options);
            asked += 1;
            throw new Problem(503, {});
        };
        const {setTimeout: known} = window;
        window.setTimeout = (go, ms) => ms === NEXT_PAUSE_MS ? window.again = go : known(go, ms);
        about.nextVersion = null;
        about.render();
        return new Promise(go => setTimeout(go)).then(() => {
            for (let frame = 0; frame < 9; frame += 1) about.render();
            return asked;
        })""")
    assert asked == 1, "each frame asks again"
    page.run("again()")
    page.until(lambda: page.run("return asked") == 2, told="they are not read again after a failure")


@pytest.mark.thorough
def test_late_next_fires_of_an_earlier_version_are_dropped(page, board, own):
    own.client.create(id="job", every="1h")
    board.delay("v1/timers/job/next", most=1)
    opened(board, "job")
    board.until_delayed()
    own.client.patch("/v1/timers/job", {"every": "2h"}).expect(200)
    page.until(lambda: board.text("#next-plain").startswith("every 2 hours"), told=board.text("#next-plain"))
    board.release()
    assert board.text("#next-plain").startswith("every 2 hours") and board.text("#next small").startswith("in 1h")


@pytest.mark.thorough
def test_an_answer_that_is_no_json_is_told(page, board, own):
    own.client.create(id="job", every="1h")
    # A read that the list began is not asked for again.
    is_read = "const timer = store.timers.get('job'); return Boolean(timer) && !isBehind(timer) && !reading.size"
    page.until(lambda: page.run(is_read), told="the list has not read the timer")
    page.run("""
        const {open} = api;
        api.open = async (path, options) => path === "v1/timers/job" ? new Response("<p>Sorry</p>") : open.call(api, path, options);
        details.open("job")""")
    page.until(lambda: page.one("#details-tested").text == "The connection was lost.", told=board.text("#details-tested"))
