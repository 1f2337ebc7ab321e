"""Clients generated from openapi.yaml: by which program, with which options, and what their models hold.

Run as a program it generates all of them, checks that no member is missing, and compiles them as far as this machine has what
they import: `make clients`.
"""

import json
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import contract
from server import ROOT

PYTHON = Path(sys.executable).parent
# Lines of JSON have a media type that this generator does not know. Of a batch's two forms it makes a test of the body that Python
# refuses: `isinstance(body, list[BatchLine])`.
CONFIGURATION = """\
package_name_override: {package}
content_type_overrides:
  application/x-ndjson: application/octet-stream
  application/yaml: text/yaml
post_hooks:
  - sed -i 's/, list\\[BatchLine\\])/, list)/' api/many/batch.py
"""


def run(*command, cwd=None):
    """Runs a program to its end; it fails with all that the program printed."""
    done = subprocess.run([str(part) for part in command], cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout[-8000:]}"
    return done.stdout


def openapi_python_client(into, package="timerd_client"):
    """Generates `into`/`package` and returns what the program said."""
    into.mkdir(parents=True, exist_ok=True)
    configuration = into / f"{package}.yaml"
    configuration.write_text(CONFIGURATION.format(package=package))
    return run(PYTHON / "openapi-python-client", "generate", "--path", ROOT / "openapi.yaml", "--config", configuration, "--meta", "none",
               "--output-path", into / package, "--overwrite")


def openapi_generator(language, into, *options):
    """Generates a client in this language and returns what the program said."""
    said = run(PYTHON / "openapi-generator-cli", "generate", "--input-spec", ROOT / "openapi.yaml", "--generator-name", language,
               "--output", into, *options)
    assert "\tat org.openapitools" not in said, said  # an exception's stack
    return said


@dataclass
class Language:
    """One of openapi-generator's languages, beside Python, whose clients test_generated_clients.py uses."""

    name: str
    # Where the model of a schema is, with {Name} or {name}, and what tells a member and its type there.
    model: str
    member: str
    # The types that say nothing.
    untyped: tuple = ()
    options: tuple = ()
    # How to compile it: the programs that this takes, and a function of the client's folder.
    needs: tuple = ()
    compile: object = None
    # What it would take to compile it where Debian has no such package.
    lacks: str = ""

    def members(self, into, schema):
        """The members that the model of this schema has, with their types."""
        snake = re.sub(r"(?<!^)([A-Z])", r"_\1", schema).lower()
        text = (into / self.model.format(Name=schema, name=snake)).read_text()
        found = {}
        for match in re.finditer(self.member, text, re.MULTILINE):
            found.setdefault(match["member"], match["type"].strip())
        return found

    def mistakes(self, into, schema):
        """How the model differs from the document: members that are missing or too many, and those without a type."""
        wanted = contract.published()["components"]["schemas"][schema]["properties"]
        found = self.members(into, schema)
        vague = {member for member, type in found.items() if type in self.untyped}
        mistakes = [f"{self.name}: {schema} lacks {member}" for member in wanted.keys() - found.keys()]
        mistakes += [f"{self.name}: {schema} has {member}, which the document lacks" for member in found.keys() - wanted.keys()]
        mistakes += [f"{self.name}: {schema}.{member} has no type" for member in vague if "type" in wanted[member] or "$ref" in wanted[member]]
        return mistakes


def compile_go(client):
    # Debian has the one package that the client imports where GOPATH mode finds it.
    work = client.parent / "gopath"
    (work / "src").mkdir(parents=True)
    (work / "src/timerd").symlink_to(client)
    run("env", "GO111MODULE=off", f"GOPATH={work}:/usr/share/gocode", f"GOCACHE={work / 'cache'}", "go", "vet", "timerd", cwd=work)


def compile_typescript(client):
    # No types but the client's own: by itself the compiler takes those of every package that is installed beside it. The client
    # narrows types by `in`, which TypeScript knows since 4.9; Debian 12 has 4.8, which takes such members for `any`.
    options = {"strict": True, "noImplicitAny": False, "noEmit": True, "target": "es2020", "module": "es2020", "moduleResolution": "node", "lib": ["es2020", "dom"], "types": []}
    (client / "tsconfig.json").write_text(json.dumps({"compilerOptions": options, "files": ["index.ts"]}))
    run("tsc", "--project", client)


LANGUAGES = [
    Language("go", "model_{name}.go", r"^\t\w+ (?P<type>\S+) `json:\"(?P<member>\w+)", ("interface{}", "map[string]interface{}"),
             ("--additional-properties", "packageName=timerd,withGoMod=false,enumClassPrefix=true,useOneOfDiscriminatorLookup=true"), ("go",), compile_go),
    Language("typescript-fetch", "models/{Name}.ts", r"^    (?P<member>\w+)\??: (?P<type>.*);$", ("any", "any | null", "object"),
             (), ("tsc",), compile_typescript),
    Language("rust", "src/models/{name}.rs", r"rename = \"(?P<member>\w+)\".*\n    pub \S+: (?P<type>.*),$",
             ("serde_json::Value", "Option<serde_json::Value>", "Option<Option<serde_json::Value>>"),
             lacks="reqwest 0.13 and serde_with 3.8; Debian 12 has reqwest 0.11 and serde_with 2.3"),
    Language("java", "src/main/java/org/openapitools/client/model/{Name}.java",
             r"JSON_PROPERTY_\w+ = \"(?P<member>\w+)\";\n(?:  @\S+\n)*  private (?P<type>.*?) \w+(?: =.*)?;$", ("Object", "JsonNullable<Object>"), ("--library", "native"),
             lacks="jackson-datatype-jsr310 and jackson-databind-nullable"),
]


def made(language, into):
    """Generates, checks and compiles a client; returns what became of it and the mistakes found."""
    client = into / language.name
    openapi_generator(language.name, client, *language.options)
    mistakes = [mistake for schema in ("Timer", "TimerCreate") for mistake in language.mistakes(client, schema)]
    if language.lacks:
        return f"generated; not compiled, as Debian lacks {language.lacks}", mistakes
    if absent := [program for program in language.needs if not shutil.which(program)]:
        return f"generated; not compiled, as there is no {' and no '.join(absent)} here", mistakes
    if language.compile:
        language.compile(client)
    return "generated and compiled", mistakes


def main():
    into = Path(sys.argv[1]).resolve()
    shutil.rmtree(into, ignore_errors=True)
    said = openapi_python_client(into / "openapi-python-client")
    assert "WARNING" not in said, said
    openapi_generator("python", into / "python")
    print("openapi-python-client, python: generated; test_generated_clients.py uses them")
    failed = False
    for language in LANGUAGES:
        outcome, mistakes = made(language, into)
        print(f"{language.name}: {outcome}", *mistakes, sep="\n  ")
        failed = failed or bool(mistakes)
    sys.exit(failed)


if __name__ == "__main__":
    main()
