"""The dashboard as an operator needs it: what is wrong is seen at a glance, and each figure leads to what it counts."""

import re

import pytest
from selenium.webdriver.common.keys import Keys

from dashboard import Dashboard, board, own, refusing_receiver  # noqa: F401
from webhooks import LATER, event, hooked

pytestmark = pytest.mark.thorough

ONCE = {**LATER, "maxAttempts": 1}


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
    address = page.driver.current_url
    for name in ("rate", "lateness", "storage"):
        board.click(f"#health [data-figure={name}]")
        page.until(lambda: page.run("return document.activeElement.id") == name, told=f"{name} leads nowhere")
    assert page.driver.current_url == address
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
    page.until(lambda: board.deliveries() == ["mail-1", "mail-2", "shop-1"], told=f"{board.deliveries()}")
    assert "attempts used up: status 500" in board.text("#deliveries tbody") and "1 attempt" in board.text("#deliveries tbody")
    board.choose("#deliveries [name=status]", "")
    page.until(lambda: board.deliveries() == ["mail-1", "mail-2", "shop-1", "waits"], told=f"{board.deliveries()}")
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
    page.until(lambda: board.deliveries() == ["mail-1", "mail-2"])
    board.click("#redrive")
    assert "2 dead deliveries match. 2 will be sent again" in page.one("#ask-text").text
    assert len(receiver.on("/mail")) == 4  # a failed attempt each, and two tests
    board.click("#ask-yes")
    receiver.wait_for(6, "/mail")
    page.until(lambda: board.deliveries() == [], told=f"{board.deliveries()}")
    page.until(lambda: figure(page, "dead").text == "1 dead delivery")

    page.run("document.querySelector('#deliveries [name=with]').value = ''")
    board.type_into("#deliveries [name=of]", "shop-1")
    page.until(lambda: board.deliveries() == ["shop-1"])
    for _ in range(2):
        board.click("#deliveries tbody button", text="Drop")
        page.until(lambda: "1 delivery will be dropped." in page.one("#held").text)
        board.click("#held button", text="Undo")
    assert api.get("/v1/deliveries?timer=shop-1").expect(200).json["deliveries"] != []
    board.click("#deliveries-all")
    board.click("#drop")
    board.click("#held button", text="Now")
    page.until(lambda: board.deliveries() == [] and figure(page, "dead").text == "0 dead deliveries")
    assert board.alerts() == [] and len(receiver.on("/shop")) == 1


def test_chosen_deliveries_are_sent_again_as_far_as_they_are_dead(page, own, receiver):
    api = own.client
    dead(api, receiver.url(), "mail")
    hooked(api, receiver.url().replace("127.0.0.1", "localhost"), "waits", retry=LATER)
    api.command("waits", "fire").expect(200)
    event(api, "waits", "deliveryFailed")
    board = Dashboard(page, own.url, "/#view=deliveries&host=127.0.0.1").until_live()
    page.until(lambda: board.deliveries() == ["mail"], told=f"{board.deliveries()}")
    board.type_into("#deliveries [name=host]", "localhost")
    page.until(lambda: board.deliveries() == ["waits"], told=f"{board.deliveries()}")
    page.driver.refresh()
    board.until_live()
    page.until(lambda: board.deliveries() == ["waits"], told="the host is lost with a reload")
    page.one("#deliveries [name=host]").clear()
    page.until(lambda: board.deliveries() == ["mail", "waits"], told=f"{board.deliveries()}")
    receiver.default = 204
    board.click("#deliveries-all")
    board.click("#redrive")
    assert page.one("#ask-text").text == "1 of 2 chosen deliveries will be sent again: no other is dead."
    board.click("#ask-yes")
    page.until(lambda: board.deliveries() == ["waits"], told=f"{board.deliveries()}")
    assert board.alerts() == []


def test_what_is_shown_is_in_the_address(page, board, own):
    for number in range(4):
        own.client.create(id=f"job-{number}", after=f"{number + 1}h", labels={"team": ["blue", "red"][number % 2]})
    own.client.command("job-2", "suspend").expect(200)
    board.type_into("#search", "job")
    board.type_into("#label", "team=blue")
    board.choose("#sort", "changed")
    page.until(lambda: list(board.rows()) == ["job-2", "job-0"], told=f"{list(board.rows())}")
    board.click("#states [data-filter=running]")
    board.click('#rows [data-timer="job-0"] b')
    page.until(lambda: page.all("#details[open]"))
    page.driver.refresh()
    board.until_live()
    page.until(lambda: page.run("return document.querySelector('#details[open] h2')?.textContent") == "job-0", told="no timer is open")
    board.keys(Keys.ESCAPE)
    page.until(lambda: list(board.rows()) == ["job-0"], told=f"{list(board.rows())}")
    shown = page.run("return ['#search', '#label', '#sort'].map(css => document.querySelector(css).value)")
    assert shown == ["job", "team=blue", "changed"]


@pytest.mark.not_forwarded("a drain is the owner's, and the server of the page is ready")
def test_a_server_that_is_not_ready_says_why(page, board, own):
    page.expect(r"/readyz .*status of 503")
    page.until(lambda: figure(page, "ready").text == "ready")
    own.client.post("/v1/drain").expect(200)
    page.run("health.soon()")
    page.until(lambda: figure(page, "ready").text == "drained", told=figure(page, "ready").text)
    assert "bad" in figure(page, "ready").get_attribute("class")


def test_the_sheet_of_one_timer_shows_nothing_of_another(page, board, own, receiver):
    page.expect(r"status of 404")
    hooked(own.client, receiver.url(), "mail", retry=ONCE)
    board.click('#rows [data-timer="mail"] b')
    page.until(lambda: '"webhook"' in page.one("#details pre").text and page.one("#details-deliveries"))
    board.keys(Keys.ESCAPE)
    shown = page.run("""
        details.open("nobody");
        return [...document.querySelectorAll("#details :is(dd, pre, .tools :not([hidden]))")].map(part => part.textContent)""")
    assert shown == ["", "", "", "Only its events in the feed", ""]


@pytest.mark.parametrize("address", ["only=__proto__&sort=constructor&state=toString", "due=1-9007199254740991", "due=0-1e9&sort=foo",
                                     "timer=&view=__proto__&rate", "%E0%A4%A&q"])
def test_an_odd_address_does_no_harm(page, own, address):
    own.client.create(id="job", every="1h")
    board = Dashboard(page, own.url, f"/#{address}").until_live()
    board.until_row("job", state="running")


def test_an_empty_server_offers_examples_and_the_colours_are_kept(page, board, own):
    assert f"curl {own.url}/v1/timers --json" in page.one("#empty").text and page.barriers() == []
    assert len(page.all("#examples button")) == 3
    board.click("#examples button", text="worker")
    board.submit()
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


def test_a_bucket_keeps_the_filters_and_says_so(page, board, own):
    for id in ("early", "early-too"):
        own.client.create(id=id, after="10m")
    board.type_into("#search", "too")
    board.choose("#due-within", "1d")
    page.until(lambda: page.all("#due-strip [aria-label^='2 timers']"))
    page.run("""document.querySelector("#due-strip [aria-label^='2 timers']").click()""")
    page.until(lambda: list(board.rows()) == ["early-too"], told=str(list(board.rows())))
    board.click("#due-all")
    page.until(lambda: list(board.rows()) == ["early", "early-too"], told=str(list(board.rows())))
