package compat;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.clients.admin.AbortTransactionSpec;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TransactionDescription;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;

/** What the Admin client asks about transactions. */
final class TransactionAdminOperations {
    void register(Map<String, Driver.Operation> operations) {
        operations.put("list_transactions", this::listTransactions);
        operations.put("describe_transaction", this::describeTransaction);
        operations.put("abort_transaction", this::abortTransaction);
        operations.put("active_producers", this::activeProducers);
        operations.put("fence_producer", this::fenceProducer);
        operations.put("end_offset", this::endOffset);
    }

    private Object listTransactions(JsonNode request) throws Exception {
        Map<String, Object> transactions = new TreeMap<>();
        GroupAdminOperations.admin(request).listTransactions().all().get().forEach(listing -> transactions.put(
                listing.transactionalId(), Map.of("producer_id", listing.producerId(), "state", listing.state().toString())));
        return transactions;
    }

    private Object describeTransaction(JsonNode request) throws Exception {
        String id = request.get("transactional_id").asText();
        TransactionDescription found =
                GroupAdminOperations.admin(request).describeTransactions(List.of(id)).all().get().get(id);
        return Map.of(
                "state", found.state().toString(),
                "producer_id", found.producerId(),
                "producer_epoch", found.producerEpoch(),
                "timeout_ms", found.transactionTimeoutMs(),
                "partitions", Places.written(found.topicPartitions()));
    }

    private Object abortTransaction(JsonNode request) throws Exception {
        AbortTransactionSpec spec = new AbortTransactionSpec(
                partition(request),
                request.get("producer_id").asLong(),
                (short) request.get("producer_epoch").asInt(),
                request.get("coordinator_epoch").asInt());
        return GroupAdminOperations.admin(request).abortTransaction(spec).all().get();
    }

    private Object activeProducers(JsonNode request) throws Exception {
        List<Object> producers = new ArrayList<>();
        GroupAdminOperations.admin(request).describeProducers(List.of(partition(request))).partitionResult(partition(request))
                .get().activeProducers().forEach(state -> {
                    Map<String, Object> described = new HashMap<>();
                    described.put("producer_id", state.producerId());
                    described.put("producer_epoch", state.producerEpoch());
                    described.put("coordinator_epoch", state.coordinatorEpoch().orElse(-1));
                    described.put("transaction_start", state.currentTransactionStartOffset().orElse(-1));
                    producers.add(described);
                });
        return producers;
    }

    private Object fenceProducer(JsonNode request) throws Exception {
        String id = request.get("transactional_id").asText();
        return GroupAdminOperations.admin(request).fenceProducers(List.of(id)).all().get();
    }

    private Object endOffset(JsonNode request) throws Exception {
        var options = new ListOffsetsOptions(
                request.get("committed").asBoolean() ? IsolationLevel.READ_COMMITTED : IsolationLevel.READ_UNCOMMITTED);
        var wanted = Map.of(partition(request), OffsetSpec.latest());
        return GroupAdminOperations.admin(request).listOffsets(wanted, options).partitionResult(partition(request)).get().offset();
    }

    private static TopicPartition partition(JsonNode request) {
        return new TopicPartition(request.get("topic").asText(), request.get("partition").asInt());
    }
}
