package compat;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Transactional producers step by step, each under the name the request gives as "producer". */
final class TransactionOperations {
    private final Map<String, KafkaProducer<byte[], byte[]>> producers = new ConcurrentHashMap<>();

    void register(Map<String, Driver.Operation> operations) {
        operations.put("txn_open", this::open);
        operations.put("txn_begin", request -> done(() -> producer(request).beginTransaction()));
        operations.put("txn_send", this::send);
        operations.put("txn_send_offsets", this::sendOffsets);
        operations.put("txn_commit", request -> done(() -> producer(request).commitTransaction()));
        operations.put("txn_abort", request -> done(() -> producer(request).abortTransaction()));
        operations.put("txn_close", request -> done(() -> producers.remove(name(request)).close(Duration.ZERO)));
    }

    private Object open(JsonNode request) {
        KafkaProducer<byte[], byte[]> producer =
                new KafkaProducer<>(Driver.settings(request), new ByteArraySerializer(), new ByteArraySerializer());
        producers.put(name(request), producer);
        producer.initTransactions();
        return null;
    }

    /** Returns the offsets once all are acknowledged. */
    private Object send(JsonNode request) throws Exception {
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        for (JsonNode value : request.get("values")) {
            sent.add(producer(request).send(new ProducerRecord<>(
                    request.get("topic").asText(), request.get("partition").asInt(), null, value.binaryValue())));
        }
        producer(request).flush();
        List<Long> offsets = new ArrayList<>();
        for (Future<RecordMetadata> future : sent) {
            offsets.add(future.get().offset());
        }
        return offsets;
    }

    /** "group" is [id, generation, member id]; of a live member when "member" names one. */
    private Object sendOffsets(JsonNode request) {
        JsonNode group = request.get("group");
        ConsumerGroupMetadata metadata = request.has("member")
                ? MemberOperations.metadataOf(request.get("member").asText())
                : new ConsumerGroupMetadata(
                        group.get(0).asText(), group.get(1).asInt(), group.get(2).asText(), Optional.empty());
        producer(request).sendOffsetsToTransaction(Places.offsets(request.get("offsets")), metadata);
        return null;
    }

    private static Object done(Runnable action) {
        action.run();
        return null;
    }

    private static String name(JsonNode request) {
        return request.get("producer").asText();
    }

    private KafkaProducer<byte[], byte[]> producer(JsonNode request) {
        return producers.get(name(request));
    }
}
