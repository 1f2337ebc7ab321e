"""Clients that two generators make from openapi.yaml, against the real server."""

import importlib
import json
import os
import re
import subprocess
import sys

import pytest

import contract
import generators
from keys import TOKEN, protected
from server import ROOT

# Generating takes ten seconds, by openapi-generator thirty: one worker does it for all of these tests.
pytestmark = [pytest.mark.xdist_group("clients"), pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where the clients are generated, and imported from."""
    into = tmp_path_factory.mktemp("clients")
    sys.path[:0] = [str(into), str(into / "generated")]
    yield into
    del sys.path[:2]


@pytest.fixture(scope="module")
def imported(folder):
    """Imports modules of openapi-python-client's client, which is generated first."""
    said = generators.openapi_python_client(folder)
    assert "WARNING" not in said, said
    return importlib.import_module


# openapi-python-client: a function an operation, answers of any documented status as models.


@pytest.fixture
def client(imported, api):
    with imported("timerd_client").Client(base_url=api.url) as client:
        yield client


@pytest.fixture
def models(imported):
    return imported("timerd_client.models")


@pytest.fixture
def ask(imported, client):
    """Calls an operation, as ask("timers.create_timer", body=…), and returns the model of its answer."""
    def ask(operation, *arguments, **options):
        answer = imported(f"timerd_client.api.{operation}").sync_detailed(*arguments, client=client, **options)
        assert answer.parsed is not None or answer.status_code == 204, answer
        return answer.parsed
    return ask


@pytest.mark.thorough
def test_every_operation_is_a_function(imported):
    for path, item in contract.published()["paths"].items():
        for method, operation in item.items():
            if method != "parameters":
                snake = "".join("_" + letter.lower() if letter.isupper() else letter for letter in operation["operationId"])
                imported(f"timerd_client.api.{operation['tags'][0]}.{snake}")


def test_openapi_python_client_creates_reads_lists_and_patches(ask, models, name):
    labels = models.Labels.from_dict({"run": name})
    webhook = models.Webhook(url="http://127.0.0.1:1/", types=[models.DeliveredType.COMPLETED])
    made = ask("timers.create_timer", body=models.TimerCreate(id=name, every="1h", labels=labels, payload={"cup": ["blue"]}, webhook=webhook))
    assert (made.id, made.kind, made.labels["run"], made.payload) == (name, models.Kind.REPEATING, name, {"cup": ["blue"]})
    assert made.webhook.url == "http://127.0.0.1:1/" and made.max_fires is None
    assert ask("timers.get_timer", name).to_dict()["createdAt"] == made.created_at.isoformat()
    page = ask("timers.list_timers", label=[f"run={name}"], state=[models.State.RUNNING])
    assert [timer.id for timer in page.timers] == [name] and page.next_ is None
    patched = ask("timers.patch_timer", name, body=models.TimerPatch(every=None, after="2h", webhook=None))
    assert (patched.kind, patched.after, patched.webhook, patched.payload) == (models.Kind.ONESHOT, "2h", None, {"cup": ["blue"]})


@pytest.mark.thorough
def test_openapi_python_client_puts_each_kind(ask, models, name):
    for kind, fields in {"ONESHOT": {"after": "1h"}, "CRON": {"cron": "@daily"}, "WATCHDOG": {"watchdog": "1h"}}.items():
        timer = ask("timers.put_timer", name, body=models.TimerCreate(**fields))
        assert timer.kind == models.Kind[kind]
        again = ask("timers.put_timer", name, body=models.TimerCreate(at=timer.created_at.replace(year=2040)))
        assert again.kind == models.Kind.ONESHOT and again.at.year == 2040


@pytest.mark.thorough
def test_openapi_python_client_meets_a_typed_409(ask, models, name):
    ask("timers.create_timer", body=models.TimerCreate(id=name, after="1h"))
    assert ask("commands.suspend_timer", name).state == models.State.SUSPENDED
    refused = ask("commands.suspend_timer", name)
    assert isinstance(refused, models.Problem) and refused.status == 409 and refused.type_ == "/problems/illegal-transition"
    assert set(refused.allowed) == {models.Command.RESUME, models.Command.CANCEL, models.Command.RESCHEDULE}


@pytest.mark.thorough
def test_openapi_python_client_does_many_at_once(ask, models, name):
    lines = [models.TimerCreate(id=name, after="1h", labels=models.Labels.from_dict({"run": name})),
             models.BatchCommand(command=models.BatchCommandCommand.SUSPEND, id=name), models.BatchCommand(command=models.BatchCommandCommand.KICK, id=name)]
    results = ask("many.batch", body=lines)
    assert [result.status for result in results] == [201, 200, 409]
    assert results[1].timer.state == models.State.SUSPENDED and results[2].problem.type_ == "/problems/not-a-watchdog"
    counts = ask("many.bulk", models.BulkAction.CANCEL, body=models.BulkSelector(labels=models.Labels.from_dict({"run": name})))
    assert (counts.matched, counts.changed, counts.skipped) == (1, 1, 0)


@pytest.mark.thorough
def test_openapi_python_client_follows_events(ask, client, imported, models, name):
    ask("timers.create_timer", body=models.TimerCreate(id=name, after="1h"))
    request = imported("timerd_client.api.events.timer_events")._get_kwargs(name, since="0", limit=4)
    with client.get_httpx_client().stream(**request) as answer:
        assert answer.status_code == 200
        ask("commands.fire_timer", name)
        *_, fired, completed = [json.loads(line) for line in answer.iter_lines() if line]
    assert models.FiredEvent.from_dict(fired).reason == models.FiredEventReason.MANUAL
    assert models.CompletedEvent.from_dict(completed).version == models.FiredEvent.from_dict(fired).version


@pytest.fixture
def guarded(new_server, tmp_path):
    """The keys of a server with a token file."""
    return protected(new_server, tmp_path)


def test_openapi_python_client_has_a_key(imported, models, guarded):
    """It makes one with a token, and uses it until it is revoked: 401 and 403 are typed."""
    def as_(secret):
        return imported("timerd_client").AuthenticatedClient(base_url=guarded.server.url, token=secret)

    def ask(client, operation, *arguments, **options):
        return imported(f"timerd_client.api.{operation}").sync(*arguments, client=client, **options)
    with as_(TOKEN) as root:
        made = ask(root, "keys.create_key", body=models.NewKey(name="reader", scopes=[models.Scope.READ]))
        ask(root, "timers.create_timer", body=models.TimerCreate(id="tea", after="1h"))
        with as_(made.secret) as client:
            own = ask(client, "keys.get_own_key")
            assert (own.id, own.name, own.scopes, own.id_prefix) == (made.id, "reader", [models.Scope.READ], None)
            assert [timer.id for timer in ask(client, "timers.list_timers").timers] == ["tea"]
            refused = ask(client, "commands.suspend_timer", "tea")
            assert isinstance(refused, models.Problem) and (refused.status, refused.scope) == (403, models.Scope.WRITE)
            assert ask(root, "keys.revoke_key", made.id) is None
            refused = ask(client, "timers.get_timer", "tea")
            assert isinstance(refused, models.Problem) and (refused.status, refused.type_) == (401, "/problems/unauthorized")


# openapi-generator: a method an operation, refusals as exceptions.


@pytest.fixture(scope="module")
def generated(folder):
    generators.openapi_generator("python", folder / "generated", "--package-name", "timerd_api")
    importlib.invalidate_caches()  # the folder was not there when modules were first looked for
    return importlib.import_module("timerd_api")


@pytest.fixture
def connection(generated, api):
    with generated.ApiClient(generated.Configuration(host=api.url)) as connection:
        yield connection


@pytest.mark.heavy
@pytest.mark.parametrize("schema", ["Timer", "TimerCreate", "TimerPatch", "Webhook", "Problem"])
def test_both_models_have_every_member(generated, models, schema):
    wanted = set(contract.published()["components"]["schemas"][schema]["properties"])
    assert {field.alias or name for name, field in getattr(generated, schema).model_fields.items()} == wanted
    assert len(getattr(models, schema).__attrs_attrs__) == len(wanted) + 1  # and one for what is not known


@pytest.mark.heavy
def test_openapi_generator_creates_reads_lists_and_patches(generated, connection, name):
    timers = generated.TimersApi(connection)
    webhook = generated.Webhook(url="http://127.0.0.1:1/", types=[generated.DeliveredType.COMPLETED])
    made = timers.create_timer(generated.TimerCreate(id=name, every="1h", labels={"run": name}, payload={"cup": ["blue"]}, webhook=webhook))
    assert (made.id, made.kind, made.labels, made.payload) == (name, generated.Kind.REPEATING, {"run": name}, {"cup": ["blue"]})
    assert made.webhook.url == "http://127.0.0.1:1/" and made.max_fires is None
    assert timers.get_timer(name).created_at == made.created_at
    page = timers.list_timers(label=[f"run={name}"], state=[generated.State.RUNNING])
    assert [timer.id for timer in page.timers] == [name] and page.next is None
    patched = timers.patch_timer(name, generated.TimerPatch(every=None, after="2h", webhook=None))
    assert (patched.kind, patched.after, patched.webhook, patched.payload) == (generated.Kind.ONESHOT, "2h", None, {"cup": ["blue"]})


@pytest.mark.heavy
def test_openapi_generator_meets_a_typed_409(generated, connection, name):
    generated.TimersApi(connection).create_timer(generated.TimerCreate(id=name, after="1h"))
    commands = generated.CommandsApi(connection)
    assert commands.suspend_timer(name).state == generated.State.SUSPENDED
    with pytest.raises(generated.exceptions.ConflictException) as refused:
        commands.suspend_timer(name)
    problem = refused.value.data
    assert isinstance(problem, generated.Problem) and problem.type == "/problems/illegal-transition"
    assert set(problem.allowed) == {generated.Command.RESUME, generated.Command.CANCEL, generated.Command.RESCHEDULE}


@pytest.mark.heavy
def test_openapi_generator_does_many_at_once(generated, connection, name):
    lines = [generated.BatchLine(id=name, after="1h", labels={"run": name}), generated.BatchLine(command="suspend", id=name),
             generated.BatchLine(command="kick", id=name)]
    results = generated.ManyApi(connection).batch(lines)
    assert [result.status for result in results] == [201, 200, 409]
    assert results[1].timer.state == generated.State.SUSPENDED and results[2].problem.type == "/problems/not-a-watchdog"
    counts = generated.ManyApi(connection).bulk("cancel", generated.BulkSelector(labels={"run": name}))
    assert (counts.matched, counts.changed, counts.skipped) == (1, 1, 0)


@pytest.mark.heavy
def test_openapi_generator_follows_events(generated, connection, name):
    generated.TimersApi(connection).create_timer(generated.TimerCreate(id=name, after="1h"))
    answer = generated.EventsApi(connection).timer_events_without_preload_content(name, since="0", types=["fired", "completed"], limit=2)
    assert answer.status == 200
    generated.CommandsApi(connection).fire_timer(name)
    events = [generated.Event.from_json(line.decode()).actual_instance for line in answer if line.strip()]
    assert [type(event) for event in events] == [generated.FiredEvent, generated.CompletedEvent]
    assert events[0].reason == "manual" and events[0].version == events[1].version


@pytest.mark.heavy
def test_openapi_generator_has_a_key(generated, guarded):
    key = guarded.make("read")
    guarded.admin.create(id="tea")
    with generated.ApiClient(generated.Configuration(host=guarded.server.url, access_token=key["secret"])) as connection:
        own = generated.KeysApi(connection).get_own_key()
        assert (own.id, own.scopes) == (key["id"], [generated.Scope.READ])
        assert [timer.id for timer in generated.TimersApi(connection).list_timers().timers] == ["tea"]
        with pytest.raises(generated.exceptions.ForbiddenException) as refused:
            generated.CommandsApi(connection).suspend_timer("tea")
        assert refused.value.data.scope == "write"
        guarded.revoke(key)
        with pytest.raises(generated.exceptions.UnauthorizedException) as refused:
            generated.TimersApi(connection).get_timer("tea")
        assert refused.value.data.type == "/problems/unauthorized"


# The programs of docs/GENERATED_CLIENTS.md.


@pytest.mark.thorough
@pytest.mark.parametrize("number, client", [(0, "imported"), pytest.param(1, "generated", marks=pytest.mark.heavy)])
def test_a_documented_program_runs(request, new_server, number, client):
    """It follows a stream that stays open, so it is ended once it has printed what it is there for."""
    request.getfixturevalue(client)
    text = (ROOT / "docs/GENERATED_CLIENTS.md").read_text()
    program = re.findall(r"```python\n(.*?)```", text, re.DOTALL)[number].replace("http://localhost:8080", new_server().url)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path[:2]), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen([sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as running:
        said = ""
        for line in running.stdout:
            said += line
            if "suspended" in line:
                break
        running.kill()
    assert "RESUME" in said and "created" in said and "suspended" in said, said
