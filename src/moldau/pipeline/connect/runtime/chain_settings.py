"""The settings of the record chain: converters, and what happens to records that fail."""

from collections.abc import Mapping
from typing import Final, Self

from moldau.core.errors import ConfigError
from moldau.core.settings.checks import one_of
from moldau.core.settings.key import Importance, boolean, long, string
from moldau.core.settings.view import SettingsView

DEFAULT_HEADER_CONVERTER: Final = "org.apache.kafka.connect.storage.SimpleHeaderConverter"


class ChainSettings(SettingsView):
    """Of sources and sinks."""

    KIND = "connector"

    key_converter = string(
        "key.converter", "", "The converter of keys. Empty: the worker's.", importance=Importance.LOW
    )
    value_converter = string(
        "value.converter", "", "The converter of values. Empty: the worker's.", importance=Importance.LOW
    )
    header_converter = string(
        "header.converter", DEFAULT_HEADER_CONVERTER, "The converter of headers.", importance=Importance.LOW
    )
    tolerance = string(
        "errors.tolerance",
        "none",
        "`none`: a record that fails fails its task. `all`: it is skipped, and written to the dead letter topic if "
        "there is one.",
        check=one_of("none", "all", ignore_case=True),
        importance=Importance.MEDIUM,
    )
    retry_timeout_ms = long(
        "errors.retry.timeout",
        0,
        "How long an operation that may work later is tried again. 0: not at all; -1: without end.",
        at_least=-1,
        importance=Importance.MEDIUM,
    )
    retry_delay_max_ms = long(
        "errors.retry.delay.max.ms",
        60_000,
        "The longest pause between two attempts.",
        at_least=1,
        importance=Importance.MEDIUM,
    )
    logs_records = boolean(
        "errors.log.include.messages",
        False,
        "Whether the log of a failed record says which one it was: topic, partition, offset, time.",
        importance=Importance.MEDIUM,
    )

    @property
    def tolerates(self) -> bool:
        return self.tolerance.lower() == "all"

    @classmethod
    def of(cls, config: Mapping[str, str]) -> Self:
        """From a configuration that has other settings too. Raises ConfigError for a wrong value."""
        found = cls.parse({name: text for name, text in config.items() if name in cls.KEYS})
        for use, converter in (("key", found.key_converter), ("value", found.value_converter)):
            if not converter:
                raise ConfigError(
                    f"{use}.converter is not set, neither by the connector nor by its worker: name one, such as "
                    "JsonConverter or StringConverter"
                )
        return found
