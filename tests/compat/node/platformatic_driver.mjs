// @platformatic/kafka.

import { Admin, Consumer, IncrementalAlterConfigOperationTypes, Producer } from '@platformatic/kafka'
import { base64, deadline, kept, login, number, raw, serve } from './pipe.mjs'

const ACKS = { all: -1, 1: 1, 0: 0 }
const TIMES = { earliest: -2n, latest: -1n, max_timestamp: -3n }
const TOPIC = 2
const CONFIG_SOURCES = [
  'UNKNOWN',
  'DYNAMIC_TOPIC_CONFIG',
  'DYNAMIC_BROKER_CONFIG',
  'DYNAMIC_DEFAULT_BROKER_CONFIG',
  'STATIC_BROKER_CONFIG',
  'DEFAULT_CONFIG'
]

const shared = (bootstrap, settings = {}) => {
  const token = settings['sasl.token']
  const sasl = token === undefined ? login(settings, name => name) : { mechanism: 'OAUTHBEARER', token }
  const always = { clientId: 'compat', bootstrapBrokers: [bootstrap], retries: 6, retryDelay: 200 }
  return sasl === undefined ? always : { ...always, sasl }
}

const admin = kept(async bootstrap => new Admin({ ...shared(bootstrap), retries: 0, metadataMaxAge: 0 }))

async function produce ({ bootstrap, topic, records, settings }) {
  const producer = new Producer({ ...shared(bootstrap, settings), autocreateTopics: true })
  try {
    await producer.send({
      acks: ACKS[settings.acks ?? 'all'],
      compression: settings['compression.type'] ?? 'none',
      idempotent: settings['enable.idempotence'] === 'true',
      messages: records.map(record => ({
        topic,
        key: raw(record.key) ?? undefined,
        value: raw(record.value) ?? undefined,
        headers: new Map(record.headers.map(([name, value]) => [Buffer.from(name), raw(value)])),
        partition: record.partition,
        ...(record.timestamp_ms === null ? {} : { timestamp: BigInt(record.timestamp_ms) })
      }))
    })
  } finally {
    await producer.close(true)
  }
}

// There is no reading without a group: a fresh one is joined, and told where to begin.
async function consume ({ bootstrap, partitions: [{ topic, partition, start }], count, settings, timeout_ms: timeoutMs }) {
  const records = []
  const { partitions } = await describeTopic({ bootstrap, topic })
  const end = (await listOffset({ bootstrap, topic, partition, spec: 'latest' })).offset
  if (count === null && start >= end) {
    return records
  }
  const done = next => (count === null ? next >= end : records.length >= count)
  const offsets = await Promise.all(
    partitions.map(async (_, other) => ({
      topic,
      partition: other,
      offset: BigInt(
        other === partition ? start : (await listOffset({ bootstrap, topic, partition: other, spec: 'latest' })).offset
      )
    }))
  )
  const group = `reader-${process.pid}-${Date.now()}-${Math.random()}`
  const stream = { mode: 'manual', offsets }
  await readUntil(bootstrap, topic, { ...settings, 'group.id': group }, stream, timeoutMs, message => {
    const { offset } = message
    if (message.partition === partition && offset >= start && !done(Number(offset))) {
      records.push(described(message))
    }
    return done(Number(offset) + 1)
  }, () => records.length)
  return records
}

async function readAsGroup ({ bootstrap, topic, count, settings, timeout_ms: timeoutMs }) {
  const records = []
  const last = new Map()
  const stream = { mode: 'committed', fallbackMode: 'earliest' }
  const commit = () => Promise.all([...last.values()].map(message => message.commit()))
  await readUntil(bootstrap, topic, settings, stream, timeoutMs, message => {
    records.push(described(message))
    last.set(message.partition, message)
    return records.length === count
  }, () => records.length, commit)
  return records
}

// Joins, gives each message to `take` until that says it is enough, ends and leaves.
async function readUntil (bootstrap, topic, settings, options, timeoutMs, take, counted, end = async () => {}) {
  const consumer = new Consumer({
    ...shared(bootstrap, settings),
    groupId: settings['group.id'],
    maxWaitTime: number(settings, 'fetch.max.wait.ms', 500),
    minBytes: number(settings, 'fetch.min.bytes', 1),
    maxBytes: number(settings, 'fetch.max.bytes', 10 << 20),
    maxBytesPerPartition: number(settings, 'max.partition.fetch.bytes', 1 << 20)
  })
  try {
    const stream = await consumer.consume({ topics: [topic], autocommit: false, ...options })
    const enough = async () => {
      for await (const message of stream) {
        if (take(message)) {
          // Leaving the loop would close the stream, and what is read could not be committed.
          await end()
          return
        }
      }
    }
    await Promise.race([enough(), deadline(timeoutMs, () => `${counted()} records`)])
  } finally {
    await consumer.close(true)
  }
}

const described = message => ({
  key: base64(message.key),
  value: base64(message.value),
  headers: [...message.headers].map(([name, value]) => [name.toString(), base64(value)]),
  timestamp_ms: Number(message.timestamp),
  partition: message.partition,
  offset: Number(message.offset)
})

async function createTopic ({ bootstrap, topic, partitions, replicas, configs }) {
  await (await admin(bootstrap)).createTopics({
    topics: [topic],
    partitions,
    replicas,
    configs: Object.entries(configs).map(([name, value]) => ({ name, value }))
  })
}

async function describeTopic ({ bootstrap, topic }) {
  const metadata = await (await admin(bootstrap)).metadata({ topics: [topic], forceUpdate: true, autocreateTopics: false })
  return { partitions: metadata.topics.get(topic).partitions }
}

async function listOffset ({ bootstrap, topic, partition, spec }) {
  const timestamp = typeof spec === 'number' ? BigInt(spec) : TIMES[spec]
  const listed = await (await admin(bootstrap)).listOffsets({
    topics: [{ name: topic, partitions: [{ partitionIndex: partition, timestamp }] }]
  })
  return { offset: Number(listed[0].partitions[0].offset) }
}

async function deleteRecords ({ bootstrap, topic, partition, before }) {
  const deleted = await (await admin(bootstrap)).deleteRecords({
    topics: [{ name: topic, partitions: [{ partition, offset: BigInt(before) }] }]
  })
  return Number(deleted[0].partitions[0].lowWatermark)
}

async function describeConfigs ({ bootstrap, name }) {
  const described = await (await admin(bootstrap)).describeConfigs({
    resources: [{ resourceType: TOPIC, resourceName: name }],
    includeSynonyms: true
  })
  return Object.fromEntries(
    described[0].configs.map(entry => [
      entry.name,
      {
        value: entry.value,
        source: CONFIG_SOURCES[entry.configSource],
        read_only: entry.readOnly,
        sensitive: entry.isSensitive,
        synonyms: entry.synonyms.map(synonym => [synonym.name, synonym.value, CONFIG_SOURCES[synonym.source]])
      }
    ])
  )
}

async function alterConfigs ({ bootstrap, name, changes }) {
  const configs = changes.map(([kind, key, value]) => ({
    name: key,
    configOperation: IncrementalAlterConfigOperationTypes[kind],
    value
  }))
  await (await admin(bootstrap)).incrementalAlterConfigs({
    resources: [{ resourceType: TOPIC, resourceName: name, configs }]
  })
}

// What the broker said is at the bottom of a tree of errors. What it said of single records has no code.
function namesOfErrors (failure) {
  const inner = [...(failure.errors ?? []), ...(failure.cause ? [failure.cause] : [])].flatMap(namesOfErrors)
  return failure.apiId && failure.apiId !== 'UNKNOWN_SERVER_ERROR' ? [failure.apiId] : inner
}

const nameOfError = failure =>
  failure.message.startsWith('Unknown topic') ? 'UNKNOWN_TOPIC_OR_PARTITION' : namesOfErrors(failure)[0] ?? failure.code

await serve(
  {
    produce,
    consume,
    read_as_group: readAsGroup,
    create_topic: createTopic,
    describe_topic: describeTopic,
    list_topics: async ({ bootstrap }) => (await admin(bootstrap)).listTopics({ includeInternals: true }),
    delete_topic: async ({ bootstrap, topic }) => (await admin(bootstrap)).deleteTopics({ topics: [topic] }),
    grow_topic: async ({ bootstrap, topic, partitions: count }) =>
      (await admin(bootstrap)).createPartitions({ topics: [{ name: topic, count }] }),
    list_offset: listOffset,
    delete_records: deleteRecords,
    describe_configs: describeConfigs,
    alter_configs: alterConfigs
  },
  nameOfError
)
