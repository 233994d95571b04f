package compat;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;

/** Stands in for System.out, so that what Kafka's tools print becomes a value and never mixes with the answers. */
final class CapturedOutput extends OutputStream {
    private final ByteArrayOutputStream buffer = new ByteArrayOutputStream();

    static CapturedOutput install() {
        CapturedOutput captured = new CapturedOutput();
        System.setOut(new PrintStream(captured, true, StandardCharsets.UTF_8));
        return captured;
    }

    synchronized String of(Callable<?> action) throws Exception {
        buffer.reset();
        action.call();
        System.out.flush();
        return buffer.toString(StandardCharsets.UTF_8);
    }

    @Override
    public synchronized void write(int octet) {
        buffer.write(octet);
    }

    @Override
    public synchronized void write(byte[] octets, int start, int size) {
        buffer.write(octets, start, size);
    }
}
