"""What the caller of a request may do with the resources of a service."""

import logging
import shlex
from typing import Final, NamedTuple

from starlette.types import Scope

from moldau.security.roles.model import Action, ServiceKind, least_role
from moldau.security.sasl.exchange import shown
from moldau.services.security.followed_rights import FollowedRights

ANONYMOUS: Final = "User:ANONYMOUS"
ALL: Final = "*"
"""The name that means every resource of a kind."""
ACCESS: Final = "moldau.access"
"""Where the access of a caller is in the scope of a request."""

log = logging.getLogger("moldau.services.access")


class Access(NamedTuple):
    """Of one caller."""

    principal: str = ANONYMOUS
    rights: FollowedRights | None = None
    """None: everything is allowed, because the service asks for no rights, or the caller is a super user."""

    def may(self, action: Action, kind: ServiceKind, name: str = ALL) -> bool:
        return self.rights is None or self.rights.may(self.principal, action, kind, name)

    def may_some(self, action: Action, kind: ServiceKind) -> bool:
        """Whether it is allowed with at least one resource of the kind."""
        return self.rights is None or self.rights.may_some(self.principal, action, kind)

    def refusal(self, action: Action, kind: ServiceKind, name: str = ALL) -> str:
        """Why it is not allowed, for people. Writes a line to the log, too."""
        what = f"all {kind}s" if name == ALL else f"{kind} '{name}'"
        log.info("denied: %s asks to %s the %s %s", shown(self.principal), action, kind, shown(name))
        return (
            f"{self.principal} may not {action} {what}. An administrator can grant a role for it: moldau roles grant "
            f"{shlex.quote(self.principal)} {least_role(action, kind)} --{kind} {shlex.quote(name)}"
        )


EVERYTHING: Final = Access()


def access_of(scope: Scope) -> Access:
    """Of the caller of a request."""
    found: Access = scope.get(ACCESS, EVERYTHING)
    return found
