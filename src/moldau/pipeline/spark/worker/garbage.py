"""Keeps the garbage collection cheap that Spark's Python worker makes after every task.

It looks at all objects of the process: the imported modules alone take it a tenth of a second, a large state more. So
what is alive at the end of a task is left out of it, but once in a while.
"""

import gc
import itertools
from typing import Final

WHOLE_EVERY: Final = 200
"""Tasks. What earlier ones have left in cycles is found then."""

_tasks = itertools.count(1)


def task_ends() -> None:
    """To be called at the end of each task."""
    if next(_tasks) % WHOLE_EVERY:
        gc.freeze()
    else:
        gc.unfreeze()
