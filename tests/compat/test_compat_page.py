"""The versions in docs/COMPAT.md are those that are tested."""

import json
import re
import xml.etree.ElementTree as ElementTree
from importlib.metadata import version
from pathlib import Path

from compat.kafka_tools import TOOLS
from compat.node_clients import FOLDER
from kafka_jars import POM

PAGE = (Path(__file__).parents[2] / "docs" / "COMPAT.md").read_text()
MAVEN = {"": "http://maven.apache.org/POM/4.0.0"}


def section(title: str) -> str:
    return PAGE.split(f"## {title}\n")[1].split("\n## ")[0]


def test_versions() -> None:
    written = dict(re.findall(r"^\| (\S+?)(?: \([^)]*\))? \| ([\d.]+) \|", section("Clients"), re.MULTILINE))
    node = json.loads((FOLDER / "package.json").read_text())["dependencies"]
    kafka = {node.text for node in ElementTree.parse(POM).findall(".//dependency/version", MAVEN)}
    assert written.pop("kafka-clients") in kafka
    assert written == {
        "confluent-kafka": version("confluent-kafka"),
        "aiokafka": version("aiokafka"),
        "kafka-python": version("kafka-python"),
        "kafkajs": node["kafkajs"],
        "@platformatic/kafka": node["@platformatic/kafka"],
    }


def test_every_tool_is_listed() -> None:
    listed = set(re.findall(r"`(kafka-[a-z-]+)`", section("Clients")))
    assert set(TOOLS) <= listed
