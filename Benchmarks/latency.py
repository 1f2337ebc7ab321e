#!/usr/bin/env python3
"""Turns latencies at constant rates into tables and curves.

    latency.py tables FILE     prints a table for each thing that was measured, in Markdown
    latency.py chart FILE      prints them as curves, in SVG: rate across, latency up, both logarithmic

FILE has a line for each run, with tabs: what was asked, who answered, the rate's label, requests a second, and p50, p99,
p99.9 and the longest latency in milliseconds, empty where they are not known. A median is of the runs of one label.
"""

import html
import itertools
import math
import pathlib
import statistics
import sys

from report import amount, number

PERCENTILES = ["p50", "p99", "p99.9", "longest"]
# What others are held against.
REFERENCES = ["bare C + sync", "bare C"]


def read(path):
    """Returns, for each thing that was asked, each server and each label, the runs of it: lists of rate and latencies."""
    runs = {}
    for line in pathlib.Path(path).read_text().splitlines():
        what, who, label, *values = line.split("\t")
        found = runs.setdefault(what, {}).setdefault(who, {}).setdefault(label, [])
        found.append([float(value) if value else None for value in values])
    return runs


def medians(runs):
    """Returns the median rate and latencies of runs; None for what is not known."""
    return [statistics.median(column) if None not in column else None for column in zip(*runs)]


def cell(values, reference):
    """A latency: its median, and how many times the reference's, run by run."""
    if None in values:
        return ""
    shown = f"{number(statistics.median(values))} ms"
    if reference and len(reference) == len(values) and None not in reference:
        ratio = statistics.median(ours / theirs for ours, theirs in zip(values, reference))
        shown += f" ({ratio:.1f} ×)"
    return shown


def label_of(label):
    return amount(float(label), "/s") if label.isdigit() else label


def tables(runs):
    for what, servers in runs.items():
        first = next((name for name in REFERENCES if name in servers), None)
        print(f"### {what}\n\n| rate | who | requests | " + " | ".join(PERCENTILES) + " |\n" + "|---" * 7 + "|")
        labels = dict.fromkeys(label for labels in servers.values() for label in labels)
        for label, (who, found) in itertools.product(labels, servers.items()):
            if label not in found:
                continue
            rates, *latencies = zip(*found[label])
            # At the same share of each server's own peak the rates differ, so nothing is held against another.
            with_reference = label.isdigit() and first and who != first and label in servers[first]
            references = list(zip(*servers[first][label]))[1:] if with_reference else [None] * 4
            cells = [cell(values, reference) for values, reference in zip(latencies, references)]
            print(f"| {label_of(label)} | {who} | {amount(statistics.median(rates), '/s')} | " + " | ".join(cells) + " |")
        print()


# --- The chart

WIDTH, HEIGHT, LEFT, GAP = 440, 250, 54, 36
COLOURS = {"timerd": "#d9622b", "bare C": "#6e9fcf", "bare C + sync": "#6e9fcf", "Redis": "#b5485d",
           "PostgreSQL": "#5a8f5a", "beanstalkd": "#8a6fb0"}
STYLE = """
text { font: 12px system-ui, sans-serif; fill: #1f2328 }
.what { font-weight: 600 }
.tick { font-size: 10px; fill: #59636e }
path { fill: none; stroke-width: 1.8 } .grid { stroke: #d1d9e0; stroke-width: 1 }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .tick { fill: #9da7b1 } .grid { stroke: #3d444d } }"""
DASHES = {"p50": "1 3", "p99": "none", "p99.9": "6 4"}


def scale(values, start, end):
    """Returns a logarithmic scale from values to places, and the powers of ten within."""
    least, most = math.log10(min(values)), math.log10(max(values))
    most = max(most, least + 0.3)
    place = lambda value: start + (math.log10(value) - least) / (most - least) * (end - start)
    return place, [10.0**power for power in range(math.ceil(least - 1e-9), math.floor(most + 1e-9) + 1)]


def panel(what, servers, left, top):
    curves = {who: sorted(medians(runs) for runs in found.values()) for who, found in servers.items()}
    points = [point for curve in curves.values() for point in curve]
    across, rates = scale([point[0] for point in points], left + LEFT, left + WIDTH - 12)
    up, times = scale([max(value, 0.001) for point in points for value in point[1:4] if value], top + HEIGHT - 24, top + 26)
    yield f'<text class="what" x="{left}" y="{top + 12}">{html.escape(what)}</text>'
    for time in times:
        yield f'<path class="grid" d="M{left + LEFT} {up(time):.1f}H{left + WIDTH - 12}"/>'
        yield f'<text class="tick" x="{left + LEFT - 6}" y="{up(time) + 4:.1f}" text-anchor="end">{number(time)} ms</text>'
    for rate in rates:
        yield f'<text class="tick" x="{across(rate):.1f}" y="{top + HEIGHT - 8}" text-anchor="middle">{amount(rate, "/s")}</text>'
    for who, curve in curves.items():
        for index, percentile in enumerate(DASHES):
            known = [(point[0], point[1 + index]) for point in curve if point[1 + index]]
            line = "L".join(f"{across(rate):.1f} {up(time):.1f}" for rate, time in known)
            if len(known) > 1:
                yield (f'<path d="M{line}" stroke="{COLOURS.get(who, "#59636e")}" '
                       f'stroke-dasharray="{DASHES[percentile]}"/>')


def chart(runs):
    shapes, top = [], 40
    names = dict.fromkeys(who for servers in runs.values() for who in servers)
    place = 10
    for who in names:
        shapes.append(f'<rect x="{place}" y="8" width="14" height="4" fill="{COLOURS.get(who, "#59636e")}"/>')
        shapes.append(f'<text x="{place + 19}" y="15">{html.escape(who)}</text>')
        place += 40 + 7 * len(who)
    shapes.append(f'<text class="tick" x="{place}" y="15">dotted p50, solid p99, dashed p99.9</text>')
    for index, (what, servers) in enumerate(runs.items()):
        shapes.extend(panel(what, servers, 10 + index % 2 * (WIDTH + GAP), top + index // 2 * (HEIGHT + 10)))
    height = top + (len(runs) + 1) // 2 * (HEIGHT + 10)
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * WIDTH + GAP + 20} {height}" role="img">')
    print("<title>Latency at constant rates, timerd beside its peers</title>")
    print(f"<style>{STYLE}\n</style>", *shapes, "</svg>", sep="\n")


if __name__ == "__main__":
    {"tables": tables, "chart": chart}[sys.argv[1]](read(sys.argv[2]))
