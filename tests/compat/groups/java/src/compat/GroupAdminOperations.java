package compat;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.GroupListing;
import org.apache.kafka.clients.admin.ListGroupsOptions;
import org.apache.kafka.clients.admin.MemberToRemove;
import org.apache.kafka.clients.admin.RemoveMembersFromConsumerGroupOptions;
import org.apache.kafka.common.config.ConfigResource;

/** What the Admin client asks about groups. */
final class GroupAdminOperations {
    private static final Map<String, Admin> ADMINS = new ConcurrentHashMap<>();

    static Admin admin(JsonNode request) {
        return ADMINS.computeIfAbsent(
                request.get("bootstrap").asText(), bootstrap -> Admin.create(Map.of("bootstrap.servers", bootstrap)));
    }

    void register(Map<String, Driver.Operation> operations) {
        operations.put("list_groups", this::listGroups);
        operations.put("describe_group", this::describeGroup);
        operations.put("delete_group", request -> admin(request).deleteConsumerGroups(List.of(group(request))).all().get());
        operations.put("group_offsets", this::groupOffsets);
        operations.put("alter_group_offsets", this::alterGroupOffsets);
        operations.put("delete_group_offsets", this::deleteGroupOffsets);
        operations.put("remove_static_member", this::removeStaticMember);
        operations.put("alter_group_config", this::alterGroupConfig);
    }

    private Object listGroups(JsonNode request) throws Exception {
        Map<String, Object> groups = new TreeMap<>();
        for (GroupListing listing : admin(request).listGroups(new ListGroupsOptions()).all().get()) {
            groups.put(listing.groupId(), Map.of(
                    "state", listing.groupState().map(Object::toString).orElse(""),
                    "type", listing.type().map(Object::toString).orElse(""),
                    "protocol", listing.protocol()));
        }
        return groups;
    }

    private Object describeGroup(JsonNode request) throws Exception {
        ConsumerGroupDescription group =
                admin(request).describeConsumerGroups(List.of(group(request))).all().get().get(group(request));
        Map<String, Object> members = new TreeMap<>();
        group.members().forEach(member -> {
            Map<String, Object> described = new HashMap<>();
            described.put("client_id", member.clientId());
            described.put("host", member.host());
            described.put("instance", member.groupInstanceId().orElse(null));
            described.put("assignment", Places.written(member.assignment().topicPartitions()));
            members.put(member.consumerId(), described);
        });
        return Map.of(
                "state", group.groupState().toString(),
                "type", group.type().toString(),
                "assignor", group.partitionAssignor(),
                "coordinator", group.coordinator().id(),
                "members", members);
    }

    private Object groupOffsets(JsonNode request) throws Exception {
        return Places.written(
                admin(request).listConsumerGroupOffsets(group(request)).partitionsToOffsetAndMetadata().get());
    }

    private Object alterGroupOffsets(JsonNode request) throws Exception {
        return admin(request).alterConsumerGroupOffsets(group(request), Places.offsets(request.get("offsets"))).all().get();
    }

    private Object deleteGroupOffsets(JsonNode request) throws Exception {
        var partitions = Places.partitions(request.get("partitions"));
        return admin(request).deleteConsumerGroupOffsets(group(request), partitions).all().get();
    }

    private Object removeStaticMember(JsonNode request) throws Exception {
        var member = new MemberToRemove(request.get("instance").asText());
        var options = new RemoveMembersFromConsumerGroupOptions(List.of(member));
        return admin(request).removeMembersFromConsumerGroup(group(request), options).all().get();
    }

    private Object alterGroupConfig(JsonNode request) throws Exception {
        var resource = new ConfigResource(ConfigResource.Type.GROUP, group(request));
        var entry = new ConfigEntry(request.get("name").asText(), request.get("value").asText());
        var change = new AlterConfigOp(entry, AlterConfigOp.OpType.SET);
        return admin(request).incrementalAlterConfigs(Map.of(resource, List.of(change))).all().get();
    }

    private static String group(JsonNode request) {
        return request.get("group").asText();
    }
}
