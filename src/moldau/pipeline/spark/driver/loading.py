"""Loads the files of applications one at a time, and gives up on a file that does not return."""

import threading
from functools import partial
from typing import Final

from moldau.core.errors import ConfigError
from moldau.pipeline.connect.runtime.plan import ConnectorPlan
from moldau.pipeline.plan.topology import Topology
from moldau.pipeline.spark.background import in_background
from moldau.pipeline.spark.driver.app_file import load_for_host

LOAD_S_MAX: Final = 60.0

Loaded = Topology | ConnectorPlan


class Loader:
    """One at a time, because the files share `sys.path` and the modules that they import."""

    def __init__(self, load_s_max: float = LOAD_S_MAX) -> None:
        self._load_s_max = load_s_max
        self._turn = threading.Lock()

    def load(self, file: str) -> Loaded:
        """Loads in this thread, without a time limit. Raises ConfigError for a file that cannot be loaded."""
        with self._turn:
            return load_for_host(file)

    def load_within_limit(self, file: str) -> Loaded:
        """For a request that waits for the result. Raises ConfigError also when the time is up. Python cannot end the
        thread then: it continues, and its result is discarded."""
        limit = f"after {self._load_s_max:g} s"
        if not self._turn.acquire(timeout=self._load_s_max):
            raise ConfigError(
                f"{file} is not loaded {limit}: another file is still being loaded. Try again later"
            )
        try:
            return in_background(partial(load_for_host, file), f"load {file}").result(self._load_s_max)
        except TimeoutError:
            raise ConfigError(
                f"{file} is not loaded {limit}: the file, or a module that it imports, does not return. Define the "
                "topology without waiting for anything, and try again"
            ) from None
        finally:
            self._turn.release()
