"""A PostgreSQL that has lost its newest rows, as after a fail-over to a standby that was behind: it is told, and nothing
changes before an operator accepts it.
"""

import re
import subprocess

import pytest

from postgres import ROLE, programs
from server import run
from timers import poll, types
from webhooks import hooked

pytestmark = pytest.mark.xdist_group("postgres")
# Until a server has read a log anew, on a busy machine.
BACK = 30.0
LOST = "the database has lost rows that it had promised to keep"


class Scene:
    """A server with `tea`, and with a beat that has a webhook."""

    def __init__(self, postgres, uri, server, receiver):
        self.postgres, self.uri, self.server, self.receiver = postgres, uri, server, receiver
        self.schema = uri.rsplit("%3D", 1)[1]
        self.api = server.client
        self.api.create(id="tea")
        hooked(self.api, receiver.url("/beat"), "beat", timer={"every": "200ms"})
        receiver.wait_for(2, "/beat", BACK)
        # What is lost: a change of `tea`, and a timer.
        self.api.command("tea", "suspend").expect(200)
        self.kept = self.api.history()
        self.changed = self.api.command("tea", "resume").expect(200).json
        self.lost = self.api.create()["id"]
        self.seen = self.api.history()

    def lose(self):
        """Deletes what was written since `kept`, while no statement of the server is under way."""
        first = int(self.seen[len(self.kept)]["id"])
        deleted = self.postgres.execute(
            "LOCK TABLE timerd_log IN EXCLUSIVE MODE;"
            f"DELETE FROM timerd_log WHERE last >= {first} RETURNING last", self.schema)
        assert deleted
        return max(map(int, deleted))

    def fail_over(self):
        """As `lose`, while an append is under way and the server's connections end."""
        psql = [programs() / "psql", "-Xq", "-h", self.postgres.folder, "-U", "postgres"]
        with subprocess.Popen(psql, stdin=subprocess.PIPE, text=True, stderr=subprocess.DEVNULL) as locking:
            locking.stdin.write(f"BEGIN; LOCK TABLE {self.schema}.timerd_log IN EXCLUSIVE MODE;\n")
            locking.stdin.flush()
            waiting = "SELECT 1 FROM pg_locks WHERE NOT granted AND locktype = 'relation' AND mode = 'RowExclusiveLock'"
            poll(lambda: self.postgres.execute(waiting), BACK)
            self.postgres.execute(f"ALTER ROLE {ROLE} CONNECTION LIMIT 0")
            self.postgres.restart("immediate")
        return self.lose_alone()

    def die_together(self):
        """As `lose`, while no server is connected, and the owner of the log has died."""
        self.postgres.execute(f"ALTER ROLE {ROLE} CONNECTION LIMIT 0")
        self.postgres.restart("immediate")
        self.server.kill9()
        return self.lose_alone()

    def lose_alone(self):
        """As `lose`; then servers may connect again."""
        try:
            return self.lose()
        finally:
            self.postgres.execute(f"ALTER ROLE {ROLE} CONNECTION LIMIT -1")

    def stand_by(self, server):
        """Waits until a standby has read all, and knows that it was shown."""
        newest = int(self.seen[-1]["id"])

        def has_read():
            nodes = server.client.get("/v1/cluster").expect(200).json["nodes"]
            return len(nodes) == 2 and all(int(node["followed"] or 0) >= newest for node in nodes)
        poll(has_read, BACK)

    def metric(self, name):
        return float(re.search(rf"^{name} (\S+)$", self.api.get("/metrics").body.decode(), re.M)[1])

    def check(self):
        """Every timer changes again, and nothing was given twice: no id, and no version of a timer."""
        poll(lambda: self.api.get("/readyz").status == 200, BACK)
        self.api.command("tea", "cancel").expect(200)
        self.api.create(id=self.lost)
        rest = self.api.history(f"&since={self.kept[-1]['id']}")
        old = {event["id"]: event for event in self.seen}
        for event in rest:
            if event["id"] in old:
                assert event == old[event["id"]]
        new = [event for event in rest if event["id"] not in old]
        assert {"tea", self.lost} <= {event["timer"] for event in new}
        # What became of a webhook is told with the version that its fire had.
        given = {(event["timer"], event["version"]) for event in self.seen}
        twice = [event for event in new if (event["timer"], event["version"]) in given and "delivery" not in event]
        assert not twice, twice
        assert max(int(event["id"]) for event in self.seen) < min(int(e["id"]) for e in new if e["timer"] in ("tea", self.lost))
        done = run("log", "verify", "--store", self.uri)
        assert done.returncode == 0, done


@pytest.fixture
def scene(postgres, database, new_node, receiver):
    """A function of flags that makes the scene on a server with them."""
    return lambda *flags: Scene(postgres, database, new_node(*flags), receiver)


@pytest.mark.thorough
@pytest.mark.parametrize("how", ["lose", pytest.param("fail_over", marks=pytest.mark.heavy)])
def test_a_log_that_has_lost_rows_is_held_until_an_operator_accepts_it(scene, receiver, new_server, how):
    here = scene()
    api, server = here.api, here.server
    assert here.metric("timerd_rows_lost_total") == 0
    last = getattr(here, how)()
    # The next append notices it, be it that of a beat.
    poll(lambda: here.metric("timerd_rows_lost_total") == 1, BACK)
    # It is logged once the database was asked for the last acceptance.
    poll(lambda: LOST in server.log_text(), BACK)
    assert api.get("/readyz").expect(503).json == {"status": "storage-unavailable"} and api.get("/healthz").status == 200
    lines = [line for line in server.log_text().splitlines() if LOST in line]
    assert len(lines) == 1, lines
    after, through = (int(re.search(rf"{word}=(\d+)", lines[0])[1]) for word in ("after", "through"))
    assert through >= last > after and " error" in lines[0], lines

    # Reads show what is left, changes are refused, and nothing fires or is delivered.
    assert api.timer("tea")["state"] == "suspended" and api.timer("tea")["version"] == 2
    api.get(f"/v1/timers/{here.lost}").problem(404)
    assert types(api.history_of("tea")) == ["created", "activated", "suspended"]
    for reply in (api.command("tea", "resume"), api.delete("/v1/timers/tea"), api.put(f"/v1/timers/{here.lost}", {"after": "1h"})):
        assert reply.problem(503, "storage-unavailable")["outcome"] == "none"
    before, fires = len(receiver.on("/beat")), api.timer("beat")["fireCount"]
    # So long as another server's timer of the same period fires five times.
    other = new_server()
    hooked(other.client, receiver.url("/other"), "other", timer={"every": "200ms"})
    receiver.wait_for(5, "/other", BACK)
    assert len(receiver.on("/beat")) == before and api.timer("beat")["fireCount"] == fires
    with api.stream(f"/v1/events?since={here.kept[0]['id']}") as stream:
        accepted = run("cluster", "accept-loss", "--store", here.uri)
        assert accepted.returncode == 0 and "accepted" in accepted.stdout, accepted
        receiver.wait_for(before + 1, "/beat", BACK)
        here.check()
        stream.until_timer(here.lost)
    assert here.metric("timerd_rows_lost_total") == 1


@pytest.mark.thorough
@pytest.mark.parametrize("how", ["die_together", pytest.param("promote", marks=pytest.mark.heavy)])
def test_a_standby_that_has_read_what_is_lost_holds_the_log_it_takes_over(scene, new_node, receiver, how):
    here = scene()
    standby = new_node()
    here.stand_by(standby)
    last = (here.lose if how == "promote" else here.die_together)()
    if how == "promote":
        # The owner notices the loss with its next append, and the standby with the row that follows.
        poll(lambda: LOST in here.server.log_text() and LOST in standby.log_text(), BACK)
        here.api.post("/v1/cluster/promote").expect(200)
    here.api = standby.client
    held = f"{LOST}; nothing changes before"
    poll(lambda: held in standby.log_text(), BACK)
    line = next(line for line in standby.log_text().splitlines() if held in line)
    assert last >= int(re.search(r"through=(\d+)", line)[1]) >= int(here.seen[-1]["id"]), line
    assert here.api.get("/readyz").expect(503).json == {"status": "storage-unavailable"}
    assert here.metric("timerd_rows_lost_total") == 1
    assert here.api.timer("tea")["state"] == "suspended"
    here.api.get(f"/v1/timers/{here.lost}").problem(404)
    assert here.api.command("tea", "resume").problem(503, "storage-unavailable")["outcome"] == "none"
    before = len(receiver.on("/beat"))
    accepted = run("cluster", "accept-loss", "--store", here.uri)
    assert accepted.returncode == 0, accepted
    receiver.wait_for(before + 1, "/beat", BACK)
    here.check()


@pytest.mark.thorough
def test_a_loss_that_was_accepted_is_not_asked_about_again_after_a_take_over(scene, new_node, receiver):
    here = scene()
    standby = new_node()
    here.stand_by(standby)
    here.lose()
    poll(lambda: LOST in here.server.log_text() and LOST in standby.log_text(), BACK)
    assert run("cluster", "accept-loss", "--store", here.uri).returncode == 0
    poll(lambda: here.api.get("/readyz").status == 200, BACK)
    here.api.post("/v1/cluster/promote").expect(200)
    here.api = standby.client
    here.check()


def test_a_server_with_accept_loss_goes_on_by_itself(scene, receiver):
    here = scene("--accept-loss")
    here.lose()
    poll(lambda: LOST in here.server.log_text(), BACK)
    receiver.wait_for(len(receiver.on("/beat")) + 1, "/beat", BACK)
    here.check()
    assert here.metric("timerd_rows_lost_total") == 1
    assert f"{LOST}; --accept-loss accepts that" in here.server.log_text()


@pytest.mark.thorough
@pytest.mark.parametrize("end", ["kill9", pytest.param("stop", marks=pytest.mark.heavy)])
def test_a_restart_with_accept_loss_brings_the_log_back(scene, receiver, end):
    here = scene()
    lost = here.lose()
    poll(lambda: here.api.get("/readyz").status == 503, BACK)
    poll(lambda: LOST in here.server.log_text(), BACK)
    # Which versions were given is written behind what was lost.
    poll(lambda: here.postgres.execute(f"SELECT 1 FROM timerd_log WHERE last > {lost}", here.schema), BACK)
    getattr(here.server, end)()
    here.server.flags.append("--accept-loss")
    here.api = here.server.start().client
    poll(lambda: here.api.get("/readyz").status == 200, BACK)
    receiver.wait_for(len(receiver.on("/beat")) + 1, "/beat", BACK)
    here.check()
