package compat;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;

/** A member that commits whatever it reads and says so: one line for each commit, "partition next-offset". */
public final class Reader {
    private Reader() {}

    public static void main(String[] arguments) throws Exception {
        JsonNode job = Driver.JSON.readTree(arguments[0]);
        System.in.read();
        Map<String, Object> settings = new HashMap<>();
        job.get("consumer").properties().forEach(entry -> settings.put(entry.getKey(), entry.getValue().asText()));
        var consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer());
        consumer.subscribe(List.of(job.get("source").asText()));
        while (true) {
            for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(50))) {
                var next = new OffsetAndMetadata(record.offset() + 1);
                consumer.commitSync(Map.of(new TopicPartition(record.topic(), record.partition()), next));
                System.out.println(record.partition() + " " + next.offset());
            }
        }
    }
}
