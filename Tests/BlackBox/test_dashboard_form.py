"""The dashboard's form: every field of the API is in it, schedules can be built, and a shell can do the same."""

import json
import shlex
import subprocess

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from browser import PHONE
from dashboard import Dashboard, board, own  # noqa: F401
from server import ROOT

# Each field beside the schedule, as it is typed or chosen, and as the timer then has it.
FIELDS = {
    "maxFires": ("7", 7), "retain": ("2h", "2h"), "leeway": ("3s", "3s"), "jitter": ("4s", "4s"), "misfireGrace": ("5m", "5m"),
    "misfire": ("all", "all"), "onResume": ("skip", "skip"), "clock": ("continuous", "continuous"), "start": ("manual", "manual"),
    "labels": ("team=it's $(id) `id`", {"team": "it's $(id) `id`"}), "payload": ('{"it\'s": "a \\"$HOME\\""}', {"it's": 'a "$HOME"'}),
}
HOOK = {
    "webhook": ("http://127.0.0.1:1/x", "url"), "method": ("PUT", "method"), "format": ("payload", "format"), "timeout": ("9s", "timeout"),
    "headers": ("X-Team: blue\nX-Secret: b", "headers"), "types": ("fired\ncompleted", "types"),
}
RETRY = {"maxAttempts": ("3", 3), "maxAge": ("1h", "1h"), "giveUpOn": ("4xx\n500", ["4xx", 500]), "initial": ("2s", "2s"),
         "multiplier": ("1.5", 1.5), "max": ("1m", "1m"), "spread": ("0.5", 0.5)}


def choices(page, **chosen):
    """Makes choices in the builder."""
    page.run("""
        document.querySelector("#builder").open = true;
        for (const [name, value] of Object.entries(arguments[0])) {
            if (name === "days") {
                for (const box of document.querySelectorAll("#by-days input")) box.checked = value.includes(box.value);
            } else document.querySelector(`#by-${name}`).value = value;
        }
        document.querySelector("#by-unit").dispatchEvent(new Event("input", {bubbles: true}))""", chosen)


def in_form(page, name):
    return page.run("return form.elements[arguments[0]].value", name)


def until_preview(page, length=5):
    page.until(lambda: len(page.all("#create .preview:not([aria-busy=true]) li")) == length, told="no preview")
    return [item.text for item in page.all("#preview li")]


def test_every_field_of_the_api_is_in_the_form(page, board):
    """The fields of TimerCreate in openapi.yaml, and of its webhook."""
    import yaml
    schemas = yaml.safe_load((ROOT / "openapi.yaml").read_text())["components"]["schemas"]
    board.click("#new")
    page.until(lambda: page.all("#create [name=after]"))
    paths = set(page.run("return [...form.querySelectorAll('[aria-describedby][name]')].map(pathOf)"))
    assert set(schemas["TimerCreate"]["properties"]) == {path.split(".")[0] for path in paths}
    hook = set(schemas["Webhook"]["properties"])
    assert hook == {path.split(".")[1] for path in paths if path.startswith("webhook.")}
    assert len([path for path in paths if path.startswith("webhook.retry.")]) == 7


@pytest.mark.thorough
def test_the_fields_reach_the_server_by_the_form_and_by_the_shell(page, board, own):
    board.new_timer("every", id="full", every="1h")
    for name, (text, _) in {**FIELDS, **HOOK, **RETRY}.items():
        board.set_field(name, text)
    board.set_field("secretHeaders", "X-Secret")
    page.run("form.restartable.click(); for (const part of form.querySelectorAll('details')) part.open = true")
    assert page.barriers() == [] and page.overflow("#create") <= 0
    page.shot("dashboard-form")
    page.run("navigator.clipboard.writeText = text => { window.copied = text }")
    board.click("#curl-copy")
    command = shlex.split(page.run("return copied"))
    board.submit()
    board.until_row("full", state="idle")
    made = own.client.timer("full")
    assert {name: made[name] for name in FIELDS} == {name: value for name, (_, value) in FIELDS.items()}
    assert made["restartable"] is True
    assert {at: made["webhook"][at] for _, at in HOOK.values()} == {
        "url": "http://127.0.0.1:1/x", "method": "PUT", "format": "payload", "timeout": "9s",
        "headers": {"X-Team": "blue", "X-Secret": "***"}, "types": ["fired", "completed"]}
    retry = {name.replace("spread", "jitter"): value for name, (_, value) in RETRY.items()}
    assert made["webhook"]["retry"] == retry
    own.client.delete("/v1/timers/full").expect(204)
    again = json.loads(subprocess.run([*command, "-sS"], check=True, capture_output=True, timeout=60).stdout)
    changing = ("version", "createdAt", "updatedAt")
    assert {**again, **{name: made[name] for name in changing}} == made


@pytest.mark.thorough
@pytest.mark.parametrize("chosen, rule", [
    ({"unit": "month", "which": "-1", "days": ["FR"], "time": "17:00"}, "FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=17;BYMINUTE=0;BYSECOND=0"),
    ({"unit": "week", "interval": "2", "days": ["MO", "TH"], "time": "09:30:15", "end": "COUNT", "count": "8"},
     "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TH;BYHOUR=9;BYMINUTE=30;BYSECOND=15;COUNT=8"),
    ({"unit": "year", "which": "day", "month": "12", "day": "24", "time": "00:00", "end": "UNTIL", "until": "2040-12-31"},
     "FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=24;BYHOUR=0;BYMINUTE=0;BYSECOND=0;UNTIL=20401231"),
])
def test_a_rule_is_built(page, board, own, chosen, rule):
    board.new_timer("rrule", timeZone="America/New_York")
    choices(page, **chosen)
    assert in_form(page, "rrule") == rule
    hour = {"17:00": "17:00:00", "09:30:15": "09:30:15", "00:00": "00:00:00"}[chosen["time"]]
    days = {"FREQ=MONTHLY": {"Fri"}, "FREQ=WEEKLY;": {"Mon", "Thu"}}.get(rule[:12])

    def is_shown():
        """Whether the fires shown are those of the choices: they come a moment after a change."""
        zoned = page.run("return [...document.querySelectorAll('#preview li span')].map(part => part.textContent)")
        return len(zoned) == 5 and all(hour in fire for fire in zoned) and (not days or {fire[:3] for fire in zoned} == days)

    page.until(is_shown, told=page.one("#preview").text)
    plain = own.client.post("/v1/schedules/preview?describe=true", {"rrule": rule, "timeZone": "America/New_York"}).json["description"]
    # A rule without a start begins with the second of the request.
    assert page.one("#preview-plain").text.rpartition("; from ")[0] == plain.rpartition("; from ")[0] != ""
    assert all("here" in item.text for item in page.all("#preview li")), "the reader's zone is not shown"
    assert page.barriers() == []


@pytest.mark.thorough
@pytest.mark.parametrize("chosen, expression", [
    ({"unit": "minute", "step": "15"}, "*/15 * * * *"), ({"unit": "hour", "step": "6", "time": "00:20"}, "20 */6 * * *"),
    ({"unit": "hour", "step": "20", "time": "00:20"}, "20 * * * *"),
    ({"unit": "day", "time": "03:00"}, "0 3 * * *"), ({"unit": "week", "days": ["MO", "FR"], "time": "09:05:30"}, "30 5 9 * * MON,FRI"),
    ({"unit": "month", "which": "2", "days": ["TU"], "time": "08:00"}, "0 8 * * TUE#2"),
    ({"unit": "month", "which": "-1", "days": ["FR"], "time": "17:00"}, "0 17 * * FRIL"),
    ({"unit": "year", "which": "day", "day": "31", "month": "12", "time": "23:00"}, "0 23 31 12 *"),
])
def test_a_cron_expression_is_built(page, board, own, chosen, expression):
    board.new_timer("cron")
    choices(page, **chosen)
    assert in_form(page, "cron") == expression
    assert len(own.client.post("/v1/schedules/preview?count=5", {"cron": expression}).expect(200).json["fires"]) == 5


@pytest.mark.thorough
@pytest.mark.parametrize("script", ["", "delete JSON.rawJSON"], ids=["this browser", "an older one"])
def test_a_payload_keeps_its_numbers(page, board, own, script):
    page.run(script)
    board.new_timer("after", id="exact", after="1h", payload='{"n": 1.50, "id": 12345678901234567890}')
    board.submit()
    board.until_row("exact")
    assert b'"payload":{"n":1.50,"id":12345678901234567890}' in own.client.get("/v1/timers/exact").body


@pytest.mark.thorough
def test_parts_of_another_version_do_nothing_and_are_told(page, board):
    page.expect("Content Security Policy")
    page.run("""
        const {open} = api;
        api.open = (path, options) => {
            const parts = "<style>h1 { display: none }</style><section>Debris</section><script>document.title = 'taken'</script>";
            if (path !== "dashboard-parts") return open.call(api, path, options);
            window.cacheOfParts = options.cache;
            return new Response(parts);
        };
        window.mend = () => { api.open = open };""")
    board.click("#new")
    board.until_alert("The server has another version of this page")
    assert page.driver.title == "timerd" and page.one("h1").is_displayed()
    assert page.run("return document.querySelector('#parts')") is None and page.run("return cacheOfParts") == "no-cache"
    board.click(".top nav a", text="Calendars")
    page.until(lambda: len([text for text in board.alerts() if "another version" in text]) == 2, told=f"{board.alerts()}")
    assert page.one("#timers").is_displayed(), "the list is gone, and nothing is in its place"
    page.run("mend()")
    board.new_timer("after")
    until_preview(page, 1)


@pytest.mark.thorough
def test_the_form_fits_on_a_phone(page, own):
    page.size(*PHONE, phone=True)
    board = Dashboard(page, own.url).until_live()
    board.new_timer("rrule")
    choices(page, unit="month", which="-1")
    page.run("for (const part of form.querySelectorAll('details')) part.open = true")
    until_preview(page)
    assert page.barriers() == [] and page.overflow("#create") <= 0 and page.overflow() <= 0
    page.shot("dashboard-form-phone")


def preview_of(page):
    """What the form shows of the next fires: whether they are asked for, the words, and how many fires can be seen."""
    return tuple(page.run("""
        const box = document.querySelector("#create .preview");
        const isSeen = part => part.checkVisibility({visibilityProperty: true});
        const seen = css => [...box.querySelectorAll(css)].filter(isSeen);
        const words = seen("p > *").map(part => part.textContent).filter(Boolean);
        return [box.ariaBusy === "true", words.join(": "), seen("li").length]"""))


@pytest.mark.thorough
def test_a_preview_of_the_former_choices_is_not_shown(page, board, own):
    page.expect("status of 409")
    own.client.create(id="taken", after="1h")
    board.new_timer("every", every="1h")
    page.until(lambda: "every hour" in page.one("#preview-plain").text)
    until_preview(page)
    board.delay("v1/schedules/preview")
    board.set_field("id", "taken")
    board.until_delayed()
    assert page.one("#preview-plain").text.startswith("every hour"), "an id hides the fires, which do not depend on it"
    board.set_field("every", "2h")
    assert preview_of(page) == (True, "Asking for the next fires…", 0) and page.barriers() == []
    board.submit()
    page.until(lambda: board.text("#create-form-id-error"))
    assert preview_of(page) == (False, "The next fires will be shown here.", 0), "a preview is awaited"
    board.set_field("every", "3h")
    board.release()
    page.until(lambda: preview_of(page) == (False, "Next fires: every 3 hours", 5), told=f"{preview_of(page)}")


@pytest.mark.thorough
def test_the_preview_of_another_timer_is_not_shown_in_the_form(page, board):
    board.new_timer("every", every="1h")
    until_preview(page)
    board.keys(Keys.ESCAPE)
    board.delay("v1/schedules/preview")
    board.new_timer("cron")
    board.until_delayed()
    assert preview_of(page) == (True, "Asking for the next fires…", 0)
    board.release()
    shown = (False, "Next fires: every weekday at 09:00, UTC", 5)
    page.until(lambda: preview_of(page) == shown, told=f"{preview_of(page)}")


@pytest.mark.thorough
def test_the_button_keeps_its_place_while_the_preview_is_asked_for(page, board):
    """A click that is under way when the dialog gets shorter would fall beside it."""
    page.expect(r"/v1/schedules/preview\S* .*status of 400")
    board.new_timer("every", every="never")
    page.until(lambda: board.text("#create-form-every-error"))
    place = "const {top, left} = document.querySelector('#create-submit').getBoundingClientRect(); return [top, left]"
    shown = page.run(place)
    board.delay("v1/schedules/preview")
    board.set_field("every", "nevermore")
    board.until_delayed()
    assert page.run(place) == shown and board.text("#create-form-every-error")
    board.release()


@pytest.mark.thorough
def test_a_click_beside_the_form_keeps_it_open(page, board, own):
    own.client.create(id="seen", after="1h")
    board.until_row("seen")

    def click_beside():
        mouse = ActionChains(page.driver, duration=0)
        mouse.w3c_actions.pointer_action.move_to_location(3, 3)
        mouse.click()
        mouse.perform()
        assert page.run("return clicked") in ("create", "details"), "the click is not on what surrounds a dialog"

    page.run("addEventListener('click', event => { window.clicked = event.target.id }, true)")
    board.new_timer("every", every="90m")
    click_beside()
    assert page.run("return document.querySelector('#create').open") and in_form(page, "every") == "90m"
    board.keys(Keys.ESCAPE)
    board.click('#rows [data-timer="seen"] b')
    page.until(lambda: page.run("return document.querySelector('#details').open"))
    click_beside()
    page.until(lambda: not page.all("dialog[open]"), told="a click beside the sheet does not close it")
