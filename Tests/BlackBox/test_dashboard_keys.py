"""The dashboard of a server that asks for a credential: who is signed in, what is offered, and what a lost key does."""

import pytest
from selenium.webdriver.common.keys import Keys

from dashboard import Dashboard
from timers import poll

ROOT_TOKEN = "the-root-of-these-tests"
# Records what a tab sends to the others, with the names of the channels.
OVERHEAR = """{
    const post = BroadcastChannel.prototype.postMessage;
    globalThis.overheard = [];
    BroadcastChannel.prototype.postMessage = function (message) {
        overheard.push(this.name + JSON.stringify(message));
        post.call(this, message);
    };
}"""


@pytest.fixture
def guarded(page, new_server, tmp_path):
    page.expect(r"status of 401")
    (tmp_path / "tokens").write_text(ROOT_TOKEN + "\n")
    return new_server("--token-file", tmp_path / "tokens", token=ROOT_TOKEN)


def make_key(server, *scopes, **fields):
    """A new key, with its secret."""
    return server.client.post("/v1/keys", {"name": f"{'-'.join(scopes)}-key", "scopes": list(scopes), **fields}).expect(201).json


def sign_in(board, credential):
    board.type_into("#token-input", credential)
    board.keys(Keys.ENTER)
    board.page.until(lambda: not board.page.run("return document.querySelector('#token').open"), told="it is not signed in")
    return board


def is_shown(page, css):
    return any(element.is_displayed() for element in page.all(css))


def test_a_key_is_asked_for_and_what_it_cannot_do_is_not_offered(guarded, page):
    api, key = guarded.client, make_key(guarded, "read")
    api.create(id="dog", watchdog="1h")
    board = Dashboard(page, guarded.url)
    page.one("#token-input")
    assert page.run("return document.activeElement.id") == "token-input"
    board.keys(Keys.ESCAPE, Keys.ESCAPE)
    page.one("#token-input")
    board.type_into("#token-input", f"tmk_{'a' * 12}_{'b' * 48}")
    board.keys(Keys.ENTER)
    page.until(lambda: "not know" in page.one("#token-error").text, told="the wrong key is not refused")
    assert page.one("#token-input").get_attribute("aria-invalid") == "true"
    barriers = page.barriers()
    sign_in(board, key["secret"]).until_live()
    assert board.until_row("dog", state="running")["buttons"] == []
    assert page.one("#who").text.startswith("Signed in as read-key (may only read)")
    assert not is_shown(page, "#new")
    board.go_to("dog")
    board.keys("n", "k", "s", Keys.DELETE)
    assert not page.all("dialog[open]") and (api.timer("dog")["kickCount"], api.timer("dog")["state"]) == (0, "running")
    board.keys(Keys.ENTER)
    page.until(lambda: '"watchdog": "1h"' in page.one("#details pre").text)
    assert not page.all("#details .buttons button")
    page.shot("dashboard-read-only")
    assert barriers + page.barriers() == []
    page.driver.refresh()
    board.until_live().until_row("dog")
    page.until(lambda: '"watchdog": "1h"' in page.one("#details pre").text, told="the timer that was open is not")
    board.keys(Keys.ESCAPE)
    assert key["secret"] not in page.driver.current_url + page.driver.page_source + page.run("return JSON.stringify(localStorage)")
    board.click("#who button")
    page.one("#token-input")
    assert board.rows() == {} and not is_shown(page, "#who")


def test_a_key_that_is_revoked_is_asked_for_again_and_the_place_is_kept(guarded, page):
    # A history that the page still reads is cut where it has not come through within a second.
    page.expect(r"/events\?follow=false.*INCOMPLETE_CHUNKED")
    api, first, second = guarded.client, make_key(guarded, "write"), make_key(guarded, "read", "kick")
    api.create(id="job-1", after="1h")
    api.create(id="dog", watchdog="1h")
    board = sign_in(Dashboard(page, guarded.url), first["secret"]).until_live()
    board.go_to("job-1")
    board.keys(Keys.ENTER)
    page.until(lambda: page.all("#details [data-command=suspend]"))
    api.delete(f"/v1/keys/{first['id']}").expect(204)
    page.until(lambda: "no longer takes the key write-key" in page.one("#token-error").text, told="the page does not ask again")
    board.page.until(lambda: board.connection() == "waiting")
    api.command("job-1", "suspend").expect(200)
    sign_in(board, second["secret"]).until_live()
    page.until(lambda: "suspended" in page.one("#details dl").text and '"state": "suspended"' in page.one("#details pre").text)
    assert not page.all("#details .buttons button") and page.one("#search").get_attribute("value") == "job-1"
    board.keys(Keys.ESCAPE)
    board.type_into("#search", "dog")
    page.until(lambda: board.until_row("dog")["commands"] == ["kick"])
    assert "(may read and kick)" in page.one("#who").text
    board.click_command("dog", "kick")
    poll(lambda: api.timer("dog")["kickCount"] == 1)
    assert board.alerts() == []


@pytest.mark.thorough
def test_a_history_says_who_did_it(guarded, page):
    api, key = guarded.client, make_key(guarded, "write")
    api.create(id="nightly", cron="0 3 * * *")
    board = Dashboard(page, guarded.url, "/#timer=nightly")
    sign_in(board, key["secret"]).until_live()
    board.click("#details [data-command=suspend]")

    def who():
        """What was done and by whom, newest first."""
        return page.run("return [...document.querySelectorAll('#past tr')].map(({cells}) => [cells[1].textContent, cells[3].textContent])")
    page.until(lambda: who()[:1] == [["suspended", key["id"]]], told=f"{who()}")
    assert who() == [[event["type"], event["by"]] for event in reversed(api.history_of("nightly"))]


@pytest.mark.thorough
@pytest.mark.parametrize("scopes, fields, said", [
    (["kick"], {}, "may kick timers, but can't read them"),
    pytest.param(["write"], {"idPrefix": "acme-"}, "begin with acme-", marks=pytest.mark.heavy),
])
def test_a_key_that_cannot_read_the_list_is_told_so(guarded, page, scopes, fields, said):
    board = sign_in(Dashboard(page, guarded.url), make_key(guarded, *scopes, **fields)["secret"])
    page.until(lambda: said in page.one("#unreadable").text, told=f"the page does not say: {said}")
    page.until(lambda: page.run("return document.activeElement.id") == "unreadable", told="a screen reader is not told")
    assert not any(is_shown(page, css) for css in ("#timers", "#new", "#search", "#feed", "#connection"))
    assert page.barriers() == [] and page.overflow() <= 0
    page.shot("dashboard-unreadable")
    board.click("#unreadable button")
    sign_in(board, ROOT_TOKEN).until_live()
    assert "Signed in with a token" in page.one("#who").text and is_shown(page, "#new")


@pytest.mark.thorough
@pytest.mark.heavy
def test_tabs_share_a_stream_if_they_have_the_same_key(guarded, page):
    api, keys = guarded.client, [make_key(guarded, "read"), make_key(guarded, "write")]

    def streams():
        text = api.get("/metrics").expect(200).body.decode()
        return next(int(line.split()[1]) for line in text.splitlines() if line.startswith("timerd_streams "))
    tabs = [page.first]
    for number, key in enumerate([keys[0], keys[0], keys[1]]):
        if number:
            tabs.append(page.also("about:blank"))
        page.before_scripts(OVERHEAR)
        sign_in(Dashboard(page, guarded.url), key["secret"]).until_live()
    poll(lambda: streams() == 2)
    for tab in tabs:
        page.go_to(tab)
        sent = page.until(lambda: page.run("return overheard.join('\\n')"))
        assert not [key for key in keys if key["secret"] in sent or key["secret"].rpartition("_")[2] in sent]


def test_a_key_that_may_only_read_changes_no_calendar_and_no_timer(guarded, page):
    guarded.client.put("/v1/calendars/berlin", {"timeZone": "Europe/Berlin", "week": {"mon": ["09:00-12:30"]}}).expect(201)
    guarded.client.create(id="job")
    board = Dashboard(page, guarded.url, "/#view=calendars&calendar=berlin")
    page.one("#token-input")
    sign_in(board, make_key(guarded, "read")["secret"]).until_live()
    page.until(lambda: page.all("#open-week li"))
    assert page.run("return calendars.form.text.readOnly") and not is_shown(page, "#calendars button")
    page.run("location.hash = 'timer=job'")
    page.until(lambda: "created" in page.one("#past").text and page.one("#past td:last-child").text == "token")
    assert not is_shown(page, "#details-edit") and not is_shown(page, "#details-duplicate")
