"""A real Prometheus that scrapes what it is told to, with the rules of deploy/prometheus."""

import os
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

import requests
import yaml

from patience import PATIENCE
from server import ROOT
from timers import poll

DEPLOY = ROOT / "deploy/prometheus"
# Where Scripts/setup.sh --deploy puts what is not in PATH.
UNPACKED = ROOT / ".build/prometheus/usr/bin"


def tool(name):
    """The path of `prometheus` or `promtool`."""
    found = shutil.which(name, path=f"{UNPACKED}:{os.environ['PATH']}")
    assert found, f"there is no {name}: Scripts/setup.sh --deploy gets it"
    return found


def promtool(*arguments):
    """Runs promtool to its end. Returns what it said; fails where it found something wrong."""
    done = subprocess.run([tool("promtool"), *map(str, arguments)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


class Prometheus:
    """A context manager; the process ends with it. It scrapes `targets` each second, and keeps what it read for the test."""

    def __init__(self, *targets, token_file=None):
        self.directory = Path(tempfile.mkdtemp(prefix="prometheus-"))
        configuration = yaml.safe_load((DEPLOY / "prometheus.yaml").read_text())
        configuration["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
        configuration["rule_files"] = [str(DEPLOY / name) for name in configuration["rule_files"]]
        scrape, = configuration["scrape_configs"]
        scrape["static_configs"] = [{"targets": list(targets)}]
        if token_file:
            scrape["authorization"] = {"credentials_file": str(token_file)}
        (self.directory / "prometheus.yaml").write_text(yaml.safe_dump(configuration))
        self.process = None

    def __enter__(self):
        # Prometheus says nowhere which port it got of 0, so the test looks for a free one.
        with socket.create_server(("127.0.0.1", 0)) as free:
            address = f"127.0.0.1:{free.getsockname()[1]}"
        self.url = f"http://{address}"
        command = [tool("prometheus"), f"--config.file={self.directory / 'prometheus.yaml'}",
                   f"--storage.tsdb.path={self.directory / 'data'}", f"--web.listen-address={address}"]
        if setpriv := shutil.which("setpriv"):
            command = [setpriv, "--pdeathsig", "KILL", "--", *command]
        self.log = open(self.directory / "log", "w+b")
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log)
        poll(self._is_ready, timeout=PATIENCE)
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait(PATIENCE)
        self.log.close()
        shutil.rmtree(self.directory, ignore_errors=True)

    def _is_ready(self):
        assert self.process.poll() is None, f"Prometheus did not come up: {self.log_text()}"
        try:
            return requests.get(f"{self.url}/-/ready", timeout=PATIENCE).status_code == 200
        except requests.ConnectionError:
            return False

    def log_text(self):
        return (self.directory / "log").read_text(errors="replace")[-4000:]

    def ask(self, path, **query):
        """The data of an answer of the HTTP API."""
        answer = requests.get(f"{self.url}/api/v1/{path}", params=query, timeout=PATIENCE).json()
        assert answer["status"] == "success", answer
        return answer["data"]

    def query(self, expression):
        """The samples of an instant query, without those that are no number."""
        samples = self.ask("query", query=expression)["result"]
        return [sample for sample in samples if sample["value"][1] != "NaN"]
