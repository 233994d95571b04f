package compat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.common.protocol.Errors;

/**
 * Kafka's Java client at the end of a pipe: one JSON request a line on stdin, one JSON answer a line on stdout, so
 * that one JVM serves many tests. An answer is {"result": ...} or {"error": Kafka's name of it, "message": ...}.
 */
public final class Driver {
    static final ObjectMapper JSON = new ObjectMapper();

    interface Operation {
        Object run(JsonNode request) throws Exception;
    }

    public static void main(String[] arguments) throws Exception {
        PrintStream answers = System.out;
        CapturedOutput printed = CapturedOutput.install();
        Map<String, Operation> operations = new HashMap<>();
        new AdminOperations().register(operations);
        new RecordOperations().register(operations);
        new LoadOperations().register(operations);
        operations.put("tool", CommandLineTool::run);
        operations.put("dump_log_segments", request -> printed.of(() -> DumpLog.run(request)));

        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            byte[] answer = JSON.writeValueAsBytes(answer(operations, JSON.readTree(line)));
            answers.write(answer);
            answers.write('\n');
            answers.flush();
        }
    }

    private static ObjectNode answer(Map<String, Operation> operations, JsonNode request) {
        ObjectNode answer = JSON.createObjectNode();
        try {
            Operation operation = operations.get(request.get("operation").asText());
            answer.set("result", JSON.valueToTree(operation.run(request)));
        } catch (Exception failure) {
            Throwable cause = cause(failure);
            Errors error = Errors.forException(cause);
            answer.put("error", error == Errors.UNKNOWN_SERVER_ERROR ? cause.getClass().getSimpleName() : error.name());
            answer.put("message", String.valueOf(cause.getMessage()));
        }
        return answer;
    }

    static Throwable cause(Throwable failure) {
        boolean wrapped = failure instanceof ExecutionException || failure instanceof CompletionException;
        return wrapped && failure.getCause() != null ? cause(failure.getCause()) : failure;
    }

    static Map<String, Object> settings(JsonNode request) {
        Map<String, Object> settings = new HashMap<>();
        settings.put("bootstrap.servers", request.get("bootstrap").asText());
        request.path("settings").properties().forEach(entry -> settings.put(entry.getKey(), entry.getValue().asText()));
        return settings;
    }
}
