"""ANOMALY(sensor_input): whether the readings of a car's sensors fit together, by an autoencoder.

The model is loaded once in each worker process, not for each record. It reduces the readings of three sensors to one
number and restores them from it: readings that it cannot restore do not fit together. It is scikit-learn's PCA where
that is installed, and the same in plain Python where it is not. Yours would come from a file: `joblib.load(...)`, or
`onnxruntime.InferenceSession(...)`.
"""

import importlib.util
import math
from collections.abc import Callable, Sequence

from moldau.pipeline.sql.functions.user import udaf, udf, udtf

Readings = Sequence[float]
Error = Callable[[Readings], float]
"""How far the restored readings are from the real ones."""

SENSORS = ("temperature", "vibration", "speed")
NORMAL = [(60 + 0.5 * speed, 0.02 * speed, float(speed)) for speed in range(0, 200, 5)]
"""Temperature and vibration rise with the speed."""
ERROR_MAX = 5.0


def load_model() -> Error:
    return _with_scikit_learn() if importlib.util.find_spec("sklearn") else _in_plain_python()


@udf(
    setup=load_model,
    author="Moldau",
    examples=("ANOMALY('85.0,1.0,50') => 'normal'", "ANOMALY('140.0,1.0,50') => 'anomaly'"),
)
def anomaly(error_of: Error, sensor_input: str) -> str:
    """Whether readings such as '85.0,1.0,50' (temperature, vibration, speed) are 'normal' or an 'anomaly'."""
    readings = [float(text) for text in sensor_input.split(",")]
    if len(readings) != len(SENSORS):
        raise ValueError(f"{sensor_input!r} has {len(readings)} readings; it needs {', '.join(SENSORS)}")
    return "anomaly" if error_of(readings) > ERROR_MAX else "normal"


@udtf
def readings(sensor_input: str) -> list[float]:
    """A row for each reading."""
    return [float(text) for text in sensor_input.split(",")]


@udaf
class GeometricMean:
    """The n-th root of the product of n numbers."""

    def initial(self) -> list[float]:
        return [0.0, 0]

    def add(self, state: list[float], value: float) -> list[float]:
        return [state[0] + math.log(value), state[1] + 1]

    def merge(self, one: list[float], other: list[float]) -> list[float]:
        return [one[0] + other[0], one[1] + other[1]]

    def result(self, state: list[float]) -> float | None:
        return math.exp(state[0] / state[1]) if state[1] else None


def _with_scikit_learn() -> Error:
    from sklearn.decomposition import PCA  # type: ignore[import-not-found]

    model = PCA(n_components=1).fit(NORMAL)

    def error_of(readings: Readings) -> float:
        restored = model.inverse_transform(model.transform([readings]))[0]
        return math.dist(readings, restored)

    return error_of


def _in_plain_python() -> Error:
    means = [sum(column) / len(NORMAL) for column in zip(*NORMAL, strict=True)]
    direction = _main_direction([_difference(row, means) for row in NORMAL])

    def error_of(readings: Readings) -> float:
        inner = _difference(readings, means)
        number = sum(one * other for one, other in zip(inner, direction, strict=True))
        restored = [mean + number * part for mean, part in zip(means, direction, strict=True)]
        return math.dist(readings, restored)

    return error_of


def _difference(one: Readings, other: Readings) -> list[float]:
    return [left - right for left, right in zip(one, other, strict=True)]


def _main_direction(rows: Sequence[Readings]) -> list[float]:
    """The direction in which the rows differ most, by power iteration."""
    direction = [1.0] * len(SENSORS)
    for _ in range(50):
        numbers = [sum(one * other for one, other in zip(row, direction, strict=True)) for row in rows]
        summed = [
            sum(number * value for number, value in zip(numbers, column, strict=True))
            for column in zip(*rows, strict=True)
        ]
        length = math.hypot(*summed)
        direction = [value / length for value in summed]
    return direction
