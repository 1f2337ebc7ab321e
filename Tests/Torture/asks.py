"""What each request of the record asks of which timer, and what its answer says about that timer."""

import json
from collections import namedtuple

# One thing asked of one timer (None: the server picks its id): `mark` is the change's own label `n`, `match` the version
# of an If-Match. `cause` is what the history has when it was done, None for a read.
Ask = namedtuple("Ask", "timer action mark match body")

COMMANDS = ("activate", "suspend", "resume", "cancel", "kick", "fire", "reschedule")
CAUSES = {"create": {"create"}, "put": {"create", "update"}, "patch": {"update"}, "delete": {"delete"},
          **{command: {command} for command in COMMANDS}}


def mark_of(body):
    """The label `n` of a create body or a patch."""
    mark = ((body or {}).get("labels") or {}).get("n")
    return None if mark is None else int(mark)


def asks_of(request):
    """The asks of a recorded request, in their order; none for a read of many or of a stream."""
    action, body = request["action"], request["body"]
    if action == "batch":
        return [_batch_line(json.loads(line)) for line in body.splitlines()]
    if action.startswith("bulk-"):
        return [Ask(timer, action.removeprefix("bulk-"), None, None, None) for timer in request["timers"]]
    if action == "page":
        return []
    body = json.loads(body) if body and action in ("create", "put", "patch") else None
    timer = request["timers"][0] if request["timers"] else None
    return [Ask(timer, action, mark_of(body), _version(request["headers"].get("If-Match")), body)]


def _batch_line(line):
    if "command" in line:
        return Ask(line["id"], line["command"], None, _version(line.get("ifMatch")), None)
    return Ask(line.get("id"), "create", mark_of(line), None, line)


def _version(tag):
    return int(tag.strip('"').removeprefix("v")) if tag else None


# What an answer says of one ask: `view` is the timer as shown, whole or its id and version, None where none is shown.
Result = namedtuple("Result", "status view problem")


def results_of(action, answer):
    """The results of a recorded answer, one for each ask."""
    if action == "batch" and answer["status"] == 200:
        return [_batch_result(json.loads(line)) for line in answer["body"].splitlines()]
    shown = json.loads(answer["body"]) if answer["body"] and answer["status"] != 204 else None
    if answer["status"] < 300:
        return [Result(answer["status"], shown, None)]
    return [Result(answer["status"], None, shown)]


def _batch_result(line):
    if "problem" in line:
        return Result(line["status"], None, line["problem"])
    if "timer" in line:
        return Result(line["status"], line["timer"], None)
    return Result(line["status"], line if "version" in line else None, None)
