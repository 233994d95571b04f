"""Users with passwords, from a file: who may log in, and with which roles."""

import hashlib
import hmac
import os
import stat
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from moldau.core.errors import ConfigError

ANY_ROLE: Final = frozenset({"*", "**"})


class User(NamedTuple):
    password: str
    roles: frozenset[str]


def parse_users(text: str, file: str) -> dict[str, User]:
    """Lines `user: password,role,role`. Raises ConfigError, which does not show a password."""
    users: dict[str, User] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, separator, rest = line.partition(":")
        password, *roles = (part.strip() for part in rest.split(","))
        name = name.strip()
        if not separator or not name or not password:
            raise ConfigError(f"{file}, line {number}: this is not of the form `user: password,role,role`")
        if password.startswith(("OBF:", "MD5:", "CRYPT:")):
            raise ConfigError(
                f"{file}, line {number}: {password.partition(':')[0]} is not read: write the password itself, and keep "
                "the file readable for this service only"
            )
        if name in users:
            raise ConfigError(f"{file}, line {number}: the user {name} is there twice")
        users[name] = User(password, frozenset(filter(None, roles)))
    return users


class UsersFile:
    """Reads the file again when it has changed."""

    def __init__(self, path: str, roles: Iterable[str]) -> None:
        """Raises ConfigError for a file that cannot be used."""
        if not path:
            raise ConfigError("authentication.method=BASIC needs users: set authentication.users.file")
        self.path = path
        self._roles = frozenset(roles)
        self._users: Mapping[str, User] = {}
        self._state: tuple[int, int, int] | None = None
        self.refresh()

    def refresh(self) -> None:
        """Raises ConfigError for a file that cannot be used; then the users stay as they were. Blocks."""
        try:
            found = os.stat(self.path)
            state = found.st_ino, found.st_size, found.st_mtime_ns
            if state == self._state:
                return
            with open(self.path, encoding="utf-8") as file:
                text = file.read()
        except OSError as error:
            raise ConfigError(f"authentication.users.file {self.path}: {error.strerror}") from None
        except UnicodeDecodeError:
            raise ConfigError(f"authentication.users.file {self.path} is not UTF-8 text") from None
        self._state = state
        self._users = parse_users(text, self.path)

    def exposed_mode(self) -> int | None:
        """The mode of the file if others on this machine can read or change it, with the passwords in it."""
        try:
            mode = stat.S_IMODE(os.stat(self.path).st_mode)
        except OSError:
            return None  # somebody replaces it
        return mode if mode & (stat.S_IROTH | stat.S_IWOTH | stat.S_IWGRP) else None

    def allows(self, name: str, password: str) -> bool:
        """Whether the user is known, with this password, and has a role that is let in."""
        user = self._users.get(name)
        # The same work for an unknown user, so that names cannot be found out.
        expected = user.password if user is not None else ""
        is_right = hmac.compare_digest(_digest(expected), _digest(password)) and user is not None
        return (
            is_right
            and user is not None
            and (not self._roles.isdisjoint(ANY_ROLE) or not self._roles.isdisjoint(user.roles))
        )


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode(errors="surrogatepass")).digest()
