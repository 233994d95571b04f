// kafkajs, with the codecs it leaves to plug-ins.

import { createRequire } from 'node:module'
import kafkajs from 'kafkajs'
import lz4 from 'lz4-napi'
import { base64, deadline, kept, login, number, raw, serve } from './pipe.mjs'

const require = createRequire(import.meta.url)
const snappy = require('kafkajs-snappy')
const zstd = require('@bokuweb/zstd-wasm')
const { CompressionCodecs, CompressionTypes, ConfigResourceTypes, Kafka, Partitioners, logLevel } = kafkajs

await zstd.init()
CompressionCodecs[CompressionTypes.Snappy] = snappy
CompressionCodecs[CompressionTypes.LZ4] = () => ({
  compress: async encoder => lz4.compressFrameSync(encoder.buffer),
  decompress: async octets => lz4.decompressFrameSync(octets)
})
CompressionCodecs[CompressionTypes.ZSTD] = () => ({
  compress: async encoder => Buffer.from(zstd.compress(encoder.buffer)),
  decompress: async octets => Buffer.from(zstd.decompress(octets))
})

const CODECS = {
  none: CompressionTypes.None,
  gzip: CompressionTypes.GZIP,
  snappy: CompressionTypes.Snappy,
  lz4: CompressionTypes.LZ4,
  zstd: CompressionTypes.ZSTD
}
const ACKS = { all: -1, 1: 1, 0: 0 }
const CONFIG_SOURCES = [
  'UNKNOWN',
  'DYNAMIC_TOPIC_CONFIG',
  'DYNAMIC_BROKER_CONFIG',
  'DYNAMIC_DEFAULT_BROKER_CONFIG',
  'STATIC_BROKER_CONFIG',
  'DEFAULT_CONFIG'
]

const loginOf = settings =>
  'sasl.token' in settings
    ? { mechanism: 'oauthbearer', oauthBearerProvider: async () => ({ value: settings['sasl.token'] }) }
    : login(settings, name => name.toLowerCase())

const kafka = (bootstrap, settings = {}) =>
  new Kafka({
    brokers: [bootstrap],
    sasl: loginOf(settings),
    logLevel: logLevel.NOTHING,
    retry: { initialRetryTime: 50, retries: 6, factor: 0, multiplier: 2 }
  })

const admin = kept(async bootstrap => {
  const client = kafka(bootstrap).admin({ retry: { retries: 0 } })
  await client.connect()
  return client
})

async function produce ({ bootstrap, topic, records, settings }) {
  // A producer for each call, so that each has a producer id of its own.
  const client = kafka(bootstrap, settings).producer({
    idempotent: settings['enable.idempotence'] === 'true',
    createPartitioner: Partitioners.DefaultPartitioner
  })
  await client.connect()
  try {
    await client.send({
      topic,
      acks: ACKS[settings.acks ?? 'all'],
      compression: CODECS[settings['compression.type'] ?? 'none'],
      messages: records.map(record => ({
        key: raw(record.key),
        value: raw(record.value),
        headers: Object.fromEntries(record.headers.map(([name, value]) => [name, raw(value)])),
        partition: record.partition,
        ...(record.timestamp_ms === null ? {} : { timestamp: String(record.timestamp_ms) })
      }))
    })
  } finally {
    await client.disconnect()
  }
}

// There is no reading without a group: a fresh one is joined, and moved to where it is to begin.
async function consume ({ bootstrap, partitions: [{ topic, partition, start }], count, settings, timeout_ms: timeoutMs }) {
  const records = []
  const ends = await (await admin(bootstrap)).fetchTopicOffsets(topic)
  const end = Number(ends.find(entry => entry.partition === partition).high)
  if (count === null && start >= end) {
    return records
  }
  const others = ends.map(entry => entry.partition).filter(other => other !== partition)
  const done = next => (count === null ? next >= end : records.length >= count)
  const begin = async consumer => {
    consumer.pause([{ topic, partitions: others }])
    consumer.seek({ topic, partition, offset: String(start) })
  }
  const group = `reader-${process.pid}-${Date.now()}-${Math.random()}`
  await readUntil(bootstrap, topic, { ...settings, 'group.id': group }, timeoutMs, begin, async message => {
    if (message.partition === partition && message.offset >= start && !done(message.offset)) {
      records.push(message)
    }
    return done(message.offset + 1)
  }, () => records.length)
  return records
}

async function readAsGroup ({ bootstrap, topic, count, settings, timeout_ms: timeoutMs }) {
  const records = []
  const next = new Map()
  const commit = async consumer => {
    const offsets = [...next].map(([partition, offset]) => ({ topic, partition, offset: String(offset) }))
    await consumer.commitOffsets(offsets)
  }
  await readUntil(bootstrap, topic, settings, timeoutMs, async () => {}, async message => {
    if (records.length < count) {
      records.push(message)
      next.set(message.partition, message.offset + 1)
    }
    return records.length === count
  }, () => records.length, commit)
  return records
}

// Joins, begins, gives each message to `take` until that says it is enough, ends and leaves.
async function readUntil (bootstrap, topic, settings, timeoutMs, begin, take, counted, end = async () => {}) {
  const consumer = kafka(bootstrap, settings).consumer({
    groupId: settings['group.id'],
    allowAutoTopicCreation: false,
    heartbeatInterval: 500,
    maxWaitTimeInMs: number(settings, 'fetch.max.wait.ms', 500),
    minBytes: number(settings, 'fetch.min.bytes', 1),
    maxBytes: number(settings, 'fetch.max.bytes', 10 << 20),
    maxBytesPerPartition: number(settings, 'max.partition.fetch.bytes', 1 << 20)
  })
  await consumer.connect()
  try {
    await consumer.subscribe({ topics: [topic], fromBeginning: true })
    const enough = new Promise((resolve, reject) => {
      consumer.on(consumer.events.CRASH, ({ payload }) => reject(payload.error))
      consumer
        .run({
          autoCommit: false,
          eachMessage: async ({ partition, message }) => {
            if (await take(described(partition, message))) {
              resolve()
            }
          }
        })
        .catch(reject)
    })
    await begin(consumer)
    await Promise.race([enough, deadline(timeoutMs, () => `${counted()} records`)])
    await end(consumer)
  } finally {
    await consumer.disconnect()
  }
}

const described = (partition, message) => ({
  key: base64(message.key),
  value: base64(message.value),
  headers: Object.entries(message.headers ?? {}).flatMap(([name, value]) =>
    [value].flat().map(one => [name, base64(one)])
  ),
  timestamp_ms: Number(message.timestamp),
  partition,
  offset: Number(message.offset)
})

async function createTopic ({ bootstrap, topic, partitions, replicas, configs }) {
  const isNew = await (await admin(bootstrap)).createTopics({
    waitForLeaders: false,
    topics: [
      {
        topic,
        numPartitions: partitions,
        replicationFactor: replicas,
        configEntries: Object.entries(configs).map(([name, value]) => ({ name, value }))
      }
    ]
  })
  if (!isNew) {
    throw Object.assign(new Error(`${topic} is there`), { type: 'TOPIC_ALREADY_EXISTS' })
  }
}

async function describeTopic ({ bootstrap, topic }) {
  const { topics } = await (await admin(bootstrap)).fetchTopicMetadata({ topics: [topic] })
  return { partitions: topics[0].partitions }
}

async function listOffset ({ bootstrap, topic, partition, spec }) {
  const client = await admin(bootstrap)
  const asked = typeof spec === 'number' ? client.fetchTopicOffsetsByTimestamp(topic, spec) : client.fetchTopicOffsets(topic)
  const found = (await asked).find(entry => entry.partition === partition)
  return { offset: Number(spec === 'earliest' ? found.low : found.offset) }
}

async function deleteRecords ({ bootstrap, topic, partition, before }) {
  // It looks for leaders among the topics it has met.
  await listOffset({ bootstrap, topic, partition, spec: 'latest' })
  await (await admin(bootstrap)).deleteTopicRecords({ topic, partitions: [{ partition, offset: String(before) }] })
  return (await listOffset({ bootstrap, topic, partition, spec: 'earliest' })).offset
}

async function describeConfigs ({ bootstrap, name }) {
  const described = await (await admin(bootstrap)).describeConfigs({
    resources: [{ type: ConfigResourceTypes.TOPIC, name }],
    includeSynonyms: true
  })
  return Object.fromEntries(
    described.resources[0].configEntries.map(entry => [
      entry.configName,
      {
        value: entry.configValue,
        source: CONFIG_SOURCES[entry.configSource],
        read_only: entry.readOnly,
        sensitive: entry.isSensitive,
        synonyms: entry.configSynonyms.map(synonym => [
          synonym.configName,
          synonym.configValue,
          CONFIG_SOURCES[synonym.configSource]
        ])
      }
    ])
  )
}

// Its AlterConfigs states all that is set, so what is to stay is said again.
async function alterConfigs ({ bootstrap, name, changes }) {
  const all = Object.entries(await describeConfigs({ bootstrap, name }))
  const entries = new Map(
    all.filter(([, entry]) => entry.source === 'DYNAMIC_TOPIC_CONFIG').map(([key, entry]) => [key, entry.value])
  )
  for (const [kind, key, value] of changes) {
    if (kind === 'SET') {
      entries.set(key, value)
    } else {
      entries.delete(key)
    }
  }
  const configEntries = [...entries].map(([key, value]) => ({ name: key, value }))
  await (await admin(bootstrap)).alterConfigs({
    validateOnly: false,
    resources: [{ type: ConfigResourceTypes.TOPIC, name, configEntries }]
  })
}

function nameOfError (failure) {
  const inner = failure.errors?.[0] ?? failure.partitions?.[0]?.error ?? failure.cause
  return failure.type ?? (inner ? nameOfError(inner) : failure.name)
}

await serve(
  {
    produce,
    consume,
    read_as_group: readAsGroup,
    create_topic: createTopic,
    describe_topic: describeTopic,
    list_topics: async ({ bootstrap }) => (await admin(bootstrap)).listTopics(),
    delete_topic: async ({ bootstrap, topic }) => (await admin(bootstrap)).deleteTopics({ topics: [topic] }),
    grow_topic: async ({ bootstrap, topic, partitions: count }) =>
      (await admin(bootstrap)).createPartitions({ topicPartitions: [{ topic, count }] }),
    list_offset: listOffset,
    delete_records: deleteRecords,
    describe_configs: describeConfigs,
    alter_configs: alterConfigs
  },
  nameOfError
)
