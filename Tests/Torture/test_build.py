"""What `make test` and `make torture` run is built as BUILD says, so that a run of both builds once."""

import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHOSEN = "--build-tests -c release"


def made(*arguments: str, **variables: str) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE") and name != "BUILD"}
    return subprocess.run(
        ["make", "--silent", *arguments], cwd=ROOT, env=environment | variables, check=True, capture_output=True, text=True
    ).stdout


def test_the_tests_are_built_as_the_caller_says():
    # Make hands the variable on to the recipe's commands, as `make test` does to its script.
    assert made("--eval", "say: ; @echo $$BUILD", "say", BUILD=CHOSEN) == f"{CHOSEN}\n"


def test_the_torture_builds_as_the_caller_says_or_for_release():
    assert f"swift build {CHOSEN}\n" in made("--dry-run", "torture", BUILD=CHOSEN)
    assert "swift build -c release --product timerd\n" in made("--dry-run", "torture")
