"""Which right at the SQL server a statement needs. The topics it reads and writes are the cluster's business. Pure."""

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


def require(access: Access, action: Action, service_id: str) -> None:
    """Raises ServiceFailure 40300 if the caller may not do this at the server of this service id."""
    if not access.may(action, ServiceKind.SQL, service_id):
        raise ServiceFailure(FORBIDDEN, access.refusal(action, ServiceKind.SQL, service_id))
