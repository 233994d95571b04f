"""Which rights a statement needs: at the SQL server, and on the connector that it is about. The topics it reads and
writes are the cluster's business. Pure."""

from typing import Final

from moldau.pipeline.sql.server.failures import FORBIDDEN, ServiceFailure
from moldau.pipeline.sql.syntax.tree import statements as tree
from moldau.security.roles.model import Action, ServiceKind
from moldau.services.security.access import Access

ACTIONS: Final[dict[type[tree.Statement], Action]] = {
    tree.QueryStatement: Action.READ,
    tree.Print: Action.READ,
    tree.CreateSource: Action.WRITE,
    tree.CreateAsSelect: Action.WRITE,
    tree.InsertSelect: Action.WRITE,
    tree.InsertValues: Action.WRITE,
    tree.AlterSource: Action.WRITE,
    tree.CreateType: Action.WRITE,
    tree.CreateConnector: Action.WRITE,
    tree.DropSource: Action.DELETE,
    tree.DropType: Action.DELETE,
    tree.DropConnector: Action.DELETE,
    tree.QueryControl: Action.MANAGE,
    tree.AlterSystem: Action.MANAGE,
}
"""All others show what there is, or change the session: they need `describe`."""


def action_of(statement: tree.Statement) -> Action:
    return ACTIONS.get(type(statement), Action.DESCRIBE)


def connector_right(statement: tree.Statement) -> tuple[Action, str] | None:
    """What is done with which connector. The Connect cluster sees the server's login only, so that the right of the
    caller is checked here, as a worker checks it. None: with no single one."""
    match statement:
        case tree.CreateConnector(name=name):
            return Action.WRITE, name.strip()  # as a worker takes it
        case tree.DropConnector(name=name):
            return Action.DELETE, name
        case tree.Describe(what="CONNECTOR", name=name):
            return Action.READ, name
    return None


def may_list_connector(access: Access, name: str) -> bool:
    """Whether SHOW CONNECTORS names it: it tells something of the configuration."""
    return access.may(Action.READ, ServiceKind.CONNECTOR, name)


def require_statement(access: Access, statement: tree.Statement, service_id: str) -> None:
    """Raises ServiceFailure 40300 if the caller may not execute it at the server of this service id."""
    require(access, action_of(statement), service_id)
    asked = connector_right(statement)
    if asked is not None and not access.may(asked[0], ServiceKind.CONNECTOR, asked[1]):
        raise ServiceFailure(FORBIDDEN, access.refusal(asked[0], ServiceKind.CONNECTOR, asked[1]))


def require(access: Access, action: Action, service_id: str) -> None:
    """Raises ServiceFailure 40300 if the caller may not do this at the server of this service id."""
    if not access.may(action, ServiceKind.SQL, service_id):
        raise ServiceFailure(FORBIDDEN, access.refusal(action, ServiceKind.SQL, service_id))
