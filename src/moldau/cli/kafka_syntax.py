"""Translates the syntax of Kafka's own tools into `moldau` commands, for error messages. Pure; runs nothing."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

Words = list[str]
Option = tuple[str, Words]
"""A long option and its values."""


@dataclass(frozen=True)
class ToolSyntax:
    """How the options of one Kafka tool map to a command.

    `verbs`: options that became a subcommand. `subjects`: options whose value became an argument. `renamed`: other
    options, None to drop one.
    """

    command: Sequence[str]
    verbs: Mapping[str, str] = field(default_factory=dict)
    subjects: Sequence[str] = ()
    renamed: Mapping[str, str | None] = field(default_factory=dict)
    rewrite: Callable[[Option], Words | None] | None = None
    """Translates options that need more than renaming. Returns None for all others."""


def _property(option: Option) -> Words | None:
    """Options of the console tools: properties, formats and separators."""
    name, values = option
    flags = {
        f"print.{what}": f"--print-{what}" for what in ("key", "timestamp", "partition", "offset", "headers")
    }
    if name in ("--consumer-property", "--producer-property", "--producer-props", "--command-property"):
        return [word for value in values for word in ("-X", value)]
    if name in ("--key-deserializer", "--value-deserializer") and values:
        kind = values[0].rpartition(".")[2].removesuffix("Deserializer").lower()
        form = {"integer": "int", "bytearray": "bytes"}.get(kind, kind)
        return [f"{name.removesuffix('-deserializer')}-format", form]
    if name not in ("--property", "--reader-property", "--formatter-property"):
        return None
    words: Words = []
    for key, _, value in (each.partition("=") for each in values):
        if key in flags and value == "true":
            words.append(flags[key])
        elif key == "key.separator":
            words += ["--key-separator", value]
        elif key == "schema.registry.url":
            words += ["--registry", value]
    return words


def _time(option: Option) -> Words | None:
    if option[0] != "--time":
        return None
    names = {"-1": "latest", "-2": "earliest", "-3": "max-timestamp"}
    return [word for value in option[1] for word in ("--at", names.get(value, value))]


def _rule(option: Option) -> Words | None:
    """Options of kafka-acls that depend on their value, or say two things."""
    name, values = option
    if name == "--deny-principal":
        return [*values, "--deny"]
    if name == "--resource-pattern-type":
        return {"prefixed": ["--prefixed"], "match": ["--applying"]}.get(
            values[0].lower() if values else "", []
        )
    return ["--cluster"] if name == "--cluster" else None


_CONNECTION: Mapping[str, str | None] = {
    "--zookeeper": None,
    "--broker-list": "--bootstrap-server",
    "--consumer.config": "--command-config",
    "--producer.config": "--command-config",
    "--consumer-config": "--command-config",
    "--producer-config": "--command-config",
}
_CONSOLE: Mapping[str, str | None] = {
    "--max-messages": "--limit",
    "--timeout-ms": None,
    "--formatter": None,
    "--new-consumer": None,
    "--compression-codec": "--compression",
    "--request-required-acks": "--acks",
}
_LIST_OF_TOPICS = {f"--{name}-partitions": f"--{name}" for name in
                   ("under-replicated", "unavailable", "under-min-isr", "at-min-isr")}  # fmt: skip

NOUNS: Mapping[str, ToolSyntax] = {
    "topics": ToolSyntax(
        ["topics"],
        {f"--{verb}": verb for verb in ("create", "list", "describe", "alter", "delete")},
        ["--topic"],
        {**_LIST_OF_TOPICS, "--delete-config": "--unset", "--exclude-internal": None},
    ),
    "groups": ToolSyntax(
        ["groups"],
        {
            "--list": "list",
            "--describe": "describe",
            "--delete": "delete",
            "--reset-offsets": "reset",
            "--delete-offsets": "delete-offsets",
            "--members": "members",
            "--offsets": "offsets",
        },
        ["--group"],
        {"--all-topics": None, "--dry-run": None, "--verbose": None},
    ),
    "produce": ToolSyntax(["produce"], {}, ["--topic"], _CONSOLE, _property),
    "consume": ToolSyntax(["consume"], {}, ["--topic"], _CONSOLE, _property),
    "offsets": ToolSyntax(["offsets"], {}, ["--topic"], {}, _time),
    "partitions": ToolSyntax(
        ["partitions", "reassign"],
        {f"--{verb}": verb for verb in ("generate", "execute", "verify", "cancel", "list")},
        (),
        {
            "--reassignment-json-file": "--plan",
            "--topics-to-move-json-file": "--topics-file",
            "--broker-list": "--brokers",
        },
    ),
    "elect": ToolSyntax(
        ["partitions", "elect"],
        {},
        ["--topic"],
        {
            "--election-type": "--type",
            "--all-topic-partitions": "--all",
            "--path-to-json-file": "--from-file",
        },
    ),
    "delete-records": ToolSyntax(["topics", "delete-records"], {}, (), {"--offset-json-file": "--from-file"}),
    "perf-produce": ToolSyntax(["perf", "produce"], {}, ["--topic"], {}, _property),
    "perf-consume": ToolSyntax(
        ["perf", "consume"], {}, ["--topic"], {"--messages": "--num-records"}, _property
    ),
    "acls": ToolSyntax(
        ["acls"],
        {f"--{verb}": verb for verb in ("add", "list", "remove")},
        ["--allow-principal", "--principal"],
        {
            "--allow-host": "--host",
            "--deny-host": "--host",
            "--force": "--yes",
            "--authorizer": None,
            "--authorizer-properties": None,
        },
        _rule,
    ),
    "configs": ToolSyntax(["configs"]),
    "broker": ToolSyntax(["broker", "--config"]),
    "zookeeper": ToolSyntax(["zookeeper"]),
    "zookeeper-shell": ToolSyntax(["zookeeper", "shell"]),
}
TOOLS: Mapping[str, tuple[str, Sequence[str]]] = {
    "kafka-acls": ("acls", ()),
    "kafka-topics": ("topics", ()),
    "kafka-consumer-groups": ("groups", ()),
    "kafka-groups": ("groups", ()),
    "kafka-configs": ("configs", ()),
    # Kafka's consumer waits for more records; ours needs --follow for that.
    "kafka-console-consumer": ("consume", ("--follow",)),
    "kafka-console-producer": ("produce", ()),
    "kafka-avro-console-consumer": ("consume", ("--follow", "--value-format", "avro")),
    "kafka-avro-console-producer": ("produce", ("--value-format", "avro")),
    "kafka-reassign-partitions": ("partitions", ()),
    "kafka-leader-election": ("elect", ()),
    "kafka-delete-records": ("delete-records", ()),
    "kafka-get-offsets": ("offsets", ()),
    "kafka-producer-perf-test": ("perf-produce", ()),
    "kafka-consumer-perf-test": ("perf-consume", ()),
    "kafka-server-start": ("broker", ()),
    "zookeeper-shell": ("zookeeper-shell", ()),
    "zookeeper-server-start": ("zookeeper", ()),
}
_SECOND_WORDS = {
    ("partitions", "reassign"): "partitions",
    ("partitions", "elect"): "elect",
    ("topics", "delete-records"): "delete-records",
    ("perf", "produce"): "perf-produce",
    ("perf", "consume"): "perf-consume",
    ("zookeeper", "shell"): "zookeeper-shell",
}


def translated(arguments: Sequence[str]) -> str | None:
    """The equivalent `moldau` command, or None if the arguments are not in the syntax of Kafka's tools."""
    if not arguments:
        return None
    name, *rest = arguments
    name = name.rpartition("/")[2].removesuffix(".sh").removesuffix(".bat")
    noun, extra = TOOLS.get(name, (name, ()))
    second = _SECOND_WORDS.get((noun, rest[0] if rest else ""))
    if second is not None:
        noun, rest = second, rest[1:]
    syntax = NOUNS.get(noun)
    if syntax is None:
        return None
    plain, options = _parse(rest)
    words = _configs(plain, options) if syntax.command == ["configs"] else _words(syntax, plain, options)
    typed = [*syntax.command, *plain, *(word for name, values in options for word in (name, *values))]
    if words is None or (name not in TOOLS and words == typed):
        return None
    return shlex.join(["moldau", *words, *extra])


def _parse(words: Sequence[str]) -> tuple[Words, list[Option]]:
    """The words before the first option, and the options with their values."""
    plain: Words = []
    options: list[Option] = []
    for word in words:
        if word.startswith("--"):
            name, equals, value = word.partition("=")
            options.append((name, [value] if equals else []))
        else:
            (options[-1][1] if options else plain).append(word)
    return plain, options


def _words(syntax: ToolSyntax, plain: Words, options: Sequence[Option]) -> Words:
    renamed = {**_CONNECTION, **syntax.renamed}
    verb = next((syntax.verbs[name] for name, _ in reversed(options) if name in syntax.verbs), None)
    subjects: Words = []
    others: Words = []
    for name, values in options:
        if name in syntax.verbs or (name == "--all-groups" and verb == "describe"):
            continue
        if _is_subject(syntax, plain, verb, name):
            subjects += values
        elif syntax.rewrite is not None and (words := syntax.rewrite((name, values))) is not None:
            others += words
        elif name in renamed:
            others += [new, *values] if (new := renamed[name]) is not None else []
        elif name == "--partition" and syntax.command[-1] == "elect":
            subjects = [f"{subject}:{','.join(values)}" for subject in subjects]
        elif name == "--config" and verb == "alter":
            others += ["--set", *values]
        else:
            others += [name, *values]
    return [*syntax.command, *([verb] if verb else []), *plain, *subjects, *others]


def _is_subject(syntax: ToolSyntax, plain: Words, verb: str | None, name: str) -> bool:
    """`groups reset` has its own --topic; `delete-offsets` takes topics as arguments after the group."""
    if name == "--topic" and syntax.command == ["groups"]:
        return "delete-offsets" in (verb, *plain[:1])
    if name == "--group" and syntax.command[0] != "groups":
        return False
    return name in syntax.subjects


_KINDS = {
    "topics": "topic",
    "brokers": "broker",
    "broker-loggers": "broker-logger",
    "groups": "group",
    "client-metrics": "client-metrics",
}


def _configs(plain: Words, options: Sequence[Option]) -> Words | None:
    """kafka-configs uses options for kind and name, and commas between settings. What it does with users, clients and
    addresses is a command of its own here."""
    told = dict(options)
    whose = _whose_quota(options)
    is_quota = bool(whose) or any(kind in _QUOTA_OPTIONS for kind in told.get("--entity-type", []))
    if is_quota and "SCRAM-SHA-" not in "".join(told.get("--add-config", [])):
        return _quotas(told, whose)
    kind = next(iter(told.get("--entity-type", [])), "")
    names = told.get("--entity-name", [])
    for option in ("--topic", "--broker", "--group", "--client-metrics"):
        if option in told:
            kind, names = f"{option.removeprefix('--').removesuffix('s')}s", told[option]
    if not kind:
        return None
    kind = "client-metrics" if kind.startswith("client-metric") else kind
    chosen = _KINDS.get(kind, kind)
    if "--entity-default" in told or "--broker-defaults" in told:
        chosen, names = "broker-defaults", []
    at = [word for name, values in options if name in ("--bootstrap-server", "--command-config")
          for word in (name, *values)]  # fmt: skip
    if "--add-config" in told:
        return ["configs", "set", chosen, *names, *_split(told["--add-config"]), *at]
    if "--delete-config" in told:
        return ["configs", "unset", chosen, *names, *_split(told["--delete-config"]), *at]
    return [
        "configs",
        *(plain[:1] or ["describe"]),
        chosen,
        *names,
        *(["--all"] if "--all" in told else []),
        *at,
    ]


_QUOTA_OPTIONS = {"users": "user", "clients": "client", "ips": "ip"}


def _whose_quota(options: Sequence[Option]) -> Words:
    """The options of `moldau quotas` that name the entity; none if there are no names."""
    kinds = [
        _QUOTA_OPTIONS.get(value) for name, values in options if name == "--entity-type" for value in values
    ]
    names = [
        None if name == "--entity-default" else values[0]
        for name, values in options
        if name == "--entity-default" or (name == "--entity-name" and values)
    ]
    words: Words = []
    for kind, value in zip(kinds, names, strict=False):
        if kind is not None:
            words += [f"--any-{kind}"] if value is None else [f"--{kind}", value]
    for name, values in options:
        short = name.removeprefix("--").removesuffix("-defaults").removesuffix("s")
        if short in _QUOTA_OPTIONS.values():
            words += [f"--{short}", *values] if values else [f"--any-{short}"]
    return words


def _quotas(told: Mapping[str, Words], whose: Words) -> Words:
    at = [
        word
        for name in ("--bootstrap-server", "--command-config")
        if name in told
        for word in (name, *told[name])
    ]
    if "--add-config" in told:
        return ["quotas", "set", *whose, *_split(told["--add-config"]), *at]
    if "--delete-config" in told:
        return ["quotas", "remove", *whose, *_split(told["--delete-config"]), *at]
    return ["quotas", "list", *whose, *at]


def _split(values: Words) -> Words:
    """`a=1,b=[x,y]`: a list keeps its commas."""
    words: Words = []
    depth = 0
    for character in ",".join(values):
        depth += (character == "[") - (character == "]")
        if character == "," and depth == 0:
            words.append("")
        else:
            words = [*words[:-1], (words[-1] if words else "") + character]
    return [word.replace("[", "").replace("]", "") for word in words]
