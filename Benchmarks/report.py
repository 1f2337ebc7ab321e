#!/usr/bin/env python3
"""Turns samples into figures: a table, JSON and a chart.

    report.py figure FILE SECTION WHAT WHO UNIT SAMPLES [TARGET]
                                           appends a figure to FILE, a JSON document a line, and prints its row. SAMPLES
                                           is a file with a value a line, one a round, and after it, where it is known,
                                           the percent of a core that the client took; without that file the figure
                                           reads "not compared". The other figures of a WHAT are compared with its first,
                                           round by round
    report.py tables FILE                  prints the sections as tables in Markdown, and before them the figures that have targets
    report.py json FILE MACHINE LOAD       prints the figures as JSON, one a line, with what they were measured on
    report.py chart FILE                   prints the figures of several servers as bars, in SVG
    report.py readme JSON                  prints the table of the README from the figures as JSON
"""

import datetime
import html
import itertools
import json
import pathlib
import statistics
import sys

HEAD = "| what | who | median | min – max | first ÷ this | client | target |\n|---|---|---|---|---|---|---|"


def number(value):
    """Three significant digits."""
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value) >= 1 else f"{value:.3f}" if abs(value) >= 0.1 else f"{value:.2g}"


def amount(value, unit):
    if unit.endswith("/s"):
        scale = next((scale for scale in ((1e6, " M"), (1e3, " k")) if value >= 10 * scale[0]), (1, ""))
        return number(value / scale[0]) + scale[1] + unit
    return f"{number(value)} {unit}".strip()


def factor(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"


def spread(values, show):
    return f"{show(min(values))} – {show(max(values))}" if len(values) > 1 else "once"


def ratios(first, this):
    """Ratios round by round; of one value each where the servers did not run in turns."""
    if len(first) == len(this):
        return [ours / theirs for ours, theirs in zip(first, this) if theirs]
    return [statistics.median(first) / statistics.median(this)]


def row(figure, first):
    values, target = figure["samples"], figure["target"]
    if not values:
        missing = "not measured" if figure["who"] == "timerd" else "not compared"
        return f"| {figure['what']} | {figure['who']} | {missing} | | | | {target} |"
    show = lambda value: amount(value, figure["unit"])
    ratio = ""
    if first is not figure and first["samples"] and first["unit"] == figure["unit"]:
        each = ratios(first["samples"], values)
        if each:
            ratio = f"{factor(statistics.median(each))} ×"
            ratio += f" ({factor(min(each))} – {factor(max(each))})" if len(each) > 1 else ""
    client = f"{statistics.median(figure['client']):.0f} %" if figure["client"] else ""
    median = show(statistics.median(values))
    return "| " + " | ".join([figure["what"], figure["who"], median, spread(values, show), ratio, client, target]) + " |"


def read(path):
    file = pathlib.Path(path)
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def add(path, section, what, who, unit, samples, target=""):
    file = pathlib.Path(samples)
    lines = [line.split() for line in file.read_text().splitlines()] if file.exists() else []
    figure = {
        "section": section, "what": what, "who": who, "unit": unit, "target": target,
        "samples": [float(line[0]) for line in lines],
        "client": [float(line[1]) for line in lines if len(line) > 1],
    }
    with open(path, "a") as figures:
        figures.write(json.dumps(figure, ensure_ascii=False) + "\n")
    first = next(other for other in read(path) if (other["section"], other["what"]) == (section, what))
    print(row(figure, figure if first == figure else first))


def groups(figures, *names):
    """Runs of figures that have the same names."""
    return [list(group) for _, group in itertools.groupby(figures, lambda figure: [figure[name] for name in names])]


def targets(figures):
    """First the targets, all in one place."""
    print(f"### Targets\n\n{HEAD}")
    for group in groups(figures, "section", "what"):
        for figure in group:
            if figure["target"]:
                named = {**figure, "what": f"{figure['section']}: {figure['what']}"}
                print(row(named, named if figure is group[0] else group[0]))
    print()


def tables(figures):
    if any(figure["target"] for figure in figures):
        targets(figures)
    for section in groups(figures, "section"):
        print(f"### {section[0]['section']}\n\n{HEAD}")
        for group in groups(section, "what"):
            print(*(row(figure, group[0]) for figure in group), sep="\n")
        print()


# --- The chart

WIDTH, PANEL, GAP, BAR, LABEL, VALUE = 960, 470, 20, 18, 120, 150
STYLE = """
text { font: 12px system-ui, sans-serif; fill: #1f2328 }
.section { font-size: 15px; font-weight: 600 }
.what { font-weight: 600 }
.value { fill: #59636e }
rect { fill: #a5b1bd } .bare, .raw { fill: #6e9fcf } .timerd { fill: #d9622b }
line { stroke: #1f2328; stroke-width: 1.5 }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .value { fill: #9da7b1 } rect { fill: #596673 } .bare, .raw { fill: #47759f }
  .timerd { fill: #ea7a45 } line { stroke: #e6edf3 }
}"""


def bars(group, left, top):
    """A panel: a bar for each, as long as its median, and a line from the least to the most."""
    measured = [figure for figure in group if figure["samples"]]
    scale = (PANEL - LABEL - VALUE) / (max(max(figure["samples"]) for figure in measured) or 1)
    yield f'<text class="what" x="{left}" y="{top + 12}">{html.escape(group[0]["what"])}</text>'
    for index, figure in enumerate(measured):
        y, start, values = top + 20 + index * BAR, left + LABEL, figure["samples"]
        median, least, most = statistics.median(values), min(values), max(values)
        yield f'<text x="{start - 6}" y="{y + 12}" text-anchor="end">{html.escape(figure["who"])}</text>'
        kind = next((kind for kind in ("timerd", "bare", "raw") if figure["who"].startswith(kind)), "peer")
        yield (f'<rect class="{kind}" x="{start}" y="{y + 2}" width="{max(1, median * scale):.1f}" '
               f'height="{BAR - 5}"/>')
        if most > least:
            middle = y + BAR / 2 - 0.5
            yield (f'<line x1="{start + least * scale:.1f}" y1="{middle}" x2="{start + most * scale:.1f}" '
                   f'y2="{middle}"/>')
        yield (f'<text class="value" x="{start + most * scale + 6:.1f}" y="{y + 12}">'
               f'{amount(median, figure["unit"])}</text>')


def chart(figures):
    shapes, top = [], 10
    for section in groups(figures, "section"):
        panels = [
            group for group in groups(section, "what")
            if len({figure["who"] for figure in group if figure["samples"]}) > 1
            and len({figure["unit"] for figure in group}) == 1
        ]
        if not panels:
            continue
        shapes.append(f'<text class="section" x="10" y="{top + 16}">{html.escape(section[0]["section"])}</text>')
        top += 30
        for index in range(0, len(panels), 2):
            pair = panels[index:index + 2]
            for column, group in enumerate(pair):
                shapes.extend(bars(group, 10 + column * (PANEL + GAP), top))
            top += 32 + BAR * max(map(len, pair))
        top += 10
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top}" role="img">')
    print("<title>timerd beside its peers: medians, with the least and the most of the rounds</title>")
    print(f"<style>{STYLE}\n</style>", *shapes, "</svg>", sep="\n")


# --- The README's table

PEERS = ["timerd", "Redis", "beanstalkd", "PostgreSQL"]
SHOWN = [
    ("durable creates, 1 connection", "Durable create, one request outstanding on each connection", "1 connection"),
    ("durable creates, 64 connections", "Durable create, one request outstanding on each connection", "64 connections"),
    ("200,000 due within 1 s: a client has it, p99", "200 k timers due within 1 s: from the due instant to a client",
     "lateness p99"),
    ("memory a timer, of a million", "1 M timers with a payload of 256 bytes", "memory a timer"),
    ("a million timers after `kill -9`: ready in", "1 M timers with a payload of 256 bytes", "recovery after kill -9"),
]


def readme(measured):
    """The README's table: medians beside those of the peers; what was not measured is left out."""
    cells = {(figure["section"], figure["what"], figure["who"].split(",")[0]): amount(
        statistics.median(figure["samples"]), figure["unit"]) for figure in measured["figures"] if figure["samples"]}
    yield f"| measured by `make bench`, {measured['date']} | " + " | ".join(PEERS) + " |"
    yield "|---" * (len(PEERS) + 1) + "|"
    for shown, section, what in SHOWN:
        yield f"| {shown} | " + " | ".join(cells.get((section, what, who), "–") for who in PEERS) + " |"


def main():
    command, path, *rest = sys.argv[1:]
    if command == "figure":
        add(path, *rest)
    elif command == "json":
        measured = {"date": datetime.date.today().isoformat(), "machine": rest[0], "load": float(rest[1])}
        lines = ",\n".join(json.dumps(figure, ensure_ascii=False) for figure in read(path))
        print(json.dumps(measured, ensure_ascii=False)[:-1] + ', "figures": [\n' + lines + "\n]}")
    elif command == "readme":
        print(*readme(json.loads(pathlib.Path(path).read_text())), sep="\n")
    else:
        {"tables": tables, "chart": chart}[command](read(path))


if __name__ == "__main__":
    main()
