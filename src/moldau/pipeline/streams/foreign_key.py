"""The nodes of a foreign-key join: three steps with a topic between each (KIP-213)."""

from collections.abc import Callable
from dataclasses import dataclass
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
    from moldau.pipeline.streams.table_joins import Joining


def join_on_foreign_key(
    left: "KTable", right: "KTable", joining: "Joining", extractor: Callable[[Any], Any]
) -> "KTable":
    """Left rows subscribe to right rows; those answer; the left side resolves the answers. Two topics lie between."""
    from moldau.pipeline.streams.table import KTable

    draft, where = left._draft, joining.where
    base = draft.name("KTABLE-FK-JOIN", joining.name)
    parts = _Parts(
        draft,
        base,
        left,
        right,
        joining,
        left._keys(None, where),
        left._values(None, where),
        right._keys(None, where),
        right._values(None, where),
    )
    draft.need_old_values(right.node)
    draft.need_old_values(left.node)
    subscriptions = _subscribe(parts, extractor)
    answers, answered = _answer(parts, subscriptions)
    resolved = _resolve(parts, answers)
    values, store = joining.value_serde or draft.value_serde, joining.store
    latent = StoreSpec(
        store or f"{base}-store", StoreKind.KEY_VALUE, parts.left_keys, values, queryable=store is not None
    )
    result = TableSource(name=base, parents=(resolved,), where=where, store=latent if store else None)
    draft.add(result, latent)
    sure = joining.value_serde is not None
    return KTable(draft, base, parts.left_keys, values, (*left._sources, answered), value_sure=sure)


@dataclass(frozen=True, slots=True)
class _Parts:
    """What the three steps share."""

    draft: "Draft"
    base: str
    """The base of the names of nodes, topics and stores."""
    left: "KTable"
    right: "KTable"
    joining: "Joining"
    left_keys: Serde
    left_values: Serde
    foreign_keys: Serde
    right_values: Serde

    @property
    def unanswered(self) -> StoreSpec | None:
        if self.joining.kind is not JoinKind.INNER:
            return None
        return StoreSpec(f"{self.base}-unanswered-store", StoreKind.KEY_VALUE, self.left_keys, BYTES)


def _subscribe(parts: _Parts, extractor: Callable[[Any], Any]) -> str:
    """Returns the node that reads the subscriptions."""
    draft, where = parts.draft, parts.joining.where
    subscribe = ForeignKeySubscribe(
        name=f"{parts.base}-subscribe",
        parents=(parts.left.node,),
        where=where,
        extractor=extractor,
        kind=parts.joining.kind,
        left_value_serde=parts.left_values,
        foreign_key_serde=parts.foreign_keys,
        unanswered=parts.unanswered,
    )
    draft.add(subscribe)
    subscriptions, asked = _topic(
        draft,
        f"{parts.base}-subscription-registration",
        subscribe.name,
        parts.foreign_keys,
        SubscriptionSerde(parts.left_keys),
        where,
    )
    draft.copartitioned.append(((*parts.right._sources, asked), where))
    draft.need_values(parts.right.node)
    return subscriptions


def _answer(parts: _Parts, subscriptions: str) -> tuple[str, str]:
    """Returns the node that reads the answers, and their topic."""
    draft, where = parts.draft, parts.joining.where
    answer = ForeignKeyAnswer(
        name=f"{parts.base}-answer",
        parents=(subscriptions, parts.right.node),
        where=where,
        table=parts.right.node,
        store=StoreSpec(
            f"{parts.base}-subscription-store",
            StoreKind.ORDERED,
            parts.foreign_keys,
            SubscriptionSerde(parts.left_keys),
        ),
        left_key_serde=parts.left_keys,
        foreign_key_serde=parts.foreign_keys,
        right_value_serde=parts.right_values,
    )
    draft.add(answer)
    answers, answered = _topic(
        draft,
        f"{parts.base}-subscription-response",
        answer.name,
        parts.left_keys,
        AnswerSerde(parts.right_values),
        where,
        partition_of=_asker,
    )
    draft.copartitioned.append(((*parts.left._sources, answered), where))
    return answers, answered


def _resolve(parts: _Parts, answers: str) -> str:
    """Returns the node that joins the answers with the left rows."""
    parts.draft.need_values(parts.left.node)
    resolve = ForeignKeyResolve(
        name=f"{parts.base}-resolve",
        parents=(answers,),
        where=parts.joining.where,
        table=parts.left.node,
        joiner=parts.joining.joiner,
        kind=parts.joining.kind,
        left_value_serde=parts.left_values,
        right_value_serde=parts.right_values,
        unanswered=parts.unanswered,
    )
    parts.draft.add(resolve)
    return resolve.name


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
