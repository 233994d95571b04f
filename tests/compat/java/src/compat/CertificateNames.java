package compat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.Base64;
import org.apache.kafka.common.security.ssl.SslPrincipalMapper;

/**
 * What Java and Kafka make of the names in certificates: a line {"certificate": base64, "rules": [...]} in, a line
 * {"name": ..., "principals": [...]} out. A principal is null where no rule applies, and "!" where the rules are wrong.
 */
public final class CertificateNames {
    public static void main(String[] arguments) throws Exception {
        ObjectMapper json = new ObjectMapper();
        CertificateFactory factory = CertificateFactory.getInstance("X.509");
        PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        BufferedReader asked = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = asked.readLine(); line != null; line = asked.readLine()) {
            JsonNode request = json.readTree(line);
            byte[] encoded = Base64.getDecoder().decode(request.get("certificate").asText());
            X509Certificate certificate =
                    (X509Certificate) factory.generateCertificate(new ByteArrayInputStream(encoded));
            String name = certificate.getSubjectX500Principal().getName();
            ObjectNode answer = json.createObjectNode().put("name", name);
            for (JsonNode rules : request.get("rules")) {
                answer.withArray("principals").add(principal(rules.asText(), name));
            }
            answers.println(json.writeValueAsString(answer));
        }
    }

    private static String principal(String rules, String name) {
        SslPrincipalMapper mapper;
        try {
            mapper = SslPrincipalMapper.fromRules(rules);
        } catch (RuntimeException wrong) {
            return "!";
        }
        try {
            return mapper.getName(name);
        } catch (Exception noRule) {
            return null;
        }
    }
}
