"""The dashboard in Chromium: it shows what the API says, and offers no command that is illegal."""

import re

import pytest
from selenium.webdriver.common.keys import Keys

from dashboard import KEYS, LOST, Dashboard, board, own, vanished  # noqa: F401
from standby import Standby
from timers import STATES, poll, timer_in

pytestmark = pytest.mark.thorough


# Creating.


def test_a_timer_is_made_in_the_form(board, own, page):
    board.new_timer(
        key="n", every="1h", kind="every", id="made-here", labels="team=blue\nroom=<b>7</b>", payload='{"n": 1.50}')

    def is_hourly():
        """Whether the fires shown are those of the form as it is now: they come a moment after a change."""
        fires = [item.text for item in page.all("#preview li")]
        return len(set(fires)) == 5 and len({re.search(r"\d\d:(\d\d)", fire)[1] for fire in fires}) == 1

    page.until(is_hourly)
    page.shot("dashboard-create")
    board.submit()
    board.until_row("made-here", state="running")
    page.until(lambda: page.run("return document.activeElement.dataset.timer") == "made-here", told="the focus is not on it")
    timer = own.client.timer("made-here")
    assert timer["every"] == "1h" and timer["labels"] == {"team": "blue", "room": "<b>7</b>"}
    assert b'"payload":{"n":1.50}' in own.client.get("/v1/timers/made-here").body


@pytest.mark.parametrize("kind, fields, shown", [
    ("after", {"after": "1m30s"}, {"after": "1m30s", "kind": "oneShot"}),
    pytest.param("cron", {"cron": "0 9 * * MON-FRI", "timeZone": "Europe/Berlin"},
                 {"cron": "0 9 * * MON-FRI", "timeZone": "Europe/Berlin"}, marks=pytest.mark.heavy),
    ("watchdog", {"watchdog": "45s"}, {"watchdog": "45s", "kind": "watchdog"}),
    ("watchdog", {"watchdog": "1h", "expected": "0 3 * * *", "timeZone": "Europe/Berlin"},
     {"watchdog": "1h", "cron": "0 3 * * *", "timeZone": "Europe/Berlin", "kind": "watchdog"}),
])
def test_each_kind_can_be_made_by_keyboard_alone(board, own, kind, fields, shown):
    board.new_timer(kind, id="typed", **fields)
    board.keys(Keys.ENTER)
    board.until_row("typed", state="running")
    timer = own.client.timer("typed")
    assert {name: timer[name] for name in shown} == shown


def test_a_grid_keeps_the_local_time_of_a_zone(board, own, page):
    board.new_timer("every", id="grid", every="1d", zone="Europe/Berlin")
    page.run("document.querySelector('#create [name=through]').value = '2040-01-02T09:00'")
    board.submit()
    board.until_row("grid", state="running", text="Europe/Berlin")
    timer = own.client.timer("grid")
    assert (timer["every"], timer["at"][:8], timer["timeZone"]) == ("1d", "2040-01-", "Europe/Berlin")


@pytest.mark.timeout(180)
@pytest.mark.heavy
def test_a_bad_field_is_told_beside_it_and_nothing_is_made(board, own, page):
    page.expect(r"status of (400|409)")
    own.client.create(id="taken")
    for kind, name, value in [("after", "after", "soon"), ("every", "every", "0s"), ("cron", "cron", "61 * * * *"),
                              ("cron", "cron", "0 0 31 2 *"), ("cron", "timeZone", "Mars/Base"), ("watchdog", "watchdog", "no"),
                              ("watchdog", "expected", "61 * * * *"), ("every", "zone", "Mars/Base"),
                              ("after", "id", "a b"), ("after", "id", "taken"), ("after", "labels", "a b=1"), ("after", "payload", "{]")]:
        board.new_timer(kind, **{name: value})
        board.submit()
        field = f"#create [name={name}]"
        told = f"{field} = {value!r}"
        page.until(lambda: page.one(field).get_attribute("aria-invalid") == "true", told=told)
        error, = page.run("return document.querySelector(arguments[0]).ariaDescribedByElements", field)
        assert error.is_displayed() and error.text, told
        assert abs(error.location["y"] - page.one(field).location["y"]) < 120, told
        page.until(lambda: page.run("return document.activeElement.name") == name, told=f"{told} has not the focus")
        board.type_into(field, {"after": "10s", "every": "10s", "cron": "@daily", "timeZone": "UTC", "watchdog": "10s"}.get(name, ""))
    page.shot("dashboard-refused")
    assert [timer["id"] for timer in own.client.get("/v1/timers").json["timers"]] == ["taken"]


# Commands.


@pytest.mark.heavy
def test_the_buttons_are_what_allowed_says(page, own):
    page.size(1280, 1600)  # all rows are in view
    api, ids = own.client, []
    for state in STATES:
        for restartable in (False, True):
            ids.append(timer_in(api, state, id=f"{state}-{restartable}", restartable=restartable)["id"])
        ids.append(timer_in(api, state, id=f"{state}-every", every="1h")["id"])
    ids += [api.create(id="dog", watchdog="1h")["id"], api.create(id="dead-dog", watchdog="1ms")["id"]]
    board = Dashboard(page, own.url).until_live()
    board.until_row("dead-dog", state="stalled")
    assert board.rows().keys() == set(ids)
    for id in ids:
        allowed = {*api.timer(id)["allowed"], "delete"}
        page.until(lambda: (row := board.rows()[id]) and set(row["buttons"]) == set(row["commands"]) == allowed,
                   told=f"{id}: {board.rows().get(id)}, allowed are {allowed}")


WAYS = {"activate": "idle", "suspend": "running", "resume": "suspended", "cancel": "running", "fire": "running"}
LEADS = {"activate": "running", "suspend": "suspended", "resume": "running", "cancel": "cancelled", "fire": "completed"}


@pytest.mark.parametrize("way", ["keyboard", pytest.param("mouse", marks=pytest.mark.heavy)])
def test_every_command_by(page, own, way):
    api, states = own.client, {**WAYS, "kick": "running", "reschedule": "running", "delete": "suspended"}
    for command, state in states.items():
        timer_in(api, state, id=f"to-{command}", **({"watchdog": "1h"} if command == "kick" else {}))
    board = Dashboard(page, own.url).until_live()
    for command, state in states.items():
        id = f"to-{command}"
        if way == "mouse":
            board.click_command(id, command)
        else:
            board.go_to(id)
            board.keys(KEYS[command])
        if command == "reschedule":
            board.type_into("#ask [name=after]", "30m")
            board.keys(Keys.ENTER)
            poll(lambda: api.timer(id)["remaining"].startswith(("29m", "30m")))
        elif command == "kick":
            poll(lambda: api.timer(id)["kickCount"] == 1)
        elif command == "delete":
            page.one("#held")
            assert api.get(f"/v1/timers/{id}").status == 200  # as long as it can be taken back
            board.send_now()
            board.until_gone(id)
            api.get(f"/v1/timers/{id}").expect(404)
        else:
            if command == "cancel":
                board.send_now()
            board.until_row(id, state=LEADS[command])
            assert api.timer(id)["state"] == LEADS[command]
    assert board.alerts() == []


def test_a_command_that_comes_too_late_is_told_in_a_sentence(page, own, new_relay):
    """The page still shows the timers as running: its stream is held back while another client changes them."""
    page.expect(r"status of (404|409)")
    api, relay = own.client, new_relay(own.port)
    first, second, third = (api.create(id=id)["id"] for id in ("first", "second", "third"))
    board = Dashboard(page, relay.url).until_live()
    board.until_row(third, state="running")
    relay.hold()
    api.command(first, "suspend").expect(200)
    api.command(second, "cancel").expect(200)
    api.delete(f"/v1/timers/{third}").expect(204)
    board.click_command(first, "suspend")
    legal = ", ".join(api.timer(first)["allowed"])
    board.until_alert(first, "Suspend is not legal while the timer is suspended.", f"Legal now: {legal}.")
    page.shot("dashboard-too-late")
    board.until_row(first, state="suspended")
    board.click_command(second, "reschedule")
    board.type_into("#ask [name=after]", "5m")
    board.keys(Keys.ENTER)
    page.until(lambda: any("the timer is cancelled" in text for text in (board.text("#ask-error"), *board.alerts())))
    board.keys(Keys.ESCAPE)
    board.click_command(third, "suspend")
    board.until_alert(third)
    board.until_gone(third)
    relay.release()
    board.until_row(second, state="cancelled")
    assert third not in board.rows()


def test_what_cannot_be_sent_is_told_and_what_is_sent_twice_is_done_once(page, board, own):
    page.expect(LOST)
    own.client.create(id="dog", watchdog="1h")
    page.until(lambda: "kick" in board.until_row("dog")["commands"])
    page.run("""const button = document.querySelector("#rows [data-command=kick]"); button.click(); button.click(); button.click()""")
    poll(lambda: own.client.timer("dog")["kickCount"])
    board.click_command("dog", "reschedule")
    board.keys(Keys.ESCAPE)
    board.click_command("dog", "cancel")
    own.kill9()
    board.send_now()
    board.until_alert("dog", "can't be reached")
    own.restart(same_port=True)
    board.until_live().until_row("dog", state="running")
    assert own.client.timer("dog")["kickCount"] == 1


# Live.


def test_what_others_do_is_seen_live(board, own, page):
    page.expect(vanished("seen"))
    api = own.client
    assert "no timers" in page.one("#empty").text
    api.create(id="seen", labels={"team": "blue"})
    board.until_row("seen", state="running", text="team=blue")
    for command, state in (("suspend", "suspended"), ("resume", "running"), ("cancel", "cancelled")):
        api.command("seen", command).expect(200)
        board.until_row("seen", state=state)
    api.create(id="brief", after="1ms")
    board.until_row("brief", state="completed")
    api.delete("/v1/timers/seen").expect(204)
    board.until_gone("seen")
    expected = [(event["type"], event["timer"]) for event in reversed(api.history())]
    page.until(lambda: board.feed() == expected, told=f"the feed is {board.feed()}")
    api.put("/v1/timers/brief", {"watchdog": "1ms", "labels": {"a": "b"}}).expect(200)
    board.until_row("brief", state="stalled", text="watchdog 1ms")
    api.command("brief", "kick").expect(200)
    page.until(lambda: ("recovered", "brief") in board.feed())


@pytest.mark.parametrize("end", ["kill9", pytest.param("stop", marks=pytest.mark.heavy)])
def test_a_restart_is_told_and_then_nothing_is_missing(page, board, own, end):
    page.expect(LOST)
    page.expect(vanished("goes"))
    api = own.client
    for id in ("stays", "changes", "goes"):
        api.create(id=id)
    api.create(id="fires", after="1s")
    board.until_row("fires")
    getattr(own, end)()
    board.until_connection("waiting", "connecting")
    page.until(lambda: "Reconnecting" in page.one("#connection").text and page.one("#retry"))
    if end == "kill9":
        page.shot("dashboard-reconnecting")
    own.restart(same_port=True)
    api.command("changes", "suspend").expect(200)
    api.delete("/v1/timers/goes").expect(204)
    api.create(id="comes")
    board.until_live()
    board.until_row("changes", state="suspended")
    board.until_row("fires", state="completed")
    board.until_row("stays", state="running")
    board.until_row("comes", state="running")
    board.until_gone("goes")
    expected = [(event["type"], event["timer"]) for event in reversed(api.history())]
    page.until(lambda: board.feed() == expected, told=f"the feed is {board.feed()}, not {expected}")


@pytest.mark.heavy
def test_a_server_that_stands_by_is_asked_again_until_it_serves(page, board, own):
    page.expect(LOST)
    api = own.client
    api.create(id="before")
    board.until_row("before")
    own.stop()
    with Standby(own.port) as standby:
        board.until_connection("waiting")
        page.until(lambda: "another node answers" in board.text("#connection"), told="the page does not say why it waits")
        page.until(lambda: len([path for path in standby.asked if path.startswith("/v1/events?since=")]) >= 2, timeout=40,
                   told=f"the page asks no more: {standby.asked}")
    own.restart(same_port=True)
    api.create(id="after")
    board.until_live()
    board.until_row("before", state="running")
    board.until_row("after", state="running")


# Finding.


def test_search_labels_and_states_narrow_the_list(board, own, page):
    api = own.client
    for number in range(6):
        timer_in(api, ["running", "suspended"][number % 2], id=f"job-{number}", labels={"team": ["red", "blue", "blue"][number % 3]})
    board.until_row("job-5", state="suspended")

    def until_ids(*numbers):
        ids = [f"job-{number}" for number in numbers]
        page.until(lambda: sorted(board.rows()) == ids, told=f"{list(board.rows())} is shown, not {ids}")
    board.type_into("#search", "OB-3")
    until_ids(3)
    board.type_into("#search", " ")
    board.type_into("#label", "team=red")
    until_ids(0, 3)
    board.click("#states [data-filter=suspended]")
    until_ids(3)
    assert page.one("#states [data-filter=suspended]").get_attribute("aria-pressed") == "true"
    api.command("job-0", "suspend").expect(200)
    until_ids(0, 3)
    board.type_into("#label", "team=green")
    page.until(lambda: "No timer matches" in page.one("#empty").text)
    board.type_into("#label", " ")
    board.click("#states [data-filter=suspended]")
    until_ids(*range(6))


@pytest.mark.heavy
@pytest.mark.alone
def test_ten_thousand_timers_are_a_few_rows(page, own):
    count, api = 10_000, own.client
    api.batch([{"id": f"t-{number:05}", "after": "1h"} for number in range(count)], "?results=brief", timeout=30).expect(200)
    board = Dashboard(page, own.url).until_live()
    page.until(lambda: "10,000" in page.one("#count").text)
    walked = page.run("""
        return (async () => {
            const box = document.querySelector("#timers"), frame = () => new Promise(requestAnimationFrame);
            let most = 0, holes = 0;
            const step = (box.scrollHeight - box.clientHeight) / 60;
            for (let top = 0; top <= box.scrollHeight - box.clientHeight; top += step) {
                box.scrollTop = top;
                await frame(); await frame();
                const sight = box.getBoundingClientRect(), rows = [...document.querySelectorAll("#rows .row")];
                most = Math.max(most, rows.length);
                for (const y of [sight.top + 60, (sight.top + sight.bottom) / 2, sight.bottom - 30])
                    if (!document.elementFromPoint(sight.left + 100, y)?.closest("#rows .row")) holes += 1;
            }
            return {most, holes, elements: document.querySelectorAll("*").length};
        })()""")
    assert walked["most"] < 200 and walked["elements"] < 3000, walked
    assert walked["holes"] == 0, walked
    page.run("document.querySelector('#timers').scrollTop = 0")
    board.go_to("t-00000")
    board.type_into("#search", " ")
    board.until_row("t-00001")
    board.keys(Keys.ARROW_DOWN, Keys.END)
    page.until(lambda: page.run("return document.activeElement.dataset.timer") == "t-09999", told="the last one can't be reached")
    assert page.one('[data-timer="t-09999"]').is_displayed()
    page.shot("dashboard-ten-thousand")
    api.post("/v1/timers/bulk/suspend", {"states": ["running"]}, timeout=30).expect(200)
    page.until(lambda: board.text("#states [data-filter=suspended] b") == "10,000", timeout=30)
    board.until_row("t-09999", state="suspended")
    assert len(board.rows()) < 200


# Text of other clients, and tokens.


def test_what_others_write_is_text_and_nothing_else(board, own, page):
    bad = '<img src=x onerror="window.hacked = 1"><script>window.hacked = 2</script>'
    api = own.client
    api.create(id="__proto__", labels={"team": bad, "__proto__": "x"}, payload={bad: f"</pre>{bad}", "rtl": "\u202e\u2028"})
    api.create(id="constructor", labels={"long": "W" * 255, **{f"key-{n}": "v" for n in range(15)}})
    api.create(id="x" * 128, after="36525d")
    board.until_row("__proto__", state="running", text=bad)
    board.click('#rows .row[data-timer="__proto__"] b')
    page.until(lambda: bad in page.one("#details dl").text)
    page.until(lambda: "onerror" in page.one("#details pre").text)
    page.shot("dashboard-markup")
    assert page.overflow("#details") == 0 and page.is_in_sight("#details [data-close]")
    board.keys(Keys.ESCAPE)
    board.type_into("#label", f"team={bad}")
    page.until(lambda: list(board.rows()) == ["__proto__"])
    board.click_command("__proto__", "suspend")
    board.until_row("__proto__", state="suspended")
    assert page.run("return [window.hacked ?? null, document.images.length, document.scripts.length]") == [None, 0, 2]
    assert page.overflow() == 0


def test_a_token_is_asked_for(page, new_server, tmp_path):
    page.expect(r"status of 401")
    (tmp_path / "tokens").write_text("the-right-one-of-two\n")
    server = new_server("--token-file", tmp_path / "tokens", token="the-right-one-of-two")
    server.client.create(id="secret")
    board = Dashboard(page, server.url)
    board.type_into("#token [name=token]", "the-wrong-one")
    assert "secret" not in page.driver.page_source
    board.keys(Keys.ENTER)
    page.until(lambda: "not know" in board.text("#token-error"), told="the wrong token is not told")
    page.shot("dashboard-token")
    board.type_into("#token [name=token]", "the-right-one-of-two")
    board.keys(Keys.ENTER)
    board.until_live().until_row("secret")
    board.click_command("secret", "suspend")
    board.until_row("secret", state="suspended")
    page.driver.refresh()
    board.until_live().until_row("secret")
    assert "the-right-one-of-two" not in page.driver.current_url + page.driver.page_source
