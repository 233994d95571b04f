package compat;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.DescribeConfigsOptions;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;

/** The Admin client, one kept open for each cluster asked. */
final class AdminOperations {
    private final Map<String, Admin> admins = new HashMap<>();

    void register(Map<String, Driver.Operation> operations) {
        operations.put("create_topic", this::createTopic);
        operations.put("delete_topic", request -> admin(request).deleteTopics(List.of(topic(request))).all().get());
        operations.put("grow_topic", this::growTopic);
        operations.put("list_topics", request -> new TreeSet<>(admin(request).listTopics().names().get()));
        operations.put("describe_topic", this::describeTopic);
        operations.put("describe_cluster", this::describeCluster);
        operations.put("describe_configs", this::describeConfigs);
        operations.put("alter_configs", this::alterConfigs);
        operations.put("delete_records", this::deleteRecords);
        operations.put("list_offset", this::listOffset);
        operations.put("describe_producers", this::describeProducers);
        operations.put("describe_log_dirs", this::describeLogDirs);
    }

    private Object createTopic(JsonNode request) throws Exception {
        Map<String, String> configs = new HashMap<>();
        request.get("configs").properties().forEach(entry -> configs.put(entry.getKey(), entry.getValue().asText()));
        Optional<Integer> partitions = Optional.of(request.get("partitions").asInt()).filter(count -> count != -1);
        Optional<Short> replicas = Optional.of((short) request.get("replicas").asInt()).filter(count -> count != -1);
        NewTopic topic = new NewTopic(topic(request), partitions, replicas).configs(configs);
        var created = admin(request).createTopics(List.of(topic));
        created.all().get();
        return Map.of(
                "topic_id", created.topicId(topic(request)).get().toString(),
                "partitions", created.numPartitions(topic(request)).get(),
                "replicas", created.replicationFactor(topic(request)).get());
    }

    private Object growTopic(JsonNode request) throws Exception {
        NewPartitions target = NewPartitions.increaseTo(request.get("partitions").asInt());
        return admin(request).createPartitions(Map.of(topic(request), target)).all().get();
    }

    private Object describeTopic(JsonNode request) throws Exception {
        TopicDescription topic = admin(request).describeTopics(List.of(topic(request))).allTopicNames().get().get(topic(request));
        List<Object> partitions = new ArrayList<>();
        topic.partitions().forEach(partition -> partitions.add(Map.of(
                "partition", partition.partition(),
                "leader", partition.leader().id(),
                "leader_port", partition.leader().port(),
                "replicas", partition.replicas().size(),
                "isr", partition.isr().size())));
        return Map.of("topic_id", topic.topicId().toString(), "internal", topic.isInternal(), "partitions", partitions);
    }

    private Object describeCluster(JsonNode request) throws Exception {
        var cluster = admin(request).describeCluster();
        List<Object> nodes = new ArrayList<>();
        cluster.nodes().get().forEach(node -> nodes.add(Map.of("id", node.id(), "host", node.host(), "port", node.port())));
        return Map.of("cluster_id", cluster.clusterId().get(), "controller", cluster.controller().get().id(), "nodes", nodes);
    }

    private Object describeConfigs(JsonNode request) throws Exception {
        ConfigResource resource = resource(request);
        DescribeConfigsOptions options = new DescribeConfigsOptions().includeSynonyms(true).includeDocumentation(true);
        Config config = admin(request).describeConfigs(List.of(resource), options).all().get().get(resource);
        Map<String, Object> entries = new TreeMap<>();
        config.entries().forEach(entry -> entries.put(entry.name(), described(entry)));
        return entries;
    }

    private static Map<String, Object> described(ConfigEntry entry) {
        Map<String, Object> described = new HashMap<>();
        described.put("value", entry.value());
        described.put("source", entry.source().name());
        described.put("type", entry.type().name());
        described.put("read_only", entry.isReadOnly());
        described.put("sensitive", entry.isSensitive());
        described.put("documented", entry.documentation() != null && !entry.documentation().isBlank());
        List<Object> synonyms = new ArrayList<>();
        for (ConfigEntry.ConfigSynonym synonym : entry.synonyms()) {
            List<String> parts = new ArrayList<>();
            parts.add(synonym.name());
            parts.add(synonym.value());
            parts.add(synonym.source().name());
            synonyms.add(parts);
        }
        described.put("synonyms", synonyms);
        return described;
    }

    /** Changes are [[operation, key, value], ...] with the names of AlterConfigOp.OpType. */
    private Object alterConfigs(JsonNode request) throws Exception {
        List<AlterConfigOp> changes = new ArrayList<>();
        for (JsonNode change : request.get("changes")) {
            ConfigEntry entry = new ConfigEntry(change.get(1).asText(), change.get(2).isNull() ? null : change.get(2).asText());
            changes.add(new AlterConfigOp(entry, AlterConfigOp.OpType.valueOf(change.get(0).asText())));
        }
        return admin(request).incrementalAlterConfigs(Map.of(resource(request), changes)).all().get();
    }

    private Object deleteRecords(JsonNode request) throws Exception {
        TopicPartition partition = partition(request);
        RecordsToDelete records = RecordsToDelete.beforeOffset(request.get("before").asLong());
        return admin(request).deleteRecords(Map.of(partition, records)).lowWatermarks().get(partition).get().lowWatermark();
    }

    private Object listOffset(JsonNode request) throws Exception {
        JsonNode wanted = request.get("spec");
        OffsetSpec spec = wanted.isNumber() ? OffsetSpec.forTimestamp(wanted.asLong()) : switch (wanted.asText()) {
            case "earliest" -> OffsetSpec.earliest();
            case "latest" -> OffsetSpec.latest();
            case "max_timestamp" -> OffsetSpec.maxTimestamp();
            default -> throw new IllegalArgumentException("no such offset: " + wanted);
        };
        var found = admin(request).listOffsets(Map.of(partition(request), spec)).partitionResult(partition(request)).get();
        return Map.of("offset", found.offset(), "timestamp_ms", found.timestamp(), "leader_epoch", found.leaderEpoch().orElse(-1));
    }

    private Object describeProducers(JsonNode request) throws Exception {
        List<Object> producers = new ArrayList<>();
        admin(request).describeProducers(List.of(partition(request))).partitionResult(partition(request)).get().activeProducers()
                .forEach(state -> producers.add(Map.of(
                        "producer_id", state.producerId(),
                        "producer_epoch", state.producerEpoch(),
                        "last_sequence", state.lastSequence(),
                        "last_timestamp", state.lastTimestamp())));
        return producers;
    }

    private Object describeLogDirs(JsonNode request) throws Exception {
        Map<String, Object> directories = new TreeMap<>();
        admin(request).describeLogDirs(List.of(request.get("broker").asInt())).allDescriptions().get().values()
                .forEach(broker -> broker.forEach((path, directory) -> {
                    Map<String, Long> sizes = new TreeMap<>();
                    directory.replicaInfos().forEach((partition, replica) -> sizes.put(partition.toString(), replica.size()));
                    directories.put(path, Map.of(
                            "sizes", sizes,
                            "total_bytes", directory.totalBytes().orElse(-1),
                            "usable_bytes", directory.usableBytes().orElse(-1)));
                }));
        return directories;
    }

    private Admin admin(JsonNode request) {
        return admins.computeIfAbsent(request.get("bootstrap").asText(), bootstrap -> Admin.create(Driver.settings(request)));
    }

    private static ConfigResource resource(JsonNode request) {
        return new ConfigResource(ConfigResource.Type.valueOf(request.get("type").asText()), request.get("name").asText());
    }

    private static String topic(JsonNode request) {
        return request.get("topic").asText();
    }

    private static TopicPartition partition(JsonNode request) {
        return new TopicPartition(topic(request), request.get("partition").asInt());
    }
}
