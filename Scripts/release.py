#!/usr/bin/env python3
"""Checks that everything says a version before it is tagged, and prints the tag's text: the section of CHANGELOG.md.

    Scripts/release.py VERSION [BINARY]     with BINARY also what the program itself and its manual page say

The version is set in Sources/TimerdCommand/Serve/Release.swift; the other places say it too, as each is read without the
program. Whatever differs is named, a line each, and the exit code is 1.
"""

import datetime
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CHANGELOG = "CHANGELOG.md"
VERSION = re.compile(r"\d+\.\d+\.\d+")
# Each file that says the version, and where. `make reference` writes the last two.
PLACES = {
    "Sources/TimerdCommand/Serve/Release.swift": r'static let version = "(.*)"',
    "openapi.yaml": r"^  version: (.*)$",
    "Dockerfile": r"^ARG VERSION=(.*)$",
    "deploy/debian/changelog": r"\Atimerd \((.*?)\)",
    "deploy/kubernetes/kustomization.yaml": r'newTag: "(.*)"',
    "deploy/kubernetes-postgres/kustomization.yaml": r'newTag: "(.*)"',
    "Sources/CAssets/reference/openapi.json": r'"version":"(.*?)"',
    "Sources/CAssets/reference/page.html": r">timerd</a> <small>(.*?)</small>",
}


def said(root=ROOT):
    """What each place says, by file; None where it says no version."""
    found = {path: re.search(pattern, (root / path).read_text(), re.MULTILINE) for path, pattern in PLACES.items()}
    return {path: match and match[1] for path, match in found.items()}


def sections(text):
    """The sections of the changelog, newest first: what stands in brackets, the date or "", and the text."""
    parts = re.split(r"^## \[(.*?)\](?: - (.*))?$", text, flags=re.MULTILINE)[1:]
    return [(name, date or "", body.strip()) for name, date, body in zip(parts[::3], parts[1::3], parts[2::3])]


def changelog_faults(text, version, today):
    """What keeps the changelog from being that of the version."""
    found = sections(text)
    faults = [f"{CHANGELOG}: [Unreleased] is not empty: its entries would be in no release"
              for name, _, body in found if name == "Unreleased" and body]
    own = next(((date, body) for name, date, body in found if name == version), None)
    if own is None:
        return [*faults, f"{CHANGELOG}: there is no section [{version}]"]
    if next(name for name, _, _ in found if name != "Unreleased") != version:
        faults.append(f"{CHANGELOG}: [{version}] is not the newest section")
    date, body = own
    try:
        if datetime.date.fromisoformat(date) > today:
            faults.append(f"{CHANGELOG}: [{version}] is of {date}, which is to come")
    except ValueError:
        faults.append(f"{CHANGELOG}: [{version}] has {date or 'nothing'} where its date belongs: ## [{version}] - {today}")
    if not body:
        faults.append(f"{CHANGELOG}: [{version}] is empty")
    return faults


def program_faults(binary, version):
    """What the program and its manual page say otherwise."""
    shown = subprocess.run([binary, "version"], capture_output=True, text=True, check=True).stdout.strip()
    manual = subprocess.run([ROOT / "Scripts/manpage.py", binary], capture_output=True, text=True, check=True).stdout
    titled = re.search(r'^\.TH TIMERD 1 "" "(.*?)"', manual, re.MULTILINE)[1]
    return [f"{what} says {text}, not timerd {version}"
            for what, text in ((f"the program {binary}", shown), ("the manual page", titled)) if text != f"timerd {version}"]


def faults(version, root=ROOT, today=None, binary=None):
    """Everything that keeps the version from being released."""
    today = today or datetime.datetime.now(datetime.UTC).date()
    if not VERSION.fullmatch(version):
        return [f"{version!r} is no version: three numbers, as 1.2.3"]
    found = [f"{path} says {text or 'no version'}, not {version}" for path, text in said(root).items() if text != version]
    found += changelog_faults((root / CHANGELOG).read_text(), version, today)
    return found + (program_faults(binary, version) if binary else [])


def tag_text(version, root=ROOT):
    """The text of the annotated tag."""
    body = next(body for name, _, body in sections((root / CHANGELOG).read_text()) if name == version)
    return f"timerd {version}\n\n{body}\n"


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        sys.exit(64)
    if lines := faults(sys.argv[1], binary=sys.argv[2] if len(sys.argv) == 3 else None):
        print("\n".join(f"release: {line}" for line in lines), file=sys.stderr)
        sys.exit(1)
    sys.stdout.write(tag_text(sys.argv[1]))
