"""What the server tells systemd, and the sockets it takes from it."""

import os
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from client import Client
from faults import DATABASE
from patience import PATIENCE
from server import binary, environment, run
from test_recovery import recovering
from timers import poll

# Moves the descriptors that it inherited to 3 and up, and becomes the binary. LISTEN_PID is the process's, which exec keeps.
ACTIVATE = """
import os, sys
inherited = [int(number) for number in sys.argv[1].split(",")]
for place, descriptor in enumerate(inherited): os.dup2(descriptor, 200 + place)
os.closerange(3, 200)
for place in range(len(inherited)): os.dup2(200 + place, 3 + place)
os.closerange(200, 300)
os.environ["LISTEN_PID"] = str(os.getpid())
os.execv(sys.argv[2], sys.argv[2:])
"""


@pytest.fixture
def short():
    """A directory with a short path: a socket's name is bounded to about 100 bytes."""
    with tempfile.TemporaryDirectory(prefix="td-") as directory:
        yield Path(directory)


class Manager:
    """The socket on which the service manager is told, as systemd has it."""

    def __init__(self, name):
        self.name = str(name)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind("\0" + self.name[1:] if self.name.startswith("@") else self.name)
        self.socket.settimeout(PATIENCE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def next(self, *but):
        """The next message as a dictionary; those that have a key of `but` are passed over."""
        while True:
            message = dict(line.split("=", 1) for line in self.socket.recv(4096).decode().split("\n"))
            if not message.keys() & set(but):
                return message

    def rest(self):
        """What was sent and not yet read."""
        messages = []
        while select.select([self.socket], [], [], 0)[0]:
            messages.append(self.socket.recv(4096).decode())
        return messages


@pytest.fixture(params=["file", "abstract"])
def manager(request, short):
    name = short / "notify" if request.param == "file" else f"@timerd-test-{os.getpid()}-{short.name}"
    with Manager(name) as manager:
        yield manager


def test_a_life_as_the_manager_hears_it(new_server, manager):
    server = new_server(env={"NOTIFY_SOCKET": manager.name})
    assert int(manager.next()["EXTEND_TIMEOUT_USEC"]) >= 10_000_000
    assert manager.next("EXTEND_TIMEOUT_USEC") == {"READY": "1"}
    server.process.send_signal(signal.SIGHUP)
    reloading = manager.next()
    assert reloading.pop("RELOADING") == "1"
    # systemd 253 takes the reload for this one by an instant that is later than its signal.
    assert reloading.keys() == {"MONOTONIC_USEC"} and int(reloading["MONOTONIC_USEC"]) > 0
    assert manager.next() == {"READY": "1"}
    server.stop()
    assert manager.next() == {"STOPPING": "1"} and manager.rest() == []


def test_no_watchdog_is_fed_that_nobody_asked_for(new_server, short):
    with Manager(short / "notify") as manager:
        server = new_server(env={"NOTIFY_SOCKET": manager.name, "WATCHDOG_USEC": "2000", "WATCHDOG_PID": "1"})
        manager.next("EXTEND_TIMEOUT_USEC")
        for _ in range(20):
            server.client.get("/healthz").expect(200)
        server.stop()
        assert manager.rest() == ["STOPPING=1"]


def test_the_watchdog_is_fed_while_the_server_is_healthy(new_server, short):
    with Manager(short / "notify") as manager:
        server = new_server(env={"NOTIFY_SOCKET": manager.name, "WATCHDOG_USEC": "100000"})
        assert manager.next("EXTEND_TIMEOUT_USEC") == {"READY": "1"}
        assert [manager.next() for _ in range(3)] == [{"WATCHDOG": "1"}] * 3
        server.stop()


@pytest.mark.thorough
@pytest.mark.undivided
def test_a_recovery_asks_for_time_while_it_moves(faults, short):
    with Manager(short / "notify") as manager:
        with recovering(faults, short / "s", env={"NOTIFY_SOCKET": manager.name}, delay=20) as (server, client):
            assert all("EXTEND_TIMEOUT_USEC" in manager.next() for _ in range(3))
            client.get("/readyz").expect(503)
            faults.set("read", DATABASE, hold=1)
            poll(lambda: client.get("/healthz").status == 503)
            manager.rest()
            looks = looks_of(server)
            poll(lambda: looks_of(server) > looks + 2)
            assert manager.rest() == []
            faults.clear()
            server.come_up()
            assert manager.next("EXTEND_TIMEOUT_USEC") == {"READY": "1"}


def looks_of(server):
    """How often the thread that tells the manager has woken."""
    threads = Path(f"/proc/{server.pid}/task").iterdir()
    status = next(thread for thread in threads if (thread / "comm").read_text() == "notify\n") / "status"
    return int(re.search(r"^voluntary_ctxt_switches:\s*(\d+)", status.read_text(), re.M)[1])


@pytest.mark.parametrize("interval", ["", "0", "-1", "soon", "99999999999999999999"])
def test_a_watchdog_that_makes_no_sense_is_refused(tmp_path, interval):
    done = run("serve", "--listen", "127.0.0.1:0", "--data", tmp_path / "data", env={"WATCHDOG_USEC": interval})
    assert done.returncode == 78 and "WATCHDOG_USEC" in done.stderr and not (tmp_path / "data").exists(), done


@pytest.mark.parametrize("name", ["/nonexistent/notify", "vsock:2:1", "", "@", "/" + "n" * 200])
def test_a_manager_that_can_not_be_told_stops_nothing(new_server, name):
    server = new_server(env={"NOTIFY_SOCKET": name, "WATCHDOG_USEC": "10000"})
    server.client.get("/readyz").expect(200)
    server.stop()
    assert server.log_text().count("service manager") == 1


def activation(sockets):
    """What starts the binary with `sockets` as its descriptors from 3 on, and its variables."""
    numbers = [listener.fileno() for listener in sockets]
    return [sys.executable, "-c", ACTIVATE, ",".join(map(str, numbers)), binary()], {"LISTEN_FDS": str(len(numbers))}, numbers


def start(new_server, sockets, *flags, listen=(), env=None):
    """A server that was passed `sockets`."""
    command, passed, numbers = activation(sockets)
    return new_server(*flags, listen=listen, command=command, env={**passed, **(env or {})}, pass_fds=numbers, listeners=len(numbers) + len(listen))


def tcp(host="127.0.0.1", family=socket.AF_INET, **options):
    return socket.create_server((host, 0), family=family, **options)


def unix(path):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen()
    return listener


def test_passed_sockets_are_served_in_place_of_the_default(new_server, short):
    with tcp() as first, unix(short / "s") as second:
        port = first.getsockname()[1]
        server = start(new_server, [first, second])
        assert server.addresses == [f"http://127.0.0.1:{port}", f"unix:{short / 's'}"]
        server.client.create(id="shared")
        assert Client(unix=str(short / "s"), host="localhost").timer("shared")["state"] == "running"
        assert run("health", "--data", server.data).returncode == 0
        server.stop()
        assert (short / "s").exists()
        # The socket is its maker's: what connects after the stop waits there for the next start.
        with socket.create_connection(("127.0.0.1", port)) as waiting:
            first.settimeout(PATIENCE)
            first.accept()[0].close()
            assert waiting.recv(1) == b""


def test_all_io_threads_accept_from_a_passed_socket(new_server):
    with tcp() as passed:
        server = start(new_server, [passed], "--io-threads", "3")
        names = [(thread / "comm").read_text() for thread in Path(f"/proc/{server.pid}/task").iterdir()]
        assert sum(name.startswith("http-") for name in names) == 3
        with ThreadPoolExecutor(6) as pool:
            made = list(pool.map(lambda number: server.client.post("/v1/timers", {"after": "1h"}).status, range(120)))
        assert made == [201] * 120
        server.stop()
        # None of them has shut the socket for the others, or for its maker.
        with socket.create_connection(passed.getsockname()):
            passed.settimeout(PATIENCE)
            passed.accept()[0].close()


def test_more_io_threads_than_there_are_descriptors_for_are_refused(tmp_path):
    done = subprocess.run(["prlimit", "--nofile=256", binary(), "serve", "--io-threads", "256", "--listen", "127.0.0.1:0",
                           "--data", tmp_path / "data"], env=environment(), capture_output=True, text=True, timeout=PATIENCE)
    assert (done.returncode, done.stdout) == (78, "")
    assert done.stderr.endswith("timerd: 256 file descriptors are too few for 256 I/O threads\n")


def test_listen_adds_to_them(new_server):
    with tcp() as passed:
        server = start(new_server, [passed], listen=["127.0.0.1:0"])
        assert server.addresses[0] == f"http://127.0.0.1:{passed.getsockname()[1]}" and len(set(server.addresses)) == 2
        for address in server.addresses:
            Client(int(address.rsplit(":", 1)[1])).get("/readyz").expect(200)


def test_the_rules_for_names_are_those_of_any_listener(new_server):
    with tcp() as passed:
        server = start(new_server, [passed])
        server.client.get("/v1/timers", headers={"Host": "evil.example"}).problem(421, "misdirected")


def test_a_socket_for_both_families_takes_ipv4_as_ipv4(new_server):
    with tcp("::", socket.AF_INET6, dualstack_ipv6=True) as passed:
        server = start(new_server, [passed], "--log-level", "debug")
        assert server.addresses == [f"http://[::]:{passed.getsockname()[1]}"]
        server.client.get("/v1/timers").expect(200)
        poll(lambda: "peer=127.0.0.1:" in server.log_text())
        assert run("health", "--data", server.data).stdout == f"http://[::1]:{server.port} is healthy\n"


def test_a_name_without_a_file(new_server, tmp_path):
    name = f"timerd-test-{os.getpid()}"
    with unix("\0" + name) as passed:
        server = start(new_server, [passed])
        assert server.addresses == [f"unix:@{name}"]
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(PATIENCE)
            client.connect("\0" + name)
            client.sendall(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            assert client.recv(4096).startswith(b"HTTP/1.1 200")


def refused(sockets, tmp_path, **env):
    command, passed, numbers = activation(sockets)
    done = subprocess.run([*command, "serve", "--data", str(tmp_path / "data")], env=environment({**passed, **env}), timeout=30,
                          pass_fds=numbers, capture_output=True, text=True)
    assert done.returncode == 78 and done.stdout == "" and done.stderr.count("\n") == 1, done
    assert not (tmp_path / "data").exists()
    return done.stderr


def test_what_is_no_listening_stream_socket_is_refused(tmp_path):
    with socket.socket() as unbound, socket.socket(type=socket.SOCK_DGRAM) as datagram, open("/dev/null") as file, tcp() as good:
        assert "socket 3: it does not listen" in refused([unbound], tmp_path)
        assert "socket 3: no stream socket" in refused([datagram], tmp_path)
        assert "socket 3: no socket" in refused([file], tmp_path)
        assert "socket 4: it does not listen" in refused([good, unbound], tmp_path)
        # A descriptor that was not passed may be one that the server has opened for itself.
        assert "the passed socket 4: " in refused([good], tmp_path, LISTEN_FDS="2")


@pytest.mark.parametrize("count", ["", "-1", "many", "65", "4294967299", "3x"])
def test_a_number_of_sockets_that_makes_no_sense_is_refused(tmp_path, count):
    with tcp() as good:
        assert "LISTEN_FDS" in refused([good], tmp_path, LISTEN_FDS=count)


def test_sockets_for_another_process_are_left_alone(new_server):
    server = new_server(env={"LISTEN_FDS": "1", "LISTEN_PID": "1"})
    server.client.get("/readyz").expect(200)
