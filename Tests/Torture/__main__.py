"""The crash loop: starts the real server, drives it with a few hundred clients, kills it again and again, and checks
everything that was answered and shown against a model of the contract. With `--store postgres` several servers share a
database, and the database and the links to it are broken too.

    python Tests/Torture --kills 200 --seed 7
    python Tests/Torture --store postgres --faults 200
    python Tests/Torture --check .build/torture/7.ndjson

Exits 0 when every promise held, 1 when one did not: it then prints which, the seed, and the history of the timer or stream.
"""

import argparse
import asyncio
import os
import random
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "BlackBox")]

from cluster.faults import OF_CLOCKS, OF_DATABASE, OF_LINKS, OF_NETWORK, OF_NODES  # noqa: E402
from cluster.fleet import Fleet  # noqa: E402
from cluster.network import VARIABLE, Namespaces, NetworkFleet, missing  # noqa: E402
from cluster.torture import ClusterRun  # noqa: E402
from record import Broken, Record  # noqa: E402
from run import Run, check  # noqa: E402
from tell import tell  # noqa: E402

SKEW_MS = 2200  # by how much calendars differ that were set a second forth and back
RECORDS = HERE.parents[1] / ".build/torture"


def arguments():
    parser = argparse.ArgumentParser(prog="torture", description=__doc__.split("\n\n")[0])
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32), help="of the dice (random)")
    parser.add_argument("--kills", type=int, default=200, help="how many kill -9 (200)")
    parser.add_argument("--minutes", type=float, default=10, help="begin no further life after so long (10)")
    parser.add_argument("--clients", type=int, default=200, help="how many clients (200)")
    parser.add_argument("--store", choices=("sqlite", "postgres"), default="sqlite", help="one server on SQLite (default), or several on PostgreSQL")
    parser.add_argument("--nodes", type=int, default=3, help="how many servers on PostgreSQL (3)")
    parser.add_argument("--faults", type=int, help="how many faults on PostgreSQL (as many as --kills)")
    parser.add_argument("--network", action="store_true",
                        help="PostgreSQL with a synchronous standby, in network namespaces of the run's own; as root")
    parser.add_argument("--forwarding", choices=("yes", "no", "seed"), default="seed",
                        help="whether the servers forward and clients go to all of them, or the seed says so, every second one (seed)")
    parser.add_argument("--only", default="", help="only these faults, with commas between them")
    parser.add_argument("--check", type=Path, metavar="RECORD", help="only check a record that an earlier run wrote")
    return parser.parse_args()


def made(options):
    """The run that the options ask for."""
    if options.store == "sqlite":
        return Run(options.seed, options.kills, options.minutes * 60, options.clients)
    kinds = {**OF_NODES, **OF_DATABASE, **(OF_NETWORK | OF_CLOCKS if options.network else OF_LINKS)}
    if options.only:
        kinds = {kind: kinds[kind] for kind in options.only.split(",")}
    fleet = NetworkFleet if options.network else Fleet
    forwarding = ("yes", "no")[options.seed % 2] if options.forwarding == "seed" else options.forwarding
    return ClusterRun(options.seed, options.faults or options.kills, options.minutes * 60, options.clients, kinds,
                      lambda record: fleet(record, options.nodes, forwarding == "yes"), RECORDS, SKEW_MS if options.network else 0)


def in_namespaces(options):
    """Runs this again in network namespaces made for it; returns its exit code."""
    if reason := missing():
        print(f"skipped: {reason}")
        return 0
    with Namespaces(options.nodes) as namespaces:
        return namespaces.run(sys.executable, str(HERE), *sys.argv[1:])


def main():
    options = arguments()
    if options.network and not options.check and VARIABLE not in os.environ:
        return in_namespaces(options)
    if options.check:
        record, work = Record.read(options.check), lambda: check(record)
    else:
        run = made(options)
        record, work = run.record, lambda: asyncio.run(run.run())
        print(f"seed {options.seed}", flush=True)
    try:
        print(work() or "every promise holds")
    except Broken as broken:
        print(tell(record, broken))
        if not options.check:
            path = RECORDS / f"{options.seed}.ndjson"
            record.write(path)
            print(f"\nthe whole record: {path}")
        return 1
    return 0


sys.exit(main())
