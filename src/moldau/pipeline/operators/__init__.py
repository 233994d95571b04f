"""What every operator does, as pure code: tasks, state stores and the functions that operators become.

No Spark, no clock, no I/O. A host (Spark's workers, the test driver) creates a `Task` and calls it with records.
Imported by `spark`, `views` and the test driver; `streams` imports the types that users see. Start reading at
`task.py`, then `wiring.py`. Operators are in `stateless.py`, `tables.py`, `processors.py`, `aggregation` and `joins`;
`stores` has the state stores.
"""

from importlib import import_module

_OPERATOR_MODULES = (
    "stateless",
    "tables",
    "processors",
    "aggregation.aggregates",
    "aggregation.windowed",
    "aggregation.sessions",
    "aggregation.suppress",
    "joins.stream_joins",
    "joins.lookups",
    "joins.table_joins",
    "joins.foreign_keys",
)


def register_all() -> None:
    """Imports every module that registers how its nodes are built."""
    for module in _OPERATOR_MODULES:
        import_module(f"moldau.pipeline.operators.{module}")
