import io.confluent.kafka.schemaregistry.protobuf.ProtobufSchema;
import io.confluent.kafka.serializers.KafkaAvroDeserializer;
import io.confluent.kafka.serializers.KafkaAvroSerializer;
import io.confluent.kafka.serializers.protobuf.KafkaProtobufDeserializer;
import io.confluent.kafka.serializers.protobuf.KafkaProtobufSerializer;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.DynamicMessage;

import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Base64;
import java.util.Map;

/**
 * Confluent's Java serializers on a pipe. A line is `format operation topic argument`, the argument in base64:
 * `write` takes a schema and answers with the bytes of a purchase of two apples, `read` takes such bytes and answers
 * with what they say.
 */
public class Serdes {
    private static Map<String, Object> config;

    public static void main(String[] arguments) throws Exception {
        config = Map.of("schema.registry.url", arguments[0], "auto.register.schemas", true);
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] words = line.split(" ");
            byte[] argument = Base64.getDecoder().decode(words[3]);
            String answer;
            try {
                answer = words[1].equals("write")
                    ? Base64.getEncoder().encodeToString(write(words[0], words[2], new String(argument, "UTF-8")))
                    : read(words[0], words[2], argument);
            } catch (RuntimeException | LinkageError error) {
                Throwable cause = error.getCause() == null ? error : error.getCause();
                answer = "error " + cause.toString().replace('\n', ' ');
            }
            System.out.println(answer);
            System.out.flush();
        }
    }

    private static byte[] write(String format, String topic, String schema) {
        if (format.equals("avro")) {
            Schema parsed = new Schema.Parser().parse(schema);
            GenericRecord purchase = new GenericData.Record(parsed);
            purchase.put("item", "apples");
            purchase.put("amount", 2.5);
            try (KafkaAvroSerializer serializer = new KafkaAvroSerializer()) {
                serializer.configure(config, false);
                return serializer.serialize(topic, purchase);
            }
        }
        Descriptor descriptor = new ProtobufSchema(schema).toDescriptor();
        DynamicMessage purchase = DynamicMessage.newBuilder(descriptor)
            .setField(descriptor.findFieldByName("item"), "apples")
            .setField(descriptor.findFieldByName("amount"), 2.5)
            .build();
        try (KafkaProtobufSerializer<DynamicMessage> serializer = new KafkaProtobufSerializer<>()) {
            serializer.configure(config, false);
            return serializer.serialize(topic, purchase);
        }
    }

    private static String read(String format, String topic, byte[] content) {
        if (format.equals("avro")) {
            try (KafkaAvroDeserializer deserializer = new KafkaAvroDeserializer()) {
                deserializer.configure(config, false);
                GenericRecord found = (GenericRecord) deserializer.deserialize(topic, content);
                return found.get("item") + " " + found.get("amount");
            }
        }
        try (KafkaProtobufDeserializer<DynamicMessage> deserializer = new KafkaProtobufDeserializer<>()) {
            deserializer.configure(config, false);
            DynamicMessage found = deserializer.deserialize(topic, content);
            Descriptor descriptor = found.getDescriptorForType();
            return found.getField(descriptor.findFieldByName("item")) + " "
                + found.getField(descriptor.findFieldByName("amount"));
        }
    }
}
