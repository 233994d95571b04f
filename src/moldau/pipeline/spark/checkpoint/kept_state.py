"""Which entries of a task's state files still count after the topology has changed.

The files may hold stores that the topology no longer has, and old content of a store that was dropped. Neither must
come back when a task is loaded.
"""

from collections.abc import Collection, Mapping

from moldau.pipeline.operators.state import OF_STORE, TIMES, Delta


class KeptState:
    def __init__(self, stores: Collection[str], begins: Mapping[str, int]) -> None:
        """`begins`: store or operator to the first batch whose entries count."""
        self._stores = frozenset(stores)
        self._begins = begins

    def of(self, version: int, deltas: list[Delta]) -> list[Delta]:
        gone = {name for name, batch_id in self._begins.items() if version < batch_id}
        stores = self._stores - gone
        return [
            delta
            for delta in deltas
            if delta[0] in stores or (delta[0] == TIMES and _counts(delta[1].decode(), stores, gone))
        ]


def _counts(time: str, stores: Collection[str], gone: Collection[str]) -> bool:
    """`store NAME`, or the key of an operator's times, which contains the operator's name."""
    if time.startswith(OF_STORE):
        return time.removeprefix(OF_STORE) in stores
    return not any(f" {one} " in f" {time} " for one in gone)
