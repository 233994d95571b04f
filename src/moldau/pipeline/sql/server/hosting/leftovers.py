"""What a query leaves behind when it has ended: its checkpoint and its internal topics go.

Its group stays until the brokers forget it: no other query ever has the same id.
"""

import logging
import shutil
from collections.abc import Collection
from pathlib import Path
from typing import Final

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

INTERNAL_SUFFIXES: Final = ("-changelog", "-repartition", "-foreign-key", "-transform")
ANSWER_S_MAX: Final = 30.0

log = logging.getLogger("moldau.sql")


def internal_topics(application_id: str, topics: Collection[str], others: Collection[str] = ()) -> list[str]:
    """Those of an application among all topics. `others`: application ids that may begin with this one."""
    longer = tuple(f"{other}-" for other in others if other.startswith(f"{application_id}-"))
    return sorted(
        topic
        for topic in topics
        if topic.startswith(f"{application_id}-")
        and topic.endswith(INTERNAL_SUFFIXES)
        and not (longer and topic.startswith(longer))
    )


def remove_leftovers(
    admin: AdminClient, checkpoints: Path, application_id: str, others: Collection[str] = ()
) -> None:
    """The application does not run any more. What cannot be removed is logged and stays."""
    shutil.rmtree(checkpoints / application_id, ignore_errors=True)
    try:
        topics = internal_topics(application_id, admin.list_topics(timeout=ANSWER_S_MAX).topics, others)
        for future in (admin.delete_topics(topics) if topics else {}).values():
            future.result(ANSWER_S_MAX)
    except (KafkaException, TimeoutError) as error:
        log.info("not all that %s has left behind could be removed: %s", application_id, error)
