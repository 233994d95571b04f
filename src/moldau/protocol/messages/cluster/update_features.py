"""UpdateFeatures: raises or lowers the cluster's feature levels (KIP-584).

v1 validation only; types of upgrade (KIP-778). v2 one error for all instead of one for each.

Not served by Moldau yet. Declared so that messages of Kafka's clients can be decoded.
"""

from collections.abc import Sequence

from moldau.protocol.spec import (
    Request,
    Response,
    array,
    bool8,
    int8,
    int16,
    int32,
    request,
    response,
    string,
    structure,
)


@structure
class FeatureUpdateKey:
    feature: str = string()
    max_version_level: int = int16()
    allow_downgrade: bool = bool8(versions="0", default=False)
    upgrade_type: int = int8(versions="1+", default=1)
    """1 upgrade only, 2 safe downgrade, 3 unsafe downgrade."""


@request(57, versions="0-2", flexible="0+")
@structure
class UpdateFeaturesRequest(Request):
    timeout_ms: int = int32(default=60000)
    feature_updates: Sequence[FeatureUpdateKey] = array(FeatureUpdateKey)
    validate_only: bool = bool8(versions="1+", default=False)


@structure
class UpdatableFeatureResult:
    feature: str = string()
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable="0+")


@response(UpdateFeaturesRequest)
@structure
class UpdateFeaturesResponse(Response):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable="0+")
    results: Sequence[UpdatableFeatureResult] = array(
        UpdatableFeatureResult, versions="0-1", default=(), ignorable=True
    )
