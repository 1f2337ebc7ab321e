"""The programs that the documents have recipes for, as Debian packages them, and recipes changed to run in a test."""

import os
import shutil

from server import ROOT, environment

# Where Scripts/setup.sh --tests puts what is not in PATH.
UNPACKED = ROOT / ".build/recipes"


def tool(name):
    """The path of `nginx`, `caddy`, `hitch` or `logrotate`."""
    found = shutil.which(name, path=f"{UNPACKED}/usr/sbin:{UNPACKED}/usr/bin:{os.environ['PATH']}:/usr/sbin")
    assert found, f"there is no {name}: Scripts/setup.sh --tests gets it"
    return found


def tool_environment(extra=None):
    """An environment in which the programs find the libraries that were unpacked with them."""
    libraries = ":".join(map(str, UNPACKED.glob("usr/lib/*-linux-gnu")))
    return environment({"LD_LIBRARY_PATH": libraries, **(extra or {})})


def changed(text, *pairs):
    """The text with the one place that each old text has replaced."""
    for old, new in pairs:
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in\n{text}"
        text = text.replace(old, str(new))
    return text
