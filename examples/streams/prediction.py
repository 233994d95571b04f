"""A model inside the stream: values "a,b" to predictions. The model is a logistic regression with fixed weights."""

import math

from moldau.pipeline.streams import STRING, StreamsBuilder, Topology

WEIGHTS = (0.8, -0.5)
BIAS = 0.1


def predict(line: str) -> str:
    """The chance that a delivery of a kilometres with b stops is late."""
    distance, stops = (int(part) for part in line.split(","))
    score = BIAS + WEIGHTS[0] * distance + WEIGHTS[1] * stops
    return f"Prediction => {1 / (1 + math.exp(-score)):.3f}"


def build() -> Topology:
    builder = StreamsBuilder("prediction", key=STRING, value=STRING)
    builder.stream("deliveries").map_values(predict).to("predictions")
    return builder.build()
