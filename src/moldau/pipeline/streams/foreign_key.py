"""How a foreign-key join is laid out: two topics between three steps (KIP-213)."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from moldau.pipeline.plan.location import Location
from moldau.pipeline.plan.nodes import (
    ForeignKeyAnswer,
    ForeignKeyResolve,
    ForeignKeySubscribe,
    JoinKind,
    RepartitionTopic,
    Sink,
    Source,
    TableSource,
)
from moldau.pipeline.plan.stores import StoreKind, StoreSpec
from moldau.pipeline.serdes.foreign_key import Answer, AnswerSerde, SubscriptionSerde
from moldau.pipeline.serdes.primitives import BYTES
from moldau.pipeline.serdes.serde import Serde

if TYPE_CHECKING:
    from moldau.pipeline.streams.draft import Draft
    from moldau.pipeline.streams.table import KTable
    from moldau.pipeline.streams.table_joins import TableJoins


def join_on_foreign_key(
    left: "TableJoins",
    right: "KTable",
    kind: JoinKind,
    extractor: Callable[[Any], Any],
    joiner: Callable[[Any, Any], Any],
    value: Serde | None,
    store: str | None,
    name: str | None,
    where: Location,
) -> "KTable":
    from moldau.pipeline.streams.table import KTable

    draft = left._draft
    base = draft.name("KTABLE-FK-JOIN", name)
    left_keys, left_values = left._keys(None, where), left._values(None, where)
    foreign_keys, right_values = right._keys(None, where), right._values(None, where)
    draft.need_old_values(right.node)
    draft.need_old_values(left.node)
    unanswered = None
    if kind is JoinKind.INNER:
        unanswered = StoreSpec(f"{base}-unanswered-store", StoreKind.KEY_VALUE, left_keys, BYTES)
    subscribe = ForeignKeySubscribe(
        name=f"{base}-subscribe",
        parents=(left.node,),
        where=where,
        extractor=extractor,
        kind=kind,
        left_value_serde=left_values,
        foreign_key_serde=foreign_keys,
        unanswered=unanswered,
    )
    draft.add(subscribe)
    subscriptions, asked = _topic(
        draft,
        f"{base}-subscription-registration",
        subscribe.name,
        foreign_keys,
        SubscriptionSerde(left_keys),
        where,
    )
    draft.copartitioned.append(((*right._sources, asked), where))
    draft.need_values(right.node)
    spec = StoreSpec(
        f"{base}-subscription-store", StoreKind.ORDERED, foreign_keys, SubscriptionSerde(left_keys)
    )
    answer = ForeignKeyAnswer(
        name=f"{base}-answer",
        parents=(subscriptions, right.node),
        where=where,
        table=right.node,
        store=spec,
        left_key_serde=left_keys,
        foreign_key_serde=foreign_keys,
        right_value_serde=right_values,
    )
    draft.add(answer)
    answers, answered = _topic(
        draft,
        f"{base}-subscription-response",
        answer.name,
        left_keys,
        AnswerSerde(right_values),
        where,
        partition_of=_asker,
    )
    draft.copartitioned.append(((*left._sources, answered), where))
    draft.need_values(left.node)
    resolve = ForeignKeyResolve(
        name=f"{base}-resolve",
        parents=(answers,),
        where=where,
        table=left.node,
        joiner=joiner,
        kind=kind,
        left_value_serde=left_values,
        right_value_serde=right_values,
        unanswered=unanswered,
    )
    draft.add(resolve)
    values = value or draft.value_serde
    latent = StoreSpec(
        store or f"{base}-store", StoreKind.KEY_VALUE, left_keys, values, queryable=store is not None
    )
    result = TableSource(name=base, parents=(resolve.name,), where=where, store=latent if store else None)
    draft.add(result, latent)
    return KTable(draft, base, left_keys, values, (*left._sources, answered), value_sure=value is not None)


def _topic(
    draft: "Draft",
    name: str,
    parent: str,
    keys: Serde,
    values: Serde,
    where: Location,
    partition_of: Callable[[str, Any, Any], int] | None = None,
) -> tuple[str, str]:
    topic = f"{draft.application_id}-{name}-topic"
    draft.add(
        Sink(
            name=f"{name}-sink",
            parents=(parent,),
            where=where,
            topic=topic,
            key_serde=keys,
            value_serde=values,
            partition_of=partition_of,
        )
    )
    source = Source(name=f"{name}-source", where=where, topics=(topic,), key_serde=keys, value_serde=values)
    draft.add(source)
    draft.add_topic(RepartitionTopic(topic), where)
    return source.name, topic


def _asker(topic: str, key: Any, answer: Answer) -> int:
    """An answer goes back to the partition that asked, however the left table was partitioned."""
    return answer.partition
