#!/usr/bin/env python3
"""How many clicks, keys and seconds an operator's tasks take on the dashboard, in a browser without a screen.

    tasks.py BINARY    a line for each task, as docs/OPERATIONS.md has them. A choice from a list counts as two clicks, keys
                       that are pressed together as one, scrolling and reading as none. A task ends when the page shows its
                       result.
"""

import os
import sys
import time
from datetime import datetime, timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "Tests" / "BlackBox"))

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from browser import Browser, Page
from dashboard import Dashboard
from receiver import Receiver
from server import Server
from webhooks import event, hooked

OTHERS = 290  # timers that no task is about
LATE = [f"late-{number}" for number in range(5)]  # those due between two and three at night
RULE = "FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=17;BYMINUTE=0;BYSECOND=0"


def night():
    """The next two o'clock at night, and the hour after it, in the local time of this machine and so of the browser."""
    start = datetime.now().astimezone().replace(hour=2, minute=0, second=0, microsecond=0)
    start += timedelta(days=start < datetime.now().astimezone())
    return start, start + timedelta(hours=1)


class Operator:
    """Mouse and keyboard, which count what they do."""

    def __init__(self, board):
        self.board, self.page = board, board.page
        self.clicks = self.keys = 0

    def click(self, css, text="", at_left=False, with_shift=False):
        def found():
            ready = (one for one in self.page.all(css) if one.is_displayed() and one.is_enabled() and text in one.text)
            return next(ready, None)
        shown = self.page.until(found, told=css)
        self.page.run("arguments[0].scrollIntoView({block: 'nearest'})", shown)
        mouse = ActionChains(self.page.driver, duration=0)
        mouse.move_to_element_with_offset(shown, 16 - shown.size["width"] // 2 if at_left else 0, 0)
        if with_shift:
            mouse.key_down(Keys.SHIFT).click().key_up(Keys.SHIFT)
        else:
            mouse.click()
        mouse.perform()
        self.clicks += 1
        self.keys += with_shift

    def choose(self, css, value):
        self.board.choose(css, value)
        self.clicks += 2

    def type(self, text):
        self.board.keys(text)
        self.keys += len(text)

    def type_instead(self, text):
        ActionChains(self.page.driver, duration=0).key_down(Keys.CONTROL).send_keys("a").key_up(Keys.CONTROL).perform()
        self.keys += 1
        self.type(text)


def send_again(operator, api):
    operator.click("#health [data-figure=dead]")
    operator.click("#deliveries tbody tr:has([href*='timer=invoices']) button", text="Redrive")
    event(api, "invoices", "delivered")
    operator.page.until(lambda: "1 delivery is sent again." in operator.board.text("#notices"))


def explain_nightly(operator, api):
    operator.click("#search")
    operator.type("nightly")
    operator.click('#rows [data-timer="nightly"] b')
    page = operator.page
    page.until(lambda: "suspended" in page.one("#details dl").text and page.all("#past [data-type=suspended]"))


def pause_team(operator, api):
    operator.click("#label")
    operator.type("team=blue")
    operator.page.until(lambda: operator.page.run("return store.view.length") == OTHERS // 2)
    operator.click("#rows .ring")
    operator.click("#bulk-all")
    operator.click("#bulk [data-command=suspend]")
    operator.click("#ask-yes")
    operator.page.until(lambda: operator.board.text("#states [data-filter=suspended] b") == str(OTHERS // 2))


def create_last_friday(operator, api):
    page = operator.page
    operator.click("#new")
    operator.click("#create .kinds label:has([value=rrule])")
    operator.click("#create [name=timeZone]")
    operator.type_instead("America/New_York")
    operator.click("#builder summary")
    operator.choose("#by-unit", "month")
    operator.choose("#by-which", "-1")
    operator.click("#by-days input[value=MO]")
    operator.click("#by-days input[value=FR]")
    operator.click("#by-time", at_left=True)
    operator.type("1700")
    page.until(lambda: "the last Friday" in operator.board.text("#preview-plain"), told=operator.board.text("#preview-plain"))
    operator.click("#create-submit")
    in_focus = "return document.activeElement.textContent"
    page.until(lambda: RULE in page.run(in_focus), told="no timer is made")
    made, = (timer for timer in api.get("/v1/timers?limit=1000").json["timers"] if timer.get("rrule") == RULE)
    assert made["timeZone"] == "America/New_York", made


def see_the_night(operator, api):
    page = operator.page
    operator.choose("#due-within", "1d")
    page.until(lambda: page.all("#due-strip :nth-child(24):last-child"))
    first, last = page.run("""
        const count = timeline.json.counts.length;
        return [...arguments].map(ms => [...Array(count).keys()].findLast(index => timeline.edge(index) <= ms))""",
                           *(int(instant.timestamp() * 1000) - late for late, instant in enumerate(night())))
    operator.click(f"#due-strip :nth-child({first + 1} of button)")
    if last != first:
        operator.click(f"#due-strip :nth-child({last + 1} of button)", with_shift=True)
    page.until(lambda: [id for id in operator.board.rows() if id in LATE] == LATE, told=f"{list(operator.board.rows())}")


TASKS = {
    "find the webhook that died and send it again": send_again,
    "find out why `nightly` did not run": explain_nightly,
    "pause all timers of a team": pause_team,
    'create "every last Friday 17:00 in New York"': create_last_friday,
    "see what will fire between 02:00 and 03:00 tonight": see_the_night,
}


def fill(api, receiver):
    lines = [{"id": f"other-{number}", "after": f"{5 + number}h", "labels": {"team": ["blue", "red"][number % 2]}}
             for number in range(OTHERS)]
    lines += [{"id": id, "at": (night()[0] + timedelta(minutes=7 * number)).isoformat()} for number, id in enumerate(LATE)]
    api.batch([*lines, {"id": "nightly", "cron": "0 3 * * *"}], "?results=brief").expect(200)
    api.command("nightly", "suspend").expect(200)
    for id in ("invoices", "letters", "orders"):
        hooked(api, receiver.url(f"/{id}"), id, retry={"maxAttempts": 1}, timer={"every": None, "after": "1ms"})
        event(api, id, "deliveryDead")
    receiver.default = 204


def main():
    os.environ["TIMERD_BINARY"] = sys.argv[1]
    for name, task in TASKS.items():
        with Server() as server, Browser() as browser, Receiver(answer=500) as receiver:
            fill(server.client, receiver)
            page = Page(browser, "tasks")
            board = Dashboard(page, server.url).until_live()
            page.until(lambda: board.text("#health [data-figure=dead] b") == "3" and page.all("#due-strip button"))
            operator, start = Operator(board), time.monotonic()
            task(operator, server.client)
            print(f"| {name} | {operator.clicks} | {operator.keys} | {time.monotonic() - start:.1f} |", flush=True)
            page.close()


if __name__ == "__main__":
    main()
