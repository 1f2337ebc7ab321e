"""The documents are true: their commands print what they show, up to ids, instants and versions, and their links lead somewhere."""

import importlib.util
import re
import shutil
import subprocess

import pytest

from documents import Shell, anchors, blocks, comparable, documents, links, name_of, steps
from free_ports import free_port
from patience import PATIENCE
from server import ROOT, run
from timers import STATES, transitions

README = ROOT / "README.md"
GUIDES = ROOT / "docs/guides"
TOURS = [path for path in documents() if steps(path)]


def lines_between(path, mark):
    """What stands between two marks of a page."""
    return re.search(rf"^<!-- {mark} -->\n(.*?)^<!-- /{mark} -->$", path.read_text(), re.MULTILINE | re.DOTALL)[1]


def thorough_but(path):
    """A parameter of a path, which is thorough but for the README."""
    return pytest.param(path, id=name_of(path), marks=[] if path == README else pytest.mark.thorough)


def shell_of(directory, server):
    """A shell for the documents' commands, whose port 8080 is this server's."""
    return Shell(directory, server, {8080: server.port, 8081: free_port(), 8082: free_port(), 9000: free_port()})


def read_through(path, shell):
    """Runs the commands of a document, which must print what is shown and leave nothing running."""
    for number, command, shown in steps(path):
        code, said = shell.run(command)
        told = f"{name_of(path)}:{number}: {command}\n" + "\n".join([*said, shell.errors.read_text()])
        assert code == 0, told
        assert [comparable(line) for line in said] == [comparable(line) for line in shown], told
    assert shell.run("jobs -r") == (0, []), f"{name_of(path)} leaves these running"


@pytest.mark.not_by_tls("the documents name servers without TLS")
@pytest.mark.parametrize("path", map(thorough_but, TOURS))
def test_commands_print_what_is_shown(path, new_server, tmp_path):
    with shell_of(tmp_path, new_server()) as shell:
        read_through(path, shell)


@pytest.mark.thorough
@pytest.mark.not_by_tls("the documents name servers without TLS")
@pytest.mark.parametrize("order", [1, -1], ids=["forwards", "backwards"])
def test_a_reader_of_all_pages_needs_one_shell_and_one_server(order, new_server, tmp_path):
    # In both directions, so that each page comes before and after each other one.
    with shell_of(tmp_path, new_server()) as shell:
        for path in TOURS[::order]:
            read_through(path, shell)


@pytest.mark.not_by_tls("the documents name servers without TLS")
def test_no_page_waits_for_a_server_that_could_not_start(new_server, tmp_path):
    server = new_server()
    waits = 0
    with Shell(tmp_path, server, dict.fromkeys([8081, 8082, 9000], server.port)) as shell:
        for _, command, _ in (step for path in TOURS for step in steps(path)):
            if re.search(r"& \w+=\$!$|^until ", command):
                shell.run(command)
                waits += command.startswith("until ")
    assert waits


def test_the_readme_and_every_guide_have_commands():
    assert {README, *GUIDES.glob("*.md")} - {GUIDES / "README.md"} <= set(TOURS)


def test_every_shell_block_is_valid_and_names_what_exists():
    makefile = (ROOT / "Makefile").read_text()
    found = [(path, number, text) for path in documents() for number, text in blocks(path, "sh")]
    assert found
    for path, number, text in found:
        checked = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True, timeout=PATIENCE)
        assert checked.returncode == 0, f"{name_of(path)}:{number}: {checked.stderr}"
        for target in re.findall(r"^make ([\w-]+)", text, re.MULTILINE):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"{name_of(path)}:{number}: no target {target}"
        if "docker build" in text:
            assert (ROOT / "Dockerfile").is_file()


@pytest.mark.parametrize("path", documents(), ids=name_of)
def test_every_local_link_leads_somewhere(path):
    for number, link in links(path):
        file, _, anchor = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        assert target.exists(), f"{name_of(path)}:{number}: {link}"
        if anchor:
            assert anchor in anchors(target), f"{name_of(path)}:{number}: {link} is none of {sorted(anchors(target))}"


def test_expressions_of_other_schedulers_are_taken_or_refused_as_the_table_says():
    rows = [[cell.strip().strip("`") for cell in line.split("|")[2:5]]
            for line in lines_between(ROOT / "docs/CRON.md", "dialects").splitlines()[2:]]
    assert len(rows) > 15
    for there, here, change in rows:
        if here:
            taken = run("preview", here, "--count", "1")
            assert taken.returncode == 0, (here, taken)
        if here != there:
            refused = run("preview", there, "--count", "1")
            assert refused.returncode == 64 and refused.stdout == "", (there, refused)
            field = re.search(r"field `(\w+)`", change)
            assert not field or f"`{field[1]}`" in refused.stderr, (there, refused)


def test_every_guide_is_in_the_index():
    named = {link for _, link in links(GUIDES / "README.md")}
    assert {path.name for path in GUIDES.glob("*.md")} - {"README.md"} <= named


def test_the_page_on_the_architecture_has_every_room_and_names_only_files_that_are_there():
    text = (ROOT / "docs/ARCHITECTURE.md").read_text()
    table = text[text.index("## Rooms"):text.index("## How data flows")]
    listed, rooms = {}, None
    for line in table.splitlines():
        if module := re.match(r"\| \*\*`(Sources/\w+)`\*\* \|", line):
            rooms = listed.setdefault(module[1], set())
        elif line.startswith("| `"):
            room = re.fullmatch(r"\| `([\w/]+)` \|[^|]+\|", line)
            assert room, line
            rooms.add(room[1])
    # The folders of C modules are what their compiler wants.
    modules = [path for path in (ROOT / "Sources").iterdir() if path.is_dir() and not re.match("C[A-Z]", path.name)]
    for module in modules:
        there = {str(path.relative_to(module)) for path in module.rglob("*") if path.is_dir()}
        assert listed.get(f"Sources/{module.name}", set()) == there, module.name
    files = {path.name for path in (ROOT / "Sources").rglob("*.swift")}
    assert not {name for name in re.findall(r"`([\w+]+\.swift)`", text) if name not in files}
    places = re.findall(r"`((?:Sources|Tests|docs|Benchmarks)/[^`<> ]+)`", text)
    assert places and not [place for place in places if not (ROOT / place).exists()]


def test_the_page_on_the_architecture_has_every_thread():
    text = (ROOT / "docs/ARCHITECTURE.md").read_text()
    table = text[text.index("## Threads"):text.index("### What the engine's lock guards")]
    listed = set(re.findall(r"^\| `([^`]+)`", table, re.MULTILINE))
    made = set()
    for path in (ROOT / "Sources").rglob("*.swift"):
        source = path.read_text()
        made |= {re.sub(r"\\\(.*", "n", name) for name in re.findall(r'Thread\(name: "([^"]+)"', source)}
        # The gate is a worker without a thread.
        made |= set(re.findall(r'^    (?:let name =|var name: String \{) "(\w+)"', source, re.MULTILINE)) - {"gate"}
    assert listed == made


def test_the_table_of_commands_is_the_one_that_runs():
    rows = re.findall(r"^\| `(\w+)`.*?\|(.*)\|$", README.read_text(), re.MULTILINE)
    table = {command: [cell.strip() for cell in cells.split("|")] for command, cells in rows if command in transitions()}
    assert table.keys() == transitions().keys()
    for command, cells in table.items():
        if command == "kick":  # only for watchdogs; the tests' table is for other kinds
            continue
        for state, cell in zip(STATES, cells, strict=True):
            plain, restartable = (transitions()[command][state, flag] for flag in (False, True))
            assert cell.startswith("409") == (plain is None), (command, state)
            assert ("restartable" in cell) == (plain != restartable), (command, state)


def test_the_figures_are_those_that_were_measured():
    specification = importlib.util.spec_from_file_location("report", ROOT / "Benchmarks/report.py")
    report = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(report)
    measured = report.json.loads((ROOT / "docs/bench.json").read_text())
    assert lines_between(README, "figures").splitlines() == list(report.readme(measured))


@pytest.mark.skipif(not shutil.which("curl"), reason="no curl")
def test_curl_is_new_enough_for_the_tour():
    version = re.search(r"curl (\d+)\.(\d+)", subprocess.run(["curl", "--version"], capture_output=True, text=True).stdout)
    assert (int(version[1]), int(version[2])) >= (7, 82)
