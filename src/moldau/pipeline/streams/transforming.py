"""`KStream.transform`: cuts the topology and puts a function of DataFrames between two topics of the application."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from moldau.core.errors import ConfigError
from moldau.pipeline.plan.expressions import Expression
from moldau.pipeline.plan.location import Location
from moldau.pipeline.plan.nodes import TRANSFORM_IN, TRANSFORM_OUT, RepartitionTopic, Sink, Source, Transform
from moldau.pipeline.serdes.serde import Serde
from moldau.pipeline.streams.checks import check_name, check_serde

if TYPE_CHECKING:
    from moldau.pipeline.streams.stream import KStream


def transformed(
    stream: "KStream[Any, Any]",
    function: Callable[[Any], Any],
    *,
    schema: str | None,
    key: Serde | None,
    value: Serde | None,
    partitions: int,
    name: str | None,
) -> "KStream[Any, Any]":
    """Adds two internal topics, one before the function and one after it, as for a repartition."""
    from moldau.pipeline.streams.stream import KStream

    draft, where = stream._draft, stream._draft.here()
    _check(function, schema, where)
    for serde in (key, value):
        check_serde(serde, where)
    node_name = draft.name("KSTREAM-TRANSFORM", name)
    check_name("name", node_name, where)
    keys, values = stream._keys(None, where), stream._values(None, where)
    new_keys, new_values = key or keys, value or values
    before = f"{draft.application_id}-{node_name}{TRANSFORM_IN}"
    behind = f"{draft.application_id}-{node_name}{TRANSFORM_OUT}"

    def source(topic: str, keys: Serde, values: Serde) -> str:
        node = Source(
            name=draft.name("KSTREAM-SOURCE"),
            where=where,
            topics=(topic,),
            key_serde=keys,
            value_serde=values,
        )
        return draft.add(node).name

    def sink(parent: str, topic: str, keys: Serde, values: Serde) -> None:
        fields = {"name": draft.name("KSTREAM-SINK"), "parents": (parent,), "where": where}
        draft.add(Sink(**fields, topic=topic, key_serde=keys, value_serde=values))  # type: ignore[arg-type]

    sink(stream.node, before, keys, values)
    read = source(before, keys, values)
    draft.add(Transform(name=node_name, parents=(read,), where=where, function=function, schema=schema or ""))
    sink(node_name, behind, new_keys, new_values)
    draft.add_topic(RepartitionTopic(before), where)
    draft.add_topic(RepartitionTopic(behind, partitions), where)
    return KStream(
        draft,
        source(behind, new_keys, new_values),
        new_keys,
        new_values,
        (behind,),
        key_sure=key is not None or stream._key_sure,
        value_sure=value is not None or stream._value_sure,
    )


def _check(function: object, schema: object, where: Location) -> None:
    if isinstance(function, Expression):
        raise ConfigError(
            f"{where}: transform() takes a function of a DataFrame; a column expression is for map_values()"
        )
    if function is None:
        raise ConfigError(f"{where}: the function here must be a function of (df), not None")
    if schema is not None and (not isinstance(schema, str) or not schema.strip()):
        raise ConfigError(
            f"{where}: the schema of transform() names columns as Spark does: schema='user STRING, amount DOUBLE', "
            f"not {schema!r}"
        )
