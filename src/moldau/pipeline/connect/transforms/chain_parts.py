"""Which transformations and predicates a connector's configuration names, and their settings."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

from moldau.core.errors import ConfigError
from moldau.core.settings.key import ConfigKey, Declared, Importance, boolean, string, strings
from moldau.core.settings.text_form import parse_list
from moldau.core.settings.view import nearest_text
from moldau.pipeline.connect.declarations import ConfigValue, Declaration, Texts, validate
from moldau.pipeline.connect.transforms.catalog import (
    PREDICATES,
    Kind,
    all_kinds,
    predicate_class,
    transformation_kind,
)
from moldau.pipeline.connect.transforms.predicates import Predicate
from moldau.pipeline.connect.transforms.transformation import Transformation

T = TypeVar("T")

TRANSFORMS: Final = "transforms"
PREDICATES_SETTING: Final = "predicates"
TYPE: Final = "type"
PREDICATE: Final = "predicate"
NEGATE: Final = "negate"
LISTS: Final = (
    Declaration(
        strings(
            TRANSFORMS,
            (),
            "Aliases for the transformations to be applied to records, in this order.",
            importance=Importance.LOW,
        ),
        group="Transforms",
        display_name="Transforms",
    ),
    Declaration(
        strings(
            PREDICATES_SETTING,
            (),
            "Aliases for the predicates used by transformations.",
            importance=Importance.LOW,
        ),
        group="Predicates",
        display_name="Predicates",
    ),
)
_TYPE_OF_TRANSFORMATION: Final = Declaration(
    string(TYPE, "", "Class of the transformation.", importance=Importance.HIGH),
    is_required=True,
    recommends=lambda texts: sorted(all_kinds()),
)
_TYPE_OF_PREDICATE: Final = Declaration(
    string(TYPE, "", "Class of the predicate.", importance=Importance.HIGH),
    is_required=True,
    recommends=lambda texts: [one.java_name() for one in PREDICATES],
)
_USE_OF_PREDICATE: Final = Declaration(
    string(
        PREDICATE,
        "",
        "The alias of a predicate: the transformation is applied to the records for which it is true.",
    ),
    recommends=lambda texts: parse_list(texts.get(PREDICATES_SETTING, "")),
)
_NEGATE: Final = Declaration(
    boolean(NEGATE, False, "Whether to apply the transformation to the other records instead.")
)


@dataclass(frozen=True, slots=True)
class Part:
    """One alias."""

    list_setting: str
    alias: str
    texts: Texts
    """Its settings, without the prefix."""

    @property
    def prefix(self) -> str:
        return f"{self.list_setting}.{self.alias}."

    @property
    def type_name(self) -> str:
        return self.texts.get(TYPE, "").strip()

    def title(self, short: str) -> str:
        return f"{self.list_setting}.{self.alias} ({short})"

    def kind(self) -> Kind:
        """Of a transformation. Raises ConfigError."""
        return transformation_kind(self._known_type())

    def predicate_class(self) -> type[Predicate]:
        """Raises ConfigError."""
        return predicate_class(self._known_type())

    def make_transformation(self) -> Transformation:
        """Raises ConfigError."""
        found = self.kind()
        title = self.title(found.transformation.title(found.part))
        return self._made(title, lambda: found.transformation(self.texts, found.part, title))

    def make_predicate(self) -> Predicate:
        """Raises ConfigError."""
        found = self.predicate_class()
        title = self.title(found.__name__)
        return self._made(title, lambda: found(self.texts, title))

    def _made(self, title: str, make: Callable[[], T]) -> T:
        try:
            return make()
        except ConfigError as wrong:
            text = str(wrong)
            raise ConfigError(text if text.startswith(title) else f"{title}: {text}") from None

    def _known_type(self) -> str:
        if not self.type_name:
            raise ConfigError(
                f'Missing required configuration "{self.prefix}{TYPE}" which has no default value: name the class of '
                f"{self.alias}"
            )
        return self.type_name


def parts_of(config: Texts, list_setting: str) -> list[Part]:
    """In the order of the list. Raises ConfigError for an alias that stands in it twice."""
    aliases = parse_list(config.get(list_setting, ""))
    if len(set(aliases)) != len(aliases):
        raise ConfigError(
            f"Invalid value {config[list_setting]} for configuration {list_setting}: Duplicate alias provided. Name "
            "each one once"
        )
    return [
        Part(list_setting, alias, _without_prefix(config, f"{list_setting}.{alias}."))
        for alias in aliases
        if alias
    ]


def predicate_of(part: Part, predicates: Mapping[str, Any]) -> str | None:
    """The alias that a transformation names. Raises ConfigError if there is none with it."""
    alias = part.texts.get(PREDICATE, "").strip()
    if not alias:
        if NEGATE in part.texts:
            raise ConfigError(
                f"Invalid value {part.texts[NEGATE]} for configuration {part.prefix}{NEGATE}: there is no "
                f"{part.prefix}{PREDICATE} to negate; name one, or leave out {NEGATE}"
            )
        return None
    if alias not in predicates:
        raise ConfigError(
            f"Invalid value {alias} for configuration {part.prefix}{PREDICATE}: it is none of the predicates of the "
            f"connector{nearest_text(alias, predicates)}: add it to {PREDICATES_SETTING}"
        )
    return alias


def is_negated(part: Part) -> bool:
    """Raises ConfigError."""
    text = part.texts.get(NEGATE)
    return False if text is None else bool(_prefixed(_NEGATE, part).key.parse(text))


def chain_declarations(config: Texts) -> list[Declaration]:
    """All settings of the transformations and predicates that the configuration names, and the two lists. A class that
    does not exist has no more settings than its type."""
    found = list(LISTS)
    for part in _known_parts(config, TRANSFORMS):
        found += [_prefixed(one, part) for one in (_TYPE_OF_TRANSFORMATION, _USE_OF_PREDICATE, _NEGATE)]
        found += [_prefixed(one, part) for one in _own(part)]
    for part in _known_parts(config, PREDICATES_SETTING):
        found += [_prefixed(one, part) for one in (_TYPE_OF_PREDICATE, *_own(part))]
    return found


def chain_errors(config: Texts) -> list[ConfigValue]:
    """What is wrong that the declarations do not say: unknown classes or aliases, settings that do not go together."""
    errors = []
    for setting in (TRANSFORMS, PREDICATES_SETTING):
        try:
            parts_of(config, setting)
        except ConfigError as wrong:
            errors.append(ConfigValue(setting, config.get(setting), errors=[str(wrong)]))
    predicates = {one.alias: one for one in _known_parts(config, PREDICATES_SETTING)}
    for part in (*_known_parts(config, TRANSFORMS), *predicates.values()):
        errors += _errors_of(part, predicates)
    return errors


def _errors_of(part: Part, predicates: Mapping[str, Part]) -> Iterator[ConfigValue]:
    if part.list_setting == TRANSFORMS:
        try:
            predicate_of(part, predicates)
        except ConfigError as wrong:
            name = PREDICATE if part.texts.get(PREDICATE) else NEGATE
            yield ConfigValue(f"{part.prefix}{name}", part.texts.get(name), errors=[str(wrong)])
    if not part.type_name:
        return  # Declared as required.
    try:
        if part.list_setting == TRANSFORMS:
            part.kind()
        else:
            part.predicate_class()
    except ConfigError as wrong:
        text = f"Invalid value {part.type_name} for configuration {part.prefix}{TYPE}: {wrong}"
        yield ConfigValue(f"{part.prefix}{TYPE}", part.type_name, errors=[text])
        return
    if any(one.errors for one in validate(list(_own(part)), part.texts)):
        return
    try:
        if part.list_setting == TRANSFORMS:
            part.make_transformation()
        else:
            part.make_predicate()
    except ConfigError as wrong:
        yield ConfigValue(f"{part.prefix}{TYPE}", part.type_name, errors=[str(wrong)])


def _known_parts(config: Texts, list_setting: str) -> list[Part]:
    aliases = dict.fromkeys(one for one in parse_list(config.get(list_setting, "")) if one)
    return [
        Part(list_setting, alias, _without_prefix(config, f"{list_setting}.{alias}.")) for alias in aliases
    ]


def _own(part: Part) -> Sequence[Declaration]:
    """Of its class, if it exists."""
    try:
        if part.list_setting == TRANSFORMS:
            return part.kind().transformation.declarations
        return part.predicate_class().declarations
    except ConfigError:
        return ()


def _without_prefix(config: Texts, prefix: str) -> Texts:
    return {name.removeprefix(prefix): text for name, text in config.items() if name.startswith(prefix)}


def _prefixed(declaration: Declaration, part: Part) -> Declaration:
    key = declaration.key
    declared = Declared(scope=key.scope, importance=key.importance, inert=key.inert, internal=key.internal)
    named: ConfigKey[Any] = ConfigKey(
        f"{part.prefix}{key.name}", key.type, key.default, key.doc, declared, check=key.check
    )
    kind = "Transforms" if part.list_setting == TRANSFORMS else "Predicates"
    return replace(
        declaration,
        key=named,
        group=f"{kind}: {part.alias}",
        display_name=declaration.display_name or key.name,
        dependents=tuple(f"{part.prefix}{one}" for one in declaration.dependents),
    )
