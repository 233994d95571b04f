"""Cases for the oracle: transformations with settings and records, by a seed."""

from collections.abc import Callable, Sequence
from typing import Any

from compat.connect.forms import record_form
from compat.connect.generated import NAMES, Generated
from moldau.pipeline.connect.data.records import Record, SinkRecord

PACKAGE = "org.apache.kafka.connect.transforms"
RECORDS = 5
CAST_TYPES = ("int8", "int16", "int32", "int64", "float32", "float64", "boolean", "string")


def _names(of: Generated, count: int = 2) -> str:
    return ",".join(of.random.sample(NAMES, of.random.randint(1, count)))


def _cast(of: Generated) -> dict[str, str]:
    if of.chance(6):
        return {"spec": of.random.choice(CAST_TYPES)}
    names = of.random.sample(NAMES, of.random.randint(1, 3))
    return {"spec": ",".join(f"{name}:{of.random.choice(CAST_TYPES)}" for name in names)}


def _extract(of: Generated) -> dict[str, str]:
    paths = (*NAMES, "a.b", "b.a", "`d.e`", "a.c", "c.`d.e`")
    return {"field": of.random.choice(paths), "field.syntax.version": of.random.choice(("V1", "V2"))}


def _header_from(of: Generated) -> dict[str, str]:
    fields = _names(of)
    headers = ",".join(of.random.choice(("h", "i")) for _ in fields.split(","))
    return {"fields": fields, "headers": headers, "operation": of.random.choice(("move", "copy"))}


def _insert_field(of: Generated) -> dict[str, str]:
    settings = ("topic.field", "partition.field", "offset.field", "timestamp.field", "static.field")
    chosen = of.random.sample(settings, of.random.randint(1, 2))
    config = {name: f"new_{name[0]}{of.random.choice(('', '!', '?'))}" for name in chosen}
    if of.chance(8):
        config[chosen[0]] = "a"
    return config | ({"static.value": "7"} if "static.field" in config else {})


def _mask(of: Generated) -> dict[str, str]:
    replacement = of.random.choice((None, None, "7", "x", "300", "1.5"))
    return {"fields": _names(of)} | ({} if replacement is None else {"replacement": replacement})


def _replace(of: Generated) -> dict[str, str]:
    config = {}
    if of.chance(2):
        config["exclude"] = _names(of)
    if of.chance(3):
        config["include"] = _names(of, 3)
    if of.chance(2):
        config["renames"] = of.random.choice(("a:x", "b:y,c:z", "d.e:d"))
    return config


def _metadata(of: Generated) -> dict[str, str]:
    return of.random.choice(
        ({"schema.name": "New"}, {"schema.version": "3"}, {"schema.name": "N", "schema.version": "1"})
    )


def _time(of: Generated) -> dict[str, str]:
    config = {"target.type": of.random.choice(("string", "unix", "Date", "Time", "Timestamp"))}
    if not of.chance(6):
        config["field"] = of.random.choice(NAMES)
    if of.chance(2) or config["target.type"] == "string":
        config["format"] = of.random.choice(("yyyy-MM-dd", "yyyy-MM-dd'T'HH:mm:ss.SSS", "EEE, d MMM yyyy"))
    if of.chance(3):
        config["unix.precision"] = of.random.choice(("seconds", "microseconds", "nanoseconds"))
    return config


SETTINGS: dict[str, Callable[[Generated], dict[str, str]]] = {
    "Cast": _cast,
    "DropHeaders": lambda of: {"headers": of.random.choice(("h", "h,i", "nothing"))},
    "ExtractField": _extract,
    "Filter": lambda of: {},
    "Flatten": lambda of: {"delimiter": of.random.choice((".", "_", ""))} if of.chance(2) else {},
    "HeaderFrom": _header_from,
    "HoistField": lambda of: {"field": "wrapped"},
    "InsertField": _insert_field,
    "InsertHeader": lambda of: {
        "header": "h",
        "value.literal": of.random.choice(
            ("12", "1.5", "text", "true", "[1,2]", '{"a":1}', "2020-01-31", "300", "")
        ),
    },
    "MaskField": _mask,
    "RegexRouter": lambda of: {
        "regex": of.random.choice(("orders", "(.*)-(.*)", "o[a-z-]*", ".*")),
        "replacement": of.random.choice(("new", "$0-x", "all")),
    },
    "ReplaceField": _replace,
    "SetSchemaMetadata": _metadata,
    "TimestampConverter": _time,
    "TimestampRouter": lambda of: {
        "timestamp.format": of.random.choice(("yyyyMMdd", "yyyy.MM.dd-HH", "YYYY-'W'ww"))
    },
    "ValueToKey": lambda of: {"fields": _names(of)},
}
HAVE_PARTS = {
    "Cast", "ExtractField", "Flatten", "HeaderFrom", "HoistField", "InsertField", "MaskField", "ReplaceField",
    "SetSchemaMetadata", "TimestampConverter",
}  # fmt: skip
REPLACE_NULL = {*HAVE_PARTS, "ValueToKey"} - {"Flatten", "HoistField"}
PREDICATES: dict[str, Callable[[Generated], dict[str, str]]] = {
    "TopicNameMatches": lambda of: {"pattern": of.random.choice(("orders.*", "t", "[a-z]+", "orders"))},
    "HasHeaderKey": lambda of: {"name": of.random.choice(("h", "j", "x"))},
    "RecordIsTombstone": lambda of: {},
}


def make_case(name: str, number: int) -> tuple[dict[str, Any], Sequence[Record]]:
    """A case for the oracle, and its records for ours."""
    of = Generated(f"{name} {number}")
    if name in PREDICATES:
        kind, title, config = "predicate", f"predicates.{name}", PREDICATES[name](of)
    else:
        kind, config = "transform", SETTINGS[name](of)
        title = f"{name}${of.random.choice(('Value', 'Value', 'Key'))}" if name in HAVE_PARTS else name
        if name in REPLACE_NULL and of.chance(3):
            config["replace.null.with.default"] = of.random.choice(("true", "false"))
    records = [of.record() for _ in range(RECORDS)]
    forms = [
        {**record_form(one), "offset": one.offset if isinstance(one, SinkRecord) else None} for one in records
    ]
    return {"kind": kind, "class": f"{PACKAGE}.{title}", "config": config, "records": forms}, records
