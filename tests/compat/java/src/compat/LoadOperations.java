package compat;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** A producer and a consumer that work without a break, while something happens to the cluster. */
final class LoadOperations {
    private static final long BREAK_NANOS = 5_000_000;
    private static final Duration POLL = Duration.ofMillis(200);
    private static final long PATIENCE_MS = 60_000;
    private final List<String> errors = new CopyOnWriteArrayList<>();
    private final AtomicLong acknowledged = new AtomicLong();
    private final AtomicLong read = new AtomicLong();
    private volatile boolean isOver;
    private volatile boolean isWritten;
    private Thread writer;
    private Thread reader;

    void register(Map<String, Driver.Operation> operations) {
        operations.put("start_load", this::start);
        operations.put("load_state", request -> state());
        operations.put("stop_load", request -> stop());
    }

    private Object start(JsonNode request) {
        String topic = request.get("topic").asText();
        Map<String, Object> settings = Driver.settings(request);
        writer = new Thread(() -> noted(() -> write(topic, settings)));
        reader = new Thread(() -> noted(() -> read(topic, settings)));
        // A test that fails in the middle ends the process.
        writer.setDaemon(true);
        reader.setDaemon(true);
        writer.start();
        reader.start();
        return state();
    }

    private Object stop() throws InterruptedException {
        isOver = true;
        writer.join(PATIENCE_MS);
        reader.join(PATIENCE_MS);
        if (writer.isAlive() || reader.isAlive()) {
            errors.add("the load did not end");
        }
        return state();
    }

    private Map<String, Object> state() {
        return Map.of("acknowledged", acknowledged.get(), "read", read.get(), "errors", List.copyOf(errors));
    }

    private void write(String topic, Map<String, Object> settings) {
        byte[] value = new byte[100];
        try (var producer = new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer())) {
            while (!isOver) {
                producer.send(new ProducerRecord<>(topic, value), (metadata, failure) -> {
                    if (failure != null) {
                        errors.add(failure.toString());
                    }
                    acknowledged.incrementAndGet();
                });
                LockSupport.parkNanos(BREAK_NANOS);
            }
            producer.flush();
        }
        isWritten = true;
    }

    private void read(String topic, Map<String, Object> given) {
        Map<String, Object> settings = new HashMap<>(given);
        settings.put("group.id", "java-load");
        settings.put("auto.offset.reset", "earliest");
        try (var consumer = new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.subscribe(List.of(topic));
            while (!(isWritten && read.get() >= acknowledged.get()) && errors.isEmpty()) {
                read.addAndGet(consumer.poll(POLL).count());
            }
        }
    }

    private void noted(Runnable work) {
        try {
            work.run();
        } catch (RuntimeException failure) {
            errors.add(failure.toString());
        }
    }
}
