"""Forgets all of an application: its checkpoint, its group's offsets, its own topics. Its inputs and outputs stay."""

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient

from moldau.pipeline.spark.folder import Folder
from moldau.pipeline.spark.owner import Owner
from moldau.pipeline.spark.topic_offsets import ANSWER_S_MAX

OWN_SUFFIXES = ("-repartition", "-changelog")


def own_topics(admin: AdminClient, application_id: str) -> list[str]:
    names = admin.list_topics(timeout=ANSWER_S_MAX).topics
    return sorted(
        name for name in names if name.startswith(f"{application_id}-") and name.endswith(OWN_SUFFIXES)
    )


def require_stopped(application_id: str, checkpoint_folder: str) -> None:
    """Raises ConfigError when the application runs, with its process and host."""
    Owner(Folder(checkpoint_folder), application_id, "").require_free()


def reset(admin: AdminClient, application_id: str, checkpoint_folder: str) -> list[str]:
    """What was removed, in words. Raises ConfigError, and removes nothing, while the application runs."""
    require_stopped(application_id, checkpoint_folder)
    removed = []
    topics = own_topics(admin, application_id)
    for topic, future in (admin.delete_topics(topics) if topics else {}).items():
        future.result(ANSWER_S_MAX)
        removed.append(f"topic {topic}")
    try:
        admin.delete_consumer_groups([application_id])[application_id].result(ANSWER_S_MAX)
        removed.append(f"group {application_id}")
    except KafkaException as failure:
        if failure.args[0].code() != KafkaError.GROUP_ID_NOT_FOUND:
            raise
    folder = Folder(checkpoint_folder)
    if folder.names():
        folder.remove_all()
        removed.append(f"checkpoint {checkpoint_folder}")
    return removed
