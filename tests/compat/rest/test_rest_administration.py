"""What the proxy asks the cluster by itself, not through Kafka's client library: also of Apache Kafka."""

import pytest

from compat.server_process import ServerProcess
from e2e.rest.rest_client import LocalProxy, wait_for


@pytest.mark.java
def test_settings_of_all_brokers_and_reassignments(broker: ServerProcess) -> None:
    with LocalProxy(broker.bootstrap) as rest:
        base = f"/v3/clusters/{rest.ok('GET', '/v3/clusters')['data'][0]['cluster_id']}"
        path = f"{base}/broker-configs/log.cleaner.threads"
        assert rest("PUT", path, {"value": "2"}).status == 204
        # Kafka answers with what its brokers have taken over.
        wait_for(lambda: rest("GET", path).status == 200)
        shown = rest.ok("GET", path)
        assert (shown["value"], shown["source"]) == ("2", "DYNAMIC_DEFAULT_BROKER_CONFIG")
        assert [each["source"] for each in shown["synonyms"]] == ["DYNAMIC_DEFAULT_BROKER_CONFIG"]
        wrong = {"data": [{"name": "log.cleaner.threads", "value": "many"}], "validate_only": True}
        rest("POST", f"{base}/broker-configs:alter", wrong).refused(400, "many")
        assert rest("DELETE", path).status == 204
        wait_for(lambda: rest("GET", path).status == 404)
        rest.produce("moves-not", 1)
        for topic in ("-", "moves-not"):
            assert rest.ok("GET", f"{base}/topics/{topic}/partitions/-/reassignment")["data"] == []
