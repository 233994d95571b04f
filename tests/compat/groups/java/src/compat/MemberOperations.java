package compat;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;

/** Members of groups, each under the name the request gives as "member". */
final class MemberOperations {
    private static final Map<String, GroupMember> MEMBERS = new ConcurrentHashMap<>();
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(20);

    void register(Map<String, Driver.Operation> operations) {
        operations.put("member_open", MemberOperations::open);
        operations.put("member_state", request -> member(request).state());
        operations.put("member_commit", MemberOperations::commit);
        operations.put("member_committed", MemberOperations::committed);
        operations.put("member_poll", MemberOperations::poll);
        operations.put("member_close", MemberOperations::close);
    }

    static ConsumerGroupMetadata metadataOf(String member) {
        return MEMBERS.get(member).metadata();
    }

    private static Object open(JsonNode request) {
        List<String> topics = new ArrayList<>();
        request.get("topics").forEach(topic -> topics.add(topic.asText()));
        MEMBERS.put(request.get("member").asText(), new GroupMember(Driver.settings(request), topics));
        return null;
    }

    private static Object commit(JsonNode request) throws Exception {
        GroupMember member = member(request);
        return member.ask(() -> {
            member.consumer().commitSync(Places.offsets(request.get("offsets")));
            return null;
        });
    }

    private static Object committed(JsonNode request) throws Exception {
        GroupMember member = member(request);
        return member.ask(() -> Places.written(member.consumer().committed(Places.partitions(request.get("partitions")))));
    }

    private static Object poll(JsonNode request) {
        member(request).poll(request.get("wanted").asBoolean());
        return null;
    }

    private static Object close(JsonNode request) throws Exception {
        var stay = request.get("stay").asBoolean()
                ? CloseOptions.GroupMembershipOperation.REMAIN_IN_GROUP
                : CloseOptions.GroupMembershipOperation.DEFAULT;
        MEMBERS.remove(request.get("member").asText())
                .close(CloseOptions.timeout(CLOSE_TIMEOUT).withGroupMembershipOperation(stay));
        return null;
    }

    private static GroupMember member(JsonNode request) {
        return MEMBERS.get(request.get("member").asText());
    }
}
