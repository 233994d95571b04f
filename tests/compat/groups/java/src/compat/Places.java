package compat;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/** Partitions and offsets as JSON: [topic, partition], [topic, partition, offset, metadata]. */
final class Places {
    private Places() {}

    static List<Object> written(Collection<TopicPartition> partitions) {
        List<Object> written = new ArrayList<>();
        partitions.forEach(partition -> written.add(List.of(partition.topic(), partition.partition())));
        return written;
    }

    static List<Object> written(Map<TopicPartition, OffsetAndMetadata> offsets) {
        List<Object> written = new ArrayList<>();
        offsets.forEach((partition, offset) -> {
            if (offset != null) {
                written.add(List.of(partition.topic(), partition.partition(), offset.offset(), offset.metadata()));
            }
        });
        return written;
    }

    static Set<TopicPartition> partitions(JsonNode written) {
        Set<TopicPartition> partitions = new LinkedHashSet<>();
        written.forEach(entry -> partitions.add(partition(entry)));
        return partitions;
    }

    static Map<TopicPartition, OffsetAndMetadata> offsets(JsonNode written) {
        Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
        written.forEach(entry -> offsets.put(
                partition(entry), new OffsetAndMetadata(entry.get(2).asLong(), entry.path(3).asText(""))));
        return offsets;
    }

    private static TopicPartition partition(JsonNode entry) {
        return new TopicPartition(entry.get(0).asText(), entry.get(1).asInt());
    }
}
