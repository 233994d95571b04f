import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import java.io.File;
import java.net.InetAddress;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.metrics.internals.PluginMetricsImpl;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.common.utils.SecurityUtils;
import org.apache.kafka.metadata.authorizer.StandardAcl;
import org.apache.kafka.metadata.authorizer.StandardAuthorizer;
import org.apache.kafka.server.authorizer.Action;
import org.apache.kafka.server.authorizer.AuthorizableRequestContext;
import org.apache.kafka.server.authorizer.AuthorizationResult;

/** Asks Kafka's own StandardAuthorizer: worlds of rules and questions in from one file, answers out to another. */
public final class AccessOracle {
    private record Caller(KafkaPrincipal principal, InetAddress clientAddress) implements AuthorizableRequestContext {
        public String listenerName() { return "PLAINTEXT"; }
        public SecurityProtocol securityProtocol() { return SecurityProtocol.PLAINTEXT; }
        public int requestType() { return 1; }
        public int requestVersion() { return 13; }
        public String clientId() { return "oracle"; }
        public int correlationId() { return 1; }
    }

    private AccessOracle() {}

    public static void main(String[] args) throws Exception {
        ObjectMapper json = new ObjectMapper();
        ArrayNode answers = json.createArrayNode();
        for (JsonNode world : json.readTree(new File(args[0]))) {
            StandardAuthorizer authorizer = new StandardAuthorizer();
            authorizer.withPluginMetrics(new PluginMetricsImpl(new Metrics(), Map.of()));
            authorizer.configure(Map.of(
                "super.users", world.get("super_users").asText(),
                "allow.everyone.if.no.acl.found", world.get("allows_without_rules").asText()));
            for (JsonNode rule : world.get("rules")) {
                authorizer.addAcl(Uuid.randomUuid(), new StandardAcl(
                    ResourceType.fromCode((byte) rule.get(0).asInt()), rule.get(1).asText(),
                    PatternType.fromCode((byte) rule.get(2).asInt()), rule.get(3).asText(), rule.get(4).asText(),
                    AclOperation.fromCode((byte) rule.get(5).asInt()),
                    AclPermissionType.fromCode((byte) rule.get(6).asInt())));
            }
            authorizer.completeInitialLoad();
            ArrayNode told = answers.addArray();
            for (JsonNode question : world.get("questions")) {
                told.add(ask(authorizer, question) == AuthorizationResult.ALLOWED);
            }
        }
        json.writeValue(new File(args[1]), answers);
    }

    private static AuthorizationResult ask(StandardAuthorizer authorizer, JsonNode question) throws Exception {
        Caller caller = new Caller(
            SecurityUtils.parseKafkaPrincipal(question.get(0).asText()),
            InetAddress.getByName(question.get(1).asText()));
        AclOperation operation = AclOperation.fromCode((byte) question.get(2).asInt());
        ResourceType kind = ResourceType.fromCode((byte) question.get(3).asInt());
        if (question.get(4).isNull()) {
            return authorizer.authorizeByResourceType(caller, operation, kind);
        }
        ResourcePattern resource = new ResourcePattern(kind, question.get(4).asText(), PatternType.LITERAL);
        return authorizer.authorize(caller, List.of(new Action(operation, resource, 1, true, true))).get(0);
    }
}
