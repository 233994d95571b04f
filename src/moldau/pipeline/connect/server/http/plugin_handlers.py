"""Requests about connectors, converters and transformations that can be used, and their settings."""

from moldau.core.errors import ConfigError
from moldau.pipeline.connect.server.checks.rendering import config_keys
from moldau.pipeline.connect.server.failures import not_found
from moldau.pipeline.connect.server.http.bodies import read_config
from moldau.pipeline.connect.server.http.call import Answer, Call
from moldau.pipeline.connect.server.http.routing import Route
from moldau.pipeline.connect.server.plugin_list import all_plugins, connector_plugins, settings_of
from moldau.security.roles.model import Action, ServiceKind
from moldau.services.security.access import ALL


def list_plugins(call: Call) -> Answer:
    limits = call.service.checks.limits
    found = (connector_plugins if call.flag("connectorsOnly", default=True) else all_plugins)(limits)
    return Answer([{"class": one.class_name, "type": one.kind, "version": one.version} for one in found])


def show_settings(call: Call) -> Answer:
    name = call.parameters["plugin"]
    try:
        found = settings_of(name, call.service.checks.limits)
    except ConfigError as wrong:
        raise not_found(str(wrong)) from None
    if found is None:
        raise not_found(f"Unknown plugin {name}. GET /connector-plugins?connectorsOnly=false lists all")
    return Answer(config_keys(found, call.service.checks.defaults))


def validate(call: Call) -> Answer:
    """Connectors ask their servers, so it needs the right to write the connector, or one of them without a name."""
    config = read_config(call.document())
    name = config.get("name", "").strip()
    if name or not call.access.may_some(Action.WRITE, ServiceKind.CONNECTOR):
        call.require(Action.WRITE, name or ALL)
    complete = call.service.view.restored(config.get("name", ""), config)
    return Answer(call.service.checks.infos(call.parameters["plugin"], complete))


ROUTES = [
    Route("GET", "/connector-plugins", list_plugins),
    Route("GET", "/connector-plugins/{plugin}/config", show_settings),
    Route("PUT", "/connector-plugins/{plugin}/config/validate", validate),
]
