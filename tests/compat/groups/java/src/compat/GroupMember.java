package compat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.SubscriptionPattern;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** A consumer that polls on a thread of its own and remembers what befell it. What others ask of it runs between polls. */
final class GroupMember implements ConsumerRebalanceListener {
    private static final Duration POLL = Duration.ofMillis(20);

    private final KafkaConsumer<byte[], byte[]> consumer;
    private final LinkedBlockingQueue<FutureTask<?>> asked = new LinkedBlockingQueue<>();
    private final Set<TopicPartition> assignment = new LinkedHashSet<>();
    private final List<Object> events = new ArrayList<>();
    private final List<Object> records = new ArrayList<>();
    private final List<String> failures = new ArrayList<>();
    private final Thread thread = new Thread(this::live, "member");
    private boolean polling = true;
    private boolean open = true;
    private ConsumerGroupMetadata metadata;
    /** The assignment as of the end of a poll, when the metadata goes with it. */
    private Object shown = List.of();

    /** A topic that begins with ^ is a pattern, which the broker resolves (KIP-848), and the only one. */
    GroupMember(Map<String, Object> settings, Collection<String> topics) {
        consumer = new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        metadata = consumer.groupMetadata();
        String first = topics.iterator().next();
        if (first.startsWith("^")) {
            consumer.subscribe(new SubscriptionPattern(first), this);
        } else {
            consumer.subscribe(topics, this);
        }
        thread.setDaemon(true);
        thread.start();
    }

    /** Runs on the member's thread, which alone may touch the consumer. */
    <T> T ask(Callable<T> question) throws Exception {
        FutureTask<T> task = new FutureTask<>(question);
        asked.add(task);
        return task.get(60, TimeUnit.SECONDS);
    }

    KafkaConsumer<byte[], byte[]> consumer() {
        return consumer;
    }

    synchronized ConsumerGroupMetadata metadata() {
        return metadata;
    }

    synchronized void poll(boolean wanted) {
        polling = wanted;
    }

    synchronized Map<String, Object> state() {
        Map<String, Object> state = new HashMap<>();
        state.put("assignment", shown);
        state.put("events", List.copyOf(events));
        state.put("records", List.copyOf(records));
        state.put("failures", List.copyOf(failures));
        state.put("member_id", metadata.memberId());
        state.put("generation", metadata.generationId());
        return state;
    }

    void close(CloseOptions options) throws Exception {
        ask(() -> {
            consumer.close(options);
            open = false;
            return null;
        });
        thread.join();
    }

    private void live() {
        while (open) {
            FutureTask<?> task = asked.poll();
            if (task != null) {
                task.run();
            } else if (mayPoll()) {
                pollOnce();
            } else {
                rest();
            }
        }
    }

    private synchronized boolean mayPoll() {
        return polling;
    }

    private void pollOnce() {
        try {
            var polled = consumer.poll(POLL);
            synchronized (this) {
                polled.forEach(record -> records.add(described(record)));
                metadata = consumer.groupMetadata();
                shown = Places.written(assignment);
            }
        } catch (RuntimeException failure) {
            synchronized (this) {
                failures.add(GroupsDriver.nameOf(failure));
                shown = Places.written(assignment);
                polling = false;
            }
        }
    }

    private static void rest() {
        try {
            Thread.sleep(POLL.toMillis());
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }

    private static List<Object> described(ConsumerRecord<byte[], byte[]> record) {
        String value = Base64.getEncoder().encodeToString(record.value());
        return List.of(record.topic(), record.partition(), record.offset(), value);
    }

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
        happened("assigned", partitions);
    }

    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
        happened("revoked", partitions);
    }

    @Override
    public void onPartitionsLost(Collection<TopicPartition> partitions) {
        happened("lost", partitions);
    }

    private synchronized void happened(String kind, Collection<TopicPartition> partitions) {
        if (kind.equals("assigned")) {
            assignment.addAll(partitions);
        } else {
            assignment.removeAll(partitions);
        }
        events.add(List.of(kind, Places.written(partitions)));
    }
}
