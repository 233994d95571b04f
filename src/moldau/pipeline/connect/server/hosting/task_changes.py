"""What a new commit of a source's tasks replaces (KIP-618). Pure.

What a task reads may move to another one. A task that was replaced may still run, on a worker that has not heard of the
commit or is cut off: it is fenced before the new tasks start. One whose own successor alone has its work is fenced by
that, and needs no round.
"""

from collections.abc import Sequence

from moldau.pipeline.connect.server.state.cluster_state import ConnectorEntry
from moldau.pipeline.connect.server.state.config_records import Texts


def replaced_tasks(entry: ConnectorEntry, configs: Sequence[Texts]) -> frozenset[int]:
    """`entry` is the connector before the commit."""
    count = max(len(entry.tasks), entry.fenced_tasks or 0)
    if not entry.has_current_tasks or entry.needs_fencing:
        return frozenset(range(count))
    same = {
        number
        for number, (before, now) in enumerate(zip(entry.tasks, configs, strict=False))
        if before == now
    }
    return frozenset(range(count)) - same


def needs_round(replaced: frozenset[int], configs: Sequence[Texts]) -> bool:
    return bool(replaced) and not (replaced == {0} and len(configs) == 1)
