"""Where the time of a batch goes, summed by phase."""

import time


class Stopwatch:
    def __init__(self) -> None:
        self.laps_ms: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, phase: str) -> None:
        now = time.perf_counter()
        self.laps_ms[phase] = self.laps_ms.get(phase, 0.0) + (now - self._last) * 1000
        self._last = now
