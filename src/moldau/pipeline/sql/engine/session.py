"""What a session has set: properties (SET) and variables (DEFINE). A value; a change is a new session."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

_REFERENCE: Final = re.compile(r"\$\{([^}\n]*)\}")
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Session:
    properties: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    substitutes: bool = True
    """`ksql.variable.substitution.enable`"""

    def with_property(self, name: str, value: str) -> "Session":
        return replace(self, properties={**self.properties, name: value})

    def without_property(self, name: str) -> "Session":
        return replace(self, properties={key: one for key, one in self.properties.items() if key != name})

    def with_variable(self, name: str, value: str) -> "Session":
        return replace(self, variables={**self.variables, name: value})

    def without_variable(self, name: str) -> "Session":
        return replace(self, variables={key: one for key, one in self.variables.items() if key != name})

    def substituted(self, text: str) -> str:
        """The text with the variables' values in the place of `${name}`."""
        raise NotImplementedError
