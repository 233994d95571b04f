"""What the handlers of the token APIs share."""

from typing import Final

from moldau.broker.request.client_session import RequestContext
from moldau.core.settings.listeners import SecurityProtocol
from moldau.security.access.model import ANONYMOUS

NO_TIME: Final = -1


def is_allowed(ctx: RequestContext) -> bool:
    """Only a client that has logged in may handle tokens, and not by a token: a stolen one could last for ever."""
    client = ctx.client
    protocol = client.connection.protocol
    if client.is_by_token or protocol is SecurityProtocol.PLAINTEXT:
        return False
    return not (protocol is SecurityProtocol.SSL and client.principal == ANONYMOUS)


def split_principal(principal: str) -> tuple[str, str]:
    """Type and name."""
    kind, _, name = principal.partition(":")
    return kind, name
