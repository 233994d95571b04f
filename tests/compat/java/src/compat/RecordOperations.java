package compat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Producing, in transactions or not, and consuming, by assigned partitions or as a group. */
final class RecordOperations {
    private static final Duration POLL = Duration.ofMillis(100);

    void register(Map<String, Driver.Operation> operations) {
        operations.put("produce", this::produce);
        operations.put("produce_transactions", this::produceTransactions);
        operations.put("consume", this::consume);
        operations.put("read_as_group", this::readAsGroup);
    }

    private Object produce(JsonNode request) throws Exception {
        try (KafkaProducer<byte[], byte[]> producer = producer(request)) {
            return sendAll(producer, request.get("topic").asText(), request.get("records"));
        }
    }

    /** Each transaction is {"commit": bool, "records": [...]}; its records are all in the log when it ends either way. */
    private Object produceTransactions(JsonNode request) throws Exception {
        List<Object> placed = new ArrayList<>();
        try (KafkaProducer<byte[], byte[]> producer = producer(request)) {
            producer.initTransactions();
            for (JsonNode transaction : request.get("transactions")) {
                producer.beginTransaction();
                placed.add(sendAll(producer, request.get("topic").asText(), transaction.get("records")));
                if (transaction.get("commit").asBoolean()) {
                    producer.commitTransaction();
                } else {
                    producer.abortTransaction();
                }
            }
        }
        return placed;
    }

    private Object consume(JsonNode request) {
        long deadline = System.currentTimeMillis() + request.get("timeout_ms").asLong();
        Map<TopicPartition, Long> starts = new HashMap<>();
        request.get("partitions").forEach(entry -> starts.put(
                new TopicPartition(entry.get("topic").asText(), entry.get("partition").asInt()), entry.get("start").asLong()));
        long count = request.get("count").isNull() ? Long.MAX_VALUE : request.get("count").asLong();
        KafkaConsumer<byte[], byte[]> consumer = consumer(request);
        try {
            consumer.assign(starts.keySet());
            starts.forEach(consumer::seek);
            Map<TopicPartition, Long> ends = count == Long.MAX_VALUE ? consumer.endOffsets(starts.keySet()) : Map.of();
            List<Object> records = new ArrayList<>();
            while (records.size() < count && !(count == Long.MAX_VALUE && reached(consumer, ends))) {
                if (System.currentTimeMillis() > deadline) {
                    throw new TimeoutException("consumed " + records.size() + " records before the deadline");
                }
                consumer.poll(POLL).forEach(record -> records.add(described(record)));
            }
            return records;
        } finally {
            // A fetch may still be waiting for data; nobody waits for it.
            consumer.close(CloseOptions.timeout(Duration.ZERO));
        }
    }

    private Object readAsGroup(JsonNode request) {
        long deadline = System.currentTimeMillis() + request.get("timeout_ms").asLong();
        int count = request.get("count").asInt();
        List<Object> records = new ArrayList<>();
        Map<TopicPartition, OffsetAndMetadata> next = new HashMap<>();
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(request)) {
            consumer.subscribe(List.of(request.get("topic").asText()));
            while (records.size() < count) {
                if (System.currentTimeMillis() > deadline) {
                    throw new TimeoutException("consumed " + records.size() + " records before the deadline");
                }
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
                    if (records.size() < count) {
                        records.add(described(record));
                        next.put(new TopicPartition(record.topic(), record.partition()), new OffsetAndMetadata(record.offset() + 1));
                    }
                }
            }
            consumer.commitSync(next);
        }
        return records;
    }

    private static boolean reached(KafkaConsumer<?, ?> consumer, Map<TopicPartition, Long> ends) {
        return ends.entrySet().stream().allMatch(end -> consumer.position(end.getKey()) >= end.getValue());
    }

    private static List<Object> sendAll(KafkaProducer<byte[], byte[]> producer, String topic, JsonNode records) throws Exception {
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        for (JsonNode record : records) {
            List<Header> headers = new ArrayList<>();
            for (JsonNode header : record.get("headers")) {
                headers.add(new RecordHeader(header.get(0).asText(), bytes(header.get(1))));
            }
            Long timestamp = record.get("timestamp_ms").isNull() ? null : record.get("timestamp_ms").asLong();
            sent.add(producer.send(new ProducerRecord<>(
                    topic, record.get("partition").asInt(), timestamp, bytes(record.get("key")), bytes(record.get("value")), headers)));
        }
        producer.flush();
        List<Object> placed = new ArrayList<>();
        for (Future<RecordMetadata> future : sent) {
            RecordMetadata place = future.get();
            placed.add(Map.of("partition", place.partition(), "offset", place.offset(), "timestamp_ms", place.timestamp()));
        }
        return placed;
    }

    private static Map<String, Object> described(ConsumerRecord<byte[], byte[]> record) {
        List<Object> headers = new ArrayList<>();
        for (Header header : record.headers()) {
            List<Object> pair = new ArrayList<>();
            pair.add(header.key());
            pair.add(header.value());
            headers.add(pair);
        }
        Map<String, Object> described = new HashMap<>();
        described.put("topic", record.topic());
        described.put("partition", record.partition());
        described.put("offset", record.offset());
        described.put("timestamp_ms", record.timestamp());
        described.put("key", record.key());
        described.put("value", record.value());
        described.put("headers", headers);
        return described;
    }

    private static byte[] bytes(JsonNode base64) throws IOException {
        return base64.isNull() ? null : base64.binaryValue();
    }

    private static KafkaProducer<byte[], byte[]> producer(JsonNode request) {
        return new KafkaProducer<>(Driver.settings(request), new ByteArraySerializer(), new ByteArraySerializer());
    }

    private static KafkaConsumer<byte[], byte[]> consumer(JsonNode request) {
        Map<String, Object> settings = Driver.settings(request);
        settings.putIfAbsent("auto.offset.reset", "none");
        settings.put("enable.auto.commit", "false");
        return new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }
}
