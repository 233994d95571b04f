"""Delegation tokens as nodes of the coordination store, in the layout of Kafka's on ZooKeeper.

| node | content |
|---|---|
| /delegation_token/tokens/ID | `{"version":3,"owner":"User%3Aalice","tokenRequester":...,"renewers":[...],...}` |

with `tokenId`, `issueTimestamp`, `maxTimestamp` and `expiryTimestamp`. The HMAC is not stored: it follows from the ID
and the brokers' secret. The functions that take a store block.
"""

from contextlib import suppress
from typing import Final

import orjson

from moldau.coordination.store import NodeExists, NoNode, Store
from moldau.coordination.tree_layout import name_of_node, node_name
from moldau.security.credentials.delegation_token import DelegationToken

TOKENS: Final = "/delegation_token/tokens"
_PARENT: Final = "/delegation_token"
_VERSION: Final = 3


def token_path(token_id: str) -> str:
    return f"{TOKENS}/{node_name(token_id)}"


def encode_token(token: DelegationToken) -> bytes:
    return orjson.dumps(
        {
            "version": _VERSION,
            "owner": node_name(token.owner),
            "tokenRequester": node_name(token.requester),
            "renewers": [node_name(each) for each in token.renewers],
            "issueTimestamp": token.issued_ms,
            "maxTimestamp": token.max_ms,
            "expiryTimestamp": token.expires_ms,
            "tokenId": token.token_id,
        }
    )


def decode_token(data: bytes) -> DelegationToken | None:
    """None for what is no token, because somebody else wrote it."""
    try:
        node = orjson.loads(data)
        owner = name_of_node(node["owner"])
        return DelegationToken(
            str(node["tokenId"]),
            owner,
            name_of_node(node["tokenRequester"]) if "tokenRequester" in node else owner,
            tuple(name_of_node(each) for each in node["renewers"]),
            int(node["issueTimestamp"]),
            int(node["maxTimestamp"]),
            int(node["expiryTimestamp"]),
        )
    except (ValueError, KeyError, TypeError):
        return None


def read_tokens(store: Store) -> list[DelegationToken]:
    try:
        paths = [f"{TOKENS}/{name}" for name in store.children(TOKENS)]
    except NoNode:
        return []
    decoded = (decode_token(node.data) for node in store.read_many(paths) if node is not None)
    return [token for token in decoded if token is not None]


def write_token(store: Store, token: DelegationToken) -> None:
    path, data = token_path(token.token_id), encode_token(token)
    try:
        store.set(path, data)
    except NoNode:
        for folder in (_PARENT, TOKENS):
            if not store.exists(folder):
                with suppress(NodeExists):  # Another broker makes it at the same time.
                    store.create(folder)
        store.create(path, data)


def delete_token(store: Store, token_id: str) -> None:
    with suppress(NoNode):
        store.delete(token_path(token_id))
