"""Faults of the disk, set and lifted while the server runs: the counterpart of faults.c, which has the same layout."""

import ctypes
import mmap
import shutil
import subprocess
from pathlib import Path

DATABASE, WAL, SHM, OTHER = 1, 2, 4, 8
ANY = DATABASE | WAL | SHM | OTHER
SOURCE = Path(__file__).with_suffix(".c")


def build(directory, source=SOURCE):
    """Compiles the library into this directory and returns its path."""
    library = Path(directory) / source.with_suffix(".so").name
    compiler = shutil.which("gcc") or shutil.which("clang")
    assert compiler, f"neither gcc nor clang is there to compile {source.name}"
    subprocess.run([compiler, "-Wall", "-Wextra", "-Werror", "-O2", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return library


class Rule(ctypes.Structure):
    """What happens to one kind of call; faults.c says what each field means."""
    _fields_ = [(name, ctypes.c_int32) for name in
                ("error", "files", "every", "partial", "lose", "delay", "hold", "calls", "failed", "waiting")]


class Control(ctypes.Structure):
    _fields_ = [(call, Rule) for call in ("write", "sync", "truncate", "open", "read")]


class Faults:
    """The faults of one data directory. `env` is the environment of the server that gets them."""

    def __init__(self, library, directory):
        self.data = Path(directory).resolve() / "data"
        path = Path(directory) / "faults"
        path.write_bytes(bytes(ctypes.sizeof(Control)))
        self.env = {"LD_PRELOAD": str(library), "FAULTS_CONTROL": str(path), "FAULTS_UNDER": str(self.data)}
        with open(path, "r+b") as file:
            self.control = Control.from_buffer(mmap.mmap(file.fileno(), 0))

    def rule(self, call):
        return getattr(self.control, call)

    def set(self, call, files=DATABASE | WAL, **fields):
        """From now on calls of this kind on these files get this fault in place of any set before."""
        rule = self.rule(call)
        for name in ("error", "partial", "delay", "hold"):
            setattr(rule, name, 0)
        rule.files, rule.every, rule.calls, rule.failed = files, 1, 0, 0
        for name, value in fields.items():
            setattr(rule, name, value)

    def clear(self):
        """Lifts every fault."""
        for call, _ in Control._fields_:
            self.set(call)
