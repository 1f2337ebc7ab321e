"""A real file system that is full: changes wait with 503, reads go on, nothing answered is lost."""

import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from timers import now, poll, shown, types

SIZE = "12m"


@pytest.fixture
def small_disk():
    if os.geteuid() != 0:
        pytest.skip("mounting a tmpfs needs root")
    with tempfile.TemporaryDirectory(prefix="timerd-disk-") as directory:
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", directory], capture_output=True, text=True)
        if mounted.returncode != 0:
            pytest.skip(f"no tmpfs can be mounted here: {mounted.stderr.strip()}")
        try:
            yield Path(directory)
        finally:
            subprocess.run(["umount", "--lazy", directory], check=True)


def fill(directory):
    """Fills the file system to its last byte, with one more file at each call."""
    with open(directory / f"filler-{len(list(directory.glob('filler-*')))}", "wb", buffering=0) as file:
        for size in (65536, 512, 1):
            try:
                while True:
                    file.write(b"\0" * size)
            except OSError:
                pass


def empty(directory):
    for path in directory.glob("filler-*"):
        path.unlink()


def create(api, id, payload=None):
    return api.post("/v1/timers", {"id": id, "after": "1h", "payload": payload})


def create_until_refused(api, prefix, payload, made):
    """Adds the ids that were answered to `made` and returns the refusal."""
    for n in range(3000):
        reply = create(api, f"{prefix}-{n}", payload)
        if reply.status != 201:
            return reply
        made.append(f"{prefix}-{n}")
    raise AssertionError("a full disk takes everything")


def exhaust(api, directory):
    """Fills the disk, creates until not even a small timer is taken, returns (ids that were answered, the refusal).

    The store may give space back while it reopens, so it is done again until a small create is refused at once.
    """
    made = []
    for _ in range(20):
        fill(directory)
        turn = len(list(directory.glob("filler-*")))
        create_until_refused(api, f"big-{turn}", "x" * 8000, made)
        before = len(made)
        refused = create_until_refused(api, f"small-{turn}", None, made)
        if len(made) == before:
            return made, refused
    raise AssertionError("a full disk takes something again and again")


def wait_for_writes(api, id):
    """Creates this timer as soon as the disk takes it; after an unknown outcome it may be there already."""
    poll(lambda: create(api, id).status in (201, 409), pause=0.1)


@pytest.mark.thorough
def test_a_full_disk_refuses_changes_and_recovers_by_itself(new_server, small_disk):
    server = new_server(data=small_disk / "data")
    api = server.client
    made = [create(api, f"t{n}", "x" * 8000).expect(201).json["id"] for n in range(20)]
    with api.stream("/v1/events?since=0&types=created").expect(200) as stream:
        assert [event["timer"] for event in stream.take(20)] == made
        more, refused = exhaust(api, small_disk)
        made += more
        problem = refused.problem(503, "storage-unavailable")
        assert problem["outcome"] in ("none", "unknown") and int(refused.headers["Retry-After"]) >= 0

        assert api.timer("t0")["state"] == "running"
        assert len(api.get("/v1/timers?limit=1000").expect(200).json["timers"]) >= min(len(made), 1000)
        assert api.get("/readyz").status == 503
        api.get("/metrics").expect(200)
        assert api.command("t0", "suspend").problem(503, "storage-unavailable")["outcome"]
        assert server.process.poll() is None

        empty(small_disk)
        wait_for_writes(api, "after")
        poll(lambda: api.get("/readyz").status == 200)
        created = [event["timer"] for event in stream.until_timer("after")]
    assert set(more) <= set(created) and len(created) == len(set(created))
    check(api, made)
    server.kill9()
    server.start()
    check(server.client, [*made, "after"])


def check(api, made):
    """Everything answered with 201 is there, once."""
    for id in made:
        api.timer(id)
    created = [event["timer"] for event in api.history("&types=created")]
    assert set(made) <= set(created) and len(created) == len(set(created))


def read_history(api, id):
    """What is there while the disk is full: a read may meet a change that the disk does not take after all, and is repeated."""
    reply = poll(lambda: (reply := api.get(f"/v1/timers/{id}/events?follow=false")).status == 200 and reply)
    return reply.lines


def first_that_waits(api, directory, instants):
    """Returns the first timer that becomes due while the disk is full and does not fire.

    The store may give space back while it reopens, after the last create was refused, and a fire is smaller than that: it is taken.
    """
    for id, due in instants.items():
        if due <= now():
            continue
        exhaust(api, directory)[1].problem(503, "storage-unavailable")
        poll(lambda due=due: now() > due + 1200)
        if types(read_history(api, id)) == ["created", "activated"]:
            return id
    raise AssertionError("each timer fires though the disk is full")


@pytest.mark.heavy
def test_fires_wait_for_the_disk(new_server, small_disk):
    server = new_server(data=small_disk / "data")
    api = server.client
    # Some are due before the disk is full, however slow the machine is.
    instants = {f"soon-{number}": now() + 3000 * (number + 1) for number in range(40)}
    for id, due in instants.items():
        api.create(id=id, at=shown(due))
    soon = first_that_waits(api, small_disk, instants)
    empty(small_disk)
    wait_for_writes(api, "after")
    fired = api.first_fire(soon)
    assert (fired["reason"], fired["missed"], fired["fire"]) == ("misfire", 0, 1)
    assert types(api.history_of(soon)) == ["created", "activated", "fired", "completed"]
