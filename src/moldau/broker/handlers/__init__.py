"""One module per API. The tuple is written out: what is served is what stands here."""

from typing import Final

from moldau.broker.handlers import (
    api_versions,
    describe_producers,
    fetch,
    init_producer_id,
    list_offsets,
    metadata,
    offset_for_leader_epoch,
    produce,
)

HANDLERS: Final = (
    produce.API,
    fetch.API,
    list_offsets.API,
    metadata.API,
    api_versions.API,
    init_producer_id.API,
    offset_for_leader_epoch.API,
    describe_producers.API,
)
