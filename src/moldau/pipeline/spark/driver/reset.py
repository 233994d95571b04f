"""Resets an application: deletes its checkpoint, its group and its internal topics. Its inputs and outputs stay."""

import contextlib

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient

from moldau.core.errors import ConfigError
from moldau.pipeline.spark.checkpoint.application_record import FILE, ApplicationRecord
from moldau.pipeline.spark.checkpoint.folder import Folder
from moldau.pipeline.spark.checkpoint.owner import Owner
from moldau.pipeline.spark.driver.topics import OWN_SUFFIXES
from moldau.pipeline.spark.settings import require_legal_id
from moldau.pipeline.spark.topic_offsets import ANSWER_S_MAX


def own_topics(admin: AdminClient, application_id: str, record: ApplicationRecord | None) -> list[str]:
    """The topics that the checkpoint names; without a checkpoint, those with the names that the application would use.
    Another application's id may begin with this one."""
    names = set(admin.list_topics(timeout=ANSWER_S_MAX).topics)
    if record is not None and record.inventory is not None:
        changelogs = {f"{application_id}-{store}-changelog" for store in record.inventory.stores}
        return sorted(names & ({*record.inventory.topics} | changelogs))
    return sorted(
        name for name in names if name.startswith(f"{application_id}-") and name.endswith(OWN_SUFFIXES)
    )


def require_stopped(application_id: str, checkpoint_folder: str) -> None:
    """Raises ConfigError if the application runs; the message has its process and host."""
    Owner(Folder(checkpoint_folder), application_id, "").require_free()


def require_resettable(application_id: str, checkpoint_folder: str, *, is_lost: bool) -> None:
    """Raises ConfigError if the application runs (with its process and host), or if the folder is of another one."""
    require_legal_id(application_id)
    require_stopped(application_id, checkpoint_folder)
    if Folder(checkpoint_folder).read(FILE) is None and not is_lost:
        raise ConfigError(
            f"{checkpoint_folder} holds no checkpoint of {application_id}, which may be running with another one: name "
            "its folder with --checkpoint-dir. If it is lost and nothing runs: --checkpoint-lost deletes the "
            "group and the application's internal topics"
        )


def reset(
    admin: AdminClient, application_id: str, checkpoint_folder: str, *, is_lost: bool = False
) -> list[str]:
    """Returns what was deleted, in words. Raises ConfigError and deletes nothing while the application runs, or if
    there is no checkpoint of it, unless the checkpoint is known to be lost."""
    require_resettable(application_id, checkpoint_folder, is_lost=is_lost)
    record = None
    if not is_lost:
        with contextlib.suppress(ConfigError):
            record = ApplicationRecord.load(Folder(checkpoint_folder), application_id)
    removed = []
    topics = own_topics(admin, application_id, record)
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
