"""What aiokafka and kafka-python have in common: names of settings, error numbers, fields of records."""

from collections.abc import Mapping
from typing import Any

from compat.client import ClientFailure, Record
from moldau.core.error_codes import ErrorCode


def keyword_settings(bootstrap: str, settings: Mapping[str, str] | None) -> dict[str, Any]:
    """Their settings are keyword arguments with underscores, and typed."""
    named = {key.replace(".", "_"): _typed(value) for key, value in (settings or {}).items()}
    if named.get("compression_type") == "none":
        named["compression_type"] = None
    return {"bootstrap_servers": bootstrap, **named}


def check(error_code: int) -> None:
    if error_code != 0:
        raise ClientFailure(ErrorCode(error_code).name)


def failure_of(failure: Exception) -> ClientFailure:
    """Errors from a broker have Kafka's numbers; the library's own are known by their class."""
    number = getattr(failure, "errno", -1)
    name = ErrorCode(number).name if isinstance(number, int) and number > 0 else type(failure).__name__
    return ClientFailure(name, str(failure))


def record_of(message: Any) -> Record:
    return Record(
        value=message.value,
        key=message.key,
        headers=tuple(message.headers),
        timestamp_ms=message.timestamp,
        partition=message.partition,
        offset=message.offset,
    )


def _typed(value: str) -> Any:
    if value in ("true", "false"):
        return value == "true"
    return int(value) if value.lstrip("-").isdecimal() else value
