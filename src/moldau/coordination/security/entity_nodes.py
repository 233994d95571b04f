"""Settings of users, clients and addresses as nodes, in the layout of Kafka's on ZooKeeper. Pure.

| node | content |
|---|---|
| /config/users/USER | `{"version":1,"config":{...}}`: quotas, and the SCRAM credentials of the user |
| /config/users/USER/clients/CLIENT | quotas of the user's client |
| /config/clients/CLIENT | quotas of a client ID, used by any user |
| /config/ips/ADDRESS | the rate of connections from an address |

`<default>` in place of a name stands for all that have no node of their own. Names are escaped as in a URL.
"""

from typing import Final, NamedTuple

from moldau.coordination.tree_layout import CONFIGS, name_of_node, node_name

USER: Final = "user"
CLIENT: Final = "client-id"
ADDRESS: Final = "ip"
FOLDERS: Final = {USER: f"{CONFIGS}/users", CLIENT: f"{CONFIGS}/clients", ADDRESS: f"{CONFIGS}/ips"}
_DEFAULT_NODE: Final = "<default>"
_CLIENTS: Final = "clients"


class EntityPart(NamedTuple):
    kind: str
    """USER, CLIENT or ADDRESS."""
    name: str | None
    """None: the default, for all without settings of their own."""


Entity = tuple[EntityPart, ...]
"""A user, a client, an address, or a user and a client together, in this order."""


def user_entity(name: str) -> Entity:
    return (EntityPart(USER, name),)


def entity_path(entity: Entity) -> str:
    first = entity[0]
    path = f"{FOLDERS[first.kind]}/{_node_of(first.name)}"
    return path if len(entity) == 1 else f"{path}/{_CLIENTS}/{_node_of(entity[1].name)}"


def clients_path(user_path: str) -> str:
    """The folder of the clients of a user."""
    return f"{user_path}/{_CLIENTS}"


def entity_of(path: str) -> Entity | None:
    """None: the path is not that of an entity's settings."""
    match path.split("/"):
        case ["", "config", "users", user]:
            return (EntityPart(USER, _name_of(user)),)
        case ["", "config", "users", user, "clients", client]:
            return (EntityPart(USER, _name_of(user)), EntityPart(CLIENT, _name_of(client)))
        case ["", "config", "clients", client]:
            return (EntityPart(CLIENT, _name_of(client)),)
        case ["", "config", "ips", address]:
            return (EntityPart(ADDRESS, _name_of(address)),)
    return None


def is_entity_path(path: str) -> bool:
    return path.startswith(tuple(f"{folder}/" for folder in FOLDERS.values()))


def _node_of(name: str | None) -> str:
    # Java's URLEncoder, which Kafka uses, escapes the tilde too.
    return _DEFAULT_NODE if name is None else node_name(name).replace("~", "%7E")


def _name_of(node: str) -> str | None:
    return None if node == _DEFAULT_NODE else name_of_node(node)
