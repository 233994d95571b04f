import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.connect.data.Decimal;
import org.apache.kafka.connect.data.Field;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;

/** Schemas and values of Connect as JSON and back, in a form that loses nothing; forms.py has the same in Python. */
final class Forms {
    static final ObjectMapper JSON = new ObjectMapper();
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;
    private static final long DAY_MS = 86_400_000L;

    private Forms() {}

    static Schema schema(JsonNode form) {
        if (form == null || form.isNull()) {
            return null;
        }
        Schema.Type type = Schema.Type.valueOf(form.get("type").asText());
        SchemaBuilder builder =
                switch (type) {
                    case ARRAY -> SchemaBuilder.array(schema(form.get("values")));
                    case MAP -> SchemaBuilder.map(schema(form.get("keys")), schema(form.get("values")));
                    default -> SchemaBuilder.type(type);
                };
        if (type == Schema.Type.STRUCT) {
            for (JsonNode field : form.get("fields")) {
                builder.field(field.get(0).asText(), schema(field.get(1)));
            }
        }
        if (form.get("optional").asBoolean()) {
            builder.optional();
        }
        if (form.hasNonNull("name")) {
            builder.name(form.get("name").asText());
        }
        if (form.hasNonNull("version")) {
            builder.version(form.get("version").asInt());
        }
        if (form.hasNonNull("doc")) {
            builder.doc(form.get("doc").asText());
        }
        form.path("parameters").fields().forEachRemaining(one -> builder.parameter(one.getKey(), one.getValue().asText()));
        if (form.hasNonNull("default")) {
            builder.defaultValue(value(builder.build(), form.get("default")));
        }
        return builder.build();
    }

    static JsonNode form(Schema schema) {
        if (schema == null) {
            return NullNode.instance;
        }
        ObjectNode form = NODES.objectNode();
        form.put("type", schema.type().name());
        form.put("optional", schema.isOptional());
        form.put("name", schema.name());
        form.put("version", schema.version());
        form.put("doc", schema.doc());
        ObjectNode parameters = form.putObject("parameters");
        if (schema.parameters() != null) {
            schema.parameters().forEach(parameters::put);
        }
        form.set("default", schema.defaultValue() == null ? NullNode.instance : form(schema, schema.defaultValue()));
        if (schema.type() == Schema.Type.STRUCT) {
            ArrayNode fields = form.putArray("fields");
            for (Field field : schema.fields()) {
                fields.addArray().add(field.name()).add(form(field.schema()));
            }
        }
        if (schema.type() == Schema.Type.MAP) {
            form.set("keys", form(schema.keySchema()));
        }
        if (schema.type() == Schema.Type.MAP || schema.type() == Schema.Type.ARRAY) {
            form.set("values", form(schema.valueSchema()));
        }
        return form;
    }

    static Object value(Schema schema, JsonNode form) {
        if (form == null || form.isNull()) {
            return null;
        }
        if (schema == null) {
            return plain(form);
        }
        String name = schema.name() == null ? "" : schema.name();
        switch (name) {
            case Decimal.LOGICAL_NAME:
                return new BigDecimal(form.asText());
            case org.apache.kafka.connect.data.Date.LOGICAL_NAME:
                return new Date(form.asLong() * DAY_MS);
            case org.apache.kafka.connect.data.Time.LOGICAL_NAME, org.apache.kafka.connect.data.Timestamp.LOGICAL_NAME:
                return new Date(form.asLong());
            default:
                break;
        }
        switch (schema.type()) {
            case INT8:
                return (byte) form.asInt();
            case INT16:
                return (short) form.asInt();
            case INT32:
                return form.asInt();
            case INT64:
                return form.asLong();
            case FLOAT32:
                return Float.parseFloat(form.asText());
            case FLOAT64:
                return Double.parseDouble(form.asText());
            case BOOLEAN:
                return form.asBoolean();
            case STRING:
                return form.asText();
            case BYTES:
                return Base64.getDecoder().decode(form.asText());
            case ARRAY:
                List<Object> list = new ArrayList<>();
                form.forEach(one -> list.add(value(schema.valueSchema(), one)));
                return list;
            case MAP:
                Map<Object, Object> map = new HashMap<>();
                form.forEach(one -> map.put(value(schema.keySchema(), one.get(0)), value(schema.valueSchema(), one.get(1))));
                return map;
            default:
                Struct struct = new Struct(schema);
                int number = 0;
                for (Field field : schema.fields()) {
                    Object one = value(field.schema(), form.get(number++));
                    if (one != null || field.schema().isOptional()) {
                        struct.put(field, one);
                    }
                }
                return struct;
        }
    }

    private static Object plain(JsonNode form) {
        if (form.isNull()) {
            return null;
        }
        if (form.isBoolean()) {
            return form.asBoolean();
        }
        if (form.isTextual()) {
            return form.asText();
        }
        if (form.isArray()) {
            List<Object> list = new ArrayList<>();
            form.forEach(one -> list.add(plain(one)));
            return list;
        }
        String kind = form.fieldNames().next();
        JsonNode inner = form.get(kind);
        switch (kind) {
            case "i":
                return Long.parseLong(inner.asText());
            case "f":
                return Double.parseDouble(inner.asText());
            case "b":
                return Base64.getDecoder().decode(inner.asText());
            case "d":
                return new Date(inner.asLong());
            case "n":
                return new BigDecimal(inner.asText());
            default:
                Map<String, Object> map = new HashMap<>();
                inner.fields().forEachRemaining(one -> map.put(one.getKey(), plain(one.getValue())));
                return map;
        }
    }

    static JsonNode form(Schema schema, Object value) {
        if (value == null) {
            return NullNode.instance;
        }
        if (schema == null) {
            return plainForm(value);
        }
        if (value instanceof Date date) {
            boolean isDate = org.apache.kafka.connect.data.Date.LOGICAL_NAME.equals(schema.name());
            return NODES.numberNode(isDate ? Math.floorDiv(date.getTime(), DAY_MS) : date.getTime());
        }
        if (value instanceof BigDecimal decimal) {
            return NODES.textNode(decimal.toString());
        }
        switch (schema.type()) {
            case INT8, INT16, INT32, INT64:
                return NODES.numberNode(((Number) value).longValue());
            case FLOAT32, FLOAT64:
                return NODES.textNode(Double.toString(((Number) value).doubleValue()));
            case BOOLEAN:
                return NODES.booleanNode((Boolean) value);
            case STRING:
                return NODES.textNode((String) value);
            case BYTES:
                return NODES.textNode(base64(value));
            case ARRAY:
                ArrayNode list = NODES.arrayNode();
                ((List<?>) value).forEach(one -> list.add(form(schema.valueSchema(), one)));
                return list;
            case MAP:
                ArrayNode pairs = NODES.arrayNode();
                ((Map<?, ?>) value)
                        .forEach((key, one) -> pairs.addArray().add(form(schema.keySchema(), key)).add(form(schema.valueSchema(), one)));
                return pairs;
            default:
                ArrayNode values = NODES.arrayNode();
                Struct struct = (Struct) value;
                struct.validate();
                for (Field field : schema.fields()) {
                    values.add(form(field.schema(), struct.getWithoutDefault(field.name())));
                }
                return values;
        }
    }

    private static JsonNode plainForm(Object value) {
        if (value == null) {
            return NullNode.instance;
        }
        if (value instanceof Boolean truth) {
            return NODES.booleanNode(truth);
        }
        if (value instanceof String text) {
            return NODES.textNode(text);
        }
        if (value instanceof List<?> list) {
            ArrayNode form = NODES.arrayNode();
            list.forEach(one -> form.add(plainForm(one)));
            return form;
        }
        ObjectNode form = NODES.objectNode();
        if (value instanceof Map<?, ?> map) {
            ObjectNode inner = form.putObject("m");
            map.forEach((key, one) -> inner.set((String) key, plainForm(one)));
        } else if (value instanceof Date date) {
            form.put("d", date.getTime());
        } else if (value instanceof BigDecimal decimal) {
            form.put("n", decimal.toString());
        } else if (value instanceof Float || value instanceof Double) {
            form.put("f", Double.toString(((Number) value).doubleValue()));
        } else if (value instanceof Number number) {
            form.put("i", Long.toString(number.longValue()));
        } else {
            form.put("b", base64(value));
        }
        return form;
    }

    private static String base64(Object value) {
        if (value instanceof ByteBuffer buffer) {
            byte[] bytes = new byte[buffer.remaining()];
            buffer.duplicate().get(bytes);
            return Base64.getEncoder().encodeToString(bytes);
        }
        return Base64.getEncoder().encodeToString((byte[]) value);
    }
}
