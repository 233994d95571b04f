"""ApiVersions: the APIs and versions a broker supports, and the cluster's feature levels.

v1 throttle time. v2 the response is sent before throttling. v3 flexible; the client's software (KIP-511). v4
the lowest version of a feature may be 0 (KAFKA-17011).

The response header is v0 in every version, so that a client can read it before it knows anything about the
broker. A version that the broker does not know is answered in v0 with UNSUPPORTED_VERSION and the supported
range.
"""

from collections.abc import Sequence

from moldau.protocol.spec import (
    Request,
    Response,
    array,
    bool8,
    int16,
    int32,
    int64,
    request,
    response,
    string,
    structure,
)


@request(18, versions="0-4", flexible="3+")
@structure
class ApiVersionsRequest(Request):
    client_software_name: str = string(versions="3+", default="", ignorable=True)
    client_software_version: str = string(versions="3+", default="", ignorable=True)


@structure
class ApiVersion:
    api_key: int = int16()
    min_version: int = int16()
    max_version: int = int16()


@structure
class SupportedFeatureKey:
    name: str = string()
    min_version: int = int16()
    max_version: int = int16()


@structure
class FinalizedFeatureKey:
    name: str = string()
    max_version_level: int = int16()
    min_version_level: int = int16()


@response(ApiVersionsRequest)
@structure
class ApiVersionsResponse(Response):
    error_code: int = int16(default=0)
    api_keys: Sequence[ApiVersion] = array(ApiVersion)
    throttle_time_ms: int = int32(versions="1+", default=0, ignorable=True)
    supported_features: Sequence[SupportedFeatureKey] = array(
        SupportedFeatureKey, versions="3+", default=(), tag=0, ignorable=True
    )
    finalized_features_epoch: int = int64(versions="3+", default=-1, tag=1, ignorable=True)
    finalized_features: Sequence[FinalizedFeatureKey] = array(
        FinalizedFeatureKey, versions="3+", default=(), tag=2, ignorable=True
    )
    zk_migration_ready: bool = bool8(versions="3+", default=False, tag=3, ignorable=True)
