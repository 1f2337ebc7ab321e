"""What the tests know about timers: states, commands, and the transition table of the contract."""

import re
import time
from datetime import datetime, timezone

from patience import PATIENCE

STATES = ["idle", "running", "suspended", "cancelled", "completed"]

# From → to for each state in the order of STATES. `-` is 409, `a/b` is a for restartable=false and b for true,
# and `*` stays running, or completes for a one-shot.
TABLE = """
    activate    running  -          -          -/running  -/running
    suspend     -        suspended  -          -          -
    resume      -        -          running    -          -
    cancel      -        cancelled  cancelled  -          -
    kick        -        -          -          -          -
    fire        -        *          -          -          -
    reschedule  -        running    suspended  -          -
"""

INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
UNITS = {"d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1000, "ms": 1}


def transitions():
    """{command: {(state, restartable): next state or None}} with `*` left for the caller."""
    table = {}
    for row in TABLE.split("\n"):
        if not row.strip():
            continue
        command, *cells = row.split()
        table[command] = {}
        for state, cell in zip(STATES, cells, strict=True):
            plain, _, restartable = cell.partition("/")
            for flag, target in ((False, plain), (True, restartable or plain)):
                table[command][state, flag] = None if target == "-" else target
    return table


def allowed(state, restartable=False):
    """The commands that are legal in a state (for a timer that is no watchdog)."""
    return {command for command, row in transitions().items() if row[state, restartable]}


def timer_in(api, state, **fields):
    """Creates a timer and brings it into a state. Returns it as last answered."""
    if not {"after", "at", "every", "cron", "watchdog"} & fields.keys():
        fields["after"] = "1h"
    if state == "completed":
        fields["maxFires"] = 1  # so that a repeating one completes too
    timer = api.create(**fields, start="manual" if state == "idle" else "now")
    command = {"suspended": "suspend", "cancelled": "cancel", "completed": "fire"}.get(state)
    if command:
        timer = api.command(timer["id"], command).expect(200).json
    assert timer["state"] == state, timer
    return timer


def instant(text):
    """A shown instant as milliseconds since 1970."""
    assert INSTANT.fullmatch(text), text
    moment = datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc)
    return round(moment.timestamp() * 1000)


def shown(milliseconds):
    """Milliseconds since 1970 as the server shows them."""
    moment = datetime.fromtimestamp(milliseconds // 1000, timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%S") + f".{milliseconds % 1000:03}Z"


def duration(text):
    """A shown duration in milliseconds; it must be in the compact form."""
    parts = re.findall(r"(\d+)(ms|d|h|m|s)", text)
    assert "".join(number + unit for number, unit in parts) == text, text
    units = [unit for _, unit in parts]
    assert text == "0s" or (units == [unit for unit in UNITS if unit in units] and all(int(n) for n, _ in parts)), text
    return sum(int(number) * UNITS[unit] for number, unit in parts)


def now():
    return time.time_ns() // 1_000_000


def types(events):
    return [event["type"] for event in events]


def poll(check, timeout=PATIENCE, pause=0.02):
    """Repeats until check() is true, for conditions that no stream announces."""
    deadline = time.monotonic() + timeout
    while not (result := check()):
        assert time.monotonic() < deadline, "still not so after the deadline"
        time.sleep(pause)
    return result
