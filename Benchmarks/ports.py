"""Whether the ports of a benchmark are free: what is measured must be the servers that it starts, and no other.

    ports.py NAME=PORT…     prints a line for each port that is in use, and fails if there is one
"""

import re
import socket
import subprocess
import sys


def is_free(port):
    """Whether a server could listen on this port of the loopback."""
    with socket.socket() as sock:
        # As servers do: connections that have ended keep nobody from listening.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind(("127.0.0.1", port))
            sock.listen()
        except OSError:
            return False
    return True


def listener(port):
    """Who listens on a port, as far as the kernel shows it to this user."""
    try:
        shown = subprocess.run(["ss", "-Hltnp", f"sport = :{port}"], capture_output=True, text=True).stdout
    except OSError:
        return ""
    found = re.search(r'\(\("([^"]+)",pid=(\d+)', shown)
    return f" by {found[1]}, process {found[2]}" if found else ""


def taken(ports):
    """A line for each port in use; `ports` has the name of the server that is to listen there, and the port."""
    return [f"port {port}, of {name}, is in use{listener(port)}" for name, port in ports if not is_free(port)]


if __name__ == "__main__":
    lines = taken([(name, int(port)) for name, _, port in (argument.partition("=") for argument in sys.argv[1:])])
    print("\n".join(lines), end="\n" * bool(lines))
    sys.exit(bool(lines))
