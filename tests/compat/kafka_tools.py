"""Kafka's own command-line tools, run inside the Java driver: a JVM of its own would cost each run seconds."""

from compat.java_client import JavaDriver

TOOLS = {
    "kafka-broker-api-versions": "org.apache.kafka.tools.BrokerApiVersionsCommand",
    "kafka-client-metrics": "org.apache.kafka.tools.ClientMetricsCommand",
    "kafka-configs": "kafka.admin.ConfigCommand",
    "kafka-console-consumer": "org.apache.kafka.tools.consumer.ConsoleConsumer",
    "kafka-console-producer": "org.apache.kafka.tools.ConsoleProducer",
    "kafka-consumer-perf-test": "org.apache.kafka.tools.ConsumerPerformance",
    "kafka-delegation-tokens": "org.apache.kafka.tools.DelegationTokenCommand",
    "kafka-delete-records": "org.apache.kafka.tools.DeleteRecordsCommand",
    "kafka-features": "org.apache.kafka.tools.FeatureCommand",
    "kafka-get-offsets": "org.apache.kafka.tools.GetOffsetShell",
    "kafka-groups": "org.apache.kafka.tools.GroupsCommand",
    "kafka-log-dirs": "org.apache.kafka.tools.LogDirsCommand",
    "kafka-producer-perf-test": "org.apache.kafka.tools.ProducerPerformance",
    "kafka-topics": "org.apache.kafka.tools.TopicCommand",
}
"""By the names of their scripts."""


class KafkaTools:
    def __init__(self, driver: JavaDriver, bootstrap: str) -> None:
        self._driver = driver
        self.bootstrap = bootstrap

    def run(self, name: str, *arguments: str, stdin: str = "", code: int = 0) -> str:
        """What the tool prints when it is given the broker's address; what it complains of when it is to fail."""
        given = ["--bootstrap-server", self.bootstrap, *arguments]
        done = self._driver.call("tool", main=TOOLS[name], arguments=given, input=stdin)
        assert done["code"] == code, (
            f"{name} ended with {done['code']}:\n{done['printed']}{done['complained']}"
        )
        printed: str = done["printed"] + (done["complained"] if code else "")
        return printed
