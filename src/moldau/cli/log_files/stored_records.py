"""Decodes records of the internal topics `__consumer_offsets` and `__transaction_state`. Pure."""

import dataclasses
from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

from moldau.core.errors import PeerError
from moldau.protocol.spec import Message
from moldau.protocol.stored import classic_groups, consumer_groups, transactions
from moldau.protocol.stored.framing import RecordKey, RecordValue, decode_key, decode_versioned, record_type

_FAMILIES: Final[dict[str, tuple[ModuleType, ...]]] = {
    "__consumer_offsets": (classic_groups, consumer_groups),
    "__transaction_state": (transactions,),
}

Told = tuple[str, dict[str, Any], dict[str, Any] | None]
"""The record type, its key, and its value, which is None for a tombstone."""


def teller(topic: str | None) -> Callable[[bytes | None, bytes | None], Told | None] | None:
    """The decoder of an internal topic, None for other topics."""
    modules = _FAMILIES.get(topic or "")
    if modules is None:
        return None
    kinds = {
        declared.RECORD_TYPE: (declared, _value_of(module, name))
        for module in modules
        for name, declared in vars(module).items()
        if name.endswith("Key")
        and isinstance(declared, type)
        and issubclass(declared, RecordKey)
        and declared is not RecordKey
    }

    def tell(key: bytes | None, value: bytes | None) -> Told | None:
        try:
            if key is None or record_type(key) not in kinds:
                return None
            key_class, value_class = kinds[record_type(key)]
            told = _plain(decode_key(key_class, key))
            name = key_class.__name__.removesuffix("Key")
            if value is None or value_class is None:
                return name, told, None
            return name, told, _plain(decode_versioned(value_class, value))
        except PeerError:
            return None

    return tell


def _value_of(module: ModuleType, key_name: str) -> type[RecordValue] | None:
    """The value class of a key class, found by name. Legacy offset commits share the current value class."""
    name = key_name.removesuffix("Key").removeprefix("Legacy") + "Value"
    value: type[RecordValue] | None = getattr(module, name, None)
    return value


def _plain(message: Message) -> dict[str, Any]:
    return {name: _readable(value) for name, value in dataclasses.asdict(message).items()}  # type: ignore[call-overload]


def _readable(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _readable(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_readable(item) for item in value]
    return bytes(value).hex() if isinstance(value, bytes | memoryview) else value
