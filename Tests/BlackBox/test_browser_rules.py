"""What a browser's requests get: a page of another site may do nothing, and nothing comes under another Host."""

from client import Client
from server import Server, run


def test_another_sites_page_may_change_nothing(api, name):
    headers = {"Origin": "http://evil.example"}
    api.put(f"/v1/timers/{name}", {"after": "1h"}, headers=headers).problem(403, "cross-origin")
    api.get("/v1/events", headers={"Sec-Fetch-Site": "cross-site"}).problem(403, "cross-origin")
    api.get(f"/v1/timers/{name}").expect(404)
    assert not [header for header in api.get("/v1/stats", headers=headers).expect(200).headers if header.lower().startswith("access-control-")]


def test_the_own_origin_may(server):
    headers = {"Host": f"127.0.0.1:{server.port}", "Origin": server.url, "Sec-Fetch-Site": "same-origin"}
    server.client.post("/v1/timers", {"after": "1h"}, headers=headers).expect(201)


def test_a_refused_host_is_told_and_logged_how_to_be_allowed(new_server):
    server = new_server()
    for _ in range(3):
        problem = server.client.get("/v1/timers", headers={"Host": "Timers.example:8080"}).problem(421, "misdirected")
        assert "`--allow-host timers.example`" in problem["detail"]
    server.stop()
    lines = [line for line in server.asked.log_text().splitlines() if "timers.example" in line]
    assert len(lines) == 1 and "warning" in lines[0] and "--allow-host" in lines[0], lines


def test_allowed_hosts_and_listeners_on_every_address(tmp_path):
    (tmp_path / "tokens").write_text("the-token-of-these-rules\n")
    flags = ["--allow-host", "timers.example", "--allow-host", ".svc.cluster.local", "--token-file", tmp_path / "tokens"]
    with Server(*flags, listen=["127.0.0.1:0", "0.0.0.0:0"]) as server:
        loopback, everywhere = (Client(int(address.rsplit(":", 1)[1]), token="the-token-of-these-rules") for address in server.addresses)
        for host, status in (("timers.example", 200), ("a.svc.cluster.local:80", 200), ("other.example", 421)):
            loopback.get("/v1/stats", headers={"Host": host}).expect(status)
            everywhere.get("/v1/stats", headers={"Host": host}).expect(200)


def test_what_is_no_host_is_refused(tmp_path):
    done = run("serve", "--listen", "127.0.0.1:0", "--data", tmp_path / "data", "--allow-host", "timers.example:8080")
    assert done.returncode == 64 and "--allow-host" in done.stderr and done.stdout == ""
