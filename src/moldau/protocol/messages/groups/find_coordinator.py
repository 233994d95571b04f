"""FindCoordinator: the coordinator of a group, a transactional id or a share partition.

v1 key types, throttle time, error messages. v2 the response is sent before throttling. v3 flexible. v4 many
keys at once (KIP-699). v5 TRANSACTION_ABORTABLE possible (KIP-890). v6 share groups (KIP-932).
"""

from collections.abc import Sequence

from moldau.protocol.spec import (
    Request,
    Response,
    array,
    int8,
    int16,
    int32,
    request,
    response,
    string,
    structure,
)


@request(10, versions="0-6", flexible="3+")
@structure
class FindCoordinatorRequest(Request):
    key: str = string(versions="0-3", default="")
    key_type: int = int8(versions="1+", default=0)
    """0 group, 1 transaction, 2 share: "group:topic id:partition"."""
    coordinator_keys: Sequence[str] = array("string", versions="4+", default=())


@structure
class Coordinator:
    key: str = string()
    node_id: int = int32()
    host: str = string()
    port: int = int32()
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable="0+")


@response(FindCoordinatorRequest)
@structure
class FindCoordinatorResponse(Response):
    throttle_time_ms: int = int32(versions="1+", default=0, ignorable=True)
    error_code: int = int16(versions="0-3", default=0)
    error_message: str | None = string(versions="1-3", nullable="1-3", default="", ignorable=True)
    node_id: int = int32(versions="0-3", default=0)
    host: str = string(versions="0-3", default="")
    port: int = int32(versions="0-3", default=0)
    coordinators: Sequence[Coordinator] = array(Coordinator, versions="4+", default=())
