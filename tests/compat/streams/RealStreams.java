import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;

/**
 * Runs described topologies with KafkaStreams on a broker. From stdin, one line of JSON for each application: its id, the
 * servers, a folder and the cases; all cases are one application. Processes all there is, stops, and answers with a line
 * on stdout: how many records were dropped, or an error.
 */
public final class RealStreams {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Duration PATIENCE = Duration.ofMinutes(4);
    private static final long LOOK_EVERY_MS = 200;

    public static void main(String[] args) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            System.out.println(JSON.writeValueAsString(run(JSON.readTree(line))));
            System.out.flush();
        }
        System.exit(0);
    }

    private static ObjectNode run(JsonNode order) {
        ObjectNode answer = JSON.createObjectNode();
        StreamsBuilder builder = new StreamsBuilder();
        for (JsonNode described : order.get("cases")) {
            new Oracle(builder).buildAll(described.get("ops"));
        }
        Properties settings = settings(order);
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", order.get("servers").asText()));
                KafkaStreams streams = new KafkaStreams(builder.build(), settings)) {
            streams.start();
            waitUntilAllIsRead(admin, streams, order);
            double dropped = 0;
            for (Metric metric : streams.metrics().values()) {
                if (metric.metricName().name().equals("dropped-records-total")) {
                    dropped += (Double) metric.metricValue();
                }
            }
            answer.put("dropped", dropped);
        } catch (Exception failure) {
            answer.put("error", failure.toString());
        }
        return answer;
    }

    private static Properties settings(JsonNode order) {
        Properties settings = new Properties();
        settings.put(StreamsConfig.APPLICATION_ID_CONFIG, order.get("application").asText());
        settings.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, order.get("servers").asText());
        settings.put(StreamsConfig.STATE_DIR_CONFIG, order.get("folder").asText());
        settings.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        settings.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        settings.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, "0");
        settings.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, "100");
        settings.put(StreamsConfig.consumerPrefix("auto.offset.reset"), "earliest");
        // What waits for stream time is told at once, not once a second of the wall clock.
        settings.put("__emit.interval.ms.kstreams.outer.join.spurious.results.fix__", 0L);
        settings.put("__emit.interval.ms.kstreams.windowed.aggregation__", 0L);
        return settings;
    }

    /** Its group's offsets are at the ends of all topics it reads, also of those it writes itself, twice in a row. */
    private static void waitUntilAllIsRead(Admin admin, KafkaStreams streams, JsonNode order) throws Exception {
        Instant deadline = Instant.now().plus(PATIENCE);
        Map<TopicPartition, Long> quietSince = null;
        while (Instant.now().isBefore(deadline)) {
            if (streams.state() == KafkaStreams.State.ERROR) {
                throw new IllegalStateException("Kafka Streams has failed");
            }
            Map<TopicPartition, Long> ends = ends(admin, order);
            boolean isRead = streams.state() == KafkaStreams.State.RUNNING && unread(admin, order, ends).isEmpty();
            if (isRead && ends.equals(quietSince)) {
                return;
            }
            quietSince = isRead ? ends : null;
            Thread.sleep(LOOK_EVERY_MS);
        }
        throw new IllegalStateException(
                "not all is read within " + PATIENCE + ", " + streams.state() + ": " + unread(admin, order, ends(admin, order)));
    }

    private static List<String> unread(Admin admin, JsonNode order, Map<TopicPartition, Long> ends) throws Exception {
        Map<TopicPartition, OffsetAndMetadata> reached = admin
                .listConsumerGroupOffsets(order.get("application").asText())
                .partitionsToOffsetAndMetadata().get();
        return ends.entrySet().stream()
                .filter(end -> end.getValue() > 0)
                .filter(end -> !reached.containsKey(end.getKey()) || reached.get(end.getKey()).offset() < end.getValue())
                .map(end -> end.getKey() + " " + reached.get(end.getKey()) + " of " + end.getValue())
                .toList();
    }

    private static Map<TopicPartition, Long> ends(Admin admin, JsonNode order) throws Exception {
        String own = order.get("application").asText() + "-";
        Set<String> sources = new HashSet<>();
        order.get("cases").forEach(one -> one.get("ops").forEach(op -> {
            if (Set.of("stream", "table").contains(op.get("op").asText())) {
                sources.add(op.get("topic").asText());
            }
        }));
        List<String> read = admin.listTopics().names().get().stream()
                .filter(name -> sources.contains(name)
                        || (name.startsWith(own) && (name.endsWith("-repartition") || name.endsWith("-topic"))))
                .collect(Collectors.toList());
        Map<TopicPartition, OffsetSpec> asked = new HashMap<>();
        for (TopicDescription topic : admin.describeTopics(read).allTopicNames().get().values()) {
            topic.partitions().forEach(one -> asked.put(new TopicPartition(topic.name(), one.partition()), OffsetSpec.latest()));
        }
        return admin.listOffsets(asked).all().get().entrySet().stream()
                .collect(Collectors.toMap(Map.Entry::getKey, end -> end.getValue().offset()));
    }
}
