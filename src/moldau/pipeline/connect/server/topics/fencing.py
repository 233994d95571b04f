"""Fences tasks of sources: whatever still runs under their transactional ids can commit nothing more (KIP-618)."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from confluent_kafka import KafkaException, Producer

from moldau.core.errors import MoldauError
from moldau.pipeline.connect.runtime.plan import transactional_id_of

ANSWER_S: Final = 30.0


def fence_tasks(client: Mapping[str, Any], worker_group: str, connector: str, numbers: Iterable[int]) -> None:
    """Returns when the transactions that they had open have ended. Raises MoldauError."""
    for number in numbers:
        transactional_id = transactional_id_of(worker_group, connector, number)
        try:
            producer = Producer({**client, "transactional.id": transactional_id, "log_level": 0})
            producer.init_transactions(ANSWER_S)
        except KafkaException as failure:
            raise MoldauError(
                f"the transactional id {transactional_id} could not be fenced: {failure.args[0].str()}"
            ) from failure
