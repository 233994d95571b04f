"""Subject names. A context is a namespace of subjects and ids: `:.staging:orders-value` is in `.staging`.

Behind the HTTP layer a subject is always in its shortest form: without a context it is in the default one. `None`
means no subject, where the global configuration and mode are kept.
"""

from typing import Final, NamedTuple

DEFAULT_CONTEXT: Final = "."
GLOBAL_CONTEXT: Final = ".__GLOBAL"
CONTEXT_PREFIX: Final = ":."
ANY_CONTEXT: Final = ":*:"
RESERVED_NAMES: Final = frozenset({"__GLOBAL", "__EMPTY"})


class Subject(NamedTuple):
    context: str
    name: str

    @classmethod
    def parse(cls, text: str) -> "Subject":
        if text.startswith(CONTEXT_PREFIX):
            context, _, name = text[1:].partition(":")
            return cls(context, name)
        if text.startswith(ANY_CONTEXT):
            return cls("*", text.removeprefix(ANY_CONTEXT))
        return cls(DEFAULT_CONTEXT, text)

    def __str__(self) -> str:
        return prefix_of(self.context) + self.name


def prefix_of(context: str) -> str:
    """The prefix of this context's subjects."""
    return "" if context == DEFAULT_CONTEXT else f":{context}:"


def shortest(text: str) -> str:
    return str(Subject.parse(text)) if text.startswith(":") else text


def context_of(subject: str | None) -> str:
    return Subject.parse(subject).context if subject is not None else DEFAULT_CONTEXT


def is_context(text: str) -> bool:
    """Whether the name is a whole context, as in `PUT /config/:.staging:`."""
    return text.startswith(":") and not Subject.parse(text).name


def in_context_of(parent: str, subject: str) -> str:
    """A reference or an alias without a context belongs to the context of the subject that contains it."""
    if subject.startswith(":"):
        return shortest(subject)
    return prefix_of(context_of(parent)) + subject


def has_prefix(subject: str, prefix: str) -> bool:
    """Whether a search for `prefix` finds the subject.

    Without a context it searches the default one; `:*:` searches all; `:.st` searches the contexts that begin so.
    """
    context, name = Subject.parse(subject)
    if prefix.startswith(ANY_CONTEXT):
        return name.startswith(prefix.removeprefix(ANY_CONTEXT))
    if prefix.startswith(CONTEXT_PREFIX) and ":" not in prefix[1:]:
        return context.startswith(prefix[1:])
    wanted = Subject.parse(prefix)
    return context == wanted.context and name.startswith(wanted.name)


def is_valid(subject: str, *, for_settings: bool = False) -> bool:
    """`for_settings`: configurations and modes may also be set for the global context."""
    if any(ord(char) < 0x20 or 0x7F <= ord(char) < 0xA0 for char in subject):
        return False
    context, name = Subject.parse(subject)
    if name in RESERVED_NAMES or context == "*":
        return False
    return for_settings or context != GLOBAL_CONTEXT


def context_from_path(text: str) -> str | None:
    """The context in a path segment: `staging`, `.staging` and `:.staging:` are the same. None: not a valid name."""
    bare = text.removeprefix(":").removesuffix(":")
    if ":" in bare:
        return None
    return bare if bare.startswith(".") else f".{bare}"
