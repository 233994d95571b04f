// Confluent's client for Node.js, which speaks version 1: writes, lists, reads in a group, commits, leaves.
// node kafka_rest_driver.cjs URL TOPIC; prints what it has seen as JSON.
"use strict";
const KafkaRest = require("kafka-rest");
const [url, topic] = process.argv.slice(2);
const kafka = new KafkaRest({url});
const seen = {};

function asked(ask) {
  return new Promise((resolve, reject) => ask((error, answer) => (error ? reject(error) : resolve(answer))));
}

function read(consumer, count) {
  return new Promise((resolve, reject) => {
    const found = [];
    const stream = consumer.subscribe(topic);
    stream.on("data", records => {
      for (const each of records)
        found.push({key: each.key && each.key.toString(), value: each.value.toString(), partition: each.partition});
      if (found.length >= count) resolve(found);
    });
    stream.on("error", reject);
  });
}

async function main() {
  seen.written = await asked(done =>
    kafka.topic(topic).produce({key: "k", value: "one"}, {value: "two", partition: 0}, done));
  const avro = new KafkaRest.AvroSchema({name: "n", type: "int"});
  seen.avro = await asked(done => kafka.topic(topic + "-avro").produce(avro, [1, 2], done));
  seen.topics = (await asked(done => kafka.topics.list(done))).map(each => each.name);
  seen.brokers = (await asked(done => kafka.brokers.list(done))).map(each => each.id);
  seen.partitions = (await asked(done => kafka.topic(topic).partitions.list(done))).map(each => each.id);
  const consumer = await asked(done =>
    kafka.consumer("group-" + topic).join({format: "binary", "auto.offset.reset": "smallest"}, done));
  seen.read = await read(consumer, 2);
  await asked(done => consumer.commit(done));
  await asked(done => consumer.shutdown(done));
  console.log(JSON.stringify(seen));
}

main().then(() => process.exit(0), error => { console.error(error); process.exit(1); });
