#!/usr/bin/env python3
"""How long frames of the dashboard take in a browser without a screen, while events stream.

    frames.py BINARY [TIMERS [RATE [SECONDS]]]    with TIMERS (100,000) timers, RATE (2,000) of which fire each second, for
                                                  SECONDS (30): the events that the page took, and percentiles of the times
                                                  between two frames, in milliseconds
"""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "Tests" / "BlackBox"))

from browser import Browser, Page
from dashboard import Dashboard
from server import Server

MOST_SHOWN = 50_000
LONG = 120  # seconds that a page with so many timers may take to load
WATCH = """
    const until = performance.now() + arguments[0] * 1000, take = feed.take;
    const watched = window.watched = {frames: [], events: 0, isOver: false};
    feed.take = event => {
        watched.events += 1;
        return take.call(feed, event);
    };
    let last = performance.now();
    const step = now => {
        watched.frames.push(now - last);
        last = now;
        if (now < until) requestAnimationFrame(step);
        else watched.isOver = true;
    };
    requestAnimationFrame(step)"""


def fill(api, timers, rate):
    lines = [{"id": f"beat-{number}", "every": "1s", "after": f"{number * 1000 // rate}ms"} for number in range(rate)]
    lines += [{"id": f"still-{number}", "after": f"{3600 + number}s", "labels": {"team": ["blue", "red"][number % 2]}}
              for number in range(timers - rate)]
    for start in range(0, len(lines), 10_000):
        api.batch(lines[start:start + 10_000], "?results=brief").expect(200)


def main():
    os.environ["TIMERD_BINARY"] = sys.argv[1]
    given = list(map(int, sys.argv[2:]))
    timers, rate, seconds = given + [100_000, 2000, 30][len(given):]
    with Server() as server, Browser() as browser:
        fill(server.client, timers, rate)
        page = Page(browser, "frames")
        Dashboard(page, server.url).until_live()
        page.until(lambda: page.run("return store.timers.size") >= min(timers, MOST_SHOWN), timeout=LONG)
        page.run(WATCH, seconds)
        page.until(lambda: page.run("return watched.isOver"), timeout=seconds + LONG)
        frames, events = page.run("return [watched.frames.sort((one, other) => one - other), watched.events]")
        times = ", ".join(f"{share:g} % within {frames[int(len(frames) * share / 100)]:.1f} ms" for share in (50, 95, 99))
        print(f"{timers:,} timers, {events / seconds:,.0f} events/s: {len(frames)} frames, {times}, the longest {frames[-1]:.1f} ms")
        page.close()


if __name__ == "__main__":
    main()
