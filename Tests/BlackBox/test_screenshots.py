"""The pictures of the dashboard in README.md and docs. `make screenshots` takes them anew, with two minutes of fires in the charts."""

import os
import re
import struct
import zlib
from pathlib import Path

import pytest

from browser import PHONE
from dashboard import Dashboard
from server import ROOT

KEPT = ROOT / "docs/images"
SIZE = (1280, 760)
SCHEMES = ["light", "dark"]
# The pictures of single parts: a timer's page, the form, the calendars.
PARTS = [f"{part}-{how}" for part in ("timer", "form", "calendars") for how in (*SCHEMES, "phone")]
# The choices of "every last Friday at 17:00" in the form.
LAST_FRIDAY = """
    const chosen = {unit: "month", which: "-1", time: "17:00"};
    for (const [name, value] of Object.entries(chosen)) document.querySelector(`#by-${name}`).value = value;
    for (const box of document.querySelectorAll("#by-days input")) box.checked = box.value === "FR";
    builder.box.open = true;
    builder.build()"""
FIRES = int(os.environ.get("SCREENSHOT_FIRES", "10"))

TIMERS = [
    {"id": "backup-nightly", "watchdog": "1d", "labels": {"host": "db-1"}},
    {"id": "cart-4711", "after": "28m", "labels": {"shop": "prints"}, "payload": {"items": 3}},
    {"id": "cart-4712", "after": "15m", "labels": {"shop": "prints"}, "payload": {"items": 1}},
    {"id": "cart-4713", "after": "30m", "labels": {"shop": "frames"}, "payload": {"items": 8}},
    {"id": "gauge-3", "every": "400ms", "labels": {"team": "blue"}},
    {"id": "gauge-4", "every": "700ms", "labels": {"team": "blue"}},
    {"id": "standup", "cron": "0 9 * * MON-FRI", "timeZone": "Europe/Berlin"},
    {"id": "ticket-1207", "after": "8h", "labels": {"sla": "gold"}},
    {"id": "trial-ada", "after": "14d", "start": "manual"},
    {"id": "turn-12", "every": "3s", "labels": {"game": "go"}},
    {"id": "worker-7", "watchdog": "1s", "labels": {"team": "blue"}},
]
COMMANDS = [("cart-4712", "cancel"), ("cart-4713", "fire"), ("ticket-1207", "suspend"), ("backup-nightly", "kick")]


def fires(board):
    """How many fires the chart has counted."""
    shown = re.search(r"(\d+) fires", board.text("#rate small"))
    return int(shown[1]) if shown else 0


def take(page, server, folder):
    """The pictures of a server with a few timers, taken once its page has shown FIRES fires."""
    page.size(*SIZE)
    page.prefers(reduced_motion="reduce")
    board = Dashboard(page, server.url).until_live()
    for timer in TIMERS:
        server.client.create(**timer)
    for id, command in COMMANDS:
        server.client.command(id, command).expect(200)
    board.until_row("worker-7", state="stalled")
    board.until_row("cart-4713", state="completed")
    page.until(lambda: fires(board) >= FIRES, timeout=200, told=f"the page did not show {FIRES} fires")
    for scheme in SCHEMES:
        page.prefers(color_scheme=scheme, reduced_motion="reduce")
        assert page.driver.save_screenshot(str(folder / f"dashboard-{scheme}.png"))
    page.prefers(color_scheme="light", reduced_motion="reduce")
    page.size(*PHONE, phone=True)
    page.driver.refresh()
    board.until_live().until_row("worker-7")
    page.until(lambda: fires(board) >= FIRES and page.all("#due-strip button"), told="the figures are not read")
    assert page.overflow() <= 0
    assert page.driver.save_screenshot(str(folder / "dashboard-phone.png"))


def show_part(page, board, part):
    """Opens a part of the page, and waits until what it reads is there."""
    page.driver.get("about:blank")
    page.open(board.url + {"timer": "/#timer=gauge-3", "form": "/", "calendars": "/#view=calendars&calendar=office"}[part])
    board.until_live()
    if part == "form":
        board.new_timer("rrule", timeZone="America/New_York")
        page.run(LAST_FRIDAY)
        page.until(lambda: "the last Friday" in board.text("#preview-plain"), told=board.text("#preview-plain"))
    shown = {"timer": "#past tr:nth-child(20)", "form": "#preview li:nth-child(5)", "calendars": "#open-week li:nth-child(7) i"}[part]
    page.until(lambda: page.all(shown), told=f"{part} has no {shown}")
    page.until(lambda: board.text("#health [data-figure=ready]") == "ready", told="the figures are not read")


def take_parts(page, server, folder):
    """The pictures of the parts, light, dark and on a phone."""
    week = {"mon-fri": ["09:00-12:30", "13:30-18:00"], "sat-sun": ["10:00-14:00"]}
    server.client.put("/v1/calendars/office", {"timeZone": "Europe/Berlin", "week": week}).expect(201)
    server.client.put("/v1/calendars/on-call", {"timeZone": "UTC", "week": {"mon-sun": ["22:00-06:00"]}}).expect(201)
    server.client.create(id="retro", rrule="FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=17;BYMINUTE=0;BYSECOND=0",
                         timeZone="America/New_York", labels={"team": "blue"})
    board = Dashboard(page, server.url).until_live()
    for name in PARTS:
        part, how = name.split("-")
        page.prefers(color_scheme="dark" if how == "dark" else "light", reduced_motion="reduce")
        page.size(*(PHONE if how == "phone" else SIZE), phone=how == "phone")
        show_part(page, board, part)
        assert page.overflow() <= 0
        assert page.driver.save_screenshot(str(folder / f"dashboard-{name}.png"))


def look(path):
    """A PNG's width and height, its first pixel, and how many of its rows differ."""
    data = path.read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n"), path
    width, height, depth, kind, _, _, interlaced = struct.unpack(">IIBBBBB", data[16:29])
    assert depth == 8 and kind in (2, 6) and not interlaced, "neither RGB nor RGBA"
    packed, place = b"", 8
    while place < len(data):
        length, name = struct.unpack(">I4s", data[place:place + 8])
        packed += data[place + 8:place + 8 + length] if name == b"IDAT" else b""
        place += length + 12
    pixels = zlib.decompress(packed)
    stride = len(pixels) // height
    rows = {pixels[start:start + stride] for start in range(0, len(pixels), stride)}
    return (width, height), pixels[1:4], len(rows)


def check(folder):
    for scheme in SCHEMES:
        path = folder / f"dashboard-{scheme}.png"
        size, corner, rows = look(path)
        assert size == SIZE, path
        assert rows > SIZE[1] / 4, f"{path} is blank: {rows} different rows"
        assert min(corner) > 200 if scheme == "light" else max(corner) < 80, f"{path} is not {scheme}: {tuple(corner)}"
        assert path.stat().st_size < 200_000, path
    for name in ("phone", *PARTS):
        path = folder / f"dashboard-{name}.png"
        size, _, rows = look(path)
        assert size == (tuple(2 * length for length in PHONE) if name.endswith("phone") else SIZE), path
        assert rows > size[1] / 4 and path.stat().st_size < 250_000, path


@pytest.mark.heavy
@pytest.mark.timeout(400)
def test_the_pictures_can_be_taken(page, new_server, tmp_path):
    server, folder = new_server(), Path(os.environ.get("SCREENSHOT_FOLDER") or tmp_path)
    take(page, server, folder)
    take_parts(page, server, folder)
    check(folder)


def test_the_kept_pictures_are_whole():
    check(KEPT)
