"""Ports for servers that must know theirs before they listen."""

import random
import socket

PORTS = range(20_000, 32_000)  # below those that the kernel gives to clients and to whoever asks for any


def free_port():
    """A port of 127.0.0.1 that nothing listens on, and that the kernel gives to nobody until the server listens."""
    while True:
        with socket.socket() as probe:
            try:
                # Not the generator that a run seeds: runs side by side would choose the same.
                probe.bind(("127.0.0.1", port := random.SystemRandom().choice(PORTS)))
                return port
            except OSError:
                continue
