"""Generated topologies as one application, as the file says that MOLDAU_DESCRIBED_CASES names."""

import json
import os
from pathlib import Path

from e2e.spark.backlog.sides import topology_of
from moldau.pipeline.streams import Topology


def build() -> Topology:
    order = json.loads(Path(os.environ["MOLDAU_DESCRIBED_CASES"]).read_bytes())
    return topology_of(order["application"], order["cases"], order["inputs"])
