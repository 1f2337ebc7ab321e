"""Checks what the database holds at the end: the chain of the log's rows."""

from record import Broken

ROWS = "SELECT previous, first, last, epoch FROM timerd_log ORDER BY previous"


def check_chain(rows):
    """Requires that epochs never fall along the chain, that no position is given twice, and that each row follows another.

    Returns how many rows there are, and the greatest epoch.
    """
    before, greatest = None, 0
    for previous, first, last, epoch in (map(int, row) for row in rows):
        greatest = max(greatest, epoch)
        if before:
            last_before, epoch_before = before
            if epoch < epoch_before:
                raise Broken(f"epoch {epoch} of row {first} follows epoch {epoch_before}")
            if previous != last_before:
                raise Broken(f"row {first} follows {previous}, and the one before it ends at {last_before}")
        if not previous < first <= last:
            raise Broken(f"row {first} to {last} follows {previous}")
        before = last, epoch
    return len(rows), greatest
