"""compose.yaml, deploy/ and the workflows: their schemas, and what they say of the server against the server itself."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import secure
from server import ROOT, run

KUBERNETES = ROOT / "deploy/kubernetes"
# The same with two servers on one PostgreSQL.
ON_POSTGRES = ROOT / "deploy/kubernetes-postgres"
# The oldest version of Kubernetes whose schema has every member that the manifests use by default, and the newest at hand.
VERSIONS = ["1.27", "1.37"]
# The same with TLS, by patches.
WITH_TLS = ROOT / "deploy/kubernetes-tls"
MANIFESTS = sorted([*KUBERNETES.glob("*.yaml"), *ON_POSTGRES.glob("*.yaml")])
OBJECTS = [path for path in MANIFESTS if path.name != "kustomization.yaml"]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yaml"))
DOCKERFILE = (ROOT / "Dockerfile").read_text()


def read(path):
    return yaml.safe_load(Path(path).read_text())


def tool(name, *arguments):
    """Runs a program of the tests' Python packages, which must find nothing wrong."""
    program = Path(sys.executable).parent / name
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module", params=[KUBERNETES / "statefulset.yaml", ON_POSTGRES / "deployment.yaml"], ids=lambda path: path.stem)
def workload(request):
    return read(request.param)


@pytest.fixture(scope="module")
def pod(workload):
    return workload["spec"]["template"]["spec"]


@pytest.fixture(scope="module")
def container(pod):
    only, = pod["containers"]
    return only


def environment_of(container, namespace):
    """The settings that the kubelet would give to the server."""
    given = {entry["name"]: entry["value"] for entry in container["env"] if "value" in entry}
    return {name: value.replace("$(POD_NAMESPACE)", namespace).replace("$(POD_IP)", "10.0.0.7") for name, value in given.items()}


def image_environment():
    """The variables that the image sets."""
    return dict(re.findall(r"\b(TIMERD_\w+)=(\S+)", re.search(r"^ENV (?:.*\\\n)*.*$", DOCKERFILE, re.MULTILINE)[0]))


def settings(environment, tmp_path):
    """What `serve --check` says of an environment, whose files of secrets are some that exist."""
    for name in {"TIMERD_TOKEN_FILE", "TIMERD_STORE_PASSWORD_FILE", "TIMERD_CLUSTER_TOKEN_FILE"} & environment.keys():
        (tmp_path / name).write_text("a-secret-of-the-tests\n")
        environment = {**environment, name: str(tmp_path / name)}
    done = run("serve", "--check", env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_compose_has_its_schema():
    tool("check-jsonschema", "--builtin-schema", "vendor.compose-spec", ROOT / "compose.yaml")


def test_the_compose_file_of_a_cluster_has_its_schema_and_settings_that_are_taken(tmp_path):
    tool("check-jsonschema", "--builtin-schema", "vendor.compose-spec", ROOT / "compose.cluster.yaml")
    services = read(ROOT / "compose.cluster.yaml")["services"]
    reached = set()
    for name in ("timerd-1", "timerd-2"):
        environment = {**image_environment(), **services[name]["environment"]}
        for file in ("TIMERD_STORE_PASSWORD_FILE", "TIMERD_CLUSTER_TOKEN_FILE"):
            assert environment[file] in (f"/run/secrets/{secret}" for secret in services[name]["secrets"])
        assert "a-secret-of-the-tests" not in settings(environment, tmp_path)
        reached.add(environment["TIMERD_CLUSTER_URL"])
    assert reached == {"http://timerd-1:8080", "http://timerd-2:8080"}


def test_compose_is_what_the_image_expects(tmp_path):
    service = read(ROOT / "compose.yaml")["services"]["timerd"]
    environment = image_environment()
    assert f"timerd-data:{environment['TIMERD_DATA']}" in service["volumes"]
    assert service["ports"] == ["127.0.0.1:8080:" + environment["TIMERD_LISTEN"].rsplit(":", 1)[1]]
    secret, = service["secrets"]
    assert service["environment"]["TIMERD_TOKEN_FILE"] == f"/run/secrets/{secret}"
    settings({**environment, **service["environment"]}, tmp_path)


@pytest.mark.parametrize("version", VERSIONS)
def test_each_manifest_has_the_schema_of_kubernetes(version):
    tool("kubernetes-validate", "--strict", "--kubernetes-version", version, *OBJECTS)


def test_the_kustomization_has_every_manifest_but_the_example():
    for folder, others in ((KUBERNETES, []), (ON_POSTGRES, ["../kubernetes"])):
        listed = read(folder / "kustomization.yaml")["resources"]
        own = [path.name for path in OBJECTS if path.parent == folder and ".example." not in path.name]
        assert sorted(listed) == sorted(own + others)


@pytest.mark.thorough
def test_what_kustomize_makes_has_one_workload(tmp_path):
    kubectl = shutil.which("kubectl")
    if not kubectl:
        pytest.skip("kubectl is not installed")
    for folder, kind, more in ((KUBERNETES, "StatefulSet", []), (ON_POSTGRES, "Deployment", []), (WITH_TLS, "StatefulSet", ["Certificate"])):
        done = subprocess.run([kubectl, "kustomize", folder], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        made = list(yaml.safe_load_all(done.stdout))
        assert sorted(one["kind"] for one in made) == sorted([kind, "NetworkPolicy", "Service", "ServiceAccount", *more])
        workload, = (one for one in made if one["kind"] == kind)
        container, = workload["spec"]["template"]["spec"]["containers"]
        image, = read((KUBERNETES if more else folder) / "kustomization.yaml")["images"]
        assert container["image"] == f"{image['newName']}:{image['newTag']}"
        (tmp_path / f"{kind}.yaml").write_text(yaml.safe_dump_all(one for one in made if one["kind"] != "Certificate"))
        tool("kubernetes-validate", "--strict", "--kubernetes-version", VERSIONS[0], tmp_path / f"{kind}.yaml")


def test_the_pod_is_the_image_with_no_more_rights_than_it_needs(pod, container):
    user, group = map(int, re.search(r"^USER (\d+):(\d+)$", DOCKERFILE, re.MULTILINE).groups())
    rights = pod["securityContext"]
    assert (rights["runAsUser"], rights["runAsGroup"], rights["fsGroup"]) == (user, group, group)
    assert rights["runAsNonRoot"] and rights["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}
    environment = image_environment()
    port, = container["ports"]
    assert str(port["containerPort"]) == environment["TIMERD_LISTEN"].rsplit(":", 1)[1]
    if "TIMERD_STORE" not in environment_of(container, "default"):
        assert environment["TIMERD_DATA"] in [mount["mountPath"] for mount in container["volumeMounts"]]


def test_volumes_claims_and_selectors_fit_together(workload, pod, container):
    volumes = {volume["name"] for volume in pod["volumes"]}
    spec = workload["spec"]
    claims = {claim["metadata"]["name"] for claim in spec.get("volumeClaimTemplates", [])}
    assert {mount["name"] for mount in container["volumeMounts"]} == volumes | claims
    labels = spec["template"]["metadata"]["labels"]
    service, policy = read(KUBERNETES / "service.yaml"), read(KUBERNETES / "networkpolicy.yaml")
    assert spec["selector"]["matchLabels"] == labels == service["spec"]["selector"]
    assert policy["spec"]["podSelector"]["matchLabels"] == labels
    assert spec.get("serviceName", "timerd") == service["metadata"]["name"]
    assert pod["serviceAccountName"] == read(KUBERNETES / "serviceaccount.yaml")["metadata"]["name"]
    given = environment_of(container, "default")
    for volume, folder, variable in (("token", KUBERNETES, "TIMERD_TOKEN_FILE"), ("database", ON_POSTGRES, "TIMERD_STORE_PASSWORD_FILE")):
        if volume not in volumes:
            assert variable not in given
            continue
        secret = read(folder / "secret.example.yaml")
        assert secret["metadata"]["name"] in [one["secret"]["secretName"] for one in pod["volumes"] if one["name"] == volume]
        mounted = next(mount["mountPath"] for mount in container["volumeMounts"] if mount["name"] == volume)
        name, = secret["stringData"]
        assert given[variable] == f"{mounted}/{name}"


def test_two_pods_on_one_database_are_on_two_machines_and_known_by_their_own_addresses():
    deployment = read(ON_POSTGRES / "deployment.yaml")
    spec, labels = deployment["spec"], deployment["spec"]["template"]["metadata"]["labels"]
    # A standby is never ready: what waits for that never ends.
    assert (spec["replicas"], spec["strategy"]) == (2, {"type": "Recreate"})
    pod = spec["template"]["spec"]
    rule, = pod["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert rule["topologyKey"] == "kubernetes.io/hostname" and rule["labelSelector"]["matchLabels"] == labels
    container, = pod["containers"]
    names = [entry["name"] for entry in container["env"]]
    fields = {entry["name"]: entry["valueFrom"]["fieldRef"]["fieldPath"] for entry in container["env"] if "valueFrom" in entry}
    assert fields["POD_IP"] == "status.podIP" and names.index("POD_IP") < names.index("TIMERD_CLUSTER_URL")
    assert environment_of(container, "default")["TIMERD_CLUSTER_URL"] == "http://10.0.0.7:8080"
    assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"
    assert container["livenessProbe"]["httpGet"]["path"] == "/healthz"


def patched(document, operations):
    """The document after a JSON patch that adds and replaces."""
    for operation in operations:
        *parents, last = operation["path"].strip("/").split("/")
        place = document
        for step in parents:
            place = place[int(step) if isinstance(place, list) else step]
        if last == "-":
            place.append(operation["value"])
        else:
            last = int(last) if isinstance(place, list) else last
            assert operation["op"] == "replace" and last in (range(len(place)) if isinstance(place, list) else place)
            place[last] = operation["value"]
    return document


def test_with_tls_the_pod_shows_its_certificate_and_is_reached_and_probed_on_one_port(tmp_path):
    kustomization, certificate = read(WITH_TLS / "kustomization.yaml"), read(WITH_TLS / "certificate.yaml")
    files = {"StatefulSet": "statefulset", "Service": "service", "NetworkPolicy": "networkpolicy"}
    made = {}
    for patch in kustomization["patches"]:
        kind = patch["target"]["kind"]
        made[kind] = patched(read(KUBERNETES / f"{files[kind]}.yaml"), yaml.safe_load(patch["patch"]))
        (tmp_path / f"{kind}.yaml").write_text(yaml.safe_dump(made[kind]))
        tool("kubernetes-validate", "--strict", "--kubernetes-version", VERSIONS[0], tmp_path / f"{kind}.yaml")
    pod = made["StatefulSet"]["spec"]["template"]["spec"]
    container, = pod["containers"]
    port, = container["ports"]
    environment = {**image_environment(), **environment_of(container, "default")}
    # Without TLS the server listens where commands in the pod ask by default, and no other pod comes.
    outside, inside = environment["TIMERD_LISTEN"].split(",")
    assert (outside, inside) == (f"https://0.0.0.0:{port['containerPort']}", "127.0.0.1:8080")
    assert {container[probe]["httpGet"]["scheme"] for probe in ("startupProbe", "livenessProbe", "readinessProbe")} == {"HTTPS"}
    named = [container[probe]["httpGet"]["port"] for probe in ("startupProbe", "livenessProbe", "readinessProbe")]
    named += [made["Service"]["spec"]["ports"][0]["targetPort"], made["NetworkPolicy"]["spec"]["ingress"][0]["ports"][0]["port"]]
    assert set(named) == {port["name"]}
    secret, = (volume["secret"] for volume in pod["volumes"] if volume["name"] == "tls")
    assert secret["secretName"] == certificate["spec"]["secretName"]
    mounted, = (mount["mountPath"] for mount in container["volumeMounts"] if mount["name"] == "tls")
    assert environment["TIMERD_TLS_CERTIFICATE"] == f"{mounted}/tls.crt" and environment["TIMERD_TLS_KEY"] == f"{mounted}/tls.key"
    for name, file in zip(("TIMERD_TLS_CERTIFICATE", "TIMERD_TLS_KEY"), secure.server_files()):
        environment[name] = str(file)
    settings(environment, tmp_path)


def test_the_server_takes_the_pods_settings(container, tmp_path):
    said = settings({**image_environment(), **environment_of(container, "blue")}, tmp_path)
    assert "timerd.blue.svc" in said and "$(" not in said and "a-secret-of-the-tests" not in said, said


def test_the_service_is_reached_under_each_of_its_names_and_no_other(container, new_server):
    allowed = environment_of(container, "blue")["TIMERD_ALLOW_HOST"]
    client = new_server(env={"TIMERD_ALLOW_HOST": allowed}).client
    for host in ("timerd", "timerd.blue", "timerd.blue.svc", "timerd.blue.svc.cluster.local"):
        client.get("/v1/timers", headers={"Host": f"{host}:8080"}).expect(200)
    for host in ("timerd.red", "timerd.blue.example", "svc.cluster.local.example"):
        client.get("/v1/timers", headers={"Host": host}).problem(421, "misdirected")


def test_the_probes_are_answered(container, api):
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        api.get(container[probe]["httpGet"]["path"]).expect(200)
        assert container[probe]["httpGet"]["port"] == container["ports"][0]["name"]


def test_the_token_of_the_example_is_long_enough(tmp_path):
    token = tmp_path / "token"
    token.write_text(read(KUBERNETES / "secret.example.yaml")["stringData"]["token"])
    assert run("serve", "--check", "--token-file", token).returncode == 0


def test_each_alert_leads_to_its_paragraph():
    headings = re.findall(r"^#+ (.*)$", (ROOT / "docs/OPERATIONS.md").read_text(), re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
    groups = read(ROOT / "deploy/prometheus/alerts.yaml")["groups"]
    alerts = [rule for group in groups for rule in group["rules"]]
    assert alerts
    for alert in alerts:
        path, anchor = alert["annotations"]["runbook_url"].split("#")
        assert (path, anchor in anchors) == ("docs/OPERATIONS.md", True), alert["alert"]
        assert alert["labels"]["severity"] in ("critical", "warning")


def test_the_dashboards_panels_do_not_overlap():
    panels = json.loads((ROOT / "deploy/grafana/timerd.json").read_text())["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken = set()
    for panel in panels:
        place = panel["gridPos"]
        cells = {(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])}
        assert not cells & taken and max(x for x, _ in cells) < 24, panel["title"]
        taken |= cells


def test_the_workflows_have_their_schema_and_no_known_weakness():
    assert len(WORKFLOWS) == 2
    tool("check-jsonschema", "--builtin-schema", "vendor.github-workflows", *WORKFLOWS)
    tool("zizmor", "--offline", "--no-progress", *WORKFLOWS)
