"""Calendars over HTTP: what a request is answered, what a crash, a restart and a move keep, and who may do what."""

import json

from keys import forbidden, protected
from moving import drain, export, move, send
from server import run

BERLIN = {
    "timeZone": "Europe/Berlin",
    "week": {"sat": ["10:00-14:00"], "mon-fri": ["09:00-12:30", "13:30-18:00"]},
    "dates": {"2030-12-25/2030-12-26": [], "2030-12-24": ["09:00-13:00"]},
}
WEEKDAYS = {"timeZone": "UTC", "week": {"mon-fri": ["09:00-17:00"]}}
PATH = "/v1/calendars/berlin"


def put(api, body=None, name="berlin", status=201):
    return api.put(f"/v1/calendars/{name}", body or BERLIN).expect(status)


def test_a_life(server):
    api = server.client
    name = "a-life"
    path = f"/v1/calendars/{name}"
    made = put(api, name=name)
    assert made.headers["Location"] == path and made.etag == f'"v{made.json["version"]}"'
    assert json.dumps({field: made.json[field] for field in BERLIN}) == json.dumps(BERLIN)  # the order of keys too
    read = api.get(path).expect(200)
    assert (read.json, read.etag) == (made.json, made.etag)
    assert api.get(path, headers={"If-None-Match": made.etag}).expect(304).body == b""
    same = put(api, made.json, name, 200)
    assert (same.json, same.etag) == (made.json, made.etag)
    put(api, WEEKDAYS, name, 200)
    changed = api.get(path).expect(200)
    assert changed.json["version"] > made.json["version"] and changed.json["dates"] == {} and changed.etag != made.etag
    for headers in ({"If-Match": made.etag}, {"If-None-Match": "*"}, {"If-None-Match": changed.etag}):
        problem = api.put(path, BERLIN, headers=headers).problem(412, "version-mismatch")
        assert problem["current"] == changed.json["version"] and "timer" not in problem
    api.delete(path, headers={"If-Match": made.etag}).problem(412, "version-mismatch")
    api.delete(path, headers={"If-Match": changed.etag}).expect(204)
    for method, target in (("GET", path), ("GET", f"{path}/open"), ("GET", f"{path}?x=1"), ("DELETE", path)):
        api.request(method, target).problem(404, "not-found")
    api.put(path, BERLIN, headers={"If-Match": "*"}).problem(412, "version-mismatch")
    assert put(api, name=name).json["version"] > changed.json["version"]


def test_open_hours(server):
    api = server.client
    put(api, name="open-hours")
    path = "/v1/calendars/open-hours/open"
    # Over the end of summer time.
    reply = api.get(f"{path}?from=2030-10-26T00:00:00Z&until=2030-10-28T10:00:00%2B01:00").expect(200)
    assert reply.json == {"open": [{"from": "2030-10-26T08:00:00.000Z", "until": "2030-10-26T12:00:00.000Z"},
                                   {"from": "2030-10-28T08:00:00.000Z", "until": "2030-10-28T09:00:00.000Z"}], "next": None}
    assert 10 <= len(api.get(path).expect(200).json["open"]) <= 12
    first = api.get(f"{path}?from=2030-01-01T00:00:00Z&until=2040-01-01T00:00:00Z").expect(200).json
    rest = api.get(f"{path}?from={first['next']}&until=2040-01-01T00:00:00Z").expect(200).json
    assert len(first["open"]) == len(rest["open"]) == 1000 and rest["open"][0]["from"] == first["next"] > first["open"][-1]["until"]
    assert api.get(f"{path}?from=2030-01-01T00:00:00Z&until=2029-01-01T00:00:00Z").problem(400, "invalid-request")["parameter"] == "until"
    assert api.get(f"{path}?form=2030-01-01T00:00:00Z").problem(400, "unknown-field")["parameter"] == "form"


def test_refusals(server):
    api = server.client
    path = "/v1/calendars/refused"
    for change, slug, pointer in (
        ({"week": {"mon-fri": ["9-5"]}}, "invalid-request", "/week/mon-fri/0"),
        ({"dates": {"2030-02-30": []}}, "invalid-request", "/dates/2030-02-30"),
        ({"timeZone": "Europe/Berlim"}, "invalid-request", "/timeZone"),
        ({"holidays": []}, "unknown-field", "/holidays"),
    ):
        assert api.put(path, {**BERLIN, **change}).problem(400, slug)["pointer"] == pointer
    for name in ("a%20b", "x" * 64, "%2E%2E"):
        api.put(f"/v1/calendars/{name}", BERLIN).problem(400, "invalid-request")
        api.get(f"/v1/calendars/{name}").problem(404, "not-found")
    api.put(path, BERLIN, content_type="text/plain").problem(415, "unsupported-media-type")
    api.put(path, {**BERLIN, "dates": {"x" * 300_000: []}}).problem(413, "too-large")
    assert "PUT" in api.post(path, BERLIN).expect(405).headers["Allow"]
    api.get(path).problem(404, "not-found")


def test_a_crash_and_a_restart_keep_them(new_server):
    server = new_server()
    put(server.client)
    put(server.client, WEEKDAYS, "gone")
    server.client.delete("/v1/calendars/gone").expect(204)
    before = server.client.get(PATH).expect(200)
    server.kill9()
    server.restart()
    after = server.client.get(PATH).expect(200)
    assert (after.body, after.etag) == (before.body, before.etag)
    server.restart()
    assert [calendar["name"] for calendar in server.client.get("/v1/calendars").expect(200).json["calendars"]] == ["berlin"]
    assert put(server.client, WEEKDAYS, "gone").json["version"] > 1


def test_pages(new_server):
    api = new_server().client
    names = [f"c{number}" for number in range(7)]
    for name in reversed(names):
        put(api, WEEKDAYS, name)
    found, target = [], "/v1/calendars?limit=3"
    while target:
        reply = api.get(target).expect(200)
        found += [calendar["name"] for calendar in reply.json["calendars"]]
        target = reply.headers.get("Link", "<>")[1:].partition(">")[0]
        assert bool(target) == bool(reply.json["next"])
    assert found == names
    api.get("/v1/calendars?cursor=a%20b").problem(400, "invalid-request")


def test_a_move_takes_them_along(new_server):
    source, target = new_server().client, new_server().client
    put(source)
    put(source, WEEKDAYS, "here-too")
    put(target, {**WEEKDAYS, "timeZone": "Europe/Berlin"}, "here-too")
    drain(source)
    assert source.put(PATH, WEEKDAYS).problem(503, "drained")["outcome"] == "none"
    lines = export(source, "?secrets=true")
    assert [line["calendar"]["name"] for line in lines[1:3]] == ["berlin", "here-too"]
    conflict = send(target, lines).problem(409, "timer-exists")
    assert conflict["line"] == 3
    target.get(PATH).problem(404)
    assert move(source, target, "&onConflict=skip")["skipped"] == 1
    assert target.get(PATH).json == source.get(PATH).json
    assert target.get("/v1/calendars/here-too").json["timeZone"] == "Europe/Berlin"
    assert move(source, target, "&onConflict=replace")["skipped"] == 0
    assert target.get("/v1/calendars/here-too").json["version"] > 1
    assert target.get("/v1/calendars/here-too").json["timeZone"] == "UTC"


def test_who_may_do_what(new_server, tmp_path):
    keyring = protected(new_server, tmp_path)
    reader, writer, team = keyring.client("read"), keyring.client("write"), keyring.client("write", idPrefix="a.")
    put(writer)
    for target in (PATH, f"{PATH}/open", "/v1/calendars"):
        reader.get(target).expect(200)
        forbidden(team.get(target), idPrefix="a.")
        forbidden(keyring.client("kick").get(target), scope="read")
    for method, body in (("PUT", {"json": BERLIN}), ("DELETE", {})):
        forbidden(reader.request(method, PATH, **body), scope="write")
        forbidden(team.request(method, PATH, **body), idPrefix="a.")
    writer.delete(PATH).expect(204)
    keyring.server.stop()
    records = [json.loads(line) for line in run("log", "dump", "--data", keyring.server.data).stdout.splitlines()]
    calendars = [record for record in records if record["kind"] == "calendar"]
    assert [(record["calendar"], record["version"], record.get("deleted", False)) for record in calendars] == [("berlin", 1, False), ("berlin", 1, True)]
    assert {record["by"] for record in calendars} == {writer.token.split("_")[1]}
    assert calendars[0]["week"] == BERLIN["week"]


def test_commands(new_server, tmp_path):
    server = new_server()
    to = ("--server", server.url)
    (tmp_path / "berlin.json").write_text(json.dumps(BERLIN))
    assert run("calendars", "put", "berlin", tmp_path / "berlin.json", *to).stdout == "berlin: made, version 1\n"
    shown = run("calendars", "get", "berlin", "--json", *to).stdout
    assert run("calendars", "put", "berlin", "-", *to, stdin=shown).stdout == "berlin: set, version 1\n"
    opened = run("calendars", "open", "berlin", "--from", "2030-12-24T00:00:00Z", "--until", "2030-12-27T00:00:00Z", *to)
    assert opened.stdout == "2030-12-24T08:00:00Z  2030-12-24T12:00:00Z\n"
    assert run("calendars", "list", *to).stdout.splitlines()[1].split()[:4] == ["berlin", "Europe/Berlin", "2", "1"]
    (tmp_path / "wrong.json").write_text(json.dumps({**BERLIN, "timeZone": "CET/Berlin"}))
    wrong = run("calendars", "put", "berlin", tmp_path / "wrong.json", *to)
    assert wrong.returncode == 1 and "/timeZone" in wrong.stderr
    assert run("calendars", "delete", "berlin", *to).stdout == "berlin: deleted\n"
