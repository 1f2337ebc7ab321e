"""Namespaces of Linux that a test makes for a process of its own."""

import os
import shutil
import subprocess


def can_unshare(*flags):
    """Whether unshare(1) makes a namespace by these flags here: that needs root, and a sandbox may refuse it."""
    return os.geteuid() == 0 and shutil.which("unshare") and subprocess.run(
        ["unshare", *flags, "true"], capture_output=True).returncode == 0
