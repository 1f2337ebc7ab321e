#!/usr/bin/env python3
"""timerd on a PostgreSQL of its own: what ends servers, or has to look into the database. Prints samples: a name and a value a line.

    cluster.py takeover COUNT TIMES     two nodes hold COUNT timers; the owner is killed and begins anew as the standby, in turns as a warm
                                        and a cold one, TIMES times each
    cluster.py handover COUNT TIMES     three servers hold COUNT timers and forward; a client at each makes timers while they are handed over,
                                        TIMES times
    cluster.py starts TIMES             starts three servers at once on an empty, migrated database, TIMES times
    cluster.py restart HOW TIMES        clients create timers while PostgreSQL restarts, `fast` or `immediate`
    cluster.py idle SECONDS             counts the statements of a node that has nothing to do
    cluster.py kicks MINUTES            kicks watchdogs, and weighs the log
    cluster.py forwarded ROUNDS LOAD    the same load at the owner and at a server that forwards to it; LOAD as below
    cluster.py foreign MINUTES LOAD     creates timers on two databases in turns, one of which has a transaction open all the time.
                                        LOAD is the program load.c

$TIMERD_BINARY is what is measured.
"""

import calendar
import http.client
import json
import os
import re
import socket
import struct
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "Tests" / "BlackBox"))

import server
from postgres import Postgres
from server import Server
from timers import poll

# As the peer of the other benchmarks has it; PostgreSQL's own pause between two looks for what to vacuum.
DURABLE = ("fsync=on", "shared_buffers=256MB", "max_wal_size=4GB", "autovacuum_naptime=1min")
PATIENCE = 120.0
CLIENTS = 8
DOGS = 10_000
SLICE_SECONDS = 5
LINE = re.compile(r"^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.(\d{3})Z \w+ +(.*)$", re.M)
SIZE = "SELECT pg_total_relation_size('timerd_log')"
BYTES = "SELECT sum(octet_length(data)), count(*) FROM timerd_log"
SLACK = 4 << 20


def sample(name, value):
    print(name, f"{value:.6g}", flush=True)


def note(*words):
    print(*words, file=sys.stderr, flush=True)


def timers(*words):
    return subprocess.run([sys.executable, HERE / "timers.py", *map(str, words)], check=True, capture_output=True, text=True).stdout


def node(database, *flags, schema="timerd"):
    return Server("--store", database.schema(schema), "--migrate", *flags)


def is_ready(running):
    return running.client.get("/readyz").status == 200


def is_standby(running):
    return running.client.get("/readyz").json["status"] == "standby"


def metric(running, name):
    return float(re.search(rf"^{name} (\S+)$", running.client.get("/metrics").body.decode(), re.M)[1])


def told(running, text):
    """When the node's log last told this, in seconds since 1970."""
    found = [line for line in LINE.finditer(running.log_text()) if line[3].startswith(text)]
    assert found, f"the log does not tell: {text}"
    return calendar.timegm(time.strptime(found[-1][1], "%Y-%m-%dT%H:%M:%S")) + int(found[-1][2]) / 1000


class Session:
    """A connection to PostgreSQL that waits for each statement."""

    def __init__(self, database):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(30)
        self.socket.connect(str(database.folder / ".s.PGSQL.5432"))
        words = b"user\0postgres\0database\0postgres\0\0"
        self.socket.sendall(struct.pack("!ii", 8 + len(words), 3 << 16) + words)
        self._until_ready()

    def run(self, sql):
        text = sql.encode() + b"\0"
        self.socket.sendall(b"Q" + struct.pack("!i", 4 + len(text)) + text)
        self._until_ready()

    def close(self):
        self.socket.close()

    def _until_ready(self):
        while True:
            kind, size = struct.unpack("!ci", self._take(5))
            body = self._take(size - 4)
            if kind == b"E":
                raise ConnectionError(body)
            if kind == b"Z":
                return

    def _take(self, size):
        taken = b""
        while len(taken) < size:
            piece = self.socket.recv(size - len(taken))
            if not piece:
                raise ConnectionError("PostgreSQL has closed the connection")
            taken += piece
        return taken


# --- A node dies


def takeover(count, times):
    count, times = int(count), int(times)
    with ExitStack() as stack:
        database = stack.enter_context(Postgres(*DURABLE))
        owner, standby = (stack.enter_context(node(database, "--standby", kind)) for kind in ("cold", "warm"))
        poll(lambda: is_ready(owner), PATIENCE)
        timers("fill", owner.port, count)
        for turn in range(2 * times):
            kind, other = ("warm", "cold") if turn % 2 == 0 else ("cold", "warm")
            poll(lambda: is_standby(standby), PATIENCE)
            # The kill meets the beats at any moment.
            time.sleep(1 + time.monotonic() % 0.5)
            began = time.time()
            owner.kill9()
            poll(lambda: standby.client.put("/v1/timers/first", {"after": "1h"}).status in (200, 201), PATIENCE, pause=0.002)
            ended = time.time()
            answer = standby.client.get("/v1/stats").expect(200).json
            assert sum(answer["timers"].values()) == count + 1, answer
            noticed, taken = told(standby, "a node's beats have stopped"), told(standby, "took the timers over")
            sample(f"takeover-{count}-{kind}-whole", ended - began)
            sample(f"takeover-{count}-{kind}-noticed", noticed - began)
            sample(f"takeover-{count}-{kind}-taken", max(0, taken - noticed))
            sample(f"takeover-{count}-{kind}-folded", ended - max(taken, noticed))
            note(f"{count} timers, {kind}: {ended - began:.3f} s: {noticed - began:.3f} s noticed, {taken - noticed:.3f} s taken")
            owner.flags[owner.flags.index("--standby") + 1] = other
            owner.start()
            owner, standby = standby, owner


# --- Timers are handed over


def handover(count, times):
    with ExitStack() as stack:
        database = stack.enter_context(Postgres(*DURABLE))
        token = Path(database.folder) / "cluster-token"
        token.write_text("a-token-of-the-cluster\n")
        flags = ("--cluster-listen", "127.0.0.1:0", "--cluster-token-file", str(token))
        nodes = [stack.enter_context(node(database, *flags)) for _ in range(3)]
        for running in nodes:
            poll(lambda: is_ready(running), PATIENCE)
        timers("fill", nodes[0].port, int(count))
        clients = [Gaps(lambda port=running.port: paced_creator(port), 1) for running in nodes]
        owner = nodes[0]
        for turn in range(int(times)):
            # The owner that was has read the timers again.
            for running in nodes:
                poll(lambda: is_ready(running), PATIENCE)
            time.sleep(2 + time.monotonic() % 0.5)
            before = sum(gaps.done for gaps in clients)
            for gaps in clients:
                gaps.forget()
            began = time.monotonic()
            url = owner.client.post("/v1/cluster/promote").expect(200).json["owner"]["url"]
            given = time.monotonic() - began
            for gaps in clients:
                gaps.more(100)
            rate = (sum(gaps.done for gaps in clients) - before) / (time.monotonic() - began)
            pause = max(gaps.longest for gaps in clients)
            note(f"{count} timers, {rate:.0f}/s: {pause * 1000:.0f} ms longest, {given * 1000:.0f} ms to the answer")
            sample(f"handover-{count}-pause", pause * 1000)
            sample(f"handover-{count}-answer", given * 1000)
            owner = next(running for running in nodes if running.url == url)
        for gaps in clients:
            gaps.stop()


def paced_creator(port):
    """Makes some hundred timers a second, and takes no refusal."""
    create = creator(port)

    def once():
        time.sleep(0.0005)
        try:
            create()
        except ConnectionError as refusal:
            raise AssertionError("a change was refused") from refusal

    return once


# --- Servers start at once


def starts(times):
    with ExitStack() as stack:
        database = stack.enter_context(Postgres(*DURABLE))
        token = Path(database.folder) / "cluster-token"
        token.write_text("a-token-of-the-cluster\n")
        for turn in range(int(times)):
            store = database.schema(f"starts{turn}")
            assert server.run("store", "migrate", "--store", store).returncode == 0
            sample("starts", start_at_once(store, token))


def start_at_once(store, token):
    """The seconds until each of three servers is ready and answers a list."""
    flags = ("--cluster-listen", "127.0.0.1:0", "--cluster-token-file", str(token))
    nodes = [Server("--store", store, *flags) for _ in range(3)]
    with ExitStack() as stack:
        began = time.monotonic()
        for running in nodes:
            stack.push(running.__exit__)
            running.launch()
        for running in nodes:
            running.come_up()
        poll(lambda: all(is_ready(running) and running.client.get("/v1/timers?limit=1").status == 200 for running in nodes), PATIENCE,
             pause=0.005)
        return time.monotonic() - began


# --- PostgreSQL restarts


class Gaps:
    """Does something again and again, from some threads, and keeps the longest time in which it succeeded for none of them."""

    def __init__(self, work, count):
        """`work()` makes a function that does it once."""
        self.work, self.last, self.longest, self.done = work, None, 0.0, 0
        self.lock, self.is_over, self.failures = threading.Lock(), False, []
        self.threads = [threading.Thread(target=self._run, daemon=True) for _ in range(count)]
        for thread in self.threads:
            thread.start()

    def forget(self):
        with self.lock:
            self.longest, self.last = 0.0, time.monotonic()

    def stop(self):
        self.is_over = True
        for thread in self.threads:
            thread.join(60)
        assert not self.failures, self.failures

    def more(self, count):
        """Waits until so many more have succeeded."""
        wanted = self.done + count
        poll(lambda: self.failures or self.done >= wanted, PATIENCE)

    def _run(self):
        once = None
        try:
            while not self.is_over:
                try:
                    once = once or self.work()
                    once()
                except (OSError, http.client.HTTPException):
                    once = None
                    time.sleep(0.002)
                    continue
                now = time.monotonic()
                with self.lock:
                    self.longest = max(self.longest, now - (self.last or now))
                    self.last = now
                    self.done += 1
        except Exception as failure:
            self.failures.append(failure)


def creator(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def once():
        connection.request("POST", "/v1/timers", '{"after":"30d"}', {"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        if answer.status == 503:
            raise ConnectionError(text)
        assert answer.status == 201, text

    return once


def inserter(database):
    session = Session(database)
    return lambda: session.run("INSERT INTO probe VALUES (1)")


def restart(how, times):
    with Postgres(*DURABLE) as database, node(database) as running:
        database.execute("CREATE TABLE probe (n int)")
        poll(lambda: is_ready(running), PATIENCE)
        takeovers = metric(running, "timerd_takeovers_total")
        clients, inserts = Gaps(lambda: creator(running.port), CLIENTS), Gaps(lambda: inserter(database), 1)
        for _ in range(int(times)):
            for gaps in (clients, inserts):
                gaps.more(500)
                gaps.forget()
            database.restart(how)
            for gaps in (clients, inserts):
                gaps.more(500)
            note(f"{how}: clients {clients.longest:.3f} s, INSERT {inserts.longest:.3f} s")
            sample(f"restart-{how}-clients", clients.longest * 1000)
            sample(f"restart-{how}-database", inserts.longest * 1000)
            sample(f"restart-{how}-more", (clients.longest - inserts.longest) * 1000)
        clients.stop()
        inserts.stop()
        again = metric(running, "timerd_takeovers_total") - takeovers
        sample(f"restart-{how}-folded", again + running.log_text().count("the log was read again"))


# --- An idle node


def idle(seconds):
    seconds = float(seconds)
    with Postgres(*DURABLE, "shared_preload_libraries=pg_stat_statements") as database:
        database.execute("CREATE EXTENSION pg_stat_statements")
        with node(database) as running:
            poll(lambda: is_ready(running), PATIENCE)
            # What a start leaves to do is done, and backends have reported their transactions.
            time.sleep(20)
            database.execute("SELECT pg_stat_statements_reset()")
            before, begin = transactions(database), time.monotonic()
            time.sleep(seconds)
            after, took = transactions(database), time.monotonic() - begin
            calls = database.execute("SELECT calls, left(regexp_replace(query, '\\s+', ' ', 'g'), 60) FROM pg_stat_statements s"
                                     " JOIN pg_roles r ON r.oid = s.userid WHERE rolname = 'timerd' ORDER BY calls DESC")
            note("\n".join(calls))
            sample("idle-statements", sum(int(line.split("|")[0]) for line in calls) / took)
            sample("idle-transactions", (after - before) / took)


def transactions(database):
    return int(database.execute("SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = 'postgres'")[0])


# --- What the log takes


def kicks(minutes):
    seconds = float(minutes) * 60
    with Postgres(*DURABLE) as database, node(database) as running:
        poll(lambda: is_ready(running), PATIENCE)
        timers("dogs", running.port, DOGS)
        live = weigh(database)[1]
        sample("kicks-live", live / 1e6)
        load = subprocess.Popen([sys.executable, HERE / "timers.py", "kicks", str(running.port), str(DOGS), str(int(seconds))],
                                stdout=subprocess.PIPE, text=True)
        begin = time.monotonic()
        for tenth in range(1, 11):
            time.sleep(max(0, begin + seconds * tenth / 10 - 0.5 - time.monotonic()))
            size, held, rows = weigh(database)
            note(f"{tenth}: {size / 1e6:.1f} MB, {held / 1e6:.1f} MB in {rows} rows")
            sample("kicks-size", size / 1e6)
            sample("kicks-bytes", held / 1e6)
            sample("kicks-rows", rows)
            sample("kicks-size-ratio", size / held)
            sample("kicks-bytes-ratio", held / (3 * live + SLACK))
        sample("kicks-rate", float(load.communicate(timeout=PATIENCE)[0].split()[0]))
        sample("kicks-size-end", size / held)


def weigh(database):
    """Bytes of table and index on the disk; bytes of the rows' data, and how many rows."""
    held, rows = database.execute(BYTES, schema="timerd")[0].split("|")
    return int(database.execute(SIZE, schema="timerd")[0]), int(held), int(rows)


# --- A transaction that somebody leaves open


def foreign(minutes, load):
    seconds, sides = float(minutes) * 60, ("beside", "without")
    length = min(SLICE_SECONDS, seconds / 20)
    with ExitStack() as stack:
        databases = {side: stack.enter_context(Postgres(*DURABLE)) for side in sides}
        nodes = {side: stack.enter_context(node(databases[side], "--retain-events", "10s,16MiB")) for side in sides}
        for running in nodes.values():
            poll(lambda: is_ready(running), PATIENCE)
        for side in sides:
            # So that the first slice is as the others.
            creates(load, nodes[side], length)
        session = Session(databases["beside"])
        session.run("BEGIN ISOLATION LEVEL REPEATABLE READ")
        session.run("SELECT txid_current()")
        session.run("SELECT count(*) FROM timerd.timerd_log")
        rates = {side: [] for side in sides}
        rounds = max(10, int(seconds / (2 * length)))
        for turn in range(rounds):
            for side in sides if turn % 2 else reversed(sides):
                rates[side].append(creates(load, nodes[side], length))
            if (turn + 1) * 10 // rounds > turn * 10 // rounds:
                for side in sides:
                    size, held, rows = weigh(databases[side])
                    sample(f"foreign-{side}-size", size / 1e6)
                    mean = sum(rates[side][-rounds // 10:]) / len(rates[side][-rounds // 10:])
                    note(f"{side}: {mean:.0f}/s, {size / 1e6:.0f} MB, {held / 1e6:.0f} MB in {rows} rows")
        session.run("COMMIT")
        for side in sides:
            for turn, rate in enumerate(rates[side]):
                sample(f"foreign-{side}", rate)
                if turn >= rounds * 4 // 5:
                    sample(f"foreign-{side}-last", rate)


def creates(load, running, seconds):
    command = [load, "for", str(seconds), "timerd-brief", str(running.port), "64", "1"]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[0])


def forwarded(rounds, load):
    """The same load at the owner and at a server that forwards to it, in turns."""
    flags = ("--cluster-listen", "127.0.0.1:0", "--cluster-token-file")
    loads = {"create": ["64", "1"], "get": ["64", "1", "get"], "batch": ["8", "100"], "one": ["1", "1", "get"]}
    with ExitStack() as stack:
        database = stack.enter_context(Postgres(*DURABLE))
        token = Path(database.folder) / "cluster-token"
        token.write_text("a-token-of-the-cluster\n")
        nodes = {}
        for side in ("owner", "entry"):
            nodes[side] = stack.enter_context(node(database, *flags, str(token)))
            poll(lambda: is_ready(nodes[side]), PATIENCE)
        for side, running in nodes.items():
            for words in loads.values():
                loaded(load, running, 0.5, words)
        for turn in range(int(rounds)):
            for name, words in loads.items():
                for side in nodes if turn % 2 else reversed(nodes):
                    before, bytes_before = sum(cpu(running) for running in nodes.values()), peer_bytes(nodes["owner"])
                    rate = loaded(load, nodes[side], 2, words)
                    spent = sum(cpu(running) for running in nodes.values()) - before
                    sample(f"forward-{name}-{side}", rate)
                    timers_a_request = 1 if words[1] == "1" else int(words[1])
                    sample(f"cpu-forward-{name}-{side}", spent * 1e6 / (rate * 2))
                    if side == "entry":
                        carried = peer_bytes(nodes["owner"]) - bytes_before
                        sample(f"wire-forward-{name}", carried / (rate * 2 / timers_a_request))


def loaded(load, running, seconds, words):
    """Timers or requests a second."""
    connections, batch, *commands = words
    if commands:
        running.client.batch([{"id": f"dog-{n}", "after": "1d"} for n in range(int(connections) * 100)], query="?results=brief")
    command = [load, "for", str(seconds), "timerd", str(running.port), connections, batch, *commands]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[0])


def cpu(running):
    """Seconds of processor time that a server has taken."""
    fields = Path(f"/proc/{running.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peer_bytes(running):
    """Bytes that a server has received from others and sent to them, by the connections that there are."""
    ports = subprocess.run(["ss", "-Hltnp"], capture_output=True, text=True, check=True).stdout
    found = {re.search(r":(\d+) ", line)[1] for line in ports.splitlines() if f"pid={running.pid}," in line}
    found.discard(str(running.port))
    lines = subprocess.run(["ss", "-Htin", f"sport = :{found.pop()}"], capture_output=True, text=True, check=True).stdout
    return sum(map(int, re.findall(r"bytes_(?:sent|received):(\d+)", lines)))


def main():
    server.LIFETIME = 7200
    measurements = {
        "takeover": takeover, "handover": handover, "starts": starts, "restart": restart, "idle": idle, "kicks": kicks, "foreign": foreign,
        "forwarded": forwarded,
    }
    measurements[sys.argv[1]](*sys.argv[2:])


if __name__ == "__main__":
    main()
