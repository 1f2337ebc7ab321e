"""deploy/prometheus and deploy/grafana: rules, alerts and queries, asked of a real Prometheus that scrapes a real server."""

import json
import re
import threading
from contextlib import ExitStack

import pytest
import yaml

from documents import blocks
from keys import protected
from postgres import Postgres
from prometheus import DEPLOY, Prometheus, promtool
from receiver import Answer, Receiver
from server import ROOT, Server, run
from timers import poll

DASHBOARD = json.loads((ROOT / "deploy/grafana/timerd.json").read_text())
TOKEN = "a-token-of-the-tests"
# What a query may take until there are samples for its rate.
DATA_TIMEOUT = 40.0
# What the kubelet and Prometheus itself tell, not timerd.
OTHERS = {"kubelet_volume_stats_available_bytes", "kubelet_volume_stats_capacity_bytes", "up"}


# What the load makes alarm, and what a machine that is busy with other tests may.
MEANT = {"TimerdWatchdogsStalled", "TimerdWebhookDeadLetters"}
SLOW = {"TimerdFiresOverdue", "TimerdFiresLate", "TimerdLoopStalled", "TimerdCommitsSlow", "TimerdDown", "TimerdStandbyLagging",
        "TimerdStandbyMissing"}


def rules(name):
    return [rule for group in yaml.safe_load((DEPLOY / name).read_text())["groups"] for rule in group["rules"]]


def queries():
    """{panel and legend: expression} of the dashboard, its variables replaced."""
    found = {}
    for panel in DASHBOARD["panels"]:
        for target in panel.get("targets", []):
            found[f"{panel['id']} {panel['title']}: {target['legendFormat']}"] = target["expr"]
    found |= {f"annotation {note['name']}": note["expr"] for note in DASHBOARD["annotations"]["list"]}
    values = {"$job": "timerd", "$instance": ".*", "$__rate_interval": "5s"}
    return {name: re.sub(r"\$\w+", lambda variable: values[variable[0]], text) for name, text in found.items()}


class Load:
    """Does a little of everything, again and again until it is stopped."""

    def __init__(self, client, good, bad):
        self.client, self.good, self.bad, self.stopping = client, good, bad, threading.Event()
        self.thread, self.failure = threading.Thread(target=self._run), None

    def __enter__(self):
        self.client.create(id="dog", watchdog="10ms")
        self.client.create(id="beat", every="100ms", webhook={"url": self.good})
        self.client.create(id="lost", every="1h", webhook={"url": self.bad, "retry": {"maxAttempts": 1}})
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        self.thread.join(30)

    def _run(self):
        try:
            while not self.stopping.wait(0.05):
                self.client.create(after="10ms", retain="1s")
                self.client.command("lost", "fire").expect(200)
                self.client.command("lost", "resume").expect(409)
        except Exception as failure:  # told by the test, not by a thread that nobody asks
            self.failure = failure


def pair(stack, tokens):
    """A server that has the timers of a database, and a warm standby that forwards to it."""
    database = stack.enter_context(Postgres()).schema("pair")
    flags = ["--store", database, "--migrate", "--token-file", tokens, "--cluster-listen", "127.0.0.1:0", "--cluster-token-file", tokens]
    first, second = (stack.enter_context(Server(*flags, token=TOKEN)) for _ in range(2))
    poll(lambda: second.client.get("/readyz").status == 200, timeout=DATA_TIMEOUT)
    return first, second


@pytest.fixture(scope="module")
def scraped(tmp_path_factory):
    """Prometheus, while it scrapes a server with tokens that is under load, and two servers that share a database."""
    tokens = tmp_path_factory.mktemp("token") / "token"
    tokens.write_text(TOKEN)
    with ExitStack() as stack:
        listen = ["127.0.0.1:0", "https://127.0.0.1:0"]
        server = stack.enter_context(Server("--token-file", tokens, token=TOKEN, listen=listen))
        good = stack.enter_context(Receiver(answer=Answer(200, {"Timer-Command": "reschedule=100ms"})))
        bad = stack.enter_context(Receiver(answer=500))
        load = stack.enter_context(Load(server.client, good.url(), bad.url()))
        first, second = pair(stack, tokens)
        targets = [f"127.0.0.1:{each.port}" for each in (server, first, second)]
        yield stack.enter_context(Prometheus(*targets, token_file=tokens))
        assert load.failure is None, load.failure


def documented():
    """The scrape of a server that asks for keys, as docs/ACCESS.md shows it."""
    text, = [text for _, text in blocks(ROOT / "docs/ACCESS.md", "yaml") if "scrape_configs" in text]
    scrape, = yaml.safe_load(text)["scrape_configs"]
    return scrape


def test_a_read_key_scrapes_until_it_is_revoked(tmp_path):
    """As docs/ACCESS.md has it: the command that makes the key, and the scrape that reads its file."""
    deployed, = yaml.safe_load((DEPLOY / "prometheus.yaml").read_text())["scrape_configs"]
    assert documented() == {**deployed, "authorization": {"credentials_file": "/etc/prometheus/timerd-key"}}
    with protected(Server, tmp_path).server as server:
        done = run("keys", "create", "prometheus", "--scope", "read", "--server", server.url, env={"TIMERD_TOKEN_FILE": str(tmp_path / "tokens")})
        assert done.returncode == 0, done
        (tmp_path / "timerd-key").write_text(done.stdout)
        with Prometheus(f"127.0.0.1:{server.port}", token_file=tmp_path / "timerd-key") as prometheus:
            def is_up(value):
                return lambda: [sample["value"][1] for sample in prometheus.query('up{job="timerd"}')] == [value]
            poll(is_up("1"), timeout=DATA_TIMEOUT, pause=0.2)
            poll(lambda: prometheus.query("timerd_timers"), timeout=DATA_TIMEOUT, pause=0.2)
            key, = server.client.get("/v1/keys").expect(200).json["keys"]
            assert (key["name"], key["scopes"]) == ("prometheus", ["read"])
            server.client.delete(f"/v1/keys/{key['id']}").expect(204)
            poll(is_up("0"), timeout=DATA_TIMEOUT, pause=0.2)
            target, = prometheus.ask("targets")["activeTargets"]
            assert "401" in target["lastError"], target


def test_promtool_accepts_the_rules_and_the_configuration():
    promtool("check", "rules", "--lint-fatal", DEPLOY / "rules.yaml", DEPLOY / "alerts.yaml")
    promtool("check", "config", DEPLOY / "prometheus.yaml")


@pytest.mark.parametrize("name", ["rules_test.yaml", "alerts_test.yaml"])
def test_the_rules_say_what_their_tests_expect(name):
    promtool("test", "rules", DEPLOY / "tests" / name)


def test_every_alert_fires_in_a_test_and_is_silent_in_one():
    tests = yaml.safe_load((DEPLOY / "tests/alerts_test.yaml").read_text())["tests"]
    checks = [check for test in tests for check in test["alert_rule_test"]]
    for alert in (rule["alert"] for rule in rules("alerts.yaml")):
        assert {bool(check["exp_alerts"]) for check in checks if check["alertname"] == alert} == {True, False}, alert


def test_every_rule_is_tested():
    tests = yaml.safe_load((DEPLOY / "tests/rules_test.yaml").read_text())["tests"]
    tested = {check["expr"] for test in tests for check in test["promql_expr_test"]}
    assert {rule["record"] for rule in rules("rules.yaml")} == tested


@pytest.mark.parametrize("name, expression", queries().items())
def test_each_query_of_the_dashboard_shows_something(scraped, name, expression):
    if name.startswith("annotation"):
        assert scraped.query(expression) == [], "a start is shown where there was one, and here there was none"
    else:
        poll(lambda: scraped.query(expression), timeout=DATA_TIMEOUT, pause=0.2)


def test_the_variables_of_the_dashboard_find_the_server(scraped):
    for variable in DASHBOARD["templating"]["list"]:
        if variable["type"] != "query":
            continue
        series, label = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["definition"]).groups()
        poll(lambda: scraped.ask(f"label/{label}/values", **{"match[]": series.replace("$job", "timerd")}),
             timeout=DATA_TIMEOUT, pause=0.2)


@pytest.mark.parametrize("rule", [rule["record"] for rule in rules("rules.yaml")])
def test_each_recorded_rule_has_a_value(scraped, rule):
    poll(lambda: scraped.query(rule), timeout=DATA_TIMEOUT, pause=0.2)


def test_every_metric_that_an_alert_names_is_there(scraped):
    named = set()
    for rule in rules("rules.yaml") + rules("alerts.yaml"):
        named |= set(re.findall(r"\b((?:timerd|process|kubelet|instance:timerd)_\w+(?::\w+)?|up)(?=[{[])", rule["expr"]))
    assert len(named) > 15, named
    for name in named - OTHERS:
        poll(lambda: scraped.query(f'{name}{{job="timerd"}}'), timeout=DATA_TIMEOUT, pause=0.2)


def test_no_rule_fails_and_what_the_load_breaks_alarms(scraped):
    def alarms():
        return {alert["labels"]["alertname"] for alert in scraped.ask("alerts")["alerts"]}

    poll(lambda: MEANT <= alarms(), timeout=DATA_TIMEOUT, pause=0.2)
    assert alarms() - SLOW == MEANT
    states = [rule for group in scraped.ask("rules")["groups"] for rule in group["rules"]]
    assert len(states) == len(rules("rules.yaml")) + len(rules("alerts.yaml"))
    assert {(rule["health"], rule.get("lastError", "")) for rule in states} == {("ok", "")}
