"""Figures of a running server, sampled every few seconds."""

import json
import os
import time
from pathlib import Path

from judge import MIB
from wire import Connection


def memory_mib(pid):
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def entries(path):
    return len(os.listdir(path))


def size_mib(directory):
    """Bytes that the files of a directory take; a file may vanish meanwhile."""
    total = 0
    for entry in os.scandir(directory):
        try:
            total += entry.stat().st_blocks * 512
        except FileNotFoundError:
            pass
    return total / MIB


def quantile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))] * 1000 if values else 0.0


class Samples:
    """Rows of figures by the names of `judge.MEASURES`, and the signs that the log is compacted."""

    def __init__(self, server, load):
        self.server, self.load, self.began = server, load, time.monotonic()
        self.times, self.rows, self.oldest = [], [], []

    async def take(self):
        connection = await Connection.open(self.server.port)
        stats = (await connection.request("GET", "/v1/stats")).json
        oldest = await connection.request("GET", "/v1/events?since=0&limit=1&follow=false")
        connection.close()
        gets, posts = self.load.latency["GET"], self.load.latency["POST"]
        self.load.latency = {"GET": [], "POST": []}
        self.times.append(time.monotonic() - self.began)
        self.oldest.append(json.loads(oldest.body)["id"] if oldest.body else None)
        self.rows.append({
            "memory": memory_mib(self.server.pid), "descriptors": entries(f"/proc/{self.server.pid}/fd"),
            "threads": entries(f"/proc/{self.server.pid}/task"), "log": stats["logBytes"] / MIB,
            "disk": size_mib(self.server.data), "GET p50": quantile(gets, 0.5), "GET p99": quantile(gets, 0.99),
            "POST p50": quantile(posts, 0.5), "POST p99": quantile(posts, 0.99)})

    def of(self, name):
        return [row[name] for row in self.rows]

    @property
    def expiries(self):
        """In how many samples the oldest kept event was later than in the sample before."""
        return sum(before != after for before, after in zip(self.oldest, self.oldest[1:]))

    @property
    def grown(self):
        """Mebibytes by which the log has grown since the first sample."""
        return self.of("log")[-1] - self.of("log")[0]
