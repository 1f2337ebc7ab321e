"""A whole run of the real binary under valgrind: it frees everything that it allocated.

Errors about uninitialised values are off: optimised Swift reads the tag of an enum together with meaningless bytes of its
payload, and masks those off. Blocks that are reachable only by a pointer into their middle do not count as lost: they are
metadata of the Swift runtime, and what glibc keeps of threads that have ended.
"""

import re
import shutil
import subprocess

import pytest

from server import Server, binary
from timers import poll

pytestmark = pytest.mark.timeout(200)
LOST = re.compile(r"(definitely|indirectly) lost: ([\d,]+) bytes")


@pytest.fixture
def valgrind(tmp_path):
    """The command that runs the binary under valgrind, and where valgrind writes what it found."""
    # Its readers of debug information know less of DWARF 5 than the compiler writes; symbols are enough.
    stripped, report = tmp_path / "timerd", tmp_path / "valgrind.log"
    subprocess.run(["strip", "--strip-debug", "-o", stripped, binary()], check=True)
    assert shutil.which("valgrind"), "valgrind is not there; make setup-tests installs it"
    yield ["valgrind", "--leak-check=full", "--undef-value-errors=no", "--error-exitcode=99",
           "--errors-for-leak-kinds=definite,indirect", "--num-callers=20", f"--log-file={report}", stripped], report


def live(server, receiver):
    """A little of every kind of request; a stream is left open."""
    api = server.client
    id = api.create(after="1h", payload={"a": [1, 2]}, labels={"of": "leaks"})["id"]
    for command in ("suspend", "resume", "fire"):
        api.command(id, command).expect(200)
    api.command(id, "suspend").problem(409, "illegal-transition")
    api.post("/v1/timers", {"after": "never"}).problem(400)
    api.create(every="50ms", webhook=receiver.url("/hook"))
    api.create(cron="* * * * *", timeZone="Europe/Berlin")
    dog = api.create(watchdog="1h")["id"]
    api.command(dog, "kick").expect(200)
    api.batch([{"after": "2h"} for _ in range(2000)]).expect(200)
    moved_over_each_other(api)
    key = {"Idempotency-Key": "k" + id}
    for _ in range(2):
        api.post("/v1/timers", {"after": "1h"}, headers=key).expect(201)
    api.patch(f"/v1/timers/{dog}", {"watchdog": "2h"}, content_type="application/merge-patch+json").expect(200)
    api.post("/v1/timers/bulk/suspend", {"labels": {"of": "leaks"}}).expect(200)
    assert len(api.get("/v1/timers?limit=1000").expect(200).json["timers"]) > 500
    for target in ("/metrics", "/v1/stats", "/", "/openapi.yaml", "/v1/events?since=0&follow=false"):
        api.get(target).expect(200)
    with api.stream("/v1/events?since=0", headers={"Accept": "text/event-stream"}) as stream:
        next(iter(stream))
    receiver.wait_for(3)
    api.delete(f"/v1/timers/{dog}").expect(204)
    return api.stream("/v1/events")


def moved_over_each_other(api):
    """A timer whose instants a calendar of one open day moves over one another, again and again: those that are spent are kept anew."""
    def open_on(days):
        poll(lambda: api.put("/v1/calendars/moved", {"timeZone": "UTC", "week": {days: ["00:00-24:00"]}}).status in (200, 201))
    open_on("mon-sun")
    api.put("/v1/timers/moved", {"cron": "*/5 * * * *", "timeZone": "UTC", "calendar": "moved", "onClosed": "nextDay"})
    # Whatever day it is, two of these three are others.
    for day in ("mon", "thu", "sat"):
        open_on(day)
        open_on("mon-sun")
    assert b'"unspent"' in api.get("/v1/export").expect(200).body


def end(server, report, *streams):
    """A clean stop, after which nothing is lost."""
    server.terminate()
    code, text = server.wait(60), report.read_text()
    for stream in streams:
        stream.close()
    lost = {kind: int(count.replace(",", "")) for kind, count in LOST.findall(text)}
    assert not any(lost.values()) and code == 0, text[-12000:]


def test_two_lives_give_back_what_they_took(valgrind, receiver):
    """The second server folds what the first one left."""
    command, report = valgrind
    with Server(command=command) as server:
        end(server, report, live(server, receiver))
        server.start()
        end(server, report, live(server, receiver))


def test_a_disk_that_fails_and_recovers_leaves_nothing(valgrind, faults):
    """After each failure the server begins anew from what the log holds, and frees its former state."""
    command, report = valgrind
    with Server(command=command, data=faults.data, env=faults.env) as server:
        api = server.client
        api.batch([{"after": "2h"} for _ in range(2000)]).expect(200)
        for _ in range(3):
            faults.set("write", error=5)
            api.post("/v1/timers", {"after": "1h"}).problem(503, "storage-unavailable")
            faults.clear()
            poll(lambda: api.get("/readyz").status == 200, timeout=30)
        end(server, report)
