"""Type variables of keys and values. They default to Any, so that an untyped application passes the type checker."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    K = TypeVar("K", default=Any)
    V = TypeVar("V", default=Any)
    K2 = TypeVar("K2", default=Any)
    V2 = TypeVar("V2", default=Any)
    R = TypeVar("R", default=Any)
else:
    # Only type checkers need defaults of type variables (PEP 696); Python 3.11 has none.
    from typing import TypeVar

    K, V, K2, V2, R = (TypeVar(name) for name in ("K", "V", "K2", "V2", "R"))
