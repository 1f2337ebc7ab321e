"""The crash loop: starts the real server, drives it with a few hundred clients, kills it again and again, and checks
everything that was answered and shown against a model of the contract.

    python Tests/Torture --kills 200 --seed 7
    python Tests/Torture --check .build/torture/7.ndjson

Exits 0 when every promise held, 1 when one did not: it then prints which, the seed, and the history of the timer or stream.
"""

import argparse
import asyncio
import random
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "BlackBox")]

from record import Broken, Record  # noqa: E402
from run import Run, check  # noqa: E402
from tell import tell  # noqa: E402

RECORDS = HERE.parents[1] / ".build/torture"


def arguments():
    parser = argparse.ArgumentParser(prog="torture", description=__doc__.split("\n\n")[0])
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32), help="of the dice (random)")
    parser.add_argument("--kills", type=int, default=200, help="how many kill -9 (200)")
    parser.add_argument("--minutes", type=float, default=10, help="begin no further life after so long (10)")
    parser.add_argument("--clients", type=int, default=200, help="how many clients (200)")
    parser.add_argument("--check", type=Path, metavar="RECORD", help="only check a record that an earlier run wrote")
    return parser.parse_args()


def main():
    options = arguments()
    if options.check:
        record, work = Record.read(options.check), lambda: check(record)
    else:
        run = Run(options.seed, options.kills, options.minutes * 60, options.clients)
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
