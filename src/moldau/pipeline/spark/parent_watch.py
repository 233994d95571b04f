"""Ends this process when the one that started it has gone.

A Spark Connect server runs batches in a Python process of its own, which it does not take along when it is killed:
Spark's client in there would ask for minutes for a server that is gone, and bring an old batch to the one that comes.
"""

import os
import threading
import time
from functools import cache
from typing import Final

LOOK_EVERY_S: Final = 0.5


@cache
def end_with_parent() -> None:
    """From now on; asked for again, it changes nothing."""
    threading.Thread(target=_watch, args=(os.getppid(),), name="moldau-parent-watch", daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(LOOK_EVERY_S)
    # Not SystemExit, which would end this thread alone.
    os._exit(1)
