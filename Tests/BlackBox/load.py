"""Load for tests that need many events."""

# Few timers, which leave nothing but events.
GONE_AT_ONCE = {"after": "0s", "retain": "0s", "size": 50_000}


def write_events(api, megabytes, size=1000, **fields):
    """Makes about that many megabytes of events, with payloads of `size` bytes."""
    for _ in range(megabytes):
        lines = [{"after": "1h", "payload": "x" * size, **fields}] * (1_000_000 // size)
        api.batch(lines, query="?results=brief", timeout=30).expect(200)
