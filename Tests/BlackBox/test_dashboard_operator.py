"""The dashboard as an operator needs it: what is wrong is seen at a glance, and each figure leads to what it counts."""

import re

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from dashboard import LOST, Dashboard
from receiver import Receiver
from timers import poll, timer_in
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
               == ["3 running", "1 stalled", "0 overdue", "1 dead delivery", "ready"])
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


def test_a_webhook_that_died_is_found_tested_and_sent_again(page, own, receiver):
    page.expect(r"status of 409")
    api = own.client
    for id, team in (("mail-1", "mail"), ("mail-2", "mail"), ("shop-1", "shop")):
        dead(api, receiver.url(f"/{team}"), id, labels={"team": team})
    hooked(api, receiver.url("/slow"), "waits", retry=LATER)
    api.command("waits", "fire").expect(200)
    event(api, "waits", "deliveryFailed")
    board = Dashboard(page, own.url).until_live()
    page.until(lambda: figure(page, "dead").text == "3 dead deliveries")
    board.click("#health [data-figure=dead]")
    page.until(lambda: timers(page) == ["mail-1", "mail-2", "shop-1"], told=f"{timers(page)}")
    assert "attempts used up: status 500" in board.text("#deliveries tbody") and "1 attempt" in board.text("#deliveries tbody")
    board.choose("#deliveries [name=status]", "")
    page.until(lambda: timers(page) == ["mail-1", "mail-2", "shop-1", "waits"], told=f"{timers(page)}")
    assert page.barriers() == [] and page.overflow() <= 0
    page.shot("dashboard-deliveries")

    board.click("#deliveries tbody a", text="mail-1")
    board.click("#details-test")
    page.until(lambda: "The webhook failed: status 500" in page.one("#details-tested").text)
    receiver.default = 204
    board.click("#details-test")
    page.until(lambda: "The webhook took it: status 204" in page.one("#details-tested").text)
    page.driver.back()
    page.until(lambda: not page.all("dialog[open]"), told="Back does not close the timer")

    board.type_into("#deliveries [name=with]", "team=mail")
    page.until(lambda: timers(page) == ["mail-1", "mail-2"])
    board.click("#redrive")
    assert "2 dead deliveries match. 2 will be sent again" in page.one("#ask-text").text
    assert len(receiver.on("/mail")) == 4  # a failed attempt each, and two tests
    board.click("#ask-yes")
    receiver.wait_for(6, "/mail")
    page.until(lambda: timers(page) == [], told=f"{timers(page)}")
    page.until(lambda: figure(page, "dead").text == "1 dead delivery")

    page.run("document.querySelector('#deliveries [name=with]').value = ''")
    board.type_into("#deliveries [name=of]", "shop-1")
    page.until(lambda: timers(page) == ["shop-1"])
    for _ in range(2):
        board.click("#deliveries tbody button", text="Drop")
        page.until(lambda: "1 delivery will be dropped." in page.one("#held").text)
        board.click("#held button", text="Undo")
    assert api.get("/v1/deliveries?timer=shop-1").expect(200).json["deliveries"] != []
    board.click("#deliveries-all")
    board.click("#drop")
    board.click("#held button", text="Now")
    page.until(lambda: timers(page) == [] and figure(page, "dead").text == "0 dead deliveries")
    assert board.alerts() == [] and len(receiver.on("/shop")) == 1


def timers(page):
    """The timers of the deliveries that are listed, in order by name."""
    return sorted(page.run("""
        return [...document.querySelectorAll("#deliveries tbody tr")].map(row => row.cells[1].firstChild.textContent)"""))


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


def test_all_drops_are_sent_when_the_page_is_left(page, own, receiver):
    api = own.client
    hooked(api, receiver.url(), "mail", retry=ONCE)
    for _ in range(7):
        api.command("mail", "fire").expect(200)
    poll(lambda: len(api.get("/v1/deliveries?state=dead").expect(200).json["deliveries"]) == 7)
    board = Dashboard(page, own.url, "/#view=deliveries").until_live()
    page.until(lambda: len(timers(page)) == 7)
    board.click("#deliveries tbody button", text="Drop")
    board.click("#deliveries-all")
    board.click("#drop")
    page.until(lambda: "1 delivery will be dropped." in page.one("#held").text and "6 deliveries" in page.one("#held").text)
    page.driver.get("about:blank")
    poll(lambda: api.get("/v1/deliveries").expect(200).json["deliveries"] == [])


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
    board.click("#retry")
    board.until_live().until_gone("goes")
    own.client.get("/v1/timers/goes").expect(404)
    assert board.alerts() == []


@pytest.mark.parametrize("address", ["only=__proto__&sort=constructor&state=toString", "due=1-9007199254740991", "due=0-1e9&sort=foo",
                                     "timer=&view=__proto__&rate", "%E0%A4%A&q"])
def test_an_odd_address_does_no_harm(page, own, address):
    own.client.create(id="job", every="1h")
    board = Dashboard(page, own.url, f"/#{address}").until_live()
    board.until_row("job", state="running")


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


def test_rows_keep_their_places_under_the_mouse(page, board, own):
    api = own.client
    api.create(id="b-seen", every="1h")
    board.until_row("b-seen", state="running")
    ActionChains(page.driver).move_to_element(page.one('#rows [data-timer="b-seen"]')).perform()
    page.run("pointer.at = Infinity")  # the mouse does not rest, however slow this machine is
    api.create(id="a-new", every="1h")
    page.until(lambda: ("created", "a-new") in board.feed())
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
    suspend = page.one('#rows [data-timer="a"] [data-command=suspend]:enabled')
    ActionChains(page.driver).move_to_element(suspend).click().perform()
    page.run("pointer.at = Infinity")
    board.until_row("a", state="suspended")
    page.until(lambda: ("suspended", "a") in board.feed())
    ActionChains(page.driver).click().perform()
    assert list(board.rows()) == ["a", "b"] and api.timer("b")["state"] == "running"
    assert not page.all("dialog[open]")


def test_many_are_chosen_and_told_what_a_command_would_do(page, board, own):
    page.expect(r"status of 404")
    api = own.client
    for number in range(6):
        timer_in(api, ["running", "suspended"][number % 2], id=f"job-{number}", labels={"team": ["blue", "red"][number > 3]}, every="1h")
    board.type_into("#label", "team=blue")
    page.until(lambda: list(board.rows()) == [f"job-{number}" for number in range(4)])
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
    board.go_to("job-1")
    board.keys(Keys.SPACE)
    board.click("#bulk [data-command=delete]")
    board.click("#ask-yes")
    assert api.timer("job-1")["state"] == "suspended"
    board.send_now()
    poll(lambda: api.get("/v1/timers/job-1").status == 404)
    assert sorted(timer["id"] for timer in api.get("/v1/timers?state=suspended").json["timers"]) == ["job-0", "job-2", "job-3", "job-5"]
    assert api.timer("job-4")["state"] == "running" and board.alerts() == []


def test_with_the_server_gone_nothing_moves_and_nothing_can_be_pressed(page, board, own):
    page.expect(LOST)
    own.client.create(id="job", every="1h")
    board.until_row("job", state="running")
    own.kill9()
    page.until(lambda: "can't be reached" in page.one("#gone").text and not board.rows()["job"]["commands"])
    assert page.barriers() == [] and not page.one("#new").is_enabled()
    page.shot("dashboard-gone")
    own.restart(same_port=True)
    board.click("#retry")
    board.until_live()
    page.until(lambda: "suspend" in board.rows()["job"]["commands"])
    assert page.run("return document.querySelector('#gone').hidden")


def test_an_empty_server_offers_examples_and_the_colours_are_kept(page, board, own):
    assert f"curl {own.url}/v1/timers --json" in page.one("#empty").text and page.barriers() == []
    board.click("#examples button", text="worker")
    board.click("#create-submit")
    board.until_row("worker-7", state="running", text="watchdog 1m")
    for scheme, is_light in (("dark", False), ("light", True)):
        board.keys("?")
        board.choose("#theme", scheme)
        board.keys(Keys.ESCAPE)
        page.driver.refresh()
        board.until_live()
        color = page.run("return getComputedStyle(document.body).backgroundColor")
        assert all((int(part) > 128) is is_light for part in re.findall(r"\d+", color)), color


def test_what_is_due_when_is_drawn_and_listed(page, board, own):
    api = own.client
    for id, after in (("early", "10m"), ("early-too", "10m"), ("night", "5h"), ("week", "3d")):
        api.create(id=id, after=after)
    api.create(id="idle", after="10m", start="manual")
    board.choose("#due-within", "1d")
    page.until(lambda: "3 timers by the next fire, 1 later" in page.one("#due-words").text, told=board.text("#due-words"))
    assert page.run("return Intl.DateTimeFormat().resolvedOptions().timeZone") in page.one("#due-words").text
    assert page.barriers() == [] and page.overflow() <= 0
    page.shot("dashboard-timeline")
    page.run("""document.querySelector("#due-strip [aria-label^='2 timers']").focus()""")
    board.keys(Keys.ENTER)
    page.until(lambda: list(board.rows()) == ["early", "early-too"])
    page.driver.refresh()
    board.until_live()
    page.until(lambda: list(board.rows()) == ["early", "early-too"])
    board.click("#due-only")
    page.until(lambda: list(board.rows()) == ["early", "early-too", "night", "week", "idle"], told=str(list(board.rows())))
