package compat;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.utils.Exit;

/** Kafka's own reader of log files. Its wish to end the process becomes an exception. */
final class DumpLog {
    private DumpLog() {}

    static Void run(JsonNode request) {
        List<String> arguments = new ArrayList<>();
        request.get("arguments").forEach(argument -> arguments.add(argument.asText()));
        Exit.setExitProcedure((code, message) -> {
            throw new IllegalStateException("the tool ended with code " + code + ": " + message);
        });
        try {
            kafka.tools.DumpLogSegments.main(arguments.toArray(String[]::new));
        } finally {
            Exit.resetExitProcedure();
        }
        return null;
    }
}
