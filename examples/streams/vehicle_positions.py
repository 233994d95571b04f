"""Vehicle positions from JSON to Avro: vehicle-positions to vehicle-positions-avro, keys unchanged.

The Avro schema is registered in the schema registry under `vehicle-positions-avro-value`.
"""

from typing import Any

from moldau.pipeline.serdes.registry import AvroSerde
from moldau.pipeline.streams import JSON, STRING, StreamsBuilder, Topology

POSITION = """
{"type": "record", "name": "PositionValue", "namespace": "moldau.examples", "fields": [
  {"name": "vehicle", "type": "string"},
  {"name": "latitude", "type": "double"},
  {"name": "longitude", "type": "double"},
  {"name": "speed", "type": ["null", "double"], "default": null}]}
"""


def position(vehicle: dict[str, Any]) -> dict[str, Any]:
    return {
        "vehicle": str(vehicle["veh"]),
        "latitude": float(vehicle["lat"]),
        "longitude": float(vehicle["long"]),
        "speed": vehicle.get("spd"),
    }


def build(registry_url: str = "http://localhost:8081") -> Topology:
    builder = StreamsBuilder("vehicle-positions", key=STRING, value=JSON)
    (
        builder.stream("vehicle-positions")
        .filter(lambda key, vehicle: vehicle is not None and {"veh", "lat", "long"} <= vehicle.keys())
        .map_values(position, value=AvroSerde(registry_url, POSITION))
        .to("vehicle-positions-avro")
    )
    return builder.build()
