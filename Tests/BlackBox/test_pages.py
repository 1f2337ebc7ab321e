"""Each page in the browser: it loads, and what it is there for works. What else a page does has a file of its own."""

from dashboard import Dashboard
from test_reference import shown


def test_the_dashboard_is_live_and_a_command_works(page, new_server):
    server = new_server()
    server.client.create(id="seen", every="1h")
    board = Dashboard(page, server.url).until_live()
    board.until_row("seen", state="running")
    board.click_command("seen", "suspend")
    board.until_row("seen", state="suspended")
    assert server.client.timer("seen")["state"] == "suspended" and board.alerts() == []


def test_the_reference_opens_at_a_section_and_finds_an_operation(page, server):
    page.open(f"{server.url}/docs#problem-timer-exists")
    page.until(lambda: page.is_in_sight("#problem-timer-exists h3"))
    page.one("#search").send_keys("kicktimer")
    page.until(lambda: "kickTimer" in shown(page) and len(shown(page)) < 60)


def test_the_page_of_a_problem_leads_to_the_reference(page, server):
    page.open(f"{server.url}/problems/not-found")
    page.one("a").click()
    page.until(lambda: page.run("return location.href") == f"{server.url}/docs#problem-not-found")
