"""Judges whether a figure that was sampled over a long run is flat, and how steep it is."""

import math
import statistics
from collections import namedtuple

# How much each figure may grow: by a share of its value, or by an absolute amount, whichever is more. `is_judged` is
# false for what the machine's other work moves more than the server does.
Measure = namedtuple("Measure", "name unit share slack is_judged")

MIB = 1 << 20
MEASURES = [
    # malloc keeps what a peak took, and up to 16 MiB of the log are held in whole rows: a few MiB come and go, and in a
    # short run some still come.
    Measure("memory", "MiB", 0.05, 10, True),
    # Streams and connections come and go with the load; a leak of one in each of them is hundreds.
    Measure("descriptors", "", 0.05, 8, True),
    Measure("threads", "", 0, 0, True),
    # A sawtooth: it grows by what is written until a compaction cuts it, and the write-ahead log by up to a checkpoint.
    Measure("log", "MiB", 0.15, 16, True),
    Measure("disk", "MiB", 0.15, 16, True),
    Measure("GET p50", "ms", 0, 0, False),
    Measure("GET p99", "ms", 0, 0, False),
    Measure("POST p50", "ms", 0, 0, False),
    Measure("POST p99", "ms", 0, 0, False),
]

Verdict = namedtuple("Verdict", "measure middle last slope noise is_flat")


def slope(times, values):
    """The least-squares line's rise in an hour and that rise's standard error, of values at `times` in seconds."""
    count = len(times)
    if count < 3:
        return 0.0, math.inf
    middle, mean = statistics.fmean(times), statistics.fmean(values)
    spread = sum((time - middle) ** 2 for time in times)
    rise = sum((time - middle) * (value - mean) for time, value in zip(times, values, strict=True)) / spread
    rest = sum((value - mean - rise * (time - middle)) ** 2 for time, value in zip(times, values, strict=True))
    return rise * 3600, math.sqrt(rest / (count - 2) / spread) * 3600


def judge(measure, times, values):
    """Compares the median of the last third with that of the middle one; the first third is for warming up.

    Medians, because single samples are taken amid a compaction or a burst; thirds of the same run, because what a
    machine needs differs. The slope is over the last two thirds, and only printed: over a few minutes its noise is large.
    """
    third = len(values) // 3
    middle, last = statistics.median(values[third:2 * third]), statistics.median(values[2 * third:])
    grown = last - middle
    is_flat = not measure.is_judged or grown <= max(measure.share * middle, measure.slack)
    return Verdict(measure, middle, last, *slope(times[third:], values[third:]), is_flat)


def table(verdicts):
    """The verdicts as lines of text."""
    head = f"{'':12} {'middle':>10} {'last third':>10} {'slope an hour':>16} {'± noise':>10}"
    lines = [head]
    for verdict in verdicts:
        measure = verdict.measure
        judged = ("flat" if verdict.is_flat else "GROWS") if measure.is_judged else "not judged"
        lines.append(f"{measure.name:12} {verdict.middle:10.2f} {verdict.last:10.2f} {verdict.slope:+16.2f} "
                     f"{verdict.noise:10.2f} {measure.unit:4} {judged}")
    return "\n".join(lines)
