import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.ObjectWriter;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Joined;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.kstream.WindowedSerdes;

/** The statements of the SQL benchmark on Kafka Streams, by hand: typed objects, fields that are not used are skipped. */
public class SqlPeer {
    static final ObjectMapper JSON = new ObjectMapper().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);
    static final DateTimeFormatter FORMAT =
        DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss").withZone(ZoneOffset.UTC);

    public static class View {
        public String PAGE, REGION;
        public int AMOUNT;
    }

    public static class Any {
    }

    public static class Slim {
        public String PAGE, REGION;
        public int DOUBLED;

        Slim(View view) {
            PAGE = view.PAGE;
            DOUBLED = view.AMOUNT * 2;
            REGION = view.REGION;
        }
    }

    public static class Count {
        public long N;

        Count(long n) {
            N = n;
        }
    }

    public static class User {
        public String NAME;
        public int LEVEL;
    }

    public static class Enriched {
        public String PAGE, NAME;
        public int AMOUNT, LEVEL;

        Enriched(View view, User user) {
            PAGE = view.PAGE;
            AMOUNT = view.AMOUNT;
            NAME = user.NAME;
            LEVEL = user.LEVEL;
        }
    }

    public static class Wide {
        public int I1, I2, I3, I4, I5;
        public long G1, G2, G3, G4, AT;
        public double D1, D2, D3, D4, D5;
        public String T1, T2, T3, T4, T5;
    }

    public static class Result {
        public int E1, E2, E3, E25;
        public long E4, E5, E6, E28;
        public double E7, E8, E9, E10, E11, E12;
        public String E13, E14, E15, E16, E17, E18, E19, E20, E21, E22, E23, E24, E29, E30;
        public boolean E26, E27;

        Result(Wide w) {
            E1 = w.I1 + w.I2 * 2;
            E2 = w.I2 - w.I3;
            E3 = w.I3 * w.I4;
            E4 = w.G1 - w.G2;
            E5 = w.G3 + w.I1;
            E6 = w.G4 % 1000;
            E7 = w.D1 * 1.5 + w.D2;
            E8 = w.D3 / w.D4;
            E9 = w.D5 - w.D1;
            E10 = Math.abs(w.D2 - w.D3);
            E11 = w.D4 * w.I5;
            E12 = Math.floor(w.D3);
            E13 = w.I1 > 500 ? "high" : w.I1 > 100 ? "middle" : "low";
            E14 = w.I2 % 2 == 0 ? w.T1 : "odd";
            E15 = w.D1 < 50.0 ? w.T2 : w.T3;
            E16 = w.T1.equals("red") ? "stop" : w.T1.equals("green") ? "go" : "wait";
            E17 = w.G1 > w.G2 && w.I3 > 10 ? "left" : "right";
            E18 = w.T1.toUpperCase(Locale.ROOT);
            E19 = w.T2.toLowerCase(Locale.ROOT);
            E20 = w.T1 + "-" + w.T2;
            E21 = w.T3 + w.T4;
            E22 = w.T4.substring(0, Math.min(5, w.T4.length()));
            E23 = w.T3.trim();
            E24 = w.T4.replace("o", "0");
            E25 = w.T4.length();
            E26 = w.I4 > 10 && w.D1 < 100.0;
            E27 = w.T1.equals(w.T2);
            E28 = Long.parseLong(w.T5);
            E29 = Integer.toString(w.I5);
            E30 = FORMAT.format(Instant.ofEpochMilli(w.AT));
        }
    }

    static <T> Serde<T> json(Class<T> type) {
        ObjectReader reader = JSON.readerFor(type);
        ObjectWriter writer = JSON.writerFor(type);
        return Serdes.serdeFrom(
            (topic, value) -> {
                try {
                    return value == null ? null : writer.writeValueAsBytes(value);
                } catch (java.io.IOException wrong) {
                    throw new IllegalArgumentException(wrong);
                }
            },
            (topic, data) -> {
                try {
                    return data == null ? null : reader.readValue(data);
                } catch (java.io.IOException wrong) {
                    throw new IllegalArgumentException(wrong);
                }
            });
    }

    static <T> KStream<String, T> stream(StreamsBuilder builder, String topic, Class<T> type) {
        return builder.stream(topic, Consumed.with(Serdes.String(), json(type)));
    }

    /** CASE SERVERS GROUP STATE_DIR THREADS CACHE_BYTES SINK */
    public static void main(String[] args) throws Exception {
        StreamsBuilder builder = new StreamsBuilder();
        String sink = args[6];
        Serde<String> key = Serdes.String();
        switch (args[0]) {
            case "filter" -> stream(builder, "views", View.class).filter((id, view) -> view.AMOUNT > 50)
                .mapValues(Slim::new).to(sink, Produced.with(key, json(Slim.class)));
            case "wide" -> stream(builder, "wide", Wide.class).mapValues(Result::new)
                .to(sink, Produced.with(key, json(Result.class)));
            case "count" -> stream(builder, "views", Any.class).groupByKey(Grouped.with(key, json(Any.class)))
                .windowedBy(TimeWindows.ofSizeAndGrace(Duration.ofMinutes(1), Duration.ofHours(24))).count()
                .toStream().mapValues(Count::new)
                .to(sink, Produced.with(new WindowedSerdes.TimeWindowedSerde<>(key, 60_000), json(Count.class)));
            case "join" -> stream(builder, "views", View.class)
                .join(
                    builder.table("users", Consumed.with(key, json(User.class))), Enriched::new,
                    Joined.with(key, json(View.class), json(User.class)))
                .to(sink, Produced.with(key, json(Enriched.class)));
            default -> throw new IllegalArgumentException(args[0]);
        }
        Properties settings = new Properties();
        settings.put(StreamsConfig.APPLICATION_ID_CONFIG, args[2]);
        settings.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, args[1]);
        settings.put(StreamsConfig.STATE_DIR_CONFIG, args[3]);
        settings.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, args[4]);
        settings.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, args[5]);
        settings.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
        settings.put(StreamsConfig.consumerPrefix("auto.offset.reset"), "earliest");
        KafkaStreams streams = new KafkaStreams(builder.build(), settings);
        Runtime.getRuntime().addShutdownHook(new Thread(streams::close));
        streams.start();
        Thread.currentThread().join();
    }
}
