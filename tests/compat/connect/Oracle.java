import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.header.ConnectHeaders;
import org.apache.kafka.connect.header.Header;
import org.apache.kafka.connect.json.JsonConverter;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.transforms.Transformation;
import org.apache.kafka.connect.transforms.predicates.Predicate;

/** Runs Kafka's own transformations, predicates and converters: cases in from one JSON file, answers out to another. */
public final class Oracle {
    private Oracle() {}

    public static void main(String[] args) throws Exception {
        ArrayNode answers = Forms.JSON.createArrayNode();
        for (JsonNode described : Forms.JSON.readTree(new File(args[0]))) {
            ObjectNode answer = Forms.JSON.createObjectNode();
            try {
                switch (described.get("kind").asText()) {
                    case "transform" -> transform(described, answer);
                    case "predicate" -> predicate(described, answer);
                    case "declarations" -> declarations(described, answer);
                    default -> convert(described, answer);
                }
            } catch (Exception failure) {
                answer.put("error", failure.toString());
            }
            answers.add(answer);
        }
        Forms.JSON.writeValue(new File(args[1]), answers);
        System.exit(0);
    }

    private static Object made(JsonNode described) throws Exception {
        return Class.forName(described.get("class").asText()).getDeclaredConstructor().newInstance();
    }

    private static Map<String, String> config(JsonNode described) {
        Map<String, String> config = new HashMap<>();
        described.get("config").fields().forEachRemaining(one -> config.put(one.getKey(), one.getValue().asText()));
        return config;
    }

    @SuppressWarnings("unchecked")
    private static <R extends ConnectRecord<R>> void transform(JsonNode described, ObjectNode answer) throws Exception {
        Transformation<R> transformation = (Transformation<R>) made(described);
        transformation.configure(config(described));
        ArrayNode outcomes = answer.putArray("outcomes");
        for (JsonNode form : described.get("records")) {
            ObjectNode outcome = outcomes.addObject();
            try {
                R found = transformation.apply((R) record(form));
                outcome.set("record", found == null ? NullNode.instance : form(found));
            } catch (Exception failure) {
                outcome.removeAll();
                outcome.put("error", failure.toString());
            }
        }
    }

    @SuppressWarnings("unchecked")
    private static <R extends ConnectRecord<R>> void predicate(JsonNode described, ObjectNode answer) throws Exception {
        Predicate<R> predicate = (Predicate<R>) made(described);
        predicate.configure(config(described));
        ArrayNode outcomes = answer.putArray("outcomes");
        for (JsonNode form : described.get("records")) {
            outcomes.add(predicate.test((R) record(form)));
        }
    }

    private static void declarations(JsonNode described, ObjectNode answer) throws Exception {
        Object made = made(described);
        ConfigDef definition = (ConfigDef) made.getClass().getMethod("config").invoke(made);
        for (ConfigDef.ConfigKey key : definition.configKeys().values()) {
            ObjectNode one = answer.putObject(key.name);
            one.put("type", key.type.name());
            one.put("required", !key.hasDefault());
            one.put("importance", key.importance.name());
            if (key.hasDefault()) {
                one.put("default", key.defaultValue instanceof List<?> list ? String.join(",", (List<String>) list)
                        : key.defaultValue == null ? null : key.defaultValue.toString());
            }
        }
    }

    private static void convert(JsonNode described, ObjectNode answer) throws Exception {
        JsonConverter converter = new JsonConverter();
        converter.configure(config(described), false);
        ArrayNode outcomes = answer.putArray("outcomes");
        for (JsonNode one : described.get("inputs")) {
            ObjectNode outcome = outcomes.addObject();
            try {
                if (described.get("kind").asText().equals("json_write")) {
                    Schema schema = Forms.schema(one.get("schema"));
                    byte[] written = converter.fromConnectData("t", schema, Forms.value(schema, one.get("value")));
                    outcome.put("text", written == null ? null : new String(written, StandardCharsets.UTF_8));
                } else {
                    SchemaAndValue read = converter.toConnectData("t", one.asText().getBytes(StandardCharsets.UTF_8));
                    outcome.set("schema", Forms.form(read.schema()));
                    outcome.set("value", Forms.form(read.schema(), read.value()));
                }
            } catch (Exception failure) {
                outcome.removeAll();
                outcome.put("error", failure.toString());
            }
        }
    }

    private static ConnectRecord<?> record(JsonNode form) {
        ConnectHeaders headers = new ConnectHeaders();
        for (JsonNode header : form.get("headers")) {
            Schema schema = Forms.schema(header.get("schema"));
            headers.add(header.get("key").asText(), Forms.value(schema, header.get("value")), schema);
        }
        Schema keySchema = Forms.schema(form.get("key_schema"));
        Schema valueSchema = Forms.schema(form.get("value_schema"));
        Object key = Forms.value(keySchema, form.get("key"));
        Object value = Forms.value(valueSchema, form.get("value"));
        String topic = form.get("topic").asText();
        Integer partition = form.get("partition").isNull() ? null : form.get("partition").asInt();
        Long timestamp = form.get("timestamp").isNull() ? null : form.get("timestamp").asLong();
        if (form.get("offset").isNull()) {
            return new SourceRecord(null, null, topic, partition, keySchema, key, valueSchema, value, timestamp, headers);
        }
        return new SinkRecord(topic, partition, keySchema, key, valueSchema, value, form.get("offset").asLong(), timestamp,
                TimestampType.CREATE_TIME, headers);
    }

    private static JsonNode form(ConnectRecord<?> record) {
        ObjectNode form = Forms.JSON.createObjectNode();
        form.put("topic", record.topic());
        form.put("partition", record.kafkaPartition());
        form.put("timestamp", record.timestamp());
        form.set("key_schema", Forms.form(record.keySchema()));
        form.set("key", Forms.form(record.keySchema(), record.key()));
        form.set("value_schema", Forms.form(record.valueSchema()));
        form.set("value", Forms.form(record.valueSchema(), record.value()));
        ArrayNode headers = form.putArray("headers");
        for (Header header : record.headers()) {
            ObjectNode one = headers.addObject();
            one.put("key", header.key());
            one.set("schema", Forms.form(header.schema()));
            one.set("value", Forms.form(header.schema(), header.value()));
        }
        return form;
    }
}
