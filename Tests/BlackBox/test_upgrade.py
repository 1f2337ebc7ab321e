"""Every version reads the data of all earlier formats; it refuses data of a newer one, and leaves them unchanged."""

import gzip
import json
import sqlite3

import pytest

from make_fixture import FIXTURES, KEEP_EVENTS, KINDS, SINCE_FORMAT_2, SINCE_FORMAT_3, SINCE_FORMAT_5, TOKEN, everything, kinds
from server import run
from test_startup import one_line, refuse

FORMATS = sorted(path.name for path in FIXTURES.iterdir())
HEADER = 57  # bytes of a row's header before its CRC
NEWEST_FORMAT = 5


@pytest.fixture
def old(tmp_path):
    """A copy of the data of a format, and what the API answered about them: old("format-1")."""
    def copy(name):
        data = tmp_path / "data"
        data.mkdir()
        (data / "timers.db").write_bytes(gzip.decompress((FIXTURES / name / "timers.db.gz").read_bytes()))
        return data, json.loads((FIXTURES / name / "answers.json").read_text())
    return copy


def like(timer, was):
    """The timer with the fields that it was shown with then, and so the retries of its webhook."""
    timer = {field: timer[field] for field in was}
    if was["webhook"]:
        retry = {field: timer["webhook"]["retry"][field] for field in was["webhook"]["retry"]}
        timer["webhook"] = timer["webhook"] | {"retry": retry}
    return timer


@pytest.mark.parametrize("name", FORMATS)
def test_an_old_log_says_what_it_said(new_server, old, name, tmp_path):
    data, answers = old(name)
    assert run("log", "verify", "--data", data).returncode == 0
    (tmp_path / "tokens").write_text(TOKEN + "\n")
    server = new_server(*KEEP_EVENTS, "--token-file", tmp_path / "tokens", data=data, token=TOKEN)
    for life in range(2):
        api = server.client
        found = everything(api)
        # Fields that timers have been shown with since then.
        found["timers"] = {id: like(timer, answers["timers"].get(id, timer)) for id, timer in found["timers"].items()}
        for what, was in answers.items():
            if what in found:
                assert found[what] == was, what
        events = api.history(f"&since={answers['since']}")
        assert events[:len(answers["events"])] == answers["events"]
        server.kill9()
        server.start()

    # The data still work: planned, suspended, stalled and ended timers go on from there.
    api = server.client
    for id, command in (("suspended", "resume"), ("resumed", "suspend"), ("cancelled", "activate"), ("idle", "activate"),
                        ("snapshot", "fire"), ("old-dog", "kick"), ("hook", "cancel")):
        timer = api.command(id, command).expect(200).json
        assert timer["version"] >= answers["timers"][id]["version"], timer
    assert api.create(id="deleted", after="1h")["version"] > max(
        event["version"] for event in answers["events"] if event["timer"] == "deleted")


@pytest.mark.parametrize("name", FORMATS)
def test_the_data_of_a_format_have_every_kind_of_record(old, name):
    data, answers = old(name)
    since = {"format-1": set(), "format-2": SINCE_FORMAT_2, "format-3": SINCE_FORMAT_2 | SINCE_FORMAT_3,
             "format-4": SINCE_FORMAT_2 | SINCE_FORMAT_3, "format-5": SINCE_FORMAT_2 | SINCE_FORMAT_3 | SINCE_FORMAT_5}
    assert kinds(data) >= KINDS | since[name]
    assert {event["type"] for event in answers["events"]} == {
        "created", "activated", "suspended", "resumed", "rescheduled", "updated", "fired", "recovered", "cancelled", "completed",
        "deleted", "delivered", "deliveryFailed", "deliveryDead"}
    assert {timer["state"] for timer in answers["timers"].values()} == {"idle", "running", "suspended", "cancelled", "completed"}


def crc32c(data):
    """CRC-32C (Castagnoli), as docs/LOG_FORMAT.md describes it."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def make_rows_newer(database):
    """Gives the newest row the format number after the newest known one, with the right checksum."""
    first, data = database.execute("SELECT first, data FROM log ORDER BY first DESC LIMIT 1").fetchone()
    assert crc32c(data[:HEADER]) == int.from_bytes(data[HEADER:HEADER + 4], "little")
    header = bytes([NEWEST_FORMAT + 1]) + data[1:HEADER]
    newer = header + crc32c(header).to_bytes(4, "little") + data[HEADER + 4:]
    database.execute("UPDATE log SET data = ? WHERE first = ?", (newer, first))


def make_tables_newer(database):
    version, = database.execute("PRAGMA user_version").fetchone()
    database.execute(f"PRAGMA user_version = {version + 1}")


@pytest.mark.parametrize("change", [make_tables_newer, make_rows_newer], ids=["tables", "rows"])
def test_what_a_newer_version_wrote_is_refused_in_one_line_and_left_alone(old, change):
    data, _ = old(FORMATS[-1])
    with sqlite3.connect(data / "timers.db") as database:
        change(database)
    database.close()
    before = (data / "timers.db").read_bytes()
    code, stderr = refuse(data=data)
    line = one_line(stderr)
    assert code == 78 and str(data) in line and "newer timerd" in line
    for command in (["verify"], ["dump"], ["repair", "--yes"]):
        done = run("log", *command, "--data", data)
        assert done.returncode == 78 and "newer timerd" in done.stderr, done
    assert (data / "timers.db").read_bytes() == before
