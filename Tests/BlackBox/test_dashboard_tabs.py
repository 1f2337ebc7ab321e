"""The dashboard in many tabs of one browser: they share a stream, and none says that it is live while it is not."""

import pytest

from dashboard import LOST, Dashboard
from timers import poll

MANY, SOME = 10, 3
NO_LOCKS = "delete Navigator.prototype.locks"
# In one tab alone: nothing comes from the others, as from a tab whose scripts stand still.
DEAF = "tabs.channel.onmessage = null"

pytestmark = pytest.mark.thorough


@pytest.fixture(params=["locks", pytest.param("no locks", marks=pytest.mark.heavy)])
def boards(page, new_server, request):
    """Windows that show the dashboard of one server, with the locks of a secure context and without."""
    page.expect(LOST)
    return Boards(page, new_server("--heartbeat", "1s"), NO_LOCKS if request.param == "no locks" else "").open(SOME)


class Boards:
    """Tabs, in the order in which they were opened, in windows of their own or in one."""

    def __init__(self, page, server, script="", type="window"):
        self.page, self.server, self.script, self.type, self.tabs = page, server, script, type, [page.first]
        page.before_scripts(script)
        self.board = Dashboard(page, server.url).until_live()

    def open(self, count):
        """Opens more of them until there are so many."""
        while len(self.tabs) < count:
            self.tabs.append(self.page.also("about:blank", self.type))
            self.page.before_scripts(self.script)
            Dashboard(self.page, self.server.url).until_live()
        return self

    def each(self):
        """The tabs in turn, each the current one."""
        for tab in self.tabs:
            self.page.go_to(tab)
            yield self.board

    def leader(self):
        """The one tab that holds the stream."""
        leaders = []
        for _ in self.each():
            leaders += [self.page.driver.current_window_handle] if self.page.run("return tabs.isLeading") else []
        leader, = leaders
        return leader

    def streams(self):
        """The streams that the server holds open."""
        text = self.server.client.get("/metrics").expect(200).body.decode()
        return next(int(line.split()[1]) for line in text.splitlines() if line.startswith("timerd_streams "))

    def until_streams(self, count):
        poll(lambda: self.streams() == count, timeout=40)


def test_ten_tabs_share_one_stream(boards):
    page, api = boards.page, boards.server.client
    boards.open(MANY)
    assert boards.streams() == 1
    api.create(id="seen", every="1h")
    for board in boards.each():
        board.until_row("seen", state="running")
        assert board.connection() == "live"
    board.click_command("seen", "suspend")  # a request has a connection
    expected = [("suspended", "seen"), ("activated", "seen"), ("created", "seen")]
    for board in boards.each():
        board.until_row("seen", state="suspended")
        page.until(lambda: board.feed() == expected, told=f"the feed is {board.feed()}")
    assert boards.streams() == 1


@pytest.mark.heavy
def test_of_ten_tabs_of_one_window_the_shown_one_alone_has_a_stream(page, new_server):
    page.expect(LOST)
    server = new_server()
    boards = Boards(page, server, type="tab").open(MANY)
    for number, board in enumerate(boards.each()):
        server.client.create(id=f"timer-{number}")
        board.until_live()
        board.until_row(f"timer-{number}", state="running")
        boards.until_streams(1)
    expected = [(event["type"], event["timer"]) for event in reversed(server.client.history())]
    for board in boards.each():
        page.until(lambda: board.feed() == expected, told=f"the feed is {board.feed()}")


@pytest.mark.heavy
def test_the_stream_goes_on_in_another_tab(boards):
    page, api = boards.page, boards.server.client
    leader = boards.leader()
    page.go_to(leader)
    page.driver.close()
    boards.tabs.remove(leader)
    api.create(id="after-close")
    for board in boards.each():
        board.until_row("after-close")
        board.until_live()
    page.go_to(boards.leader())
    page.hide()
    page.until(lambda: boards.board.connection() != "live", told="a hidden page says that it is live")
    boards.until_streams(1)
    api.create(id="after-hiding")
    expected = [(kind, id) for id in ("after-hiding", "after-close") for kind in ("activated", "created")]
    for board in boards.each():
        if not page.run("return document.hidden"):
            board.until_row("after-hiding")
            page.until(lambda: board.feed() == expected, told=f"the feed is {board.feed()}")
    boards.until_streams(1)


@pytest.mark.heavy
def test_hidden_tabs_hold_no_stream_and_catch_up(boards):
    page, api = boards.page, boards.server.client
    api.create(id="before", every="1h")
    for board in boards.each():
        board.until_row("before", state="running")
        page.hide()
        assert board.connection() != "live"
    boards.until_streams(0)
    api.command("before", "suspend").expect(200)
    api.create(id="meanwhile")
    expected = [(event["type"], event["timer"]) for event in reversed(api.history())]
    for board in boards.each():
        assert "meanwhile" not in board.rows()
        page.hide(False)
        board.until_live()
        board.until_row("before", state="suspended")
        board.until_row("meanwhile", state="running")
        page.until(lambda: board.feed() == expected, told=f"the feed is {board.feed()}")
    boards.until_streams(1)


@pytest.mark.heavy
def test_no_tab_is_live_while_the_server_is_away(boards):
    page, server = boards.page, boards.server
    server.kill9()
    for board in boards.each():
        board.until_connection("waiting", "connecting")
    server.restart(same_port=True)
    server.client.create(id="comes")
    for board in boards.each():
        board.until_row("comes")
        board.until_live()
    boards.until_streams(1)
    expected = [("activated", "comes"), ("created", "comes")]
    for board in boards.each():
        page.until(lambda: board.feed() == expected, told=f"the feed is {board.feed()}")


@pytest.mark.heavy
def test_a_tab_that_hears_nothing_is_not_live_and_helps_itself(boards):
    page, api = boards.page, boards.server.client
    leader = boards.leader()
    deaf = next(tab for tab in boards.tabs if tab != leader)
    page.go_to(deaf)
    page.run(DEAF)
    boards.board.until_connection("connecting")
    page.go_to(leader)
    page.hide()
    api.create(id="late")
    page.go_to(deaf)
    boards.board.until_row("late")
