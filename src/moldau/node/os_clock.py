"""The machine's clocks, as `core.ports.Clock`."""

import time

from moldau.core.ids import Millis


class OsClock:
    def now_ms(self) -> Millis:
        return Millis(time.time_ns() // 1_000_000)

    def monotonic_ms(self) -> Millis:
        return Millis(time.monotonic_ns() // 1_000_000)
