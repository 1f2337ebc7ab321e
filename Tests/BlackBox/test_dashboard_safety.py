"""The dashboard used without fear: changes are held back, rows and buttons keep their places, and many are changed at once."""

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from browser import DESKTOP, PHONE
from dashboard import LOST, Dashboard, board, own, refusing_receiver  # noqa: F401
from timers import poll, timer_in
from webhooks import LATER, hooked

pytestmark = pytest.mark.thorough

ONCE = {**LATER, "maxAttempts": 1}


def test_a_cancel_or_delete_can_be_taken_back_and_is_sent_when_the_page_is_left(page, board, own):
    api = own.client
    for id in ("keeps", "goes", "stops"):
        api.create(id=id, every="1h")
    board.until_row("stops", state="running")
    board.click_command("keeps", "delete")
    page.until(lambda: "keeps and its pending deliveries will be deleted" in page.one("#held").text)
    assert "delete" not in board.rows()["keeps"]["commands"]
    assert page.barriers() == []
    board.click("#held button", text="Undo")
    page.until(lambda: "delete" in board.rows()["keeps"]["commands"])
    board.click_command("goes", "cancel")
    assert board.rows()["goes"]["commands"] == ["delete"]
    board.click_command("goes", "delete")
    page.until(lambda: page.one("#held").text.startswith("goes and its pending deliveries will be deleted"))
    board.click_command("stops", "cancel")
    api.command("stops", "fire").expect(200)
    page.until(lambda: ("fired", "stops") in board.feed())
    page.driver.get("about:blank")
    poll(lambda: api.get("/v1/timers/goes").status == 404 and api.timer("stops")["state"] == "cancelled")
    assert api.timer("keeps")["state"] == "running"


def test_timers_in_use_are_changed_as_well_when_the_page_is_left(page, board, own):
    """A kick makes no event, so the page that is left knows an old version of a watchdog."""
    page.expect(r"status of 412")
    api = own.client
    for id in ("dog", "puppy"):
        api.create(id=id, watchdog="1h")
    api.create(id="swapped", every="1h")
    board.until_row("swapped", state="running")
    board.click_command("swapped", "cancel")
    place = top(page, "#held > :last-child")
    board.click_command("dog", "cancel")
    page.until(lambda: "dog will be cancelled" in page.one("#held").text)
    assert top(page, "#held > :last-child") == place
    choose(page, "puppy")
    board.click("#bulk [data-command=delete]")
    board.click("#ask-yes")
    page.until(lambda: "1 timer will be deleted" in page.one("#held").text)
    board.leave_list()
    api.put("/v1/timers/swapped", {"every": "5h"}).expect(200)
    board.until_row("swapped", text="every 5h")
    page.hide()  # no watchdog is read again now and then
    for id in ("dog", "puppy"):
        api.command(id, "kick").expect(200)
    page.driver.get("about:blank")
    poll(lambda: api.timer("dog")["state"] == "cancelled" and api.get("/v1/timers/puppy").status == 404)
    assert api.timer("swapped")["state"] == "running"


def test_all_drops_are_sent_when_the_page_is_left(page, own, receiver):
    api = own.client
    hooked(api, receiver.url(), "mail", retry=ONCE)
    for _ in range(7):
        api.command("mail", "fire").expect(200)
    poll(lambda: len(api.get("/v1/deliveries?state=dead").expect(200).json["deliveries"]) == 7)
    board = Dashboard(page, own.url, "/#view=deliveries").until_live()
    page.until(lambda: len(board.deliveries()) == 7)
    board.click("#deliveries tbody button", text="Drop")
    board.click("#deliveries-all")
    board.click("#drop")
    page.until(lambda: "1 delivery will be dropped." in page.one("#held").text and "6 deliveries" in page.one("#held").text)
    page.driver.get("about:blank")
    poll(lambda: api.get("/v1/deliveries").expect(200).json["deliveries"] == [])


def test_leaving_the_page_asks_where_a_browser_may_lose_what_is_held_back(page, own):
    ids = [f"t-{number:03}" for number in range(101)]
    own.client.batch([{"id": id, "every": "1h"} for id in ids], "?results=brief").expect(200)
    Dashboard(page, own.url).until_live()
    asks = """
        for (const id of arguments[0]) ask(id, "delete");
        return [holds.all.size, !dispatchEvent(new Event("beforeunload", {cancelable: true}))]"""
    assert [page.run(asks, ids[:100]), page.run(asks, ids[100:])] == [[100, False], [101, True]]


def test_a_change_that_is_held_back_is_sent_once_the_server_is_there(page, board, own):
    page.expect(LOST)
    own.client.create(id="goes", every="1h")
    board.until_row("goes", state="running")
    board.click_command("goes", "delete")
    own.kill9()
    page.one("#gone")
    board.hold_back(1)
    page.run("for (const hold of holds.all) holds.wait(hold)")
    own.restart(same_port=True)
    board.until_live().until_gone("goes")
    own.client.get("/v1/timers/goes").expect(404)
    assert board.alerts() == []


def test_a_change_that_runs_out_while_no_request_gets_through_is_kept(page, board, own):
    """The page is live as long as its stream is there, and does not know yet that the server is away."""
    own.client.create(id="goes", every="1h")
    board.until_row("goes", state="running")
    board.click_command("goes", "delete")
    page.run("""
        const known = fetch;
        let tries = 0;
        window.fetch = (...request) => (tries += 1) > 3 ? known(...request) : Promise.reject(new TypeError());""")
    board.hold_back(1)
    page.run("for (const hold of holds.all) holds.wait(hold)")
    board.until_gone("goes")
    own.client.get("/v1/timers/goes").expect(404)
    assert board.alerts() == []


def test_a_command_is_for_the_row_that_was_seen(page, board, own):
    page.expect(r"status of (409|412)")
    api = own.client
    api.create(id="quick", every="1ms")
    api.create(id="swapped", rrule="FREQ=YEARLY", timeZone="Europe/Berlin", rdates=["2099-01-01T00:00:00Z"])
    board.until_row("swapped", state="running", text="FREQ=YEARLY + 1 · Europe/Berlin")
    for id in ("swapped", "quick"):
        board.click_command(id, "cancel")
    api.put("/v1/timers/swapped", {"every": "5h"}).expect(200)
    board.until_row("swapped", text="every 5h")
    board.send_now()
    board.until_alert("swapped", "has changed since it was shown here")
    board.send_now()
    board.until_row("quick", state="cancelled")  # its fires alone make it no other timer
    assert api.timer("swapped")["state"] == "running"


def choose(page, id):
    """Clicks the ring of a timer, with the mouse where it is moved to."""
    ring = page.one(f'#rows [data-timer="{id}"] .ring')
    ActionChains(page.driver, duration=0).move_to_element(ring).click().perform()
    page.until(lambda: "chosen" in page.one("#bulk-count").text)


def top(page, css):
    """The place of an element below the window's upper edge, in CSS pixels."""
    return page.run("return document.querySelector(arguments[0]).getBoundingClientRect().top", css)


def lefts(page, css):
    """How far such elements are to the right of the first one, in CSS pixels."""
    return page.run("""
        const [first, ...others] = [...document.querySelectorAll(arguments[0])].map(part => part.getBoundingClientRect().left);
        return others.map(left => left - first)""", css)


def test_rows_keep_their_places_under_the_mouse(page, board, own):
    api = own.client
    api.create(id="b-seen", every="1h")
    board.until_row("b-seen", state="running")
    ActionChains(page.driver).move_to_element(page.one('#rows [data-timer="b-seen"]')).perform()
    page.run("pointer.at = Infinity")  # the mouse does not rest, however slow this machine is
    api.create(id="a-new", every="1h")
    page.until(lambda: board.text("#count") == "2 timers")
    assert api.delete("/v1/timers/b-seen").status == 204
    board.until_row("b-seen", state="deleted")
    assert list(board.rows()) == ["b-seen"] and board.rows()["b-seen"]["commands"] == []
    board.leave_list()
    page.until(lambda: list(board.rows()) == ["a-new"])


def test_a_second_click_commands_no_other_timer(page, board, own):
    api = own.client
    for id in ("a", "b"):
        api.create(id=id, every="1h")
    board.click("#states [data-filter=running]")
    board.until_row("b", state="running")
    ActionChains(page.driver, duration=0).move_to_element(page.one('#rows [data-timer="a"] b')).perform()
    suspend = page.one('#rows [data-timer="a"] [data-command=suspend]:enabled')
    ActionChains(page.driver).move_to_element(suspend).click().perform()
    page.run("pointer.at = Infinity")
    board.until_row("a", state="suspended")
    page.until(lambda: ("suspended", "a") in board.feed())
    ActionChains(page.driver).click().perform()
    assert list(board.rows()) == ["a", "b"] and api.timer("b")["state"] == "running"
    assert not page.all("dialog[open]")


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_bars_that_come_and_go_move_nothing_under_the_mouse(page, own, size):
    for number in range(4):
        own.client.create(id=f"job-{number}", every="1h")
    page.size(*size)
    board = Dashboard(page, own.url).until_live()
    page.until(lambda: "4 timers" in board.text("#due-words") and "ready" in page.one("#health").text)
    board.until_row("job-1")
    page.run("document.querySelector('#rows').scrollIntoView({block: 'center'})")
    place = top(page, '#rows [data-timer="job-1"]')
    choose(page, "job-1")
    assert top(page, '#rows [data-timer="job-1"]') == place
    assert page.overflow() <= 0 and page.barriers() == []
    page.shot(f"dashboard-bulk-{size[0]}")
    ActionChains(page.driver, duration=0).click().perform()
    page.until(lambda: not page.all("#bulk:not([hidden])"), told="a second click is for another timer")
    choose(page, "job-1")
    places = lefts(page, "#bulk :is(b, button)")
    board.click("#bulk-all")
    page.until(lambda: "4 timers chosen" in page.one("#bulk-count").text)
    assert not page.one("#bulk-all").is_enabled() and lefts(page, "#bulk :is(b, button)") == places


def test_deliveries_keep_their_places_under_a_mouse_that_comes_while_they_are_read(page, own, receiver):
    api = own.client
    hooked(api, receiver.url(), "mail", retry=ONCE)

    def fire(count):
        api.command("mail", "fire").expect(200)
        poll(lambda: len(api.get("/v1/deliveries?state=dead").expect(200).json["deliveries"]) == count)
    fire(1)
    board = Dashboard(page, own.url, "/#view=deliveries&status=dead").until_live()
    page.until(lambda: board.deliveries() == ["mail"])
    page.run("""
        const {json} = api;
        api.json = async (path, options) => {
            if (path.startsWith("v1/deliveries?limit=100")) await new Promise(resolve => window.go = resolve);
            return json.call(api, path, options);
        };
        window.goOn = () => {
            api.json = json;
            window.go();
        };""")
    fire(2)
    page.until(lambda: page.run("return Boolean(window.go)"), told="the list is not read again")
    ActionChains(page.driver, duration=0).move_to_element(page.one("#deliveries tbody tr")).perform()
    page.run("pointer.at = Infinity; window.goOn()")
    page.until(lambda: page.run("return deliveries.newest === null"))
    assert board.deliveries() == ["mail"]
    board.leave_list()
    page.until(lambda: board.deliveries() == ["mail", "mail"])


def test_many_are_chosen_and_told_what_a_command_would_do(page, board, own):
    page.expect(r"status of 404")
    api = own.client
    for number in range(6):
        timer_in(api, ["running", "suspended"][number % 2], id=f"job-{number}", labels={"team": ["blue", "red"][number > 3]}, every="1h")
    board.type_into("#label", "team=blue")
    page.until(lambda: sorted(board.rows()) == [f"job-{number}" for number in range(4)])
    board.click('#rows [data-timer="job-0"] .ring')
    page.until(lambda: "1 timer chosen" in page.one("#bulk").text)
    board.click("#bulk-all")
    assert page.barriers() == []
    page.shot("dashboard-bulk")
    board.click("#bulk [data-command=suspend]")
    assert "Suspend 2 of 4 chosen timers. 2 timers are skipped: suspended." == page.one("#ask-text").text
    board.click("#ask-yes")
    for number in (0, 2):
        board.until_row(f"job-{number}", state="suspended")
    board.keys(Keys.SPACE)
    page.until(lambda: "1 timer chosen" in page.one("#bulk-count").text)
    board.go_to("job-1")
    board.keys(Keys.SPACE)
    page.until(lambda: "2 timers chosen" in page.one("#bulk-count").text)
    board.click("#bulk [data-command=delete]")
    board.click("#ask-yes")
    assert api.timer("job-1")["state"] == "suspended"
    board.send_now()
    poll(lambda: api.get("/v1/timers/job-1").status == 404)
    assert sorted(timer["id"] for timer in api.get("/v1/timers").json["timers"]) == [f"job-{number}" for number in range(2, 6)]
    assert api.timer("job-4")["state"] == "running" and board.alerts() == []


def test_no_more_are_chosen_than_one_request_takes(page, board, own):
    for number in range(6):
        own.client.create(id=f"job-{number}", labels={"team": ["blue", "red"][number % 2]}, every="1h")
    page.until(lambda: page.one("#count").text == "6 timers")
    page.run("bulk.most = 4")
    for team, words, chosen in (("blue", "Choose all 3", 3), ("red", "Choose 1 more", 4)):
        board.type_into("#label", f"team={team}")
        page.until(lambda: len(board.rows()) == 3)
        page.run("list.choose(arguments[0], true)", "job-0")
        board.click("#bulk-all", text=words)
        page.until(lambda: f"{chosen} timers chosen" in page.one("#bulk-count").text)
    assert not page.one("#bulk-all").is_enabled()
    page.run("list.choose(store.view[2].id, true)")
    board.until_alert("At most 4 timers at once.")
    assert page.run("return list.chosen.size") == 4


@pytest.mark.parametrize("number", [120, 220], ids=["read", "listed"])
def test_a_bulk_command_knows_the_timers_that_are_out_of_sight(page, board, own, number):
    """An event says little of a timer; the page reads those in sight again, and the others before it asks."""
    api = own.client
    timers = [f"t-{index:03}" for index in range(number)]
    api.batch([{"id": id, "every": "1h"} for id in timers], "?results=brief").expect(200)
    page.until(lambda: page.one("#count").text == f"{number} timers")
    choose(page, timers[0])
    board.click("#bulk-all")
    for command in ("suspend", "resume"):
        board.click(f"#bulk [data-command={command}]")
        assert page.one("#ask-text").text == f"{command.capitalize()} {number} of {number} chosen timers."
        board.click("#ask-yes")
        state = {"suspend": "suspended", "resume": "running"}[command]
        page.until(lambda: board.text(f"#states [data-filter={state}] b") == str(number))
        choose(page, timers[0])
        board.click("#bulk-all")
    board.click("#bulk [data-command=delete]")
    board.click("#ask-yes")
    board.send_now()
    poll(lambda: api.get("/v1/timers").json["timers"] == [])
    assert board.alerts() == []


def test_with_the_server_gone_nothing_moves_and_nothing_can_be_pressed(page, board, own):
    page.expect(LOST)
    own.client.create(id="job", every="1h")
    board.until_row("job", state="running")
    place = top(page, '#rows [data-timer="job"]')
    own.kill9()
    page.until(lambda: "can't be reached" in page.one("#gone").text and not board.rows()["job"]["commands"])
    assert top(page, '#rows [data-timer="job"]') == place
    assert page.barriers() == [] and not page.one("#new").is_enabled()
    assert page.run("return getComputedStyle(document.querySelector('main')).filter") == "grayscale(1)", "it is not dimmed"
    countdown = board.text("#rows .due")
    page.run("const {now} = clock; clock.now = () => now.call(clock) + 1800000; window.start = ticks")
    page.until(lambda: page.run("return ticks - start") > 10, told="the page stands still")
    assert board.text("#rows .due") == countdown, "it counts on without a server"
    page.shot("dashboard-gone")
    assert page.one("#retry").is_enabled()
    own.restart(same_port=True)
    page.run("document.querySelector('#retry').click()")  # no click of the mouse: the page may try again first
    board.until_live()
    page.until(lambda: "suspend" in board.rows()["job"]["commands"])
    assert page.run("return document.querySelector('#gone').hidden")


def test_timers_that_take_long_to_arrange_wait_under_the_mouse_as_well(page, board):
    page.run("""
        const {arrange} = store;
        window.arranged = 0;
        store.arrange = isHeld => {
            arranged += 1;
            arrange.call(store, isHeld);
        };
        list.isHeld = () => true;
        arrangedAt = Infinity;
        store.isStale = true;
        window.start = ticks""")
    page.until(lambda: page.run("return ticks - start") > 10, told="the page stands still")
    assert page.run("return arranged") == 0, "nothing waits"
    page.run("arrangedAt = -Infinity")
    page.until(lambda: page.run("return arranged"), told="the timers are never arranged")


def test_a_timer_that_was_never_read_can_not_be_deleted_yet(page, board):
    """Nobody has seen it, and a version on whose condition it could be deleted is not known."""
    can = page.run("""
        const event = {timer: "new", type: "activated", version: 2, at: new Date().toISOString(), labels: {}};
        store.apply(event);
        const before = isLegal(store.timers.get("new"), "delete");
        store.put({...event, id: "new", state: "running", every: "1h", allowed: ["suspend"], version: 2});
        const after = isLegal(store.timers.get("new"), "delete");
        store.remove("new");
        return [before, after];""")
    assert can == [False, True]
