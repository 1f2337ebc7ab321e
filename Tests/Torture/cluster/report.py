"""The figures of a run of several nodes, and how long take-overs took."""

import json
import statistics
from collections import Counter

FELL = "a node's beats have stopped; its session is ended"
TOOK = "took the timers over"
EDGES = (1, 2, 2.5, 3, 3.5, 4, 5, 7, 10)


def takeovers(record, nodes, served):
    """(detection, take, first answer) in seconds, from the death or stop of each owner that another one followed.

    `served` are the instants, in milliseconds since 1970, at which a node was seen to begin to serve: (when, node).
    """
    told = sorted((when, message, node.name, entry.get("node")) for node in nodes for when, message, entry in node.told()
                  if message in (FELL, TOOK))
    faults = [entry for entry in record.entries if entry["kind"] == "fault"]
    urls = {node.name: node.cluster_url for node in nodes}
    for place, fault in enumerate(faults):
        if not fault.get("owner"):
            continue
        until = faults[place + 1]["wall"] if place + 1 < len(faults) else float("inf")
        within = [line for line in told if fault["wall"] <= line[0] < until]
        fell = next((when for when, message, _, node in within if message == FELL and node == urls[fault["where"]]), None)
        took = next(((when, name) for when, message, name, _ in within if message == TOOK and fell and when >= fell), None)
        if not took:
            continue
        first = next((when for when, name in served if when >= took[0] - 500 and name == took[1] and when < until), None)
        yield (fell - fault["wall"]) / 1000, (took[0] - fell) / 1000, first and (first - fault["wall"]) / 1000


def histogram(values):
    """How many of the values are up to each edge."""
    counts = Counter(next((edge for edge in EDGES if value <= edge), None) for value in values)
    return ", ".join(f"≤ {edge} s: {counts[edge]}" for edge in EDGES if counts[edge]) + (
        f", longer: {counts[None]}" if counts[None] else "")


def spread(name, values):
    if not values:
        return f"{name}: none seen"
    return f"{name}: median {statistics.median(values):.2f} s, longest {max(values):.2f} s ({histogram(values)})"


def figures(run, seconds):
    """The run in a paragraph."""
    record, faults = run.record, run.faults
    kinds = Counter(entry["kind"] for entry in record.entries)
    types = Counter(json.loads(line)["type"] for line in record.history)
    times = list(takeovers(record, run.fleet.nodes, run.served))
    refused = Counter(problem(entry) for entry in record.entries if entry["kind"] == "answer" and entry["status"] == 503)
    kills = sum(count for what, count in faults.counts.items() if what.startswith("kill"))
    return "\n".join([
        f"{faults.counts.total()} faults, {kills} of them kill -9, in {seconds:.0f} s, seed {record.seed}",
        "FAULTS " + ", ".join(f"{what} {count}" for what, count in sorted(faults.counts.items())),
        f"{kinds['answer']} requests answered, {kinds['lost']} in doubt; 503: "
        + (", ".join(f"{slug} {count}" for slug, count in refused.most_common()) or "none"),
        f"{sum(prober.answered for prober in run.probers)} of them reads of one node that served",
        f"{len(record.history)} events, of these {types['fired']} fires",
        f"{sum(len(seen) for seen in record.seen.values())} events seen by {len(run.readers)} followers,"
        f" {sum(reader.resumed for reader in run.readers)} resumptions",
        f"{run.hooks.count} webhooks came, {run.hooks.again} of them again though answered 2xx",
        "{} rows in the log, epochs up to {}".format(*run.chain),
        f"{len(times)} take-overs after the death or stop of an owner",
        spread("- until its session is ended", [time[0] for time in times]),
        spread("- from then until the log is taken", [time[1] for time in times]),
        spread("- until the first answer, with the log read", [time[2] for time in times if time[2]]),
    ])


def problem(entry):
    try:
        body = json.loads(entry["body"])
        return body["type"].removeprefix("/problems/") + (" (unknown)" if body.get("outcome") == "unknown" else "")
    except (ValueError, KeyError):
        return "without a problem"
