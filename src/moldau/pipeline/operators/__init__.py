"""What every operator means, pure: tasks, state stores and the functions between them. No Spark, no clock."""

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
    """Imports every module that says how its nodes are built."""
    for module in _OPERATOR_MODULES:
        import_module(f"moldau.pipeline.operators.{module}")
