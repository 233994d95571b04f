package compat;

import com.fasterxml.jackson.databind.JsonNode;
import java.lang.reflect.InvocationTargetException;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.utils.Exit;

/** A command-line tool of Kafka's, by the name of its main class. Its wish to end the process becomes an exception. */
final class Tool {
    private Tool() {}

    static Void run(JsonNode request) throws Exception {
        List<String> arguments = new ArrayList<>();
        request.get("arguments").forEach(argument -> arguments.add(argument.asText()));
        Exit.setExitProcedure((code, message) -> {
            if (code != 0) {
                throw new IllegalStateException("the tool ended with code " + code + ": " + message);
            }
        });
        try {
            Class.forName(request.get("main").asText())
                    .getMethod("main", String[].class)
                    .invoke(null, (Object) arguments.toArray(String[]::new));
        } catch (InvocationTargetException failure) {
            throw failure.getCause() instanceof Exception cause ? cause : failure;
        } finally {
            Exit.resetExitProcedure();
        }
        return null;
    }
}
