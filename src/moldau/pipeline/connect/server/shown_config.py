"""What requests see of a configuration: passwords in addresses are hidden. Pure.

Who changes a configuration gets it first, and sends it back. An address that comes back as it was shown stays as it is
stored.
"""

from collections.abc import Mapping

from moldau.pipeline.connect.runtime.url_passwords import hidden_in
from moldau.pipeline.connect.server.state.config_records import Texts


def shown(config: Texts) -> dict[str, str]:
    return {name: hidden_in(text) for name, text in config.items()}


def restored(config: Texts, stored: Mapping[str, str]) -> Texts:
    """`stored` is the configuration before; empty for a new connector."""
    return {
        name: stored[name] if name in stored and text == hidden_in(stored[name]) else text
        for name, text in config.items()
    }
