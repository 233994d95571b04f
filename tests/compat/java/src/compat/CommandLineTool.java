package compat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.common.utils.Exit;

/** A command-line tool of Kafka's, by the name of its main class, with an input of its own. */
final class CommandLineTool {
    private CommandLineTool() {}

    /** The tool's wish to end the process. */
    private static final class Ended extends Error {}

    /** Its exit code, and what it printed to either stream. */
    static Map<String, Object> run(JsonNode request) throws Exception {
        List<String> arguments = new ArrayList<>();
        request.get("arguments").forEach(argument -> arguments.add(argument.asText()));
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        ByteArrayOutputStream complained = new ByteArrayOutputStream();
        InputStream in = System.in;
        PrintStream out = System.out;
        PrintStream err = System.err;
        System.setIn(new ByteArrayInputStream(request.get("input").asText().getBytes(StandardCharsets.UTF_8)));
        System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(complained, true, StandardCharsets.UTF_8));
        int code;
        try {
            code = codeOf(request.get("main").asText(), arguments.toArray(String[]::new));
        } finally {
            System.setIn(in);
            System.setOut(out);
            System.setErr(err);
        }
        return Map.of(
                "code", code,
                "printed", printed.toString(StandardCharsets.UTF_8),
                "complained", complained.toString(StandardCharsets.UTF_8));
    }

    private static int codeOf(String main, String[] arguments) throws Exception {
        // The first wish counts: some tools catch whatever comes, this too, and then wish to end with code 1.
        AtomicReference<Integer> wished = new AtomicReference<>();
        Exit.Procedure procedure = (code, message) -> {
            if (wished.compareAndSet(null, code) && message != null) {
                System.err.println(message);
            }
            throw new Ended();
        };
        Exit.setExitProcedure(procedure);
        Exit.setHaltProcedure(procedure);
        List<Runnable> atTheEnd = new ArrayList<>();
        Exit.setShutdownHookAdder((name, hook) -> atTheEnd.add(hook));
        try {
            Class.forName(main).getMethod("main", String[].class).invoke(null, (Object) arguments);
            return 0;
        } catch (InvocationTargetException failure) {
            if (failure.getCause() instanceof Ended) {
                return wished.get();
            }
            // What `main` throws ends a process with code 1 and its stack trace.
            failure.getCause().printStackTrace();
            return 1;
        } finally {
            // The console producer sends what it has when its process ends.
            atTheEnd.forEach(Runnable::run);
            Exit.resetShutdownHookAdder();
            Exit.resetExitProcedure();
            Exit.resetHaltProcedure();
        }
    }
}
