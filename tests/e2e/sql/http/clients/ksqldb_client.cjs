// Uses the npm package ksqldb-client as its README shows. Arguments: port, name of a stream. Prints one JSON document.
const KsqldbClient = require("ksqldb-client");

const [port, name] = process.argv.slice(2);

async function main() {
  const client = new KsqldbClient({ host: "http://127.0.0.1", port: Number(port) });
  await client.connect();
  const done = {};
  done.created = await client.executeStatement(
    `CREATE STREAM ${name} (ID STRING KEY, N INT) WITH (KAFKA_TOPIC='${name}', VALUE_FORMAT='JSON', PARTITIONS=1);`,
  );
  done.inserted = await client.insertInto(name, { ID: "a", N: 1 });

  const pushed = [];
  let second = null;
  const push = client.streamQuery(
    `SELECT * FROM ${name} EMIT CHANGES;`,
    async (data) => {
      pushed.push(...(data.rows || []));
      if (pushed.length === 1 && !second) second = client.insertInto(name, { ID: "b", N: 2 });
      if (pushed.length === 2) done.terminated = await client.terminatePushQuery(data.metadata.queryId);
    },
    { properties: { "auto.offset.reset": "earliest" } },
  );
  done.streamed = await push;
  done.pushed = pushed;
  done.pulled = await client.query(`SELECT * FROM ${name} WHERE N > 0;`);
  done.refused = await client.query("SELECT * FROM nothing;");
  done.streams = (await client.listStreams()).map((each) => each.name);
  done.described = await client.describeSource(name);
  done.dropped = await client.executeStatement(`DROP STREAM ${name};`);
  await client.disconnect();
  console.log(JSON.stringify(done));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
