"""The Python of the guide to the schema registry runs as it stands, except for the addresses."""

from confluent_kafka.schema_registry import SchemaRegistryClient

from documents import GUIDES, Page
from moldau.testing import LocalCluster


def test_the_serializer_registers_its_schema() -> None:
    [example] = Page(GUIDES / "schema-registry.md").blocks("python")
    with LocalCluster(registry=True) as cluster:
        code = example.text.replace("http://localhost:8081", cluster.registry_url)
        code = code.replace("localhost:9092", cluster.bootstrap_servers)
        exec(compile(code, example.heading, "exec"), {"__name__": "guide"})

        client = SchemaRegistryClient({"url": cluster.registry_url})
        assert client.get_subjects() == ["orders-value"]
        client.close()
