import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TestOutputTopic;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.kstream.*;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.FixedKeyProcessor;
import org.apache.kafka.streams.processor.api.FixedKeyProcessorContext;
import org.apache.kafka.streams.processor.api.FixedKeyRecord;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.BuiltInDslStoreSuppliers;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.VersionedKeyValueStore;
import org.apache.kafka.streams.state.VersionedRecord;
import org.apache.kafka.streams.state.WindowStore;
import org.apache.kafka.streams.test.TestRecord;

/** Builds described topologies and runs them on Kafka's own TopologyTestDriver: cases in from one JSON file, what they wrote out to another. */
public final class Oracle {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Serde<String> STRING = Serdes.String();

    /** With its default retention Kafka forgets windows at the moment they close, where time jumps. */
    private static final Duration LONG_RETENTION = Duration.ofHours(1);

    public static void main(String[] args) throws Exception {
        ArrayNode answers = JSON.createArrayNode();
        for (JsonNode description : JSON.readTree(new File(args[0]))) {
            answers.add(run(description));
        }
        JSON.writeValue(new File(args[1]), answers);
        System.exit(0);
    }

    private static ObjectNode run(JsonNode description) throws Exception {
        ObjectNode answer = JSON.createObjectNode();
        Path folder = Files.createTempDirectory("oracle");
        try {
            Oracle oracle = new Oracle(new StreamsBuilder());
            oracle.buildAll(description.get("ops"));
            try (TopologyTestDriver driver =
                    new TopologyTestDriver(oracle.builder.build(), settings(folder, description), Instant.ofEpochMilli(0))) {
                for (JsonNode step : description.get("inputs")) {
                    oracle.feed(driver, step);
                }
                answer.set("outputs", oracle.outputs(driver));
                answer.set("stores", oracle.stores(driver));
            }
        } catch (Exception failure) {
            answer.put("error", failure.toString());
        }
        return answer;
    }

    private static Properties settings(Path folder, JsonNode description) {
        Properties settings = new Properties();
        settings.put(StreamsConfig.APPLICATION_ID_CONFIG, "app");
        settings.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "unused:1");
        settings.put(StreamsConfig.STATE_DIR_CONFIG, folder.toString());
        settings.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, STRING.getClass());
        settings.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, STRING.getClass());
        settings.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, "0");
        if (!description.path("on_disk").asBoolean()) {
            settings.put(StreamsConfig.DSL_STORE_SUPPLIERS_CLASS_CONFIG, BuiltInDslStoreSuppliers.InMemoryDslStoreSuppliers.class);
        }
        settings.put("__emit.interval.ms.kstreams.outer.join.spurious.results.fix__", 0L);
        settings.put("__emit.interval.ms.kstreams.windowed.aggregation__", 0L);
        return settings;
    }

    private final StreamsBuilder builder;
    private final Map<String, Object> made = new HashMap<>();
    private final List<String> sinks = new ArrayList<>();
    private final TreeMap<String, String> stores = new TreeMap<>();

    /** Several cases may share one builder. */
    Oracle(StreamsBuilder builder) {
        this.builder = builder;
    }

    void buildAll(JsonNode ops) {
        for (JsonNode op : ops) {
            build(op);
        }
    }

    private void feed(TopologyTestDriver driver, JsonNode step) {
        if (step.has("advance")) {
            driver.advanceWallClockTime(Duration.ofMillis(step.get("advance").asLong()));
            return;
        }
        RecordHeaders headers = new RecordHeaders();
        if (step.hasNonNull("header")) {
            headers.add("h", step.get("header").asText().getBytes());
        }
        driver.createInputTopic(step.get("topic").asText(), new StringSerializer(), new StringSerializer())
                .pipeInput(new TestRecord<>(text(step, "key"), text(step, "value"), headers, step.get("ts").asLong()));
    }

    private ObjectNode outputs(TopologyTestDriver driver) {
        ObjectNode outputs = JSON.createObjectNode();
        for (String topic : sinks) {
            TestOutputTopic<String, String> output =
                    driver.createOutputTopic(topic, new StringDeserializer(), new StringDeserializer());
            ArrayNode records = outputs.putArray(topic);
            for (TestRecord<String, String> record : output.readRecordsToList()) {
                Header header = record.headers().lastHeader("h");
                records.addArray()
                        .add(record.key())
                        .add(record.value())
                        .add(record.timestamp())
                        .add(header == null ? null : new String(header.value()));
            }
        }
        return outputs;
    }

    private ObjectNode stores(TopologyTestDriver driver) {
        ObjectNode answer = JSON.createObjectNode();
        for (Map.Entry<String, String> named : stores.entrySet()) {
            ArrayNode rows = answer.putArray(named.getKey());
            switch (named.getValue()) {
                case "key-value" -> driver.getTimestampedKeyValueStore(named.getKey()).all().forEachRemaining(row ->
                        rows.addArray().add((String) row.key).add(String.valueOf(row.value.value())).add(row.value.timestamp()));
                case "window" -> driver.getTimestampedWindowStore(named.getKey()).all().forEachRemaining(row ->
                        rows.addArray().add(shown((Windowed<?>) row.key)).add(String.valueOf(row.value.value())).add(row.value.timestamp()));
                case "versioned" -> history(driver.getVersionedKeyValueStore(named.getKey()), rows);
                default -> throw new IllegalStateException(named.getValue());
            }
        }
        return answer;
    }

    /** What each key held at times in a row. */
    private static void history(VersionedKeyValueStore<String, String> store, ArrayNode rows) {
        for (String key : List.of("a", "b", "c", "d")) {
            for (int at = 0; at < 200; at += 4) {
                VersionedRecord<String> found = store.get(key, at);
                if (found != null) {
                    rows.addArray().add(key + "@" + at).add(found.value() + "/" + found.timestamp());
                }
            }
        }
    }

    private static String text(JsonNode node, String field) {
        return node.hasNonNull(field) ? node.get(field).asText() : null;
    }

    private static String shown(Windowed<?> windowed) {
        return windowed.key() + "@" + windowed.window().start() + "-" + windowed.window().end();
    }

    @SuppressWarnings("unchecked")
    private KStream<String, String> stream(JsonNode op, String field) {
        return (KStream<String, String>) made.get(op.get(field).asText());
    }

    @SuppressWarnings("unchecked")
    private KTable<Object, String> table(JsonNode op, String field) {
        return (KTable<Object, String>) made.get(op.get(field).asText());
    }

    @SuppressWarnings("unchecked")
    private KTable<String, String> keyedTable(JsonNode op, String field) {
        return (KTable<String, String>) made.get(op.get(field).asText());
    }

    private Materialized<String, String, KeyValueStore<Bytes, byte[]>> materialized(JsonNode op) {
        String name = text(op, "store");
        if (name == null) {
            return Materialized.with(STRING, STRING);
        }
        if (op.hasNonNull("history")) {
            stores.put(name, "versioned");
            Duration history = Duration.ofMillis(op.get("history").asLong());
            return Materialized.<String, String>as(Stores.persistentVersionedKeyValueStore(name, history))
                    .withKeySerde(STRING)
                    .withValueSerde(STRING);
        }
        stores.put(name, "key-value");
        return Materialized.<String, String, KeyValueStore<Bytes, byte[]>>as(name)
                .withKeySerde(STRING)
                .withValueSerde(STRING);
    }

    // The functions that cases name; the other side has the same.

    private static boolean test(String name, Object key, String value) {
        return switch (name) {
            case "even" -> value != null && value.length() % 2 == 0;
            case "low_key" -> key != null && key.toString().compareTo("c") < 0;
            case "has_b" -> value != null && value.contains("b");
            case "always" -> true;
            case "never" -> false;
            default -> throw new IllegalStateException(name);
        };
    }

    private static String mapped(String name, String value) {
        return switch (name) {
            case "bang" -> value + "!";
            case "drop_c" -> value == null || value.contains("c") ? null : value;
            case "short" -> value == null ? null : value.substring(0, Math.min(2, value.length()));
            default -> throw new IllegalStateException(name);
        };
    }

    private static String key(String name, Object key, String value) {
        return switch (name) {
            case "first" -> value == null || value.isEmpty() ? null : value.substring(0, 1);
            case "length" -> value == null ? "none" : String.valueOf(value.length() % 3);
            case "keep" -> key == null ? null : key.toString();
            case "null_a" -> "a".equals(key) ? null : String.valueOf(key);
            default -> throw new IllegalStateException(name);
        };
    }

    private static List<String> parts(String value) {
        List<String> parts = new ArrayList<>();
        if (value != null) {
            for (char one : value.substring(0, Math.min(3, value.length())).toCharArray()) {
                parts.add(String.valueOf(one));
            }
        }
        return parts;
    }

    private static String foreign(String value) {
        return value == null || value.isEmpty() || value.startsWith("c") ? null : value.substring(0, 1);
    }

    private static String joined(Object left, Object right) {
        return left + "+" + right;
    }

    private void build(JsonNode op) {
        Object result = switch (op.get("op").asText()) {
            case "stream" -> builder.stream(op.get("topic").asText(), Consumed.with(STRING, STRING));
            case "table" -> op.hasNonNull("store")
                    ? builder.table(op.get("topic").asText(), materialized(op))
                    : builder.table(op.get("topic").asText(), Consumed.with(STRING, STRING));
            case "global_table" -> builder.globalTable(op.get("topic").asText(), Consumed.with(STRING, STRING));
            case "to" -> sink(op);
            default -> op.has("table_op") ? onTable(op) : onStream(op);
        };
        made.put(op.get("id").asText(), result);
    }

    private Object sink(JsonNode op) {
        String topic = op.get("topic").asText();
        sinks.add(topic);
        Object in = made.get(op.get("in").asText());
        if (in instanceof KTable<?, ?>) {
            table(op, "in").toStream((key, value) -> key instanceof Windowed<?> w ? shown(w) : (String) key)
                    .to(topic, Produced.with(STRING, STRING));
        } else {
            stream(op, "in").to(topic, Produced.with(STRING, STRING));
        }
        return topic;
    }

    private Object onStream(JsonNode op) {
        KStream<String, String> in = stream(op, "in");
        String f = text(op, "f");
        return switch (op.get("op").asText()) {
            case "filter" -> in.filter((key, value) -> test(f, key, value));
            case "filter_not" -> in.filterNot((key, value) -> test(f, key, value));
            case "map" -> in.map((key, value) -> KeyValue.pair(key(f, key, value), value + "'"));
            case "map_values" -> in.mapValues(value -> mapped(f, value));
            case "flat_map" -> in.flatMap((key, value) -> {
                List<KeyValue<String, String>> all = new ArrayList<>();
                parts(value).forEach(part -> all.add(KeyValue.pair(part, value)));
                return all;
            });
            case "flat_map_values" -> in.flatMapValues(Oracle::parts);
            case "select_key" -> in.selectKey((key, value) -> key(f, key, value));
            case "peek" -> in.peek((key, value) -> { });
            case "merge" -> in.merge(stream(op, "other"));
            case "branch" -> in.split(Named.as(op.get("id").asText() + "-"))
                    .branch((key, value) -> test("has_b", key, value), Branched.as("b"))
                    .branch((key, value) -> test(f, key, value), Branched.as("f"))
                    .defaultBranch(Branched.as("rest"))
                    .get(op.get("id").asText() + "-" + op.get("take").asText());
            case "repartition" -> in.repartition(Repartitioned.with(STRING, STRING));
            case "to_table" -> op.hasNonNull("store")
                    ? in.toTable(materialized(op))
                    : in.toTable(Materialized.with(STRING, STRING));
            case "join", "left_join", "outer_join" -> joinedStream(op, in);
            case "process" -> processed(op, in);
            case "process_values" -> processedValues(op, in);
            case "cogroup" -> cogrouped(op, in);
            default -> aggregated(op, in);
        };
    }

    private Object joinedStream(JsonNode op, KStream<String, String> in) {
        String kind = op.get("op").asText();
        ValueJoiner<String, String, String> joiner = Oracle::joined;
        Object other = made.get(op.get("other").asText());
        if (other instanceof GlobalKTable<?, ?>) {
            @SuppressWarnings("unchecked")
            GlobalKTable<String, String> global = (GlobalKTable<String, String>) other;
            KeyValueMapper<String, String, String> on = (key, value) -> key("first", key, value);
            return kind.equals("join") ? in.join(global, on, joiner) : in.leftJoin(global, on, joiner);
        }
        if (other instanceof KTable<?, ?>) {
            KTable<String, String> table = keyedTable(op, "other");
            Joined<String, String, String> with = Joined.with(STRING, STRING, STRING);
            if (op.hasNonNull("table_grace")) {
                with = with.withGracePeriod(Duration.ofMillis(op.get("table_grace").asLong()));
            }
            return kind.equals("join") ? in.join(table, joiner, with) : in.leftJoin(table, joiner, with);
        }
        JoinWindows windows = JoinWindows.ofTimeDifferenceAndGrace(Duration.ZERO, Duration.ofMillis(op.get("grace").asLong()))
                .before(Duration.ofMillis(op.get("before").asLong()))
                .after(Duration.ofMillis(op.get("after").asLong()));
        StreamJoined<String, String, String> with = StreamJoined.with(STRING, STRING, STRING);
        KStream<String, String> right = stream(op, "other");
        return switch (kind) {
            case "join" -> in.join(right, joiner, windows, with);
            case "left_join" -> in.leftJoin(right, joiner, windows, with);
            default -> in.outerJoin(right, joiner, windows, with);
        };
    }

    private KGroupedStream<String, String> grouped(JsonNode op, KStream<String, String> in) {
        String by = text(op, "by");
        Grouped<String, String> with = Grouped.with(STRING, STRING);
        return by == null ? in.groupByKey(with) : in.groupBy((key, value) -> key(by, key, value), with);
    }

    private Object aggregated(JsonNode op, KStream<String, String> in) {
        KGroupedStream<String, String> grouped = grouped(op, in);
        JsonNode window = op.get("window");
        boolean onClose = op.hasNonNull("on_close");
        Reducer<String> reducer = (a, b) -> a + "/" + b;
        Initializer<String> start = () -> "";
        Aggregator<String, String, String> adder = (key, value, so) -> so + value;
        String what = op.get("op").asText();
        if (window == null || window.isNull()) {
            return switch (what) {
                case "count" -> grouped.count().mapValues(String::valueOf, Materialized.with(STRING, STRING));
                case "reduce" -> grouped.reduce(reducer, materialized(op));
                default -> grouped.aggregate(start, adder, materialized(op));
            };
        }
        Duration grace = Duration.ofMillis(window.get("grace").asLong());
        if (window.get("kind").asText().equals("session")) {
            SessionWindowedKStream<String, String> sessions = grouped.windowedBy(
                    SessionWindows.ofInactivityGapAndGrace(Duration.ofMillis(window.get("gap").asLong()), grace));
            if (onClose) {
                sessions = sessions.emitStrategy(EmitStrategy.onWindowClose());
            }
            Materialized<String, String, SessionStore<Bytes, byte[]>> as = Materialized.with(STRING, STRING);
            Materialized<String, Long, SessionStore<Bytes, byte[]>> counts = Materialized.with(STRING, Serdes.Long());
            if (onClose) {
                as = as.withRetention(LONG_RETENTION);
                counts = counts.withRetention(LONG_RETENTION);
            }
            return switch (what) {
                case "count" -> sessions.count(counts).mapValues(String::valueOf);
                case "reduce" -> sessions.reduce(reducer, as);
                default -> sessions.aggregate(start, adder, (key, a, b) -> a + "&" + b, as);
            };
        }
        Duration size = Duration.ofMillis(window.get("size").asLong());
        TimeWindowedKStream<String, String> windowed = window.get("kind").asText().equals("sliding")
                ? grouped.windowedBy(SlidingWindows.ofTimeDifferenceAndGrace(size, grace))
                : grouped.windowedBy(TimeWindows.ofSizeAndGrace(size, grace)
                        .advanceBy(Duration.ofMillis(window.get("advance").asLong())));
        if (onClose) {
            windowed = windowed.emitStrategy(EmitStrategy.onWindowClose());
        }
        Materialized<String, String, WindowStore<Bytes, byte[]>> as = Materialized.with(STRING, STRING);
        if (op.hasNonNull("store") && !what.equals("count")) {
            stores.put(text(op, "store"), "window");
            as = Materialized.<String, String, WindowStore<Bytes, byte[]>>as(text(op, "store"))
                    .withKeySerde(STRING).withValueSerde(STRING);
        }
        Materialized<String, Long, WindowStore<Bytes, byte[]>> counts = Materialized.with(STRING, Serdes.Long());
        if (onClose) {
            as = as.withRetention(LONG_RETENTION);
            counts = counts.withRetention(LONG_RETENTION);
        }
        return switch (what) {
            case "count" -> windowed.count(counts).mapValues(String::valueOf);
            case "reduce" -> windowed.reduce(reducer, as);
            default -> windowed.aggregate(start, adder, as);
        };
    }

    private Object cogrouped(JsonNode op, KStream<String, String> in) {
        KGroupedStream<String, String> one = in.groupByKey(Grouped.with(STRING, STRING));
        KGroupedStream<String, String> two = stream(op, "other").groupByKey(Grouped.with(STRING, STRING));
        CogroupedKStream<String, String> both = one.<String>cogroup((key, value, so) -> so + "1" + value)
                .cogroup(two, (key, value, so) -> so + "2" + value);
        JsonNode window = op.get("window");
        if (window == null || window.isNull()) {
            return both.aggregate(() -> "", materialized(op));
        }
        return both.windowedBy(TimeWindows.ofSizeAndGrace(
                        Duration.ofMillis(window.get("size").asLong()), Duration.ofMillis(window.get("grace").asLong()))
                        .advanceBy(Duration.ofMillis(window.get("advance").asLong())))
                .aggregate(() -> "", Materialized.with(STRING, STRING));
    }

    private Object onTable(JsonNode op) {
        String f = text(op, "f");
        return switch (op.get("op").asText()) {
            case "filter" -> op.hasNonNull("store")
                    ? keyedTable(op, "in").filter((key, value) -> test(f, key, value), materialized(op))
                    : table(op, "in").filter((key, value) -> test(f, key, value));
            case "filter_not" -> table(op, "in").filterNot((key, value) -> test(f, key, value));
            case "map_values" -> op.hasNonNull("store")
                    ? keyedTable(op, "in").mapValues(value -> mapped(f, value), materialized(op))
                    : table(op, "in").mapValues(value -> mapped(f, value));
            case "transform_values" -> table(op, "in").transformValues(() -> new ValueTransformerWithKey<Object, String, String>() {
                public void init(org.apache.kafka.streams.processor.ProcessorContext context) { }
                public String transform(Object key, String value) { return key + "~" + value; }
                public void close() { }
            });
            case "to_stream" -> table(op, "in").toStream((key, value) -> key instanceof Windowed<?> w ? shown(w) : (String) key);
            case "plain_stream" -> keyedTable(op, "in").toStream();
            case "group" -> regrouped(op);
            case "suppress" -> suppressed(op);
            case "join", "left_join", "outer_join" -> joinedTable(op);
            default -> throw new IllegalStateException(op.toString());
        };
    }

    private Object regrouped(JsonNode op) {
        KGroupedTable<String, String> grouped = keyedTable(op, "in").groupBy(
                (key, value) -> KeyValue.pair(key(text(op, "by"), key, value), value), Grouped.with(STRING, STRING));
        return switch (op.get("what").asText()) {
            case "count" -> grouped.count().mapValues(String::valueOf, Materialized.with(STRING, STRING));
            case "total" -> grouped.aggregate(
                    () -> "0",
                    (key, value, so) -> String.valueOf(Integer.parseInt(so) + value.length()),
                    (key, value, so) -> String.valueOf(Integer.parseInt(so) - value.length()),
                    materialized(op));
            case "reduce" -> grouped.reduce((a, b) -> a + "+" + b, (a, b) -> a + "-" + b, materialized(op));
            default -> grouped.aggregate(
                    () -> "", (key, value, so) -> so + "+" + value, (key, value, so) -> so + "-" + value, materialized(op));
        };
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private Object suppressed(JsonNode op) {
        KTable in = table(op, "in");
        if (op.hasNonNull("until")) {
            Suppressed.EagerBufferConfig buffer = op.hasNonNull("records")
                    ? Suppressed.BufferConfig.maxRecords(op.get("records").asLong())
                    : Suppressed.BufferConfig.maxRecords(1000);
            return in.suppress(Suppressed.untilTimeLimit(Duration.ofMillis(op.get("until").asLong()), buffer));
        }
        return in.suppress(Suppressed.untilWindowCloses(Suppressed.BufferConfig.unbounded()));
    }

    private Object joinedTable(JsonNode op) {
        KTable<String, String> left = keyedTable(op, "in");
        KTable<String, String> right = keyedTable(op, "other");
        ValueJoiner<String, String, String> joiner = Oracle::joined;
        String kind = op.get("op").asText();
        if (op.hasNonNull("foreign")) {
            return kind.equals("join")
                    ? left.join(right, Oracle::foreign, joiner, materialized(op))
                    : left.leftJoin(right, Oracle::foreign, joiner, materialized(op));
        }
        if (op.hasNonNull("store")) {
            return switch (kind) {
                case "join" -> left.join(right, joiner, materialized(op));
                case "left_join" -> left.leftJoin(right, joiner, materialized(op));
                default -> left.outerJoin(right, joiner, materialized(op));
            };
        }
        return switch (kind) {
            case "join" -> left.join(right, joiner);
            case "left_join" -> left.leftJoin(right, joiner);
            default -> left.outerJoin(right, joiner);
        };
    }

    private Object processed(JsonNode op, KStream<String, String> in) {
        String store = op.get("store").asText();
        builder.addStateStore(Stores.keyValueStoreBuilder(Stores.inMemoryKeyValueStore(store), STRING, STRING));
        long every = op.get("every").asLong();
        return in.process(() -> new Processor<String, String, String, String>() {
            private ProcessorContext<String, String> context;
            private KeyValueStore<String, String> seen;

            @Override
            public void init(ProcessorContext<String, String> context) {
                this.context = context;
                seen = context.getStateStore(store);
                context.schedule(Duration.ofMillis(every), PunctuationType.STREAM_TIME, now -> tell("stream", now));
                if (!op.has("clocks")) {
                    context.schedule(Duration.ofMillis(every), PunctuationType.WALL_CLOCK_TIME, now -> tell("wall", now));
                }
            }

            private void tell(String what, long now) {
                seen.all().forEachRemaining(row -> context.forward(new Record<>(row.key, what + row.value, now)));
            }

            @Override
            public void process(Record<String, String> record) {
                if (record.key() == null || record.value() == null) {
                    return;
                }
                String before = seen.get(record.key());
                String after = (before == null ? "" : before) + record.value().charAt(0);
                seen.put(record.key(), after);
                context.forward(record.withValue(after + "@" + context.currentStreamTimeMs()));
            }
        }, store);
    }

    private Object processedValues(JsonNode op, KStream<String, String> in) {
        return in.processValues(() -> new FixedKeyProcessor<String, String, String>() {
            private FixedKeyProcessorContext<String, String> context;

            @Override
            public void init(FixedKeyProcessorContext<String, String> context) {
                this.context = context;
            }

            @Override
            public void process(FixedKeyRecord<String, String> record) {
                context.forward(record.withValue(record.value() + "#" + record.timestamp()));
                if (record.value() != null && record.value().contains("b")) {
                    context.forward(record.withValue("again").withTimestamp(record.timestamp() + 1));
                }
            }
        });
    }
}
