"""What an installation puts beside the program: the manual page, completions and unit files."""

import re
import shutil
import subprocess

import pytest

from server import ROOT, binary, run

UNITS = ROOT / "deploy/systemd"
# How exposed systemd may find the service, of 10.
MOST_EXPOSED = 2.0


@pytest.fixture(scope="module")
def manual():
    """The manual page as roff."""
    return subprocess.run([ROOT / "Scripts/manpage.py", binary()], capture_output=True, text=True, timeout=30, check=True).stdout


def shown(manual):
    """The manual page as a reader sees it, on one line."""
    if not shutil.which("groff"):
        pytest.skip("there is no groff to format the page")
    text = subprocess.run(["groff", "-man", "-Tutf8", "-Kutf8", "-P-c", "-ww"], input=manual, capture_output=True, text=True, timeout=30)
    assert text.returncode == 0 and text.stderr == "", text.stderr
    return " ".join(re.sub(".\b|‐\\s+", "", text.stdout).split())


def test_the_manual_has_every_section_command_and_option(manual):
    sections = re.findall(r'^\.SH "?([A-Z ]+)', manual, re.M)
    assert sections == ["NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "ENVIRONMENT", "FILES", "SIGNALS", "EXIT STATUS", "SEE ALSO"]
    listed = set(re.findall(r'^\.SS "timerd (\w+)"', manual, re.M))
    assert listed == set(re.findall(r"^  ([a-z]\w*)  ", run("--help").stdout, re.M))
    for command in ("serve", "create", "health"):
        part = manual.split(f'.SS "timerd {command}"')[1].split(".SS ")[0].replace("\\-", "-")
        options = set(re.findall(r"^  (--[\w-]+)", run(command, "--help").stdout, re.M)) - {"--help", "--version"}
        assert options and all(f"\\fB{option}\\fR" in part for option in options), options


def test_the_manual_is_proper_roff_and_names_variables_files_and_exits(manual):
    text = shown(manual)
    for word in ("TIMERD_TOKEN_FILE --token-file.", "NOTIFY_SOCKET", "LISTEN_FDS", "/etc/default/timerd", "SIGHUP", "78 Configuration",
                 "timerd serve --config /etc/timerd.toml --check"):
        assert word in text, word


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completions_are_scripts(shell):
    script = run("--generate-completion-script", shell)
    assert script.returncode == 0 and "suspend" in script.stdout
    if not shutil.which(shell):
        pytest.skip(f"there is no {shell} to read the script")
    assert subprocess.run([shell, "-n"], input=script.stdout, text=True, capture_output=True, timeout=30).returncode == 0


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="there is no systemd-analyze")
def test_the_service_is_little_exposed(tmp_path):
    done = subprocess.run(["systemd-analyze", "security", "--offline=true", UNITS / "timerd.service"], capture_output=True, text=True,
                          timeout=30)
    level = float(re.search(r"Overall exposure level for timerd.service: ([\d.]+)", done.stdout)[1])
    assert level < MOST_EXPOSED, done.stdout


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="there is no systemd-analyze")
def test_the_units_are_understood(tmp_path):
    for unit in UNITS / "timerd.service", UNITS / "timerd.socket":
        text = unit.read_text().replace("/usr/bin/timerd", binary())
        (tmp_path / unit.name).write_text("\n".join(line for line in text.split("\n") if not line.startswith("Documentation=")))
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", *tmp_path.glob("timerd.*")], capture_output=True, text=True, timeout=30)
    assert done.returncode == 0 and "timerd" not in done.stderr, done.stderr


def test_the_service_says_what_the_program_does():
    """The unit's answer to exit codes, and its time to stop, are those of the program."""
    unit = (UNITS / "timerd.service").read_text()
    assert "Type=notify\n" in unit and "RestartPreventExitStatus=64 78\n" in unit
    drain = int(re.search(r"--drain.*?default (\d+)s", " ".join(run("serve", "--help").stdout.split()))[1])
    assert int(re.search(r"TimeoutStopSec=(\d+)s", unit)[1]) > drain


def files(root):
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}


@pytest.mark.thorough
def test_make_install_puts_everything_in_its_place_and_takes_it_away(tmp_path):
    make = ["make", "--no-print-directory", f"BINARY={binary()}", "PREFIX=/opt/timers", f"DESTDIR={tmp_path}"]
    subprocess.run([*make, "install"], cwd=ROOT, check=True, capture_output=True, timeout=50)
    root = tmp_path / "opt/timers"
    assert files(root) >= {
        "bin/timerd", "share/man/man1/timerd.1", "share/bash-completion/completions/timerd", "share/zsh/site-functions/_timerd",
        "share/fish/vendor_completions.d/timerd.fish", "lib/systemd/system/timerd.service", "lib/systemd/system/timerd.socket",
        "lib/sysusers.d/timerd.conf", "share/doc/timerd/README.md", "share/doc/timerd/LICENSE"}
    assert "ExecStart=/opt/timers/bin/timerd serve\n" in (root / "lib/systemd/system/timerd.service").read_text()
    assert all(path.stat().st_size for path in root.rglob("*") if path.is_file())
    done = subprocess.run([root / "bin/timerd", "version"], capture_output=True, text=True, timeout=30)
    assert done.stdout == run("version").stdout
    (root / "bin/other").write_text("of another package")
    subprocess.run([*make, "uninstall"], cwd=ROOT, check=True, capture_output=True, timeout=50)
    assert files(root) == {"bin/other"}
