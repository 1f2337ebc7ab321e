"""Access keys: how they are made, shown, changed and ended, and the credentials that are none."""

import hashlib
import secrets

import pytest

from keys import ABSENT, MEMBERS, SECRET, TOKEN, forbidden, protected, unauthorized
from moving import export, send, without
from server import Server, run
from test_http import head, status
from timers import instant, now, poll, shown

# One server for all of them.
pytestmark = pytest.mark.xdist_group("keys")

LATER = "2999-01-01T00:00:00.000Z"


@pytest.fixture(scope="module")
def keyring(tmp_path_factory):
    """The keys of a server that the tests of this file share."""
    keyring = protected(Server, tmp_path_factory.mktemp("keys"))
    with keyring.server as server:
        yield keyring
        assert server.process.poll() is None, server.log_text()[-4000:]


# Making, showing and changing keys.


def test_a_key_is_made_and_shown(keyring):
    before = now()
    reply = keyring.admin.post("/v1/keys", {"name": "ü" * 64, "scopes": ["kick", "read"], "idPrefix": "a.", "expiresAt": "2999-01-01T01:00:00+01:00"}).expect(201)
    key = reply.json
    target = f"/v1/keys/{key['id']}"
    assert key.keys() == MEMBERS | {"secret"} and reply.headers["Location"] == target
    assert (key["name"], key["scopes"], key["idPrefix"], key["expiresAt"], key["lastUsedAt"]) == ("ü" * 64, ["read", "kick"], "a.", LATER, None)
    assert before <= instant(key["createdAt"]) <= now()
    assert SECRET.fullmatch(key["secret"])[1] == key["id"]
    read = keyring.admin.get(target).expect(200)
    assert read.json == keyring.shown()[key["id"]] == without(key, "secret")
    changed = keyring.admin.patch(target, {"name": "b", "expiresAt": None}, content_type="application/merge-patch+json").expect(200)
    assert changed.json == {**read.json, "name": "b", "expiresAt": None}
    assert keyring.admin.patch(target, {}).expect(200).json == changed.json == keyring.admin.get(target).json
    rotated = keyring.admin.post(f"{target}/rotate").expect(200)
    assert without(rotated.json, "secret") == changed.json and SECRET.fullmatch(rotated.json["secret"])[1] == key["id"]
    removed = keyring.admin.delete(target).expect(204)
    for answer in (reply, read, changed, rotated, removed, keyring.admin.get("/v1/keys"), keyring.admin.get("/v1/keys/self")):
        assert answer.headers["Cache-Control"] == "no-store", answer


def test_a_key_that_there_is_not_is_404(keyring):
    gone = keyring.make("read")
    keyring.revoke(gone)
    for target in (f"/v1/keys/{gone['id']}", f"/v1/keys/{ABSENT}"):
        for method, path, options in (("GET", target, {}), ("PATCH", target, {"json": {}}), ("DELETE", target, {}), ("POST", f"{target}/rotate", {})):
            keyring.admin.request(method, path, **options).problem(404, "not-found")


def test_the_list_has_pages_oldest_first(keyring):
    made = [keyring.make("read", name=f"number {n}") for n in range(7)]
    times = [key["createdAt"] for key in keyring.shown().values()]
    assert times == sorted(times)
    every, seen, cursor = list(keyring.shown()), [], ""
    while cursor is not None:
        reply = keyring.admin.get("/v1/keys?limit=3" + (f"&cursor={cursor}" if cursor else "")).expect(200)
        page, link = reply.json, reply.headers.get("Link")
        assert link == (f'</v1/keys?limit=3&cursor={page["next"]}>; rel="next"' if page["next"] else None)
        assert len(page["keys"]) <= 3 and not [key for key in page["keys"] if key.keys() != MEMBERS]
        seen += [key["id"] for key in page["keys"]]
        cursor = page["next"]
        if len(seen) == 3:
            # A key that goes, or comes, while a client turns the pages moves no other one.
            keyring.revoke(made.pop())
            late = keyring.make("read")["id"]
    left = [id for id in every if id in keyring.shown()]
    assert [id for id in seen if id in left] == left and seen[-1] == late and len(set(seen)) == len(seen)


@pytest.mark.parametrize("query, slug, parameter", [("limit=0", "invalid-request", "limit"), ("limit=1001", "invalid-request", "limit"),
                                                    ("cursor=x", "invalid-request", "cursor"), ("colour=red", "unknown-field", "colour")])
def test_a_bad_parameter_is_400(keyring, query, slug, parameter):
    assert keyring.admin.get(f"/v1/keys?{query}").problem(400, slug)["parameter"] == parameter


def test_a_client_asks_who_it_is(keyring, api):
    for scope, prefix in (("read", None), ("kick", "a."), ("write", None), ("admin", None)):
        key = keyring.make(scope, idPrefix=prefix)
        own = keyring.holding(key).get("/v1/keys/self").expect(200).json
        assert {**own, "lastUsedAt": None} == without(key, "secret")
    token = {"id": "token", "name": "token", "scopes": ["admin"], "idPrefix": None, "createdAt": None, "expiresAt": None, "lastUsedAt": None}
    assert keyring.admin.get("/v1/keys/self").expect(200).json == token
    assert api.get("/v1/keys/self").expect(200).json == {**token, "id": None, "name": None}


def test_without_a_token_file_there_are_no_keys(keyring, api):
    problem = forbidden(api.post("/v1/keys", {"name": "a", "scopes": ["read"]}), scope="admin")
    assert "--token-file" in problem["detail"]
    keyring.make("read")
    lines = export(keyring.admin, "?secrets=true")
    brought = [lines[0], next(line for line in lines if "key" in line)]
    forbidden(send(api, brought, query="&copy=true"), scope="admin")
    assert api.get("/v1/keys").expect(200).json == {"keys": [], "next": None}


@pytest.mark.parametrize("line", ["tmk_a-token-that-looks-like-a-key", f"tmk_{ABSENT}_{'a' * 48}"])
def test_a_token_does_not_look_like_a_key(tmp_path, line):
    (tmp_path / "tokens").write_text(f"{TOKEN}\n{line}\n")
    done = run("serve", "--listen", "127.0.0.1:0", "--data", tmp_path / "data", "--token-file", tmp_path / "tokens")
    assert done.returncode == 78 and "tokens, line 2: " in done.stderr and line not in done.stderr and done.stdout == ""


def test_no_secret_is_exported_but_its_hash_is_for_who_asks(keyring):
    key = keyring.make("read")
    hashed = hashlib.sha256(key["secret"].encode()).hexdigest()
    texts = [keyring.admin.get(f"/v1/export{query}").expect(200).body.decode() for query in ("", "?secrets=true")]
    assert [hashed in text for text in texts] == [False, True] and not [text for text in texts if key["secret"][17:] in text]


def read(**more):
    return {"name": "a", "scopes": ["read"], **more}


# Bodies of a create that are refused, each with the place that the problem points at.
BAD = [
    ([], ""), ("x", ""), (None, ""), ({}, "/name"), ({"scopes": ["read"]}, "/name"), (read(name=None), "/name"), (read(name=""), "/name"),
    (read(name="x" * 129), "/name"), (read(name="é" * 65), "/name"), (read(name=5), "/name"),
    ({"name": "a"}, "/scopes"), (read(scopes=None), "/scopes"), (read(scopes=[]), "/scopes"), (read(scopes="read"), "/scopes"),
    (read(scopes={"read": True}), "/scopes"), (read(scopes=["reed"]), "/scopes/0"), (read(scopes=["read", "READ"]), "/scopes/1"),
    (read(scopes=["read", 5]), "/scopes/1"), (read(scopes=["read", ["kick"]]), "/scopes/1"), (read(scopes=["kick", "kick"]), "/scopes/1"),
    (read(idPrefix=""), "/idPrefix"), (read(idPrefix=7), "/idPrefix"), (read(idPrefix="a b"), "/idPrefix"), (read(idPrefix="a/"), "/idPrefix"),
    (read(idPrefix="ä"), "/idPrefix"), (read(idPrefix="x" * 129), "/idPrefix"), (read(idPrefix=["a"]), "/idPrefix"),
    (read(scopes=["read", "admin"], idPrefix="a."), "/idPrefix"),
    (read(expiresAt="tomorrow"), "/expiresAt"), (read(expiresAt="2999-01-01T00:00:00"), "/expiresAt"), (read(expiresAt="2999-01-01T00:00:60Z"), "/expiresAt"),
    (read(expiresAt=5), "/expiresAt"), (read(expiresAt="1h"), "/expiresAt"), (read(expiresAt="2020-01-01T00:00:00Z"), "/expiresAt"),
    (read(colour="red"), "/colour"), (read(id=ABSENT), "/id"), (read(secret="mine"), "/secret"),
]
UNKNOWN = ("/colour", "/id", "/secret")


@pytest.mark.parametrize("body, pointer", BAD, ids=lambda value: str(value)[:60])
def test_a_bad_body_is_400_and_names_the_place(keyring, body, pointer):
    before = keyring.shown()
    problem = keyring.admin.post("/v1/keys", body).problem(400, "unknown-field" if pointer in UNKNOWN else "invalid-request")
    assert problem["pointer"] == pointer and keyring.shown() == before, problem


@pytest.mark.parametrize("body, pointer", [
    ([], ""), ({"name": ""}, "/name"), ({"name": "x" * 129}, "/name"), ({"name": 5}, "/name"), ({"expiresAt": "tomorrow"}, "/expiresAt"),
    ({"expiresAt": 5}, "/expiresAt"), ({"scopes": ["read"]}, "/scopes"), ({"scopes": ["admin"]}, "/scopes"), ({"idPrefix": "a"}, "/idPrefix"),
    ({"name": "b", "scopes": ["write"]}, "/scopes"), ({"colour": "red"}, "/colour"), ({"id": ABSENT}, "/id"), ({"secret": "mine"}, "/secret"),
], ids=str)
def test_a_bad_patch_is_400_and_changes_nothing(keyring, body, pointer):
    """Rights never change, neither to more nor to less."""
    key = keyring.make("read")
    problem = keyring.admin.patch(f"/v1/keys/{key['id']}", body).problem(400, "unknown-field" if pointer in UNKNOWN else "invalid-request")
    assert problem["pointer"] == pointer and keyring.shown()[key["id"]] == without(key, "secret")


@pytest.mark.parametrize("body, pointer", [([], ""), ({"overlap": 5}, "/overlap"), ({"overlap": "1 h"}, "/overlap"), ({"overlap": "-1h"}, "/overlap"),
                                           ({"overlap": "1y"}, "/overlap"), ({"over": "1h"}, "/over")], ids=str)
def test_a_bad_rotation_is_400_and_rotates_nothing(keyring, body, pointer):
    key = keyring.make("read")
    assert keyring.admin.post(f"/v1/keys/{key['id']}/rotate", body).problem(400)["pointer"] == pointer
    assert keyring.is_taken(key)


def test_what_requests_about_keys_do_not_take(keyring):
    key = keyring.make("read")
    target, before = f"/v1/keys/{key['id']}", keyring.shown()
    for path, body in (("/v1/keys", read()), (f"{target}/rotate", {})):
        keyring.admin.post(path, body, headers={"Idempotency-Key": "once"}).problem(400, "invalid-request")
        keyring.admin.post(path, body, content_type="text/plain").problem(415, "unsupported-media-type")
    keyring.admin.patch(target, {"name": "b"}, content_type="text/plain").problem(415)
    refused = keyring.admin.put(target, read())
    refused.problem(405)
    assert set(refused.headers["Allow"].split(", ")) == {"GET", "HEAD", "PATCH", "DELETE", "OPTIONS"}
    assert keyring.shown() == before and keyring.is_taken(key)


def test_a_flood_of_one_key_makes_the_server_forget_nobody_elses_answers(new_server, tmp_path):
    keyring = protected(new_server, tmp_path, "--max-idempotency-keys", "10")
    writer, kicker = keyring.make("write"), keyring.make("kick")
    made = {"headers": {"Idempotency-Key": "made"}}
    owed = [(keyring.admin.token, {"id": "dog", "watchdog": "1h"}), (writer["secret"], {"id": "cat", "after": "1h"})]
    for secret, timer in owed:
        keyring.holding(secret).post("/v1/timers", timer, **made).expect(201)
    for number in range(30):
        keyring.holding(kicker).command("dog", "kick", headers={"Idempotency-Key": f"kick-{number}"}).expect(204)

    def check():
        for secret, timer in owed:
            again = keyring.holding(secret).post("/v1/timers", timer, **made).expect(201)
            assert again.headers["Idempotency-Replayed"] == "true", again
        again = keyring.holding(kicker).command("dog", "kick", headers={"Idempotency-Key": "kick-29"}).expect(204)
        assert again.headers["Idempotency-Replayed"] == "true", again
        assert keyring.admin.get("/v1/stats").expect(200).json["idempotencyKeys"] == 10
    check()
    keyring.server.kill9()
    keyring.server.start()
    check()
    again = keyring.holding(kicker).command("dog", "kick", headers={"Idempotency-Key": "kick-0"}).expect(204)
    assert "Idempotency-Replayed" not in again.headers


# Rotation, expiry, revocation.


def test_only_the_two_newest_secrets_are_ever_good(keyring):
    first = keyring.make("read")
    second = keyring.rotate(first, overlap="24h")
    assert keyring.is_taken(first) and keyring.is_taken(second)
    third = keyring.rotate(second, overlap="24h")
    assert [keyring.is_taken(key) for key in (first, second, third)] == [False, True, True]
    last = keyring.rotate(third, overlap=None)
    assert [keyring.is_taken(key) for key in (first, second, third, last)] == [False, False, False, True]


def test_an_overlap_ends(keyring):
    key = keyring.make("read")
    begun = now()
    new = keyring.rotate(key, overlap="1s")
    poll(lambda: not keyring.is_taken(key))
    assert now() >= begun + 1000 and keyring.is_taken(new)


def test_a_revoked_key_is_401_at_once(keyring):
    for _ in range(5):
        key = keyring.make("admin")
        # By its own order, too.
        keyring.holding(key).delete(f"/v1/keys/{key['id']}").expect(204)
        assert not keyring.is_taken(key)


def test_an_expired_key_is_401_and_not_revived(keyring):
    key = keyring.make("read", expiresAt=shown(now() + 1000))
    target = f"/v1/keys/{key['id']}"
    poll(lambda: not keyring.is_taken(key))
    assert now() >= instant(key["expiresAt"])
    for end in (None, LATER):
        keyring.admin.patch(target, {"expiresAt": end}).problem(400, "invalid-request")
    keyring.admin.post(f"{target}/rotate", {"overlap": "1h"}).problem(400, "invalid-request")
    assert keyring.admin.patch(target, {"name": "over"}).expect(200).json["name"] == "over"
    assert keyring.shown()[key["id"]] == {**without(key, "secret"), "name": "over"}
    assert not keyring.is_taken(key)
    keyring.revoke(key)


def test_last_used_is_told_to_the_minute(keyring):
    key, idle = keyring.make("read"), keyring.make("read")
    before = now()
    keyring.holding(key).get("/v1/timers?limit=1").expect(200)

    def used(key):
        return keyring.admin.get(f"/v1/keys/{key['id']}").expect(200).json["lastUsedAt"]
    used_at = poll(lambda: used(key))
    assert used_at.endswith(":00.000Z") and before - 60_000 < instant(used_at) <= now() and used(idle) is None


# Escalation.


def test_a_key_that_ends_makes_and_changes_none_that_ends_later(keyring):
    end = shown(now() + 3_600_000)
    own, spared = keyring.make("admin", expiresAt=end), keyring.make("write")
    client, target = keyring.holding(own), f"/v1/keys/{own['id']}"
    before = keyring.shown()
    for later in (None, LATER, shown(instant(end) + 1)):
        forbidden(client.post("/v1/keys", read(expiresAt=later)), scope="admin")
        forbidden(client.patch(target, {"expiresAt": later}), scope="admin")
    forbidden(client.post("/v1/keys", read()), scope="admin")
    forbidden(client.patch(f"/v1/keys/{spared['id']}", {"name": "mine"}), scope="admin")
    forbidden(client.patch(f"/v1/keys/{spared['id']}", {"expiresAt": end}), scope="admin")
    forbidden(client.post(f"/v1/keys/{spared['id']}/rotate"), scope="admin")
    # Nor does an import bring one.
    lines = export(keyring.admin)
    brought = {"id": "b" * 12, **read(), "createdAt": shown(now()), "secrets": [{"sha256": secrets.token_hex(32)}]}
    forbidden(send(client, [lines[0], {"key": brought}], query="&copy=true"), scope="admin")
    assert keyring.shown() == before
    assert client.post("/v1/keys", read(expiresAt=end)).expect(201).json["expiresAt"] == end
    sooner = shown(instant(end) - 1000)
    assert client.patch(target, {"expiresAt": sooner, "name": "sooner"}).expect(200).json["expiresAt"] == sooner
    forbidden(client.patch(target, {"expiresAt": end}), scope="admin")
    client.delete(f"/v1/keys/{spared['id']}").expect(204)


@pytest.mark.parametrize("body, pointer", [
    ('{"name":"a","scopes":["read"],"scopes":["admin"]}', "/scopes"), ('{"name":"a","scopes":["read"],"\\u0073copes":["admin"]}', "/scopes"),
    ('{"name":"a","scopes":["read"],"idPrefix":"a.","idPrefix":null}', "/idPrefix"), ('{"name":"a","scopes":["read"],"expiresAt":"2999-01-01T00:00:00Z","expiresAt":null}', "/expiresAt"),
])
def test_a_member_that_comes_twice_is_400(keyring, body, pointer):
    before = keyring.shown()
    assert keyring.admin.post("/v1/keys", body=body).problem(400, "invalid-request")["pointer"] == pointer
    assert keyring.shown() == before


# Credentials.


def test_whatever_is_no_secret_of_a_key_is_401(keyring):
    key, other = keyring.make("admin"), keyring.make("admin")
    secret, random = key["secret"], key["secret"].rpartition("_")[2]
    wrong = [None, "", "Bearer", "Bearer ", f"Basic {secret}", secret, f"Bearer {secret}x", f"Bearer {secret[:-1]}", f"Bearer {secret.upper()}", f"Bearer {secret[4:]}",
             f"Bearer {random}", f"Bearer tmk_{other['id']}_{random}", f"Bearer tmk_{ABSENT}_{random}", f"Bearer tmk_{key['id']}_", "Bearer token",
             f"Bearer {secret[:-1]}{'a' if secret[-1] != 'a' else 'b'}", f"Bearer {secret} {other['secret']}", f"Bearer {key['id']}",
             f"Bearer {hashlib.sha256(secret.encode()).hexdigest()}"]
    for value in wrong:
        unauthorized(keyring.admin.get("/v1/timers", headers={"Authorization": value}))
    for value in (f"Bearer {secret}", f"bearer {secret}", f"BEARER  {secret}"):
        keyring.admin.get("/v1/timers", headers={"Authorization": value}).expect(200)


@pytest.mark.parametrize("pair", [("good", "good"), ("good", "bad"), ("bad", "good")], ids="-".join)
def test_two_lines_of_authorization_are_400(keyring, pair):
    values = {"good": keyring.make("read")["secret"], "bad": TOKEN[::-1]}
    fields = [f"Authorization: Bearer {values[each]}" for each in pair]
    assert status(keyring.admin.raw(head("GET", "/v1/timers", *fields, "Connection: close"))) == 400
    assert status(keyring.admin.raw(head("GET", "/v1/timers", f"Authorization: Bearer {values['good']}", "Connection: close"))) == 200
