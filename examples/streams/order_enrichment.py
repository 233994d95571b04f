"""Orders with the customer they belong to: orders and the table customers to enriched-orders."""

from typing import Any

from moldau.pipeline.streams import JSON, STRING, StreamsBuilder, Topology


def enriched(order: dict[str, Any], customer: dict[str, Any] | None) -> dict[str, Any]:
    return {**order, "customer": customer["name"] if customer else None}


def build() -> Topology:
    builder = StreamsBuilder("order-enrichment", key=STRING, value=JSON)
    customers = builder.table("customers", store="customers")
    (
        builder.stream("orders")
        .select_key(lambda key, order: order["customer_id"])
        .left_join(customers, enriched)
        .to("enriched-orders")
    )
    return builder.build()
