"""The options that name a schema registry, and where a command finds it without them.

The HTTP client is imported when a command runs, because `produce` and `consume` seldom need it.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from moldau.cli.options import profile_option, timeout_option
from moldau.cli.profiles import Profiles

DEFAULT_REGISTRY = "http://localhost:8081"
REGISTRY_VARIABLE = "MOLDAU_REGISTRY"
REGISTRY_PROPERTY = "schema.registry.url"

registry_option = click.option(
    "--registry",
    "registry_url",
    metavar="URL",
    envvar=REGISTRY_VARIABLE,
    show_envvar=True,
    help=f"The schema registry. Default: {REGISTRY_PROPERTY} of the profile, or {DEFAULT_REGISTRY}.",
)


def on_registry(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the registry options. The command receives a `RegistryHttp` as its first argument."""

    @registry_option
    @profile_option
    @timeout_option(30)
    @wraps(function)
    def run(registry_url: str | None, profile: str | None, timeout_s: float, **arguments: Any) -> Any:
        from moldau.cli.client.registry_http import RegistryHttp

        return function(RegistryHttp(locate_registry(registry_url, profile), timeout_s), **arguments)

    return run


def locate_registry(registry_url: str | None, profile: str | None) -> str:
    """The URL given, else that of the profile, else the default."""
    if registry_url:
        return registry_url
    profiles = Profiles.load()
    chosen = profile or profiles.current
    properties = profiles.get(chosen) if chosen else {}
    return properties.get(REGISTRY_PROPERTY, DEFAULT_REGISTRY)
