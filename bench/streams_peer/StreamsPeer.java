import java.time.Duration;
import java.util.Locale;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.kstream.WindowedSerdes;

/** The topologies of the benchmark on Kafka Streams: StreamsPeer CASE SERVERS GROUP STATE_DIR THREADS CACHE_BYTES. */
public class StreamsPeer {
    public static void main(String[] args) throws Exception {
        StreamsBuilder builder = new StreamsBuilder();
        switch (args[0]) {
            case "stateless" -> builder.<String, String>stream("in")
                .mapValues(value -> value.toUpperCase(Locale.ROOT)).to("out");
            case "windowed-count" -> builder.<String, String>stream("in").groupByKey()
                .windowedBy(TimeWindows.ofSizeWithNoGrace(Duration.ofMinutes(1))).count().toStream()
                .to("out", Produced.with(
                    new WindowedSerdes.TimeWindowedSerde<>(Serdes.String(), 60_000), Serdes.Long()));
            case "stream-table" -> {
                KStream<String, String> stream = builder.stream("in");
                KTable<String, String> table = builder.table("table");
                stream.join(table, (left, right) -> left + right).to("out");
            }
            case "table-table" -> {
                KTable<String, String> left = builder.table("in");
                KTable<String, String> right = builder.table("table");
                left.join(right, (one, other) -> one + other).toStream().to("out");
            }
            default -> throw new IllegalArgumentException(args[0]);
        }
        Properties settings = new Properties();
        settings.put(StreamsConfig.APPLICATION_ID_CONFIG, args[2]);
        settings.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, args[1]);
        settings.put(StreamsConfig.STATE_DIR_CONFIG, args[3]);
        settings.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, args[4]);
        settings.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, args[5]);
        settings.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
        settings.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        settings.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        settings.put(StreamsConfig.consumerPrefix("auto.offset.reset"), "earliest");
        KafkaStreams streams = new KafkaStreams(builder.build(), settings);
        Runtime.getRuntime().addShutdownHook(new Thread(streams::close));
        streams.start();
        Thread.currentThread().join();
    }
}
