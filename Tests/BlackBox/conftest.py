"""Fixtures: one server shared by all cheap tests, a factory for tests that need their own, and a browser's pages."""

import itertools
import os
from contextlib import ExitStack

import pytest

import faults as disk_faults
import secrecy
import secure
from browser import Browser, Page
from postgres import Postgres, base
from receiver import Receiver
from relay import Relay
from server import FORWARDED, ON_POSTGRES, Server, binary, shared_postgres

names = itertools.count(1)
outcome = pytest.StashKey()


def pytest_sessionstart(session):
    if not session.config.option.collectonly:
        try:
            binary()
        except FileNotFoundError as missing:
            pytest.exit(str(missing), returncode=2)


def pytest_configure(config):
    # Before workers are started, which are told of it.
    base()
    if secure.SECURED:
        # What curl, requests, Node.js and Python's own clients trust.
        for name in ("CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"):
            os.environ[name] = str(secure.authority().file)


def pytest_sessionfinish():
    if shared_postgres.cache_info().currsize:
        shared_postgres().remove()


def pytest_collection_modifyitems(items):
    """Leaves out what needs the log of a single server, where servers share a database. In a run with several workers, the
    tests of a file that use pages share a worker, so that few workers start a browser.
    """
    for item in items:
        if ON_POSTGRES and item.get_closest_marker("undivided"):
            item.add_marker(pytest.mark.skip(reason="needs the log of a single server"))
        if ON_POSTGRES and (mark := item.get_closest_marker("not_on_postgres")):
            item.add_marker(pytest.mark.skip(reason=mark.args[0]))
        if FORWARDED and (mark := item.get_closest_marker("not_forwarded")):
            item.add_marker(pytest.mark.skip(reason=mark.args[0]))
        if secure.SECURED and (mark := item.get_closest_marker("not_by_tls")):
            item.add_marker(pytest.mark.skip(reason=mark.args[0]))
        if "browser" in item.fixturenames:
            item.add_marker(pytest.mark.xdist_group(item.path.stem))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Lets fixtures know how their test went."""
    report = yield
    if report.when == "call":
        item.stash[outcome] = report
    return report


@pytest.fixture(autouse=True)
def secrets_are_nowhere():
    """With TEST_SECRETS=1: fails where what the test was given holds a secret."""
    yield
    secrecy.is_over()


@pytest.fixture(scope="session")
def server():
    """The shared server. Tests on it use ids and labels of their own and never stop it."""
    with Server() as server:
        yield server
        assert server.process.poll() is None, f"the shared server died: {server.log_text()[-4000:]}"


@pytest.fixture
def api(server):
    return server.client


@pytest.fixture
def new_server():
    """A factory of servers that end with the test: new_server("--heartbeat", "100ms", listen=[…], data=…)."""
    with ExitStack() as stack:
        def start(*flags, **options):
            return stack.enter_context(Server(*flags, **options))
        yield start


@pytest.fixture(scope="module")
def postgres():
    """A PostgreSQL server for the tests of a file, which may stop it as long as they start it again."""
    with Postgres() as server:
        yield server


@pytest.fixture
def database(postgres):
    """The URI of an empty schema of its own, for --store."""
    return postgres.schema(f"s{os.getpid()}_{next(names)}")


@pytest.fixture
def new_node(new_server, database):
    """A factory of servers that share `database`: the first one serves."""
    return lambda *flags, **options: new_server("--store", database, "--migrate", *flags, **options)


@pytest.fixture
def receiver():
    """A receiver of webhooks for one test, on 127.0.0.1."""
    with Receiver() as receiver:
        yield receiver


@pytest.fixture(scope="session")
def fault_library(tmp_path_factory):
    """faults.c, compiled."""
    return disk_faults.build(tmp_path_factory.mktemp("faults"))


@pytest.fixture
def faults(fault_library, tmp_path):
    """The faults that servers of `faulty_server` meet."""
    if ON_POSTGRES:
        pytest.skip("these are faults of SQLite's files")
    return disk_faults.Faults(fault_library, tmp_path)


@pytest.fixture
def faulty_server(new_server, faults):
    """A factory of servers, all on one data directory, whose disk has `faults`."""
    def start(*flags):
        return new_server(*flags, data=faults.data, env=faults.env)
    return start


@pytest.fixture(scope="session")
def browser():
    """One Chromium for the whole run, started by the first test that wants a page."""
    with Browser() as browser:
        yield browser


@pytest.fixture
def new_relay():
    """A factory of relays to a server's port, which end with the test."""
    with ExitStack() as stack:
        def start(port):
            if port in secure.PORTS:
                pytest.skip("a relay reads what it passes on")
            return stack.enter_context(Relay(port))
        yield start


@pytest.fixture
def page(browser, new_server, new_relay, request):
    """A page for one test. The test fails on a console error that it does not expect.

    It is closed before the test's servers and relays are, so that their end is no error.
    """
    page = Page(browser, request.node.name)
    try:
        yield page
        complaints = page.complaints()
        if complaints or outcome not in request.node.stash or request.node.stash[outcome].failed:
            page.shot(f"failed-{page.name}")
        assert not complaints, "the console has errors:\n" + "\n".join(complaints)
    finally:
        page.close()


@pytest.fixture
def name():
    """A word no other test uses, for ids and label values."""
    return f"t{os.getpid()}-{next(names)}"
