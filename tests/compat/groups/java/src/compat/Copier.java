package compat;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Consume, transform, produce, exactly once: the loop of Kafka's documentation. Now and then it aborts what it wrote.
 * Waits for a line before it begins, so that it may be started ahead of the moment it is needed. An error that a new
 * producer alone can mend ends the process.
 */
public final class Copier {
    private static final Duration POLL = Duration.ofMillis(50);

    private final JsonNode job;
    private final Random dice;
    private final KafkaConsumer<String, String> consumer;
    private final KafkaProducer<String, String> producer;

    private Copier(JsonNode job) {
        this.job = job;
        dice = new Random(job.get("seed").asLong());
        consumer = new KafkaConsumer<>(settings(job.get("consumer")), new StringDeserializer(), new StringDeserializer());
        producer = new KafkaProducer<>(settings(job.get("producer")), new StringSerializer(), new StringSerializer());
    }

    public static void main(String[] arguments) throws Exception {
        JsonNode job = Driver.JSON.readTree(arguments[0]);
        System.in.read();
        new Copier(job).run();
    }

    private static Map<String, Object> settings(JsonNode written) {
        Map<String, Object> settings = new HashMap<>();
        written.properties().forEach(entry -> settings.put(entry.getKey(), entry.getValue().asText()));
        return settings;
    }

    private void run() {
        producer.initTransactions();
        consumer.subscribe(List.of(job.get("source").asText()));
        while (true) {
            ConsumerRecords<String, String> records = consumer.poll(POLL);
            if (records.isEmpty()) {
                continue;
            }
            try {
                copy(records);
            } catch (KafkaException failure) {
                System.err.println("aborting after " + failure);
                producer.abortTransaction();
                rewind();
            }
        }
    }

    private void copy(ConsumerRecords<String, String> records) {
        boolean aborts = dice.nextDouble() < job.get("abort_share").asDouble();
        producer.beginTransaction();
        Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
        for (ConsumerRecord<String, String> record : records) {
            String value = aborts ? "aborted" : record.value();
            producer.send(new ProducerRecord<>(job.get("target").asText(), record.partition(), record.key(), value));
            offsets.put(
                    new TopicPartition(record.topic(), record.partition()), new OffsetAndMetadata(record.offset() + 1));
        }
        if (aborts) {
            producer.flush();
            producer.abortTransaction();
            rewind();
            return;
        }
        producer.sendOffsetsToTransaction(offsets, consumer.groupMetadata());
        commit();
    }

    private void commit() {
        while (true) {
            try {
                producer.commitTransaction();
                return;
            } catch (TimeoutException unknown) {
                System.err.println("committing again after " + unknown);
            }
        }
    }

    private void rewind() {
        var assignment = consumer.assignment();
        var committed = consumer.committed(assignment);
        for (TopicPartition partition : assignment) {
            OffsetAndMetadata offset = committed.get(partition);
            if (offset == null) {
                consumer.seekToBeginning(List.of(partition));
            } else {
                consumer.seek(partition, offset.offset());
            }
        }
    }
}
