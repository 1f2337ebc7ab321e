"""What operators look at: which timers are due when, the last hour, tests of webhooks, the deliveries of one host."""

import base64
import hashlib
import hmac
from concurrent.futures import ThreadPoolExecutor

import pytest

import contract
import receiver as told
from keys import forbidden, protected
from receiver import Answer, Gate, Receiver
from test_forwarding import forwarder  # noqa: F401, a fixture
from timers import instant, poll
from webhooks import KEY, LATER, SECRET, deliveries, event, fire, fired, hooked

HOUR = 3_600_000


def due(api, query=""):
    found = api.get(f"/v1/stats/due{query}").expect(200).json
    contract.check("StatsDue", found)
    return found


def tried(api, id, **options):
    """Tests a timer's webhook."""
    found = api.post(f"/v1/timers/{id}/webhook/test", **options).expect(200).json
    contract.check("WebhookTest", found)
    return found


# Which timers are due when.


def test_timers_are_counted_in_the_buckets_of_their_next_fires(new_server):
    api = new_server().client
    api.batch([{"after": "20m", "labels": {"n": str(n)}} for n in range(700)] + [{"after": "50m"}] * 30 + [{"after": "3d"}] * 5 + [{"watchdog": "40m"}]
              + [{"after": "1m", "start": "manual"}] * 9).expect(200)
    found = due(api, "?buckets=2")
    assert (found["counts"], found["overdue"], found["later"]) == ([700, 31], 0, 5)
    assert instant(found["until"]) - instant(found["from"]) == HOUR
    assert due(api, "?within=7d&buckets=7")["counts"] == [731, 0, 5, 0, 0, 0, 0]
    assert len(due(api)["counts"]) == 60 and sum(due(api)["counts"]) == 731
    assert len(due(api, "?within=1d&buckets=1000")["counts"]) == 1000
    # A suspended timer has no next fire; the count before is shown until it is five seconds old.
    api.post("/v1/timers/bulk/suspend", {"labels": {"n": "1"}}).expect(200)
    poll(lambda: due(api, "?buckets=2")["counts"] == [699, 31])


def test_what_a_drain_holds_up_is_overdue(new_server):
    api = new_server().client
    # However long the drain takes to come, some are not due yet.
    api.batch([{"after": f"{second}s"} for second in range(1, 60)]).expect(200)
    api.post("/v1/drain").expect(200)
    poll(lambda: due(api, "?buckets=1")["overdue"] > 0)
    found = due(api, "?buckets=1")
    assert found["overdue"] + found["counts"][0] == api.get("/v1/stats").json["timers"]["running"]


def test_many_ask_at_once(new_server):
    api = new_server().client
    api.batch([{"after": "30m"}] * 9000, "?results=brief").expect(200)
    with ThreadPoolExecutor(32) as pool:
        for found in pool.map(lambda n: due(api, f"?buckets={n % 20 + 1}"), range(200)):
            assert sum(found["counts"]) == 9000


# The last hour.


@pytest.mark.thorough
def test_the_history_has_a_point_for_ten_seconds(new_server):
    api = new_server().client
    api.create(id="tick", every="1h")
    api.create(id="dog", watchdog="1ms")
    fire(api, "tick", 20)

    def points():
        history = api.get("/v1/stats/history").expect(200).json
        contract.check("StatsHistory", history)
        return history["points"]

    found = poll(lambda: sum(point["fires"] for point in points()) == 21 and points())
    assert all(point["durationMs"] >= 5000 for point in found) and sum(point["requests"] for point in found) >= 3
    assert all((point["latenessP99Us"] is None) == (point["fires"] == 0) and (point["commitP99Us"] is None) == (point["commits"] == 0) for point in found)
    assert any(point["fires"] and point["latenessP99Us"] >= point["latenessP50Us"] >= 0 for point in found)
    assert (found[-1]["running"], found[-1]["stalled"], found[-1]["streams"]) == (2, 1, 0)


def test_the_history_is_read_as_the_figures_are(api):
    history = api.get("/v1/stats/history?minutes=60").expect(200).json
    contract.check("StatsHistory", history)
    assert history["interval"] == "10s" and len(history["points"]) <= 360
    assert api.get("/v1/stats/history?minutes=61").problem(400)["parameter"] == "minutes"


# Tests of webhooks.


def test_a_test_is_one_signed_request_and_nothing_else(api, receiver, name):
    url = receiver.script(f"/{name}", Answer(200, {"Timer-Command": "cancel"}, b"not to be shown"))
    hooked(api, url, name, secret=SECRET, headers={"X-Team": "blue"}, timer={"payload": {"tea": 1}, "labels": {"of": name}})
    before, history = api.timer(name), api.history_of(name)
    found = tried(api, name)
    assert (found["status"], found["error"]) == (200, None) and found["durationMs"] >= 0
    [request] = receiver.wait_for(1, f"/{name}")
    assert request.method == "POST" and request.header("x-team") == "blue" and request.id.startswith("test-")
    assert request.json | {"at": 0, "id": 0} == {"id": 0, "type": "test", "timer": name, "at": 0, "version": before["version"], "labels": {"of": name}, "payload": {"tea": 1}}
    assert request.json["id"] == request.id
    signed = f"{request.id}.{request.header('webhook-timestamp')}.".encode() + request.body
    assert request.header("webhook-signature") == "v1," + base64.b64encode(hmac.digest(KEY, signed, hashlib.sha256)).decode()
    assert api.timer(name)["version"] == before["version"] and api.timer(name)["state"] == "running"
    assert api.history_of(name) == history and deliveries(api, f"timer={name}") == []
    assert tried(api, name, json={})["status"] == 200 and len(set(receiver.ids(f"/{name}"))) == 2


def test_a_test_has_the_webhooks_format_and_method(api, receiver, name):
    hooked(api, receiver.url(f"/{name}"), name, format="payload", method="PUT", timer={"payload": [1]})
    tried(api, name)
    [request] = receiver.wait_for(1, f"/{name}")
    assert (request.method, request.body, request.header("timerd-event"), request.header("timerd-timer")) == ("PUT", b"[1]", "test", name)
    api.patch(f"/v1/timers/{name}", {"webhook": {"format": "cloudevents", "method": "POST"}}).expect(200)
    tried(api, name)
    request = receiver.wait_for(2, f"/{name}")[1]
    assert request.json["type"] == "timerd.timer.test" and request.json["data"]["type"] == "test" and request.json["id"] == request.id


@pytest.mark.parametrize("answer, status, error", [
    (500, 500, "status"), (410, 410, "status"), (301, 301, "status"), (told.close, None, "interrupted"), (told.malformed, None, "malformed"),
    (told.hang, None, "timeout"), (told.endless_body, 200, None),
], ids=lambda value: getattr(value, "__name__", str(value)))
def test_how_a_test_ended_is_shown(api, receiver, name, answer, status, error):
    hooked(api, receiver.script(f"/{name}", answer), name, timeout="500ms" if answer == told.hang else "15s")
    found = tried(api, name)
    assert (found["status"], found["error"]) == (status, error)
    # A 410 stops no webhook, and nothing is tried again.
    assert "stopped" not in api.timer(name)["webhook"] and len(receiver.on(f"/{name}")) <= 2
    assert deliveries(api, f"timer={name}") == []


def test_a_test_goes_where_deliveries_may_go(api, name):
    hooked(api, "http://169.254.169.254/", f"{name}-1")
    hooked(api, "http://127.0.0.1:1/", f"{name}-2")
    assert [tried(api, f"{name}-{n}")["error"] for n in (1, 2)] == ["refused-address", "unreachable"]


def test_what_can_not_be_tested(api, name):
    api.post(f"/v1/timers/{name}/webhook/test").problem(404, "not-found")
    api.create(id=name, after="1h")
    assert "webhook" in api.post(f"/v1/timers/{name}/webhook/test").problem(409, "illegal-transition")["detail"]
    api.post(f"/v1/timers/{name}/webhook/test", {"url": "http://127.0.0.1:1/"}).problem(400, "unknown-field")
    for headers in ({"If-Match": "*"}, {"Idempotency-Key": "k"}):
        api.post(f"/v1/timers/{name}/webhook/test", headers=headers).problem(400, "invalid-request")
    api.get(f"/v1/timers/{name}/webhook/test").problem(405)
    api.post(f"/v1/timers/{name}/webhook").problem(404)


def test_a_drained_server_sends_no_test(new_server, receiver):
    api = new_server().client
    hooked(api, receiver.url(), "t")
    api.post("/v1/drain").expect(200)
    api.post("/v1/timers/t/webhook/test").problem(503, "drained")
    assert receiver.on() == []


def test_tests_keep_to_the_limits_of_hosts_and_in_all(new_server):
    gate = Gate(200)
    with Receiver(answer=gate) as busy, Receiver() as free:
        api = new_server("--webhook-per-host", "2").client
        hooked(api, busy.url("/busy"), "busy")
        hooked(api, free.url("/free"), "free")
        with ThreadPoolExecutor(4) as pool:
            held = [pool.submit(tried, api, "busy") for _ in range(2)]
            busy.wait_for(2)
            assert api.post("/v1/timers/busy/webhook/test").problem(503, "overloaded")["outcome"] == "none"
            assert tried(api, "free")["status"] == 200
            # The deliveries to that host wait for the tests, as for each other.
            fire(api, "busy")
            fire(api, "free")
            event(api, "free", "delivered")
            assert len(busy.on()) == 2
            gate.open()
            assert [one.result()["status"] for one in held] == [200, 200]
        event(api, "busy", "delivered")


def test_clients_that_leave_harm_nobody(new_server):
    gate = Gate(200)
    with Receiver(answer=gate) as receiver:
        server = new_server()
        api = server.client
        hooked(api, receiver.url(), "t")
        for count in (1, 2):
            with api.socket() as sock:
                sock.sendall(b"POST /v1/timers/t/webhook/test HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n")
                receiver.wait_for(count)
        gate.open()
        assert tried(api, "t")["status"] == 200
        poll(lambda: api.get("/v1/stats").json["streams"] == 0)
        assert server.process.poll() is None


def test_a_stop_ends_a_test_under_way(new_server):
    with Receiver(answer=told.hang) as receiver:
        server = new_server("--drain", "1s")
        hooked(server.client, receiver.url(), "t", timeout="10m")
        with server.client.socket() as sock:
            sock.sendall(b"POST /v1/timers/t/webhook/test HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n")
            receiver.wait_for(1)
            server.stop()
            answer = b""
            try:
                while piece := sock.recv(65536):
                    answer += piece
            except ConnectionResetError:
                pass
            # The attempt is cut at the end of the drain: its end is told, or the connection is closed without an answer.
            assert not answer or b"interrupted" in answer or b"shutting-down" in answer, answer


def test_keys_test_the_webhooks_that_they_may_write(new_server, receiver, tmp_path):
    keyring = protected(new_server, tmp_path)
    for id in ("in.t", "out.t"):
        hooked(keyring.admin, receiver.url(f"/{id}"), id)
    for scope in ("read", "kick"):
        forbidden(keyring.client(scope).post("/v1/timers/in.t/webhook/test"), scope="write")
    own = keyring.client("write", idPrefix="in.")
    assert tried(own, "in.t")["status"] == 200
    forbidden(own.post("/v1/timers/out.t/webhook/test"), idPrefix="in.")
    for path in ("/v1/stats/due", "/v1/stats/history", "/v1/deliveries?host=127.0.0.1"):
        forbidden(own.get(path), idPrefix="in.")
        keyring.client("read").get(path).expect(200)
    assert own.get("/v1/deliveries?timer=in.t&host=127.0.0.1").expect(200).json["deliveries"] == []
    assert receiver.ids("/out.t") == []


# The deliveries of one host.


def test_deliveries_are_listed_by_where_they_go(api, receiver, name):
    receiver.default = 500
    here, gone = f"{receiver.host}:{receiver.port}", "127.0.0.1:1"
    dead = {"maxAttempts": 1}
    hooked(api, receiver.url(), f"{name}-waiting", retry=LATER)
    hooked(api, receiver.url(), f"{name}-dead", retry=dead)
    hooked(api, receiver.url(), f"{name}-deleted", retry=dead)
    hooked(api, f"http://{gone}/", f"{name}-moved", retry=dead)
    ids = {}
    for what, last in (("waiting", "deliveryFailed"), ("dead", "deliveryDead"), ("deleted", "deliveryDead"), ("moved", "deliveryDead")):
        fire(api, f"{name}-{what}")
        event(api, f"{name}-{what}", last)
        [ids[what]] = fired(api, f"{name}-{what}")
    api.delete(f"/v1/timers/{name}-deleted").expect(204)
    api.create(id=f"{name}-deleted", every="1h", webhook=f"http://{gone}/")

    def listed(query):
        own = {id: what for what, id in ids.items()}
        return {own[delivery["id"]] for delivery in deliveries(api, query) if delivery["id"] in own}

    assert listed(f"host={here}") == {"waiting", "dead", "deleted"}
    assert listed(f"host={here}&state=dead") == {"dead", "deleted"}
    assert listed(f"host={gone}") == {"moved"}
    assert listed("host=127.0.0.1") == set(ids) and listed("host=localhost") == set()
    # The webhook as it is now counts, and of a deleted timer as it was.
    api.patch(f"/v1/timers/{name}-moved", {"webhook": {"url": receiver.url()}}).expect(200)
    assert listed(f"host={here}") == set(ids) and listed(f"host={gone}") == set()
    api.patch(f"/v1/timers/{name}-dead", {"webhook": None}).expect(200)
    assert listed("host=127.0.0.1") == {"waiting", "deleted", "moved"}


def test_pages_of_a_host_go_through_all(api, receiver, name):
    receiver.default = 500
    host = f"{receiver.host}:{receiver.port}"
    for n, url in enumerate((receiver.url(), "http://127.0.0.1:1/")):
        hooked(api, url, f"{name}-{n}", retry=LATER)
        fire(api, f"{name}-{n}", 150)
    assert [delivery["timer"] for delivery in deliveries(api, f"host={host}&limit=40")] == [f"{name}-0"] * 150


def test_a_host_that_is_none_is_refused(api):
    for host in ("a%2Fb", "http%3A%2F%2Fa", "a%20b", "a%3A0", ""):
        assert api.get(f"/v1/deliveries?host={host}").problem(400)["parameter"] == "host"


# Any server answers.


@pytest.mark.thorough
def test_a_server_that_does_not_own_the_log_passes_them_on(forwarder, receiver):  # noqa: F811
    owner, entry = forwarder().client, forwarder().client
    hooked(owner, receiver.script("/slow", told.drip(pause=0.05)), "t")
    found = tried(entry, "t")
    assert (found["status"], found["error"]) == (200, None) and len(receiver.on("/slow")) == 1
    assert due(entry, "?buckets=3")["counts"] == due(owner, "?buckets=3")["counts"]
    history = poll(lambda: entry.get("/v1/stats/history").expect(200).json["points"])
    assert history[0] in owner.get("/v1/stats/history").expect(200).json["points"]
