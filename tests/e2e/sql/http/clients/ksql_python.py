"""Uses the package `ksql` of PyPI as its README shows. Arguments: the server's address, the name of a stream.

Prints one JSON document. The package is of a time when `collections` still had the abstract classes.
"""

import collections
import collections.abc
import json
import sys

for _name in ("Callable", "Iterable", "Mapping", "MutableMapping", "MutableSet", "Sequence", "Set"):
    setattr(collections, _name, getattr(collections.abc, _name))

from ksql import KSQLAPI  # type: ignore[import-not-found]  # noqa: E402
from ksql.errors import KSQLError  # type: ignore[import-not-found]  # noqa: E402

url, name = sys.argv[1:]
earliest = {"ksql.streams.auto.offset.reset": "earliest"}
select = f"SELECT * FROM {name} EMIT CHANGES"
client = KSQLAPI(url)
done = {"version": client.get_ksql_version()}
done["created"] = client.ksql(
    f"CREATE STREAM {name} (ID STRING KEY, N INT) WITH (KAFKA_TOPIC='{name}', VALUE_FORMAT='JSON', PARTITIONS=1)"
)
done["inserted"] = client.inserts_stream(name, [{"ID": "a", "N": 1}, {"ID": "b", "N": 2}])
done["rows"] = list(client.query(f"{select} LIMIT 2", stream_properties=earliest, return_objects=True))

done["chunks"] = []
for chunk in client.query(select, stream_properties=earliest, use_http2=True):
    done["chunks"].append(chunk)
    if len(done["chunks"]) == 3:
        done["closed"] = client.close_query(json.loads(done["chunks"][0])["queryId"])
done["closed_again"] = client.close_query("nothing")

try:
    client.ksql("DESCRIBE nothing")
except KSQLError as error:
    done["refused"] = error.error_code
done["properties"] = len(client.get_properties())
done["dropped"] = client.ksql(f"DROP STREAM {name} DELETE TOPIC")
print(json.dumps(done))
