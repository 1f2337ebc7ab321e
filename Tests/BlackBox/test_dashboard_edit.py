"""The dashboard's form as it changes a timer: the patch that it makes, what it refuses, and answers that come late."""

import pytest
from selenium.webdriver.common.keys import Keys

from dashboard import Dashboard, board, own, refusing_receiver  # noqa: F401
from webhooks import SECRET, hooked


def editing(page, own, id):
    """The dashboard with the form open for that timer."""
    board = Dashboard(page, own.url, f"/#timer={id}").until_live()
    board.click("#details-edit")
    until_title(page, f"Edit {id}")
    return board


def until_title(page, title):
    page.until(lambda: page.run("return document.querySelector('#create[open] #create-title')?.textContent") == title,
               told=f"the form is not open: {title}")


def edit_instead(board, id):
    """Closes the form once the answer to what was sent is there, and opens it for another timer."""
    board.until_delayed()
    board.page.run("document.querySelector('#create').close(); details.open(arguments[0])", id)
    board.click("#details-edit")
    until_title(board.page, f"Edit {id}")


def save(board):
    board.submit()
    board.page.until(lambda: not board.page.run("return document.querySelector('#create').open"), told=board.text("#create-error"))


@pytest.mark.thorough
def test_members_are_added_to_objects_and_their_order_changes_nothing(page, own, receiver):
    hooked(own.client, receiver.url(), "job", timer={"labels": {"team": "blue"}, "payload": {"n": 1, "part": {"a": 1, "b": [2]}}})
    board = editing(page, own, "job")
    board.set_field("payload", '{"part": {"b": [2], "a": 1}, "n": 1}')
    assert board.text("#changes-title") == "Nothing is changed yet"
    board.set_field("method", "PUT")
    board.set_field("secret", SECRET)
    board.set_field("labels", "room=7\nteam=blue")
    board.set_field("payload", '{"__proto__": {"x": 1}, "part": {"c": {}, "b": [2], "a": 1}, "n": 1}')
    page.until(lambda: board.text("#changes-title") == "5 changes", told=board.text("#changes"))
    save(board)
    after = own.client.timer("job")
    assert after["webhook"]["method"] == "PUT" and after["webhook"]["secret"].endswith(SECRET[-4:])
    assert after["labels"] == {"team": "blue", "room": "7"}
    assert after["payload"] == {"n": 1, "part": {"a": 1, "b": [2], "c": {}}, "__proto__": {"x": 1}}
    taken = page.run("return JSON.stringify(patchOf(JSON.parse(arguments[0]), {}))", '{"__proto__": {"x": 1}, "toString": 1}')
    assert taken == '{"__proto__":null,"toString":null}'


@pytest.mark.thorough
def test_a_null_that_no_patch_can_set_is_refused_in_the_form(page, own):
    own.client.create(id="job", every="1h", payload={"n": 1})
    board = editing(page, own, "job")
    board.set_field("every", "2h")
    page.until(lambda: board.text("#changes-title") == "1 change")
    board.set_field("payload", '{"n": null}')
    page.until(lambda: "can't make a member of an object null" in board.text("#create-form-payload-error"), told="no problem is shown")
    assert board.text("#curl") == "" and page.run("return document.querySelector('#changes').hidden")
    assert not page.one("#create-submit").is_enabled()
    board.set_field("payload", '{"n": 2}')
    page.until(lambda: board.text("#changes-title") == "2 changes" and board.text("#create-form-payload-error") == "")


@pytest.mark.thorough
def test_answers_that_come_late_leave_the_form_of_another_timer_alone(page, own):
    for id, every in (("one", "1h"), ("two", "2h")):
        own.client.create(id=id, every=every)
    board = Dashboard(page, own.url, "/#timer=one").until_live()
    page.until(lambda: page.run("return parts.isLoaded"))
    board.delay("GET v1/timers/one")
    board.click("#details-edit")
    board.until_delayed()
    page.run("details.open('two')")
    board.click("#details-edit")
    until_title(page, "Edit two")
    board.release()
    assert page.run("return form.every.value") == "2h" and board.text("#create-title") == "Edit two"
    # The answer to a change, once the form is open for another timer.
    board.delay("PATCH")
    board.set_field("every", "3h")
    board.submit()
    edit_instead(board, "one")
    board.release()
    page.until(lambda: "two is changed." in board.text("#notices"))
    until_title(page, "Edit one")
    assert not page.one("#create-submit").is_enabled(), "the change of another timer can be saved here"
    assert own.client.timer("two")["every"] == "3h" and own.client.timer("one")["every"] == "1h"


@pytest.mark.thorough
def test_a_refusal_that_comes_late_is_not_told_in_the_form_of_another_timer(page, own):
    page.expect(r"status of 400")
    for id in ("one", "two"):
        own.client.create(id=id, every="1h")
    board = editing(page, own, "two")
    board.delay("PATCH")
    board.set_field("every", "0s")
    board.submit()
    edit_instead(board, "one")
    board.release()
    board.until_alert("two: The least here is 1ms.")
    assert page.all("#create [aria-invalid]") == [] and board.text("#create-error") == ""
    assert not page.one("#create-submit").is_enabled(), "the change of another timer can be saved here"


@pytest.mark.thorough
def test_a_refusal_that_comes_once_its_dialog_is_closed_names_its_timer(page, board, own):
    page.expect(r"status of 400")
    own.client.create(id="job", every="1h")
    board.until_row("job", state="running")
    board.delay("POST v1/timers")
    for id, named in (("late", "late: "), ("", "The new timer: ")):
        board.new_timer("every", id=id, every="0s")
        board.submit()
        board.until_delayed()
        page.run("document.querySelector('#create').close()")
        board.release()
        board.until_alert(f"{named}The least here is 1ms.")
        board.delay("POST v1/timers")
    board.click_command("job", "reschedule")
    board.type_into("#ask [name=after]", "soon")
    board.keys(Keys.ENTER)
    board.until_delayed()
    board.keys(Keys.ESCAPE)
    page.until(lambda: not page.all("dialog[open]"))
    board.release()
    board.until_alert("When is job due next? Not a duration")


@pytest.mark.thorough
def test_no_form_opens_once_its_timer_is_no_longer_shown(page, own):
    for id in ("one", "two"):
        own.client.create(id=id, every="1h")
    board = Dashboard(page, own.url).until_live()
    is_open = "return api.json('v1/timers/two').then(() => document.querySelector('#create').open)"
    board.delay("dashboard-parts")
    page.run("details.open('one')")
    board.click("#details-edit")
    page.run("details.open('two')")
    board.release()
    page.until(lambda: page.run("return parts.isLoaded"))
    assert not page.run(is_open), "a click for one timer opens the form for another"
    board.delay("GET v1/timers/two")
    board.click("#details-edit")
    board.close_before_release()
    assert not page.run(is_open), "the form opens after its timer was closed"


@pytest.mark.thorough
def test_instants_and_numbers_that_a_field_can_not_show_stay(page, own):
    own.client.create(id="job", every="1h", until="2040-01-02T03:04:05.678Z")
    own.client.patch("/v1/timers/job", body=b'{"maxFires": 9007199254740993}').expect(200)
    board = editing(page, own, "job")
    assert board.text("#changes-title") == "Nothing is changed yet"
    assert page.run("return form.maxFires.value") == "9007199254740993"
    assert '"maxFires": 9007199254740993' in board.text("#details pre"), "the JSON to copy has another number"
    assert "9007199254740993" in board.text("#facts")
    kind = page.run("return refresh('job').then(() => typeof store.timers.get('job').maxFires)")
    assert kind == "number", "the list can't reckon with it"
    board.set_field("labels", "team=blue")
    save(board)
    after = own.client.timer("job")
    assert (after["until"], after["maxFires"]) == ("2040-01-02T03:04:05.678Z", 9007199254740993)
    board.click("#details-duplicate")
    until_title(page, "New timer like job")
    assert page.run("return editor.request().body.until") == "2040-01-02T03:04:05.678Z", "the other one lacks the fraction"
    shown = page.run("const {value} = form.until; for (const id of ['create', 'details']) $(id).close(); return value")
    board.new_timer("every", every="1h")
    board.set_field("until", shown)
    assert page.run("return editor.request().body.until") == "2040-01-02T03:04:05.000Z", "it has the fraction of another instant"


@pytest.mark.thorough
def test_a_date_that_is_half_typed_is_refused(page, own):
    own.client.create(id="job", every="1h", until="2040-01-02T03:04:05Z")
    board = editing(page, own, "job")
    page.run("form.until.closest('details').open = true")
    page.one("#create [name=until]").send_keys(Keys.BACKSPACE)
    page.until(lambda: "not a whole date" in board.text("#create-form-until-error"), told="the date is taken away without a word")
    assert not page.one("#create-submit").is_enabled()


@pytest.mark.thorough
def test_numbers_that_an_older_browser_would_change_are_recognized(page, own):
    own.client.create(id="job", every="1h")
    editing(page, own, "job")
    texts = ['{"n": 1, "text": "12345678901234567890"}', "[0.5, -3]", "12345678901234567890", "1.50", "1e400"]
    page.run("delete JSON.rawJSON")
    assert page.run("return arguments[0].map(isSafe)", texts) == [True, True, False, False, False]
    assert page.run("return arguments[0].map(decimal)", ["7", "1.5", "9007199254740993"]) == [7, 1.5, "9007199254740993"]


@pytest.mark.thorough
def test_a_payload_that_an_older_browser_would_change_is_left_alone(page, own):
    page.before_scripts("delete JSON.rawJSON")
    own.client.create(id="job", every="1h")
    own.client.patch("/v1/timers/job", body=b'{"payload": {"n": 1.50}}').expect(200)
    board = editing(page, own, "job")
    board.set_field("payload", '{"n": 12345678901234567890}')
    page.until(lambda: "can't send its numbers as they are" in board.text("#create-form-payload-error"), told="nothing is said of it")
    assert not page.one("#create-submit").is_enabled()
    page.run("form.payload.value = JSON.stringify(editor.task.before.payload)")
    board.set_field("labels", "team=blue")
    save(board)
    assert b'"payload":{"n":1.50}' in own.client.get("/v1/timers/job").body


@pytest.mark.thorough
def test_a_late_answer_to_a_change_does_not_make_the_timer_old(page, own):
    own.client.create(id="job", every="1h")
    board = editing(page, own, "job")
    page.run("""
        const {put} = store;
        window.versions = [];
        store.put = json => {
            versions.push(json.version);
            return put.call(store, json);
        }""")
    board.delay("PATCH")
    board.set_field("every", "2h")
    board.submit()
    board.until_delayed()
    newest = own.client.patch("/v1/timers/job", {"every": "3h"}).expect(200).json["version"]
    page.until(lambda: page.run("return versions.at(-1)") == newest, told="the page does not read it again")
    board.release()
    page.until(lambda: not page.run("return document.querySelector('#create').open"))
    versions = page.run("return versions")
    assert versions == sorted(versions)
