#!/usr/bin/env python3
"""Prints the manual page of a timerd binary as roff, made from what the binary itself says of its commands and options.

    Scripts/manpage.py .build/release/timerd > timerd.1
"""

import json
import re
import subprocess
import sys

FILES = [
    ("./timerd-data", "The data directory if --data and TIMERD_DATA name no other: the log (timers.db), the file whose lock "
     "shows that a process uses the directory (lock), and the running server's listeners (listeners). The unit file has it in /var/lib/timerd."),
    ("/etc/default/timerd", "Variables of the unit file, if timerd was installed as a package."),
]
EXIT = [
    ("0", "Done; for serve: a clean stop."),
    ("1", "Failure; trying again may help."),
    ("2", "apply --dry-run: something differs."),
    ("64", "The command line or a variable makes no sense."),
    ("78", "Configuration or data that can't be used; trying again does not help."),
    ("130, 143", "SIGINT or SIGTERM ended a command other than serve and listen."),
]
MANAGER = [
    ("NOTIFY_SOCKET", "The socket on which serve reports to the service manager that it starts, is ready, reloads and stops."),
    ("WATCHDOG_USEC, WATCHDOG_PID", "The microseconds within which the service manager wants a report that the server is healthy."),
    ("LISTEN_FDS, LISTEN_PID", "How many listening sockets the service manager passes on, from descriptor 3, and to which process. "
     "serve listens there in place of the default of --listen."),
]
SIGNALS = [
    ("SIGTERM, SIGINT", "Stop cleanly; a second one ends the server at once, which loses nothing that was answered either."),
    ("SIGHUP", "Read tokens, webhook secrets and, of --config, the webhook rules and the log level again."),
]


def escape(text):
    """Text for roff: no character of it is a command."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga").replace("^", "\\(ha").replace("~", "\\(ti")
    return "\n".join("\\&" + line if line.startswith((".", "\\(aq")) else line for line in text.split("\n"))


def paragraphs(text):
    """A discussion: its paragraphs, and its indented lines as they are."""
    lines = []
    for block in re.split(r"\n\s*\n", text.strip("\n")):
        if block.startswith("  "):
            lines += [".PP", ".RS 4", ".nf", escape("\n".join(line[2:] for line in block.split("\n"))), ".fi", ".RE"]
        else:
            lines += [".PP", escape(" ".join(line.strip() for line in block.split("\n")))]
    return lines


def spelling(argument):
    """An option or argument as it is written, its value in italics."""
    value = f"\\fI{escape(argument.get('valueName', ''))}\\fR"
    if argument["kind"] == "positional":
        return value
    dashes = {"long": "--", "short": "-", "longWithSingleDash": "-"}
    names = ", ".join(f"\\fB{escape(dashes[name['kind']] + name['name'])}\\fR" for name in argument["names"])
    return f"{names} {value}" if argument["kind"] == "option" else names


def entry(head, text):
    return [".TP", head, escape(text)]


def shown(arguments):
    return [argument for argument in arguments if argument.get("shouldDisplay", True) and
            argument.get("preferredName", {}).get("name") not in ("help", "version")]


def synopsis(path, command):
    words = []
    for argument in shown(command.get("arguments", [])):
        if argument["kind"] == "positional":
            word = spelling(argument) + ("..." if argument.get("isRepeating") else "")
            words.append(f"[{word}]" if argument.get("isOptional") else word)
    options = " [\\fIoptions\\fR]" if any(a["kind"] != "positional" for a in shown(command.get("arguments", []))) else ""
    return f"\\fB{escape(path)}\\fR{options} {' '.join(words)}".rstrip()


def commands(command, path):
    """Every command below `command`, each before those below it."""
    for below in command.get("subcommands", []):
        if below["commandName"] == "help" or not below.get("shouldDisplay", True):
            continue
        name = f"{path} {below['commandName']}"
        yield name, below
        yield from commands(below, name)


def section(path, command):
    lines = [f'.SS "{escape(path)}"', synopsis(path, command)]
    lines += [".PP", escape(command.get("abstract", ""))]
    lines += paragraphs(command.get("discussion", ""))
    for argument in shown(command.get("arguments", [])):
        lines += entry(spelling(argument), argument.get("abstract", ""))
    return lines


def variables(all_commands):
    """The variables that the options' helps name, each once."""
    found = {}
    for _, command in all_commands:
        for argument in command.get("arguments", []):
            match = re.fullmatch(r"(.*?) \[(TIMERD_\w+)(?:, default (.*))?\]", argument.get("abstract", ""), re.S)
            if match:
                found.setdefault(match[2], (argument["preferredName"]["name"], match[1]))
    return found


def page(root, version):
    every = list(commands(root, "timerd"))
    lines = [f'.TH TIMERD 1 "" "{escape(version)}" "User Commands"', ".SH NAME", f"timerd \\- {escape(root['abstract'].rstrip('.'))}"]
    lines += [".SH SYNOPSIS", "\\fBtimerd\\fR \\fIcommand\\fR [\\fIoptions\\fR] [\\fIarguments\\fR]", ".br", "\\fBtimerd\\fR \\fIcommand\\fR \\fB\\-\\-help\\fR"]
    lines += [".SH DESCRIPTION"] + paragraphs(root.get("discussion", ""))[1:]
    lines += [".SH COMMANDS"]
    for path, command in every:
        lines += section(path, command)
    lines += [".SH ENVIRONMENT", "A flag wins over its variable. A setting that may be given several times has its values between commas."]
    for name, (flag, meaning) in variables(every).items():
        lines += entry(f"\\fB{name}\\fR", f"--{flag}. {meaning}.")
    for name, meaning in MANAGER:
        lines += entry(f"\\fB{name}\\fR", meaning)
    for title, entries in ("FILES", FILES), ("SIGNALS", SIGNALS), ("EXIT STATUS", EXIT):
        lines.append(f".SH {title}" if " " not in title else f'.SH "{title}"')
        for head, text in entries:
            lines += entry(f"\\fB{escape(head)}\\fR", text)
    lines += ['.SH "SEE ALSO"', "\\fBcurl\\fR(1), \\fBsystemd.service\\fR(5)",
              ".PP", "The HTTP interface is described at /openapi.yaml of a running server."]
    return "\n".join(lines) + "\n"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)

    def say(*arguments):
        return subprocess.run([sys.argv[1], *arguments], check=True, capture_output=True, text=True).stdout
    sys.stdout.reconfigure(encoding="utf-8")
    sys.stdout.write(page(json.loads(say("--experimental-dump-help"))["command"], say("version").strip()))


if __name__ == "__main__":
    main()
