"""Servers that ask for credentials, and their access keys."""

import re

import pytest

from timers import now, shown

TOKEN = "a-token-of-these-tests"
SECRET = re.compile(r"tmk_([a-z2-7]{12})_[a-z2-7]{48}")
# The members of a key that every answer shows.
MEMBERS = {"id", "name", "scopes", "idPrefix", "createdAt", "expiresAt", "lastUsedAt"}
# The id of a key that there is not.
ABSENT = "a" * 12


class Keyring:
    """A server with a token file, and its keys."""

    def __init__(self, server, tokens):
        self.server, self.tokens = server, tokens

    @property
    def admin(self):
        """A client with a token, which may do everything."""
        return self.server.client

    def holding(self, secret):
        """A client with a key, or with that secret."""
        client = self.server.client
        client.token = secret["secret"] if isinstance(secret, dict) else secret
        return client

    def make(self, *scopes, **fields):
        """A new key, with its secret."""
        return self.admin.post("/v1/keys", {"name": "a key", "scopes": list(scopes), **fields}).expect(201).json

    def client(self, *scopes, **fields):
        """A client with a new key."""
        return self.holding(self.make(*scopes, **fields))

    def is_taken(self, secret):
        """Whether a credential is good."""
        reply = self.holding(secret).get("/v1/keys/self")
        return reply.status == 200 or not unauthorized(reply)

    def shown(self):
        """All keys by their ids, without when they were used last, which goes on by itself."""
        keys, cursor = [], ""
        while cursor is not None:
            page = self.admin.get("/v1/keys?limit=1000" + (f"&cursor={cursor}" if cursor else "")).expect(200).json
            keys += page["keys"]
            cursor = page["next"]
        return {key["id"]: {**key, "lastUsedAt": None} for key in keys}

    def revoke(self, key):
        self.admin.delete(f"/v1/keys/{key['id']}").expect(204)

    def rotate(self, key, **body):
        """The key with another secret."""
        return self.admin.post(f"/v1/keys/{key['id']}/rotate", body).expect(200).json

    def expire(self, key, after=0):
        """Ends a key in so many milliseconds."""
        self.admin.patch(f"/v1/keys/{key['id']}", {"expiresAt": shown(now() + after)}).expect(200)


def protected(start, folder, *flags):
    """The keys of a server with a token file in `folder`; `start` makes the server of its flags."""
    tokens = folder / "tokens"
    tokens.write_text(TOKEN + "\n")
    return Keyring(start("--token-file", tokens, *flags, token=TOKEN), tokens)


def answered_here(path):
    """The marks of a test that asks for a path with a key: some paths a server answers itself though it forwards, and knows no keys."""
    return [pytest.mark.not_forwarded("a server that knows no keys answers")] if path in ("/metrics", "/v1/cluster") else []


def forbidden(reply, **members):
    """Checks that this was refused as the key may not do it: by its scopes or by its idPrefix."""
    problem = reply.problem(403, "forbidden")
    assert {name: problem[name] for name in ("scope", "idPrefix") if name in problem} == members, problem
    return problem


def unauthorized(reply):
    """Checks that this was refused as no good credential came with it."""
    assert reply.headers["WWW-Authenticate"] == "Bearer", reply
    return reply.problem(401, "unauthorized")
