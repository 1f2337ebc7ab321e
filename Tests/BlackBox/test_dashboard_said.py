"""What the dashboard has a screen reader say by itself, and where the focus goes when a button goes away."""

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from dashboard import LOST, Dashboard, board, own, refusing_receiver  # noqa: F401
from webhooks import LATER, hooked

pytestmark = pytest.mark.thorough


def listen(page):
    """Notes each text that comes into a live region from now on; returns a function that hands those out once."""
    page.run("""
        const heard = window.heard = [];
        new MutationObserver(changes => {
            for (const {target, addedNodes} of changes) {
                const element = target.nodeType === Node.TEXT_NODE ? target.parentElement : target;
                const region = element?.closest("[aria-live], [role=status], [role=alert], [role=log], output");
                if (!region || region.ariaLive === "off") continue;
                const texts = target === element ? [...addedNodes].map(node => node.textContent) : [target.data];
                heard.push(...texts.filter(text => text.trim()));
            }
        }).observe(document, {subtree: true, childList: true, characterData: true})""")
    return lambda: page.run("return heard.splice(0)")


def until_changed(board, css, times=3):
    """Waits until an element has had so many other texts."""
    seen = set()
    board.page.until(lambda: seen.add(board.text(css)) or len(seen) > times, told=f"{css} stays as it is")


def until_heard(page, heard, *texts):
    """Waits until these texts were said, and returns all that were."""
    said = []
    page.until(lambda: said.extend(heard()) or set(texts) <= set(said), told=f"not {texts}, but {said}")
    return said


def focus(page):
    return page.run("return document.activeElement.id || document.activeElement.parentElement.id")


def test_what_changes_by_itself_is_not_said(page, own, receiver):
    api = own.client
    api.create(id="beat", every="20ms")
    api.create(id="flip", every="1h")
    hooked(api, receiver.url(), "mail", retry={**LATER, "maxAttempts": 1})
    board = Dashboard(page, own.url, "/#state=running").until_live()
    board.until_row("flip", state="running")
    heard = listen(page)
    page.run("list.choose('flip')")
    assert until_heard(page, heard, "1 timer chosen") == ["1 timer chosen"]
    for command, words in (("suspend", "1 timer chosen, 1 not shown"), ("resume", "1 timer chosen")):
        api.command("flip", command).expect(200)
        page.until(lambda: board.text("#bulk-count") == words, told=board.text("#bulk-count"))
    page.run("details.open('beat')")
    until_changed(board, "#late-words")
    until_changed(board, "#details dd:nth-of-type(2)")
    board.keys(Keys.ESCAPE)
    page.until(lambda: page.all("#feed li:nth-child(30)"))
    board.click("#feed-pause")
    until_changed(board, "#feed-pause")
    assert page.one("#feed-pause").accessible_name == "Go on"
    assert heard() == []
    page.run("location.hash = 'view=deliveries'")
    until_heard(page, heard, "No delivery matches.")
    for number in (1, 2, 3):
        api.command("mail", "fire").expect(200)
        page.until(lambda: len(board.deliveries()) == number, told=f"{board.deliveries()}")
    assert heard() == []


def test_what_the_reader_did_is_said(page, board, own):
    for id in ("job-1", "job-2"):
        own.client.create(id=id, every="1h")
    board.until_row("job-2")
    heard = listen(page)
    board.go_to("job-2")
    until_heard(page, heard, "1 of 2 timers")
    board.keys(Keys.SPACE)
    assert until_heard(page, heard, "1 timer chosen") == ["1 timer chosen"]
    board.keys(Keys.ENTER)
    board.click("#details-edit")
    board.type_into("#create [name=every]", "2h")
    page.until(lambda: page.one("#preview-plain").text.startswith("every 2 hours"), told=board.text("#preview-plain"))
    said = until_heard(page, heard, "1 change", board.text("#preview-plain"))
    long = page.run("return [...document.querySelectorAll('#preview li, #changes :is(dt, dd)')].map(part => part.textContent)")
    assert len(long) == 7 and not [text for text in said if any(part in text for part in long)], said


def test_each_choice_and_a_list_that_can_not_be_read_are_said(page, board, own, receiver):
    api = own.client
    api.create(id="job", every="1h")
    hooked(api, receiver.url(), "mail", retry=LATER)
    api.command("mail", "fire").expect(200)
    board.until_row("mail")
    heard = listen(page)
    page.run("list.choose('job')")
    until_heard(page, heard, "1 timer chosen")
    board.click("#bulk-all")
    until_heard(page, heard, "2 timers chosen")
    board.click("#bulk-none")
    until_heard(page, heard, "0 timers chosen")
    page.run("location.hash = 'view=deliveries'")
    until_heard(page, heard, "1 delivery")
    board.click("#deliveries-all")
    until_heard(page, heard, "1 delivery, 1 chosen")
    page.run("""
        const {json} = api;
        api.json = async (path, options) => {
            if (!path.startsWith("v1/deliveries")) return json.call(api, path, options);
            throw new Problem(503, {detail: "the server has too much to do"});
        };
        deliveries.read(null, true)""")
    until_heard(page, heard, "The server has too much to do.")


def test_trouble_and_its_end_are_said_once(page, board, own):
    page.expect(LOST)
    heard = listen(page)
    own.kill9()
    page.until(lambda: page.run("return watch.attempt") > 2, told="the page does not try again")
    said = heard()
    assert said.count("Reconnecting") == 1 and len(said) == 2 and "can't be reached" in str(said), said
    own.restart(same_port=True)
    # The page may have come back by itself, and its button gone.
    page.run("document.getElementById('retry').click()")
    board.until_live()
    assert until_heard(page, heard, "Live") == ["Live"]


def test_the_focus_goes_on_from_a_button_that_goes_away(page, board, own):
    for id in ("early", "early-too"):
        own.client.create(id=id, after="10m")
    board.type_into("#search", "too")
    board.choose("#due-within", "1d")
    page.until(lambda: page.all("#due-strip :nth-child(24):last-child") and page.all("#due-strip [aria-label^='2 timers']"))
    page.run("""document.querySelector("#due-strip [aria-label^='2 timers']").focus()""")
    board.keys(Keys.ENTER)
    page.one("#due-all")
    keys = ActionChains(page.driver, duration=0).key_down(Keys.SHIFT).send_keys(Keys.TAB, Keys.TAB).key_up(Keys.SHIFT)
    keys.send_keys(Keys.ENTER).perform()
    page.until(lambda: list(board.rows()) == ["early", "early-too"], told=f"{list(board.rows())}, not all of the bucket")
    assert focus(page) == "due-only"
    board.keys(Keys.ENTER)
    page.until(lambda: not page.one("#due").text.count("Only due"))
    assert focus(page) == "due-strip"
    page.until(lambda: board.feed())
    page.run("feed.filter('early'); document.querySelector('#feed-only').focus()")
    board.keys(Keys.ENTER)
    assert focus(page) == "feed-pause"
