package compat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.protocol.Errors;

/**
 * Many Java clients at the end of one pipe. Each request carries an id, which its answer repeats, and names an actor:
 * what one actor is asked runs in turn, what several are asked runs at the same time.
 */
public final class GroupsDriver {
    private static final Map<String, ExecutorService> ACTORS = new ConcurrentHashMap<>();

    public static void main(String[] arguments) throws IOException {
        PrintStream answers = System.out;
        CapturedOutput printed = CapturedOutput.install();
        Map<String, Driver.Operation> operations = new HashMap<>();
        new AdminOperations().register(operations);
        new GroupAdminOperations().register(operations);
        new TransactionAdminOperations().register(operations);
        new MemberOperations().register(operations);
        new TransactionOperations().register(operations);
        operations.put("tool", request -> printed.of(() -> Tool.run(request)));

        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            JsonNode request = Driver.JSON.readTree(line);
            actor(request.get("actor").asText()).execute(() -> write(answers, answer(operations, request)));
        }
        System.exit(0);
    }

    private static ExecutorService actor(String name) {
        return ACTORS.computeIfAbsent(name, unused -> Executors.newSingleThreadExecutor(task -> {
            Thread thread = new Thread(task, name);
            thread.setDaemon(true);
            return thread;
        }));
    }

    private static ObjectNode answer(Map<String, Driver.Operation> operations, JsonNode request) {
        ObjectNode answer = Driver.JSON.createObjectNode().put("id", request.get("id").asInt());
        try {
            Driver.Operation operation = operations.get(request.get("operation").asText());
            answer.set("result", Driver.JSON.valueToTree(operation.run(request)));
        } catch (Exception failure) {
            Throwable cause = Driver.cause(failure);
            answer.put("error", nameOf(cause));
            answer.put("message", String.valueOf(cause.getMessage()));
        }
        return answer;
    }

    /** Kafka's name of the error, or of the exception where the client has one of its own. */
    static String nameOf(Throwable failure) {
        if (failure.getClass() == KafkaException.class && failure.getCause() != null) {
            return nameOf(failure.getCause());
        }
        Errors error = Errors.forException(failure);
        return error == Errors.UNKNOWN_SERVER_ERROR ? failure.getClass().getSimpleName() : error.name();
    }

    private static void write(PrintStream answers, ObjectNode answer) {
        byte[] line;
        try {
            line = Driver.JSON.writeValueAsBytes(answer);
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        synchronized (answers) {
            answers.write(line, 0, line.length);
            answers.write('\n');
            answers.flush();
        }
    }
}
