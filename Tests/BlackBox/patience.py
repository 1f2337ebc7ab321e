"""How long a test waits for what must come. It bounds a hang and decides nothing else: on the slowest machine it is enough."""

PATIENCE = 60.0  # seconds
