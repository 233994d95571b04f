"""What every mechanism's exchange on the server is, and how it ends."""

from typing import Final, NamedTuple, Protocol

from moldau.core.errors import MoldauError

PLAIN: Final = "PLAIN"
SCRAM_SHA_256: Final = "SCRAM-SHA-256"
SCRAM_SHA_512: Final = "SCRAM-SHA-512"
OAUTHBEARER: Final = "OAUTHBEARER"
GSSAPI: Final = "GSSAPI"


SHOWN_CHARS_MAX: Final = 100


class Login(NamedTuple):
    """Who has logged in."""

    user: str
    expires_ms: int | None = None
    """When the credential ends, as time since 1970; None for one that does not."""
    is_by_token: bool = False
    """By a delegation token or an API key. Such a client may not handle tokens itself (KIP-48): they would outlive
    it."""
    key: str | None = None
    """The whole name of the API key with which it has logged in. When the key is removed the login ends."""


class LoginRefused(MoldauError):
    """A login failed. The text is for the log, `told` for the client."""

    def __init__(self, reason: str, *, told: str | None = None) -> None:
        """Without `told` the client gets the text that is the same for all failures, so that it learns neither
        whether a user exists nor how far it came."""
        super().__init__(reason)
        self.told = told


class Exchange(Protocol):
    """One login on the server. Used once, and not again after LoginRefused."""

    @property
    def login(self) -> Login | None:
        """Set when the exchange is complete."""

    @property
    def problem(self) -> str | None:
        """Why the login is about to fail, although the client has not been refused yet."""

    def is_slow(self, message: bytes) -> bool:
        """Whether `answer` to this message may block and must run on a worker thread."""

    def answer(self, message: bytes) -> bytes:
        """The server's answer to a message of the client. LoginRefused ends the exchange."""


def shown(name: str) -> str:
    """A name that a client has sent, for the log: no control characters, and not longer than a line."""
    return repr(name if len(name) <= SHOWN_CHARS_MAX else f"{name[:SHOWN_CHARS_MAX]}...")
