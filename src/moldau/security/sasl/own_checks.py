"""Password checks of one's own for PLAIN: a Python entry point, for example of a package that asks a database.

`listener.name.<listener>.plain.sasl.server.callback.handler.class` names the entry point, in the group GROUP. It is a
function that takes the options of the login module and returns the check: a function of user and password. The check
may block, and is called on several threads.
"""

import logging
from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from typing import Final

from moldau.core.errors import ConfigError
from moldau.core.settings.broker_keys import BrokerSettings
from moldau.core.settings.listener_keys import LISTENER_PREFIX, listener_setting
from moldau.security.sasl.exchange import PLAIN, Login, LoginRefused, shown
from moldau.security.sasl.jaas import LoginModule
from moldau.security.sasl.plain import CheckUser

_log = logging.getLogger("moldau.security")

GROUP: Final = "moldau.password_checks"
HANDLER: Final = "sasl.server.callback.handler.class"
JAVA_PACKAGE: Final = "org.apache.kafka."
PasswordCheck = Callable[[str, str], bool]
"""Takes a user and a password."""
MakeCheck = Callable[[Mapping[str, str]], PasswordCheck]


def own_check(settings: BrokerSettings, listener: str, module: LoginModule | None) -> CheckUser | None:
    """None if the listener checks against the users of its login module. ConfigError if the check cannot be had."""
    name: str | None = listener_setting(settings, listener, HANDLER, PLAIN)
    if not name or name.startswith(JAVA_PACKAGE):
        return None
    where = f"{LISTENER_PREFIX}{listener.lower()}.{PLAIN.lower()}.{HANDLER}"
    found = {point.name: point for point in entry_points(group=GROUP)}
    if name not in found:
        known = ", ".join(sorted(found)) or "none"
        raise ConfigError(
            f"{where}={name}: there is no entry point of that name in the group {GROUP}; installed are: {known}. "
            "Install the package that has it, in the same Python as Moldau"
        )
    try:
        make: MakeCheck = found[name].load()
        check = make({} if module is None else module.options)
    except Exception as error:
        raise ConfigError(
            f"{where}={name}: the check could not be made: {type(error).__name__}: {error}"
        ) from error
    return _guarded(name, check)


def _guarded(name: str, check: PasswordCheck) -> CheckUser:
    def guarded(user: str, password: str) -> Login | None:
        try:
            return Login(user) if check(user, password) is True else None
        except Exception as error:  # noqa: BLE001  Somebody else's code. Its texts may have the password in them.
            reason = f"the password check {name} failed for user {shown(user)}: {type(error).__name__}"
            _log.error("%s; look into that package's own log", reason)
            told = "Authentication failed: credentials for user could not be verified"
            raise LoginRefused(reason, told=told) from None

    return guarded
