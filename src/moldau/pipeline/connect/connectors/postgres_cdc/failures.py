"""What the server's errors mean for a connector, and what to do about them. Pure."""

import re
from typing import Final

from moldau.pipeline.connect.api import ConnectError, RetriableError

_PREFIX: Final = re.compile(r"^(?:ERROR|FATAL|PANIC):\s+")
_PERMANENT: Final = (
    (
        "logical decoding requires wal_level",
        "set wal_level = logical in postgresql.conf and restart the server",
    ),
    (
        "all replication slots are in use",
        "drop a slot that is no longer used, or raise max_replication_slots; a first reading of the tables may need "
        "a second, temporary one",
    ),
    ("must be superuser or replication role", "give the role REPLICATION: ALTER ROLE name REPLICATION"),
    ("must be superuser to create FOR ALL TABLES", "see publication.autocreate.mode"),
    (
        "can no longer get changes from replication slot",
        "the server has deleted log that was not read yet (max_slot_wal_keep_size): drop the slot, and delete the "
        "connector's offsets or set snapshot.mode=when_needed to read the tables again",
    ),
    ("password authentication failed", "check database.user and database.password"),
    ("no pg_hba.conf entry", "allow this host in the server's pg_hba.conf"),
    ("permission denied for table", "grant the role SELECT on the table, or exclude the table"),
    ("permission denied for schema", "grant the role USAGE on the schema, or exclude the schema"),
    ("permission denied", "grant the role what it lacks"),
    ("must be owner of table", "the role of publication.autocreate.mode=filtered owns the captured tables"),
    ("does not exist", "check the connector's settings"),
)
_LOST_SLOT: Final = "can no longer get changes from replication slot"
_AWAY: Final = (
    "could not connect",
    "connection to server",
    "connection refused",
    "could not translate host name",
    "server closed the connection",
    "could not receive data",
    "could not send data",
    "ssl syscall error",
    "the database system is",
    "terminating connection",
    "too many connections",
    "too many clients",
    "the connection is lost",
    "the server ended the stream",
    "number of requested standby connections exceeds",
    "timeout expired",
)


class SlotInUse(RetriableError):
    """Another client reads from the slot: perhaps this task's predecessor, whose end the server has not noticed."""


class SlotLost(ConnectError):
    """The slot cannot be used any more: the log it needs has been deleted."""


def failure_of(text: str, server: str) -> ConnectError:
    """From an error of the server, or of libpq."""
    message = _PREFIX.sub("", text.strip()).replace("\n", " ")
    lowered = message.lower()
    if "is active for pid" in lowered or "is already active" in lowered:
        return SlotInUse(
            f"{server}: {message}. A slot has one reader: stop the other one, or give each connector its slot.name"
        )
    advice = next((advice for needle, advice in _PERMANENT if needle.lower() in lowered), None)
    if _LOST_SLOT in lowered:
        return SlotLost(f"{server}: {message}: {advice}")
    if advice is not None:
        return ConnectError(f"{server}: {message}: {advice}")
    if any(needle in lowered for needle in _AWAY):
        return RetriableError(f"{server} cannot be reached: {message}")
    return ConnectError(f"{server}: {message}")
