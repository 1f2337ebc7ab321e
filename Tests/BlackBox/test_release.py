"""A release: every place says its version, and `make release` names each that does not."""

import datetime
import sys

import pytest

from server import ROOT, binary, run

sys.path.insert(0, str(ROOT / "Scripts"))

import release  # noqa: E402

VERSION = "7.8.9"
TODAY = datetime.date(2031, 5, 4)
# Each place as it is written where all is well.
WRITTEN = {
    "Sources/TimerdCommand/Serve/Release.swift": 'enum Release {\n    static let version = "7.8.9"\n}\n',
    "openapi.yaml": "openapi: 3.1.0\ninfo:\n  version: 7.8.9\n",
    "Dockerfile": "FROM debian\nARG VERSION=7.8.9\n",
    "deploy/debian/changelog": "timerd (7.8.9) unstable; urgency=medium\n\ntimerd (0.0.1) unstable\n",
    "deploy/kubernetes/kustomization.yaml": 'images:\n  - newTag: "7.8.9"\n',
    "deploy/kubernetes-postgres/kustomization.yaml": 'images:\n  - newTag: "7.8.9"\n',
    "Sources/CAssets/reference/openapi.json": '{"info":{"version":"7.8.9"},"example":{"version":"1"}}',
    "Sources/CAssets/reference/page.html": '<a href="./">timerd</a> <small>7.8.9</small>',
    "CHANGELOG.md": "# Changelog\n\n## [Unreleased]\n\n## [7.8.9] - 2031-05-04\n\n### Added\n\n- Tea.\n\n## [7.8.8] - 2031-01-01\n\n- Cups.\n",
}


@pytest.fixture
def tree(tmp_path):
    for path, text in WRITTEN.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


def test_every_place_says_the_version_of_the_program():
    version = run("version").stdout.removeprefix("timerd ").strip()
    assert release.said() == dict.fromkeys(release.PLACES, version)
    newest = next(name for name, _, _ in release.sections((ROOT / "CHANGELOG.md").read_text()) if name != "Unreleased")
    assert newest == version


def test_what_agrees_is_released_with_its_section_as_the_tags_text(tree):
    assert release.faults(VERSION, tree, TODAY) == []
    assert release.tag_text(VERSION, tree) == "timerd 7.8.9\n\n### Added\n\n- Tea.\n"


@pytest.mark.parametrize("path", release.PLACES)
def test_a_place_that_says_another_version_or_none_is_named(tree, path):
    text = WRITTEN[path]
    (tree / path).write_text(text.replace("7.8.9", "7.8.10", 1))
    assert release.faults(VERSION, tree, TODAY) == [f"{path} says 7.8.10, not 7.8.9"]
    (tree / path).write_text("")
    assert release.faults(VERSION, tree, TODAY) == [f"{path} says no version, not 7.8.9"]


@pytest.mark.parametrize("old, new, fault", [
    ("## [7.8.9] - 2031-05-04", "## [7.8.9] - 2031-05-05", "[7.8.9] is of 2031-05-05, which is to come"),
    ("## [7.8.9] - 2031-05-04", "## [7.8.9]", "[7.8.9] has nothing where its date belongs: ## [7.8.9] - 2031-05-04"),
    ("## [7.8.9] - 2031-05-04", "## [7.8.9] - soon", "[7.8.9] has soon where its date belongs: ## [7.8.9] - 2031-05-04"),
    ("## [7.8.9] - 2031-05-04\n", "", "there is no section [7.8.9]"),
    ("### Added\n\n- Tea.\n", "", "[7.8.9] is empty"),
    ("## [Unreleased]\n", "## [Unreleased]\n\n- More.\n", "[Unreleased] is not empty: its entries would be in no release"),
    ("## [Unreleased]\n", "## [Unreleased]\n\n## [8.0.0] - 2031-05-01\n\n- Later.\n", "[7.8.9] is not the newest section"),
])
def test_a_changelog_that_is_not_that_of_the_version_is_named(tree, old, new, fault):
    text = WRITTEN["CHANGELOG.md"]
    assert old in text
    (tree / "CHANGELOG.md").write_text(text.replace(old, new, 1))
    assert f"CHANGELOG.md: {fault}" in release.faults(VERSION, tree, TODAY)


def test_a_date_of_the_past_is_good(tree):
    assert release.faults(VERSION, tree, TODAY + datetime.timedelta(days=400)) == []


@pytest.mark.parametrize("version", ["", "v7.8.9", "7.8", "7.8.9-rc1"])
def test_what_is_no_version_is_refused(tree, version):
    fault, = release.faults(version, tree, TODAY)
    assert "is no version" in fault


@pytest.mark.parametrize("says", ["7.8.9", "7.8.8"])
def test_the_program_and_its_manual_are_asked(tmp_path, says):
    """A program that says another version than it has, and is the real one otherwise."""
    program = tmp_path / "timerd"
    program.write_text(f'#!/bin/sh\n[ "$1" = version ] && echo "timerd {says}" && exit\nexec "{binary()}" "$@"\n')
    program.chmod(0o755)
    faults = [f"{what} says timerd {says}, not timerd {VERSION}" for what in (f"the program {program}", "the manual page")]
    assert release.program_faults(str(program), VERSION) == (faults if says != VERSION else [])
