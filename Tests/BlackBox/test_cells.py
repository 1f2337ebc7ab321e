"""Two cells behind one nginx, by the recipes of docs/STORES.md: clients of one do not notice the other's trouble."""

import contextlib
import select
from collections import Counter

import pytest

from cells import ADDRESSES, SITE, CellClient, Cells, Steady, paste, recipe, roles
from free_ports import free_port
from moving import all_timers, without
from played import Handler, PlayedServer
from postgres import Postgres
from server import Server
from test_cluster_standby import TAKE_OVER, metric
from test_forwarding import TOKEN
from timers import poll

pytestmark = [
    pytest.mark.xdist_group("postgres"), pytest.mark.not_by_tls("the recipes are for servers without TLS"),
    pytest.mark.not_forwarded("each cell has a server that forwards already")]


class Cell:
    """Two servers on one store that forward to each other; the first one owns the timers."""

    def __init__(self, stack, store, token):
        flags = ("--store", store, "--migrate", "--allow-host", SITE, "--allow-host", f".{SITE}", "--heartbeat", "1s",
                 "--cluster-listen", "127.0.0.1:0", "--cluster-token-file", token)
        self.servers = self.owner, self.other = [stack.enter_context(Server(*flags)) for _ in range(2)]
        for server in self.servers:
            poll(lambda: server.client.get("/readyz").status == 200)
            poll(lambda: len(server.client.get("/v1/cluster").json["nodes"]) == 2)

    @property
    def ports(self):
        return [server.port for server in self.servers]


@pytest.fixture
def schemas(tmp_path):
    """Cells A and B with a schema each in one PostgreSQL, made as the document says."""
    with contextlib.ExitStack() as stack:
        postgres = stack.enter_context(Postgres())
        postgres.execute(roles())
        token = tmp_path / "cluster-token"
        token.write_text(TOKEN + "\n")
        uri = f"postgres:///postgres?host={postgres.folder}&user="
        yield [Cell(stack, f"{uri}cell_{name}", token) for name in ADDRESSES]


@pytest.fixture
def databases(tmp_path):
    """Cells A and B with a PostgreSQL each, `postgres` of the cell."""
    with contextlib.ExitStack() as stack:
        token = tmp_path / "cluster-token"
        token.write_text(TOKEN + "\n")
        cells = []
        for _ in ADDRESSES:
            postgres = stack.enter_context(Postgres())
            cells.append(Cell(stack, postgres.schema("timers"), token))
            cells[-1].postgres = postgres
        yield cells


def ports(a, b):
    return {"a": a.ports, "b": b.ports}


def in_time(request):
    """The answer of a cell whose servers look for their owner: 503 until then, and never the proxy's own error."""
    def answered():
        reply = request()
        assert reply.status < 500 or reply.status == 503, reply
        return reply if reply.status != 503 else None
    return poll(answered, TAKE_OVER)


def made(api, id):
    """Makes a timer, under a key as the answer may be that its outcome is unknown."""
    key = {"Idempotency-Key": id}
    return in_time(lambda: api.post("/v1/timers", {"id": id, "after": "1h"}, headers=key)).expect(201)


def answered(waits):
    """The waits that have got an answer."""
    readable, _, _ = select.select([wait.sock for wait in waits], [], [], 0)
    return [wait for wait in waits if wait.sock in readable]


def survives(stream, id):
    """Whether a stream goes on up to an event of this timer."""
    with contextlib.suppress(ConnectionError):
        return bool(stream.until_timer(id))
    return False


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["name", pytest.param("path", marks=pytest.mark.heavy)])
def test_an_owner_that_dies_is_noticed_in_its_own_cell_alone(schemas, kind):
    a, b = schemas
    with Cells(kind, ports(a, b)) as proxy, Steady(proxy.client("b")) as steady:
        api = proxy.client("a")
        api.put("/v1/timers/awaited", {"after": "1h"}).expect(201)
        streams = [api.stream("/v1/events").expect(200) for _ in a.servers]
        waits = [api.stream("/v1/timers/awaited/wait?timeout=10m", wait_for_head=False) for _ in a.servers]
        poll(lambda: metric(a.owner.client, "timerd_streams") == 4)
        a.owner.kill9()
        for n in range(6):
            made(api, f"made-{n}")
            in_time(lambda: api.get(f"/v1/timers/made-{n}")).expect(200)
        steady.goes_on()
        assert metric(a.other.client, "timerd_takeovers_total") == 1
        # Each stream was at another server. The proxy has asked again for the wait that the dead one held.
        assert sorted(survives(stream, "made-5") for stream in streams) == [False, True]
        # A server that is asked again answers 503 if the take-over takes longer than it waits for one.
        poll(lambda: metric(a.other.client, "timerd_streams") == 3 - len(answered(waits)))
        early = answered(waits)
        api.post("/v1/timers/awaited/fire").expect(200)
        assert [wait.read_head() for wait in waits] == [503 if wait in early else 200 for wait in waits]
        steady.check()
        assert not set(all_timers(proxy.client("b"))) & set(all_timers(api)) - {"awaited"}
        for stream in (*streams, *waits):
            stream.close()


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["path", pytest.param("name", marks=pytest.mark.heavy)])
def test_a_database_that_is_gone_is_noticed_in_its_own_cell_alone(databases, kind):
    a, b = databases
    with Cells(kind, ports(a, b)) as proxy, Steady(proxy.client("b")) as steady:
        api = proxy.client("a")
        api.put("/v1/timers/kept", {"after": "1h"}).expect(201)
        with api.stream("/v1/events?since=0").expect(200) as stream:
            a.postgres.stop("immediate")
            poll(lambda: api.get("/v1/timers/kept").status == 503)
            steady.goes_on()
            api.post("/v1/timers", {"id": "refused", "after": "1h"}).expect(503)
            a.postgres.start()
            made(api, "after")
            assert {event["timer"] for event in stream.until_timer("after")} <= {"kept", "refused", "after"}
        steady.check()


@pytest.mark.thorough
def test_the_timers_of_a_cell_move_to_another(schemas, tmp_path):
    a, b = schemas
    with Cells("name", ports(a, b)) as proxy, Steady(proxy.client("b")) as steady:
        api = proxy.client("a")
        for n in range(20):
            api.create(id=f"moved-{n}", after="1h", payload={"n": n})
        api.command("moved-0", "suspend").expect(200)
        api.command("moved-1", "fire").expect(200)
        stood = all_timers(api)
        said = paste(recipe("sh", "timerd export --drain"), ports(a, b), tmp_path)
        assert said == "20 timers and 0 deliveries imported\n"
        for server in a.servers:
            server.client.post("/v1/timers", {"after": "1h"}).problem(503, "drained")
        # The name of A leads to B, by the line that the document names.
        proxy.change(("a.timers.example  cell_a;", "a.timers.example  cell_b;"))
        # While nginx reads it again, a request may still come to A, which is drained.
        in_time(lambda: api.command("moved-0", "resume")).expect(200)
        steady.check()
        moved = {id: timer for id, timer in all_timers(b.other.client).items() if id.startswith("moved-")}
        changed = ("remaining", "version")
        assert moved.pop("moved-0")["state"] == "running" and stood.pop("moved-0")["state"] == "suspended"
        before, after = ({id: without(timer, *changed) for id, timer in timers.items()} for timers in (stood, moved))
        assert after == before


class Silent(Handler):
    """Reads a request, and closes its connection without an answer."""

    def handle_one_request(self):
        self.raw_requestline = self.rfile.readline()
        self.close_connection = True
        if self.raw_requestline and self.parse_request():
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.server.asked[self.command, self.path] += 1


@pytest.mark.parametrize("kind", ["name", "path"])
def test_a_change_that_a_server_has_seen_is_sent_to_no_other(kind):
    asked = Counter()
    with PlayedServer(Silent) as first, PlayedServer(Silent) as second:
        played = [first.http.server_port, second.http.server_port]
        first.http.asked = second.http.asked = asked
        # A server that has failed is tried again at once.
        changes = [(f"127.0.0.1:{port} max_fails=1", f"127.0.0.1:{port} max_fails=0") for port in played]
        with Cells(kind, {"a": played, "b": [free_port(), free_port()]}, *changes) as proxy:
            api = proxy.client("a")
            asked.clear()
            for method in ("POST", "PUT", "PATCH", "DELETE"):
                body = {} if method == "DELETE" else {"json": {"after": "1h"}}
                api.request(method, "/v1/timers/tea", **body).expect(502)
                api.request(method, "/v1/timers/tea/keyed", headers={"Idempotency-Key": "k"}).expect(502)
            assert set(asked.values()) == {1} and len(asked) == 8, asked
            api.get("/v1/timers/tea").expect(502)
            assert asked["GET", "/v1/timers/tea"] == 2


@pytest.mark.parametrize("kind", ["name", "path"])
def test_a_server_that_cannot_be_reached_is_passed_over(new_server, kind):
    server = new_server("--allow-host", SITE, "--allow-host", f".{SITE}")
    with Cells(kind, {"a": [free_port(), server.port], "b": [free_port(), free_port()]}) as proxy:
        api = proxy.client("a")
        for n in range(4):
            fields = {"id": f"tea-{n}", "after": "1h", "payload": "x" * 60_000, "labels": {"of": "tea & cup/%"}}
            reply = api.post("/v1/timers", fields).expect(201)
            assert reply.headers["Location"] == f"{api.prefix}/v1/timers/tea-{n}"
        # Escapes in a target arrive as they were sent.
        assert len(api.get("/v1/timers?limit=3&label=of%3Dtea%20%26%20cup%2F%25").expect(200).json["timers"]) == 3
        assert api.get("/v1/timers/tea%2D1?none=1").expect(400).json["instance"] == "/v1/timers/tea%2D1"
        proxy.client("b").get("/v1/timers").expect(502)


def test_who_names_no_cell_reaches_none(new_server):
    server = new_server("--allow-host", "*")
    for kind, status in (("name", 421), ("path", 404)):
        with Cells(kind, {"a": [server.port, free_port()], "b": [server.port, free_port()]}) as proxy:
            stranger = proxy.client("c")
            stranger.get("/v1/timers").expect(status)
            stranger.post("/v1/timers", {"after": "1h"}).expect(status)
            stranger.delete("/v1/timers/tea").expect(status)


def test_the_path_of_a_cell_gets_its_slash(new_server):
    server = new_server("--allow-host", SITE)
    with Cells("path", {"a": [server.port, free_port()], "b": [server.port, free_port()]}) as proxy:
        api = CellClient(proxy.port, SITE, "")
        assert api.get("/a?order=id").expect(308).headers["Location"] == "/a/?order=id"
        assert api.get("/a/").expect(200).headers["Content-Type"].startswith("text/html")
