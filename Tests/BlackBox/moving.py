"""Exports and imports, as the tests of them use them."""

import json

from timers import poll


def drain(api):
    poll(lambda: api.post("/v1/drain").expect(200).json["attemptsUnderWay"] == 0)


def export(api, query=""):
    """The lines of an export, whole."""
    reply = api.get(f"/v1/export{query}", timeout=60).expect(200)
    assert reply.headers["Content-Type"] == "application/x-ndjson"
    lines = reply.lines
    assert lines[-1] == {"end": True, "lines": len(lines) - 1}, lines[-1]
    return lines


def body(lines):
    return "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)


def send(api, lines, part=0, id=None, query=""):
    """One part of an import, as it is answered."""
    id = id or lines[0]["export"]
    return api.post(f"/v1/import?export={id}&part={part}{query}", body=body(lines), content_type="application/x-ndjson", timeout=60)


def parts(lines, size):
    return [lines[start:start + size] for start in range(0, len(lines), size)]


def bring(api, lines, size=10_000, query=""):
    """A whole import. Returns the sum of what its parts did."""
    total = {}
    for number, part in enumerate(parts(lines, size)):
        answer = send(api, part, number, lines[0]["export"], query).expect(200).json
        assert answer["applied"] is True and answer["next"] == number + 1, answer
        total = {name: total.get(name, 0) + answer[name] for name in ("timers", "deliveries", "skipped")}
    assert answer["complete"] is True
    return total


def move(source, target, query="", **options):
    """Drains, exports and imports."""
    drain(source)
    return bring(target, export(source, "?secrets=true"), query=query, **options)


def all_timers(api):
    found, cursor = {}, ""
    while cursor is not None:
        page = api.get(f"/v1/timers?limit=1000{cursor and '&cursor='}{cursor}").expect(200).json
        found |= {timer["id"]: timer for timer in page["timers"]}
        cursor = page["next"]
    return found


def without(timer, *names):
    return {name: value for name, value in timer.items() if name not in names}
