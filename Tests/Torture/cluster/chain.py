"""Checks what the database holds at the end: the chain of each partition's rows."""

from record import Broken

ROWS = "SELECT part, previous, first, last, epoch FROM timerd_log ORDER BY part, previous"


def check_chains(rows):
    """Requires that epochs never fall along a chain, that no position is given twice, and that each row follows another.

    Returns how many rows there are, and the greatest epoch.
    """
    before, greatest = None, 0
    for part, previous, first, last, epoch in (map(int, row) for row in rows):
        greatest = max(greatest, epoch)
        if before and before[0] == part:
            _, last_before, epoch_before = before
            if epoch < epoch_before:
                raise Broken(f"partition {part}: epoch {epoch} of row {first} follows epoch {epoch_before}")
            if previous != last_before:
                raise Broken(f"partition {part}: row {first} follows {previous}, and the one before it ends at {last_before}")
        if not previous < first <= last:
            raise Broken(f"partition {part}: row {first} to {last} follows {previous}")
        before = part, last, epoch
    return len(rows), greatest
