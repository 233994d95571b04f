"""Dynamic settings in the coordination store. Blocks: runs on a worker thread, or before anything is
served."""

from collections.abc import Callable, Mapping
from typing import Final

from moldau.coordination import tree_layout as layout
from moldau.coordination.store import (
    BadVersion,
    CheckVersion,
    Create,
    Delete,
    NodeExists,
    NoNode,
    Op,
    SetData,
    Store,
)
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError

WRITE_TRIES_MAX: Final = 10
ANY: Final = -1


def read_configs(store: Store, folder: str, node: str) -> dict[str, str]:
    try:
        return layout.decode_configs(store.get(f"{folder}/{node}").data)
    except NoNode:
        return {}


def read_all_configs(store: Store, folder: str) -> dict[str, Mapping[str, str]]:
    return {layout.name_of_node(node): read_configs(store, folder, node) for node in store.children(folder)}


def write_configs(
    store: Store,
    path: str,
    edit: Callable[[Mapping[str, str]], dict[str, str]],
    *,
    needs: str | None = None,
    validate_only: bool = False,
) -> dict[str, str]:
    """Replaces the settings at `path` by the result of `edit`, with compare-and-set.

    A node without settings is deleted. `needs` names a node that must exist.
    """
    for _ in range(WRITE_TRIES_MAX):
        try:
            data, version = store.get(path)
            present = layout.decode_configs(data)
        except NoNode:
            present, version = {}, ANY
        texts = edit(present)
        ops: list[Op] = [CheckVersion(needs, ANY)] if needs else []
        if version == ANY and texts:
            ops.append(Create(path, layout.encode_configs(texts)))
        elif version != ANY and texts != present:
            ops.append(
                SetData(path, layout.encode_configs(texts), version) if texts else Delete(path, version)
            )
        try:
            if not validate_only:
                store.multi(ops)
            return texts
        except NoNode as gone:
            if gone.path == needs:
                raise ApiError(
                    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"{needs} was deleted in the meantime"
                ) from None
        except (BadVersion, NodeExists):
            continue
    raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR, f"{path} kept changing while it was written; try again")
