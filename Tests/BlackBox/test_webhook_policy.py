"""Where webhooks may lead: judged on the address that is connected to, whatever its spelling."""

from receiver import Answer, Receiver
from webhooks import FAST, attempts, event, fire, fired, hooked

# One address for each class, and the spellings that a resolver reads: decimal, octal, hexadecimal, short, with a final dot.
ALWAYS = [
    "http://169.254.169.254/latest/meta-data/", "http://[fe80::1]/", "http://0.0.0.0/", "http://[::ffff:a9fe:a9fe]/",
    "http://[64:ff9b::169.254.169.254]/", "http://2852039166/", "http://025177524776/", "http://0xa9fea9fe/",
    "http://0251.0376.0251.0376/", "http://0xa9.0xfe.0xa9.0xfe/", "http://169.254.43518/", "http://169.16689662/", "http://0/", "http://0x0/",
    "http://169.254.169.254./",
]


def is_refused(api, url, id):
    """Whether a webhook is refused when it is made, or each delivery of it."""
    reply = api.post("/v1/timers", {"id": id, "every": "1h", "webhook": {"url": url, "retry": FAST}})
    if reply.status == 400:
        return reply.problem(400)["pointer"].startswith("/webhook")
    reply.expect(201)
    fire(api, id)
    found = attempts(api, id, 3)
    assert [event["type"] for event in found] == ["deliveryFailed", "deliveryFailed", "deliveryDead"]
    assert found[2]["reason"] == "attempts"
    # The resolver decides whether a name with a final dot is valid.
    errors = {"refused", "unresolved"} if "./" in url or ".:" in url else {"refused"}
    return {event["error"] for event in found} <= errors


def test_no_rule_opens_what_is_always_refused(new_server):
    api = new_server("--webhook-allow", "0.0.0.0/0", "--webhook-allow", "::/0").client
    for n, url in enumerate(ALWAYS):
        assert is_refused(api, url, f"t{n}"), url


def test_the_servers_own_listener_is_refused(server, name):
    for n, host in enumerate(["127.0.0.1", "localhost", "2130706433", "127.1", "[::ffff:127.0.0.1]"]):
        assert is_refused(server.client, f"http://{host}:{server.owner.port}/v1/timers", f"{name}-{n}"), host


def test_a_listener_on_all_addresses_is_its_own_on_each(new_server, tmp_path):
    path = tmp_path / "tokens"
    path.write_text("sixteen-byte-key\n")
    server = new_server("--token-file", path, listen=["0.0.0.0:0"], token="sixteen-byte-key")
    for n, host in enumerate(["127.0.0.1", "127.9.8.7", "localhost", "0.0.0.0", "[::ffff:127.0.0.1]"]):
        assert is_refused(server.client, f"http://{host}:{server.port}/", f"t{n}"), host


def test_a_name_is_judged_by_its_address(server, receiver, name):
    """`localhost` is judged by where it leads: refused to the server itself, allowed to a receiver."""
    api = server.client
    assert is_refused(api, f"http://localhost:{server.owner.port}/", f"{name}-own")
    fire(api, hooked(api, f"http://localhost:{receiver.port}/", name))
    assert receiver.wait_for(1)[0].id == fired(api, name)[0]


def test_loopback_is_open_until_a_rule_says_otherwise(api, receiver, name):
    for n, host in enumerate(["127.0.0.1", "2130706433", "0x7f.1"]):
        reply = api.post("/v1/timers", {"id": f"{name}-{n}", "every": "1h", "webhook": f"http://{host}:{receiver.port}/{n}"})
        if reply.status == 201:
            fire(api, f"{name}-{n}")
            receiver.wait_for(1, f"/{n}")
    assert receiver.on("/0")


def test_a_deny_rule_denies_a_network(new_server, receiver):
    api = new_server("--webhook-deny", "127.0.0.2/32").client
    with Receiver("127.0.0.2") as denied:
        assert is_refused(api, denied.url(), "denied")
        assert is_refused(api, f"http://[::ffff:127.0.0.2]:{denied.port}/", "mapped")
        fire(api, hooked(api, receiver.url(), "open"))
        receiver.wait_for(1)
        assert denied.on() == []


def test_a_deny_rule_denies_the_end_of_names(new_server, receiver):
    api = new_server("--webhook-deny", "localhost").client
    for n, host in enumerate(["localhost", "LOCALHOST", "below.localhost", "localhost."]):
        assert is_refused(api, f"http://{host}:{receiver.port}/", f"t{n}"), host
    fire(api, hooked(api, receiver.url(), "by-address"))
    assert len(receiver.wait_for(1)) == 1


def test_with_allow_rules_only_what_they_match_passes(new_server, receiver):
    api = new_server("--webhook-allow", "127.0.0.2/31", "--webhook-allow", "localhost").client
    with Receiver("127.0.0.2") as allowed:
        assert is_refused(api, receiver.url(), "closed")
        fire(api, hooked(api, allowed.url(), "open"))
        allowed.wait_for(1)
    fire(api, hooked(api, f"http://localhost:{receiver.port}/", "by-name"))
    assert [request.json["timer"] for request in receiver.wait_for(1)] == ["by-name"]


def test_deny_wins_over_allow(new_server, receiver):
    api = new_server("--webhook-allow", "127.0.0.0/8", "--webhook-deny", "127.0.0.2/32").client
    with Receiver("127.0.0.2") as denied:
        assert is_refused(api, denied.url(), "denied")
        fire(api, hooked(api, receiver.url(), "open"))
        receiver.wait_for(1)
        assert denied.on() == []


def test_what_is_denied_later_is_not_delivered_by_a_server_started_so(new_server):
    server = new_server()
    with Receiver("127.0.0.2", answer=500) as receiver:
        hooked(server.client, receiver.url(), "t", retry={"initial": "200ms", "max": "1s", "maxAttempts": 100})
        fire(server.client, "t")
        event(server.client, "t", "deliveryFailed")
        server.kill9()
        receiver.settle()
        before = len(receiver.on())
        server.flags += ["--webhook-deny", "127.0.0.2"]
        api = server.start().client
        with api.stream("/v1/timers/t/events?since=0&types=deliveryFailed").expect(200) as stream:
            while "error" not in (found := stream.next()):
                pass
        assert found["error"] == "refused" and len(receiver.on()) == before


def test_a_redirect_opens_nothing(api, name):
    with Receiver(answer=Answer(307, {"Location": "http://169.254.169.254/"})) as receiver:
        fire(api, hooked(api, receiver.url(), name))
        assert [event["status"] for event in attempts(api, name, 3)] == [307] * 3


def test_a_proxy_is_the_way_of_every_delivery(new_server, receiver):
    """The proxy gets the whole URL as the request's target, and judges where it leads."""
    api = new_server("--webhook-proxy", receiver.origin, env={"no_proxy": "*", "http_proxy": "http://127.0.0.1:1"}).client
    fire(api, hooked(api, "http://hooks.example/path", "t"))
    assert receiver.wait_for(1)[0].path == "http://hooks.example/path"


def test_the_environments_proxy_has_no_say(new_server, receiver):
    proxies = {name: "http://127.0.0.1:1" for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY")}
    api = new_server(env=proxies).client
    fire(api, hooked(api, receiver.url("/direct"), "t"))
    assert receiver.wait_for(1)[0].path == "/direct"
