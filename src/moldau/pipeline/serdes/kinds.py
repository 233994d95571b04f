"""Type variables of keys and values. Where nothing is said about them they are Any, so that an untyped application is
as good as a typed one."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    K = TypeVar("K", default=Any)
    V = TypeVar("V", default=Any)
    K2 = TypeVar("K2", default=Any)
    V2 = TypeVar("V2", default=Any)
    R = TypeVar("R", default=Any)
else:
    # Defaults of type variables (PEP 696) are for type checkers; the oldest Python we run on has none.
    from typing import TypeVar

    K, V, K2, V2, R = (TypeVar(name) for name in ("K", "V", "K2", "V2", "R"))
