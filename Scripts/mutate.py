#!/usr/bin/env python3
"""Breaks the sources in small ways, one at a time, and shows which breaks no Swift test notices.

    mutate.py [--count 60] [--seed N] [--module NAME…]      draws that many mutants, and goes on where a run of the seed ended
    mutate.py --list --seed N                               what was drawn so far, survivors last

A mutant is one change of one place: another operator, a bound off by one, a negated condition, another case returned, a call
dropped. It is built in a work tree of its own, below .build/mutants, and the tests of its module run against it, then those of
the whole server in process (TimerAPITests), then all others. A mutant that does not compile is drawn again. One that hangs is
killed. The results are in .build/mutants/SEED.ndjson. The first build takes minutes, each mutant about one.
"""

import argparse
import collections
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / ".build/mutants"
TREE = KEPT / "tree"
BUILD_SECONDS, TEST_SECONDS = 900, 400
RIG = "TimerAPITests"
# TidyTests read the sources, not what is built; PostgresLogTests start a PostgreSQL, and look at their own module alone.
LEFT_OUT = {"TidyTests", "PostgresLogTests"}

SWAPS = {
    "comparison": {" < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > ", " == ": " != ", " != ": " == "},
    "arithmetic": {" + ": " - ", " - ": " + ", " * ": " / ", " / ": " * ", " % ": " / ", " &+ ": " &- ", " &- ": " &+ ",
                   " << ": " >> ", " >> ": " << ", " | ": " & ", " & ": " | ", " += ": " -= ", " -= ": " += "},
    "logic": {" && ": " || ", " || ": " && "},
    "range": {"..<": "...", "...": "..<"},
    "Boolean": {"true": "false", "false": "true"},
    "extreme": {"min(": "max(", "max(": "min("},
}
NUMBER = re.compile(r"(?<![\w.$#])\d[\d_]*(?![\w.])")
CONDITION = re.compile(r"\b(if|guard|while) (?!let |var |case |#|let\b)([^{},;]+?)(?= else\b| \{)")
CALL = re.compile(r"^( +)((?:try )?(?!return\b|precondition|fatalError|throw\b|super\.|self\.init)[\w.?!]+\([^{}\n]*\))$",
                  re.MULTILINE)
CASE = re.compile(r"(?:\breturn |\? |: |= )\.(\w+)(?=\n| :|,|\))")


def code_of(text):
    """The text with its comments and string literals replaced by blanks, so that places stay the same."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|#?"""(?s:.*?)"""#?|#*"(?:\\.|[^"\\\n])*"#*', re.DOTALL)
    return pattern.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def siblings(sources):
    """The other cases of the enumerations that have a case, by its name."""
    found = collections.defaultdict(set)
    for text in sources.values():
        for body in re.findall(r"\benum \w+[^{]*\{(.*?)\n\}", text, re.DOTALL):
            names = [name for line in re.findall(r"^ +(?:indirect )?case ([\w ,]+)$", body, re.MULTILINE)
                     for name in re.findall(r"\w+", line)]
            for name in names:
                found[name].update(set(names) - {name})
    return {name: sorted(others) for name, others in found.items() if others}


def candidates(texts):
    """Every change that can be drawn, by kind: (file, start, end, replacement)."""
    sources = {path: code_of(text) for path, text in texts.items()}
    others, found = siblings(sources), collections.defaultdict(list)
    for path, code in sources.items():
        for kind, swaps in SWAPS.items():
            for old, new in swaps.items():
                place = -1
                while (place := code.find(old, place + 1)) >= 0:
                    whole = not old.isalpha() or not re.match(r"\w", code[place + len(old):])
                    if whole and not re.search(r"\w$", code[:place] if old[0].isalpha() else ""):
                        found[kind].append((path, place, place + len(old), new))
        for match in NUMBER.finditer(code):
            found["bound"].append((path, *match.span(), str(int(match[0].replace("_", "")) + 1)))
        for match in CONDITION.finditer(code):
            found["condition"].append((path, *match.span(2), f"!({texts[path][slice(*match.span(2))]})"))
        for match in CALL.finditer(code):
            found["call"].append((path, *match.span(2), "()"))
        for match in CASE.finditer(code):
            for other in others.get(match[1], ()):
                found["case"].append((path, *match.span(1), other))
    return found


def run(command, seconds, log):
    """The exit status of a command in the work tree, None if it took too long; its output goes to a file."""
    with open(log, "wb") as output:
        process = subprocess.Popen(command, cwd=TREE, stdout=output, stderr=output, stdin=subprocess.DEVNULL,
                                   start_new_session=True)
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return None


def build():
    return run(["swift", "build", "--build-tests"], BUILD_SECONDS, KEPT / "build.txt") == 0


def suites(module):
    """The test targets that run against a mutant of a module, by name: its own, the whole server, then all others."""
    targets = {path.name for path in (TREE / "Tests").iterdir() if path.name.endswith("Tests")}
    near = [name for name in dict.fromkeys([f"{module}Tests", RIG]) if name in targets]
    return {name: name for name in near} | {"the other targets": "|".join(sorted(targets - LEFT_OUT - set(near)))}


def exit_tests():
    """The suites that end processes of their own: beside other tests they would take minutes (see test.sh)."""
    return "|".join(path.stem for path in sorted((TREE / "Tests").rglob("*.swift")) if "processExitsWith" in path.read_text())


def killer(module):
    """What noticed the mutant that was built; None if nothing did."""
    for suite, pattern in suites(module).items():
        # Not by `swift test`, which leaves the tests running when it is killed.
        command = [TREE / ".build/debug/timerdPackageTests.xctest", "--testing-library", "swift-testing", "--filter",
                   rf"^({pattern})\.", "--skip", rf"\.({exit_tests()})/"]
        status = run(command, TEST_SECONDS, KEPT / "test.txt")
        if status != 0:
            return suite if status is not None else f"{suite}, which hung"
    return None


def prepare():
    """The work tree at the present commit."""
    KEPT.mkdir(parents=True, exist_ok=True)
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
    if not TREE.exists():
        subprocess.run(["git", "worktree", "prune"], cwd=ROOT, check=True)
        subprocess.run(["git", "worktree", "add", "--detach", "--quiet", TREE, head], cwd=ROOT, check=True)
    subprocess.run(["git", "checkout", "--quiet", "--force", "--detach", head], cwd=TREE, check=True)
    if not build():
        sys.exit(f"mutate: the sources do not build: see {KEPT / 'build.txt'}")
    return head


def show(results):
    counts = collections.Counter("killed" if result["by"] else "survived" for result in results)
    for result in sorted(results, key=lambda result: not result["by"]):
        place = f"{result['file']}:{result['line']}"
        print(f"{'killed' if result['by'] else 'SURVIVED':9} {result['kind']:11} {place}  {result['change']}  {result['by'] or ''}")
    total = len(results)
    print(f"{counts['killed']} of {total} killed" + (f", {100 * counts['killed'] / total:.0f} %" if total else ""))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 31))
    parser.add_argument("--module", nargs="*", default=[])
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    record = KEPT / f"{arguments.seed}.ndjson"
    drawn = [json.loads(line) for line in record.read_text().splitlines()] if record.exists() else []
    results = [result for result in drawn if result["compiles"]]
    if arguments.list:
        return show(results)
    head = prepare()
    paths = sorted(path for path in (TREE / "Sources").rglob("*.swift")
                   if not arguments.module or path.relative_to(TREE / "Sources").parts[0] in arguments.module)
    texts = {path: path.read_text() for path in paths}
    found = candidates(texts)
    print(f"seed {arguments.seed}, commit {head[:9]}, {sum(map(len, found.values()))} places", flush=True)
    draw, kinds = random.Random(arguments.seed), sorted(found)
    for _ in drawn:
        draw.choice(found[draw.choice(kinds)])
    while len(results) < arguments.count:
        kind = draw.choice(kinds)
        path, start, end, replacement = draw.choice(found[kind])
        text, began = texts[path], time.monotonic()
        name = path.relative_to(TREE)
        path.write_text(text[:start] + replacement + text[end:])
        try:
            compiles = build()
            by = killer(name.parts[1]) if compiles else None
        finally:
            path.write_text(text)
        result = {"file": str(name), "line": text.count("\n", 0, start) + 1, "kind": kind, "compiles": compiles, "by": by,
                  "change": f"`{text[start:end].strip()}` → `{replacement.strip()}`",
                  "seconds": round(time.monotonic() - began)}
        with open(record, "a") as file:
            file.write(json.dumps(result, ensure_ascii=False) + "\n")
        if compiles:
            results.append(result)
            print(f"{len(results)} of {arguments.count}: {'killed' if by else 'SURVIVED'} {kind} {name}:{result['line']} "
                  f"{result['change']}, {result['seconds']} s", flush=True)
    show(results)


if __name__ == "__main__":
    main()
