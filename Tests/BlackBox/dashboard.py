"""The dashboard as a person uses it: what it shows of a timer, and what mouse and keyboard can do."""

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from receiver import Receiver

# What the console says of requests to a server that is down or that still reads its log.
LOST = (r"net::ERR_(CONNECTION_REFUSED|CONNECTION_RESET|EMPTY_RESPONSE|INCOMPLETE_CHUNKED_ENCODING|SOCKET_NOT_CONNECTED)"
        r"|status of 503")
ROWS = """
    return [...document.querySelectorAll("#rows .row")].map(row => ({
        id: row.dataset.timer, state: row.querySelector(".state").textContent, text: row.innerText,
        shape: row.querySelector("use").getAttribute("href"), color: getComputedStyle(row.querySelector(".ring")).color,
        buttons: [...row.querySelectorAll("button")].map(button => button.dataset.command),
        commands: [...row.querySelectorAll("button:enabled")].map(button => button.dataset.command)}));
"""
KEYS = {"activate": "a", "suspend": "s", "resume": "s", "kick": "k", "fire": "f", "reschedule": "r", "cancel": "x",
        "delete": Keys.DELETE}


def vanished(id):
    """What the console may say if the page reads a timer while another client deletes it."""
    return rf"/v1/timers/{id}(/next\?\S+)? .* status of 404"


class Dashboard:
    """The dashboard of a server, open in a page and following the events."""

    def __init__(self, page, url, path="/"):
        self.page, self.url = page, url
        page.open(url + path)

    def until_live(self):
        return self.until_connection("live")

    def until_connection(self, *states):
        self.page.until(lambda: self.connection() in states, told=f"the page is not {states}")
        self.hold_back()
        return self

    def hold_back(self, ms=2**31 - 1):
        """Sets how long the page holds changes back from now on: for ever, so that no test is too slow to take one back."""
        self.page.run("holds.ms = arguments[0]", ms)

    def connection(self):
        return self.page.run("return document.querySelector('#connection').dataset.state")

    def text(self, css):
        """The text of the first such element, shown or not."""
        return self.page.run("return document.querySelector(arguments[0]).textContent", css)

    # Answers that come late.

    def delay(self, request, most=100):
        """Keeps the answers to so many requests whose method and address have this part from the page until `release`."""
        self.page.run("""
            let [request, left] = arguments;
            const {open} = api, {promise, resolve} = Promise.withResolvers();
            Object.assign(window, {delayed: 0, release: resolve});
            api.open = async (path, options = {}) => {
                const answer = open.call(api, path, options);
                if (`${options.method ?? "GET"} ${path}`.includes(request) && (left -= 1) >= 0) {
                    await answer.catch(() => {});
                    window.delayed += 1;
                    await promise;
                }
                return answer;
            }""", request, most)

    def until_delayed(self):
        """Waits until such an answer is there."""
        self.page.until(lambda: self.page.run("return delayed"), told="nothing is asked for")

    def release(self):
        """Gives the page the answers, and another one after them."""
        self.until_delayed()
        self.page.run("release(); return api.json('v1/timers?limit=1').then(() => {})")

    def close_before_release(self):
        """Closes the open sheet while an answer is kept from it, then gives it the answer."""
        self.until_delayed()
        self.keys(Keys.ESCAPE)
        self.page.until(lambda: not self.page.all("dialog[open]"))
        self.release()

    # The list.

    def rows(self):
        """The rows that exist, by timer id."""
        return {row["id"]: row for row in self.page.run(ROWS)}

    def until_row(self, id, state="", text=""):
        """Waits until the list shows the timer, in this state and with this text."""
        def shown():
            row = self.rows().get(id)
            return row and state in row["state"] and text in row["text"] and row
        return self.page.until(shown, told=f"no row of {id}, {state}, {text}")

    def until_gone(self, id):
        self.page.until(lambda: id not in self.rows(), told=f"{id} is still there")

    def click(self, css, text=""):
        """Clicks the first such element that is shown, with this text, once it can be clicked."""
        def clicked():
            found = (one for one in self.page.all(css) if text in one.text and one.is_displayed() and one.is_enabled())
            if element := next(found, None):
                element.click()
            return element
        self.page.until(clicked, told=f"{css} {text} can't be clicked")

    def click_command(self, id, command):
        """Clicks a row's button, which is shown once the mouse is over the row."""
        row = f'#rows .row[data-timer="{id}"]'
        self.page.until(lambda: ActionChains(self.page.driver, duration=0).move_to_element(self.page.one(f"{row} b")).perform() or True)
        self.click(f"{row} [data-command={command}]:enabled")
        self.leave_list()

    def leave_list(self):
        """Moves the mouse off the list, whose rows keep their places under it."""
        ActionChains(self.page.driver, duration=0).move_to_element(self.page.one("h1")).perform()

    def send_now(self):
        """Sends the oldest change that the page holds back, so that it can't be taken back any more."""
        self.click("#held > :nth-last-child(1 of :not(.ended)) button", text="Now")

    def go_to(self, id):
        """Finds a timer by the search and moves the focus to its row, by keyboard alone."""
        self.type_into("#search", id)
        self.until_row(id)
        self.keys(Keys.ARROW_DOWN)
        self.page.until(lambda: self.page.run("return document.activeElement.dataset.timer") == id, told=f"{id} has no focus")

    def deliveries(self):
        """The timers of the deliveries that are listed, in order by name."""
        return sorted(self.page.run("""
            return [...document.querySelectorAll("#deliveries tbody tr")].map(row => row.cells[1].firstChild.textContent)"""))

    # Input.

    def keys(self, *keys):
        """Presses keys wherever the focus is."""
        ActionChains(self.page.driver, duration=0).send_keys(*keys).perform()

    def type_into(self, css, text):
        element = self.page.one(css)
        element.clear()
        element.send_keys(text)

    def set_field(self, name, text):
        """Gives a field of the form for timers a value, wherever it is, as if it were typed."""
        self.page.run("""
            const [name, text] = arguments, field = form.elements[name];
            field.value = text;
            if (field.value !== text) throw Error(`${name} takes no ${text}`);
            field.dispatchEvent(new Event("input", {bubbles: true}))""", name, text)

    def choose(self, css, value):
        Select(self.page.one(css)).select_by_value(value)

    def new_timer(self, kind="after", key=None, **fields):
        """Opens the dialog for a new timer, by a key if one is given, and fills it in; the caller sends it.

        A pause between two keys has the page ask for a preview of what is half typed, which the server may refuse.
        """
        self.page.expect(r"/v1/schedules/preview\S* .*status of 400")
        if not self.has_form():
            self.keys(key) if key else self.click("#new")
        self.page.until(self.has_form, told="the form does not open")
        def chosen():
            """A preview that comes or goes moves the dialog's fields, so a click may miss: repeated until the kind is chosen."""
            self.page.all(f"#create .kinds label:has([value={kind}])")[0].click()
            return self.page.run("return document.querySelector('#create form').kind.value") == kind
        self.page.until(chosen, told=f"the kind {kind} can't be chosen")
        for name, value in fields.items():
            self.type_into(f"#create [name={name}]", value)

    def has_form(self):
        """Whether the dialog for a timer is open, which is loaded on first use."""
        return self.page.run("return document.querySelector('#create')?.open ?? false")

    def submit(self):
        """Clicks the form's button until the form is sent: a message that comes meanwhile may catch a click."""
        self.page.until(self.has_form, told="the form does not open")
        self.page.run("""
            window.isSent = false
            document.querySelector("#create-form").addEventListener("submit", () => window.isSent = true, {once: true})""")

        def sent():
            return self.page.run("return window.isSent") or self.page.one("#create-submit").click()
        self.page.until(sent, told="the form can't be sent")

    # Messages.

    def alerts(self):
        return [item.text for item in self.page.all("#alerts .toast")]

    def until_alert(self, *parts):
        """Waits for an alert that has all these parts, and returns it."""
        def told():
            return next((text for text in self.alerts() if all(part in text for part in parts)), None)
        return self.page.until(told, told=f"no alert with {parts}: {self.alerts()}")

    def feed(self):
        """The shown events, newest first, as (type, timer)."""
        return [tuple(pair) for pair in self.page.run("""
            return [...document.querySelectorAll("#feed li")].map(item =>
                [item.querySelector(".type").textContent, item.querySelector("button").textContent])""")]


@pytest.fixture
def own(new_server):
    """The server that a test's page is of."""
    return new_server()


@pytest.fixture
def board(page, own):
    """The page of that server, once it follows events."""
    return Dashboard(page, own.url).until_live()


@pytest.fixture(name="receiver")
def refusing_receiver():
    """A receiver that takes nothing until it is told otherwise."""
    with Receiver(answer=500) as receiver:
        yield receiver
