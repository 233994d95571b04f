"""The node that runs a function of DataFrames, and where such nodes stand in a topology."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from moldau.pipeline.plan.nodes.node import Function, Node

TRANSFORM_IN: Final = "-transform-in"
TRANSFORM_OUT: Final = "-transform-out"


@dataclass(frozen=True, kw_only=True)
class Transform(Node):
    """`function(df)` takes the records of a batch as a DataFrame and returns one. The node is in a sub-topology of its
    own, between a source that reads the topic `...-transform-in` and a sink that writes `...-transform-out`; the driver
    runs it. `schema`: the fields of the value, as Spark writes them (`user STRING, amount DOUBLE`); empty: the value is
    one column."""

    function: Function | None
    schema: str = ""
    label: ClassVar[str] = "transform"

    def __getstate__(self) -> dict[str, Any]:
        """The function stays at the driver: it may hold a SparkSession or a DataFrame, which cannot be pickled."""
        return {**self.__dict__, "function": None}


def transforms_of(nodes: Iterable[Node]) -> list[Transform]:
    return [node for node in nodes if isinstance(node, Transform)]
