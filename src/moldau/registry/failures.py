"""The registry's errors, with the codes and messages that clients of Confluent's registry know.

One exception carries them from the owner of the state to the HTTP answer. Its status is the first three digits of its
code.
"""

from collections.abc import Sequence
from typing import Any, Final

from moldau.core.errors import MoldauError

COMPATIBILITY_LEVELS: Final = (
    "NONE",
    "BACKWARD",
    "BACKWARD_TRANSITIVE",
    "FORWARD",
    "FORWARD_TRANSITIVE",
    "FULL",
    "FULL_TRANSITIVE",
)
MODES: Final = ("READWRITE", "READONLY", "READONLY_OVERRIDE", "IMPORT", "FORWARD")


class RegistryFailure(MoldauError):
    """`clashes` is the content of the message, for tools."""

    def __init__(self, code: int, message: str, clashes: Sequence[dict[str, Any]] = ()) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.clashes = clashes

    @property
    def status(self) -> int:
        return int(str(self.code)[:3])


class NotPrimary(MoldauError):
    """This instance may not write: another one is the primary, or none is yet."""


def subject_not_found(subject: str | None) -> RegistryFailure:
    return RegistryFailure(40401, f"Subject '{subject}' not found.")


def version_not_found(version: int | str) -> RegistryFailure:
    return RegistryFailure(40402, f"Version {version} not found.")


def schema_not_found(what: int | str | None = None) -> RegistryFailure:
    return RegistryFailure(40403, "Schema not found" if what is None else f"Schema {what} not found")


def subject_soft_deleted(subject: str) -> RegistryFailure:
    return RegistryFailure(
        40404, f"Subject '{subject}' was soft deleted.Set permanent=true to delete permanently"
    )


def subject_not_soft_deleted(subject: str) -> RegistryFailure:
    return RegistryFailure(
        40405, f"Subject '{subject}' was not deleted first before being permanently deleted"
    )


def version_soft_deleted(subject: str, version: int) -> RegistryFailure:
    return RegistryFailure(
        40406,
        f"Subject '{subject}' Version {version} was soft deleted.Set permanent=true to delete permanently",
    )


def version_not_soft_deleted(subject: str, version: int) -> RegistryFailure:
    return RegistryFailure(
        40407, f"Subject '{subject}' Version {version} was not deleted first before being permanently deleted"
    )


def config_not_set(subject: str) -> RegistryFailure:
    return RegistryFailure(40408, f"Subject '{subject}' does not have subject-level compatibility configured")


def mode_not_set(subject: str) -> RegistryFailure:
    return RegistryFailure(40409, f"Subject '{subject}' does not have subject-level mode configured")


def association_exists(kind: str, resource: str) -> RegistryFailure:
    return RegistryFailure(40903, f"An association of type '{kind}' already exists for resource '{resource}'")


def subject_associated(subject: str) -> RegistryFailure:
    return RegistryFailure(40904, f"An association already exists for subject '{subject}'")


def no_live_version(subject: str) -> RegistryFailure:
    return RegistryFailure(40907, f"No active (non-deleted) version exists for subject '{subject}'")


def incompatible(subject: str, messages: Sequence[str], clashes: Sequence[Any]) -> RegistryFailure:
    """`clashes` come from `moldau.registry.schemas.check`; `messages` are the same as text."""
    return RegistryFailure(
        409,
        f'Schema being registered is incompatible with an earlier schema for subject "{subject}", '
        f"details: [{', '.join(messages)}]",
        [clash.to_json() for clash in clashes],
    )


def invalid_schema(message: str) -> RegistryFailure:
    return RegistryFailure(42201, message)


def invalid_version(text: str | int) -> RegistryFailure:
    return RegistryFailure(
        42202,
        f"The specified version '{text}' is not a valid version id. Allowed values are between "
        '[1, 2^31-1] and the string "latest"',
    )


def invalid_compatibility() -> RegistryFailure:
    return RegistryFailure(
        42203,
        "Invalid compatibility level. Valid values are none, backward, forward, full, backward_transitive, "
        "forward_transitive, and full_transitive",
    )


def invalid_mode(
    message: str = "Invalid mode. Valid values are READWRITE, READONLY, IMPORT and FORWARD.",
) -> RegistryFailure:
    return RegistryFailure(42204, message)


def not_permitted(message: str) -> RegistryFailure:
    return RegistryFailure(42205, message)


def referenced(subject: str, version: int) -> RegistryFailure:
    return RegistryFailure(
        42206,
        "One or more references exist to the schema "
        f"{{magic=1,keytype=SCHEMA,subject={subject},version={version}}}.",
    )


def invalid_subject(subject: str) -> RegistryFailure:
    return RegistryFailure(42208, f"The specified subject '{subject}' is not a valid.")


def schema_too_large(bytes_count: int, bytes_max: int) -> RegistryFailure:
    return RegistryFailure(
        42209,
        f"Register operation failed because schema is too large: its record has {bytes_count:,} bytes, and the "
        f"registry's topic accepts {bytes_max:,} (kafkastore.max.message.bytes).",
    )


def invalid_rule_set(message: str) -> RegistryFailure:
    return RegistryFailure(42210, message)


def context_not_empty(context: str) -> RegistryFailure:
    return RegistryFailure(42211, f"The specified context '{context}' is not empty.")


def invalid_association(field: str, reason: str) -> RegistryFailure:
    return RegistryFailure(42212, f"The association property '{field}' {reason}.")


def denied(message: str) -> RegistryFailure:
    return RegistryFailure(40301, message)


def unprocessable(message: str) -> RegistryFailure:
    return RegistryFailure(422, message)


def store_failed(message: str) -> RegistryFailure:
    return RegistryFailure(50001, message)


def timed_out(message: str) -> RegistryFailure:
    return RegistryFailure(50002, message)


def forwarding_failed(message: str) -> RegistryFailure:
    return RegistryFailure(50003, message)


def primary_unknown(message: str) -> RegistryFailure:
    return RegistryFailure(50004, message)
