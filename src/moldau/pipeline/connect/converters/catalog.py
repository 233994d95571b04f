"""All converters, by Kafka's class names and by the short ones."""

from collections.abc import Mapping
from typing import Final

from moldau.core.errors import ConfigError
from moldau.core.settings.view import nearest_text
from moldau.pipeline.connect.converters.converter import Converter, Setup
from moldau.pipeline.connect.converters.json_converter import JsonConverter
from moldau.pipeline.connect.converters.plain_converters import PLAIN
from moldau.pipeline.connect.converters.registry.avro.avro_converter import AvroConverter
from moldau.pipeline.connect.converters.registry.json_schema.json_schema_converter import JsonSchemaConverter
from moldau.pipeline.connect.converters.registry.protobuf.protobuf_converter import ProtobufConverter
from moldau.pipeline.connect.converters.simple_header_converter import SimpleHeaderConverter
from moldau.pipeline.connect.declarations import Texts

CONVERTERS: Final[tuple[type[Converter], ...]] = (
    JsonConverter,
    *PLAIN,
    AvroConverter,
    JsonSchemaConverter,
    ProtobufConverter,
    SimpleHeaderConverter,
)
_BY_NAME: Final[Mapping[str, type[Converter]]] = {
    name: one
    for one in CONVERTERS
    for name in (
        one.java_name,
        one.name(),
        one.name().removesuffix("Converter"),
        one.name().removesuffix("Converter").lower(),
    )
}


def converter_class(name: str, setting: str) -> type[Converter]:
    """By the class name of Java, or without its package, or in short: `JsonConverter`, `json`."""
    found = _BY_NAME.get(name.strip())
    if found is None:
        raise ConfigError(
            f"Invalid value {name} for configuration {setting}: Class {name} could not be found"
            f"{nearest_text(name, [one.name() for one in CONVERTERS])}. There are "
            f"{', '.join(one.name() for one in CONVERTERS)}"
        )
    return found


def make_converter(name: str, use: str, texts: Texts) -> Converter:
    """`texts` are the settings of the whole configuration: those with the prefix `key.converter.` are its own."""
    setting = f"{use}.converter"
    kind = converter_class(name, setting)
    if use not in kind.uses:
        raise ConfigError(
            f"Invalid value {name} for configuration {setting}: it is a converter for {' and '.join(kind.uses)}s only"
        )
    prefix = f"{setting}."
    own = {key.removeprefix(prefix): text for key, text in texts.items() if key.startswith(prefix)}
    return kind(Setup(use, own))
