"""The broker's identity, and its defaults for topics."""

from moldau.core.settings.inert import JVM, ONE_LOOP
from moldau.core.settings.key import Importance, Scope, boolean, class_name, integer, string, strings
from moldau.core.settings.view import SettingsView

CLUSTER = Scope.CLUSTER
HIGH = Importance.HIGH
LOW = Importance.LOW


class IdentityKeys(SettingsView):
    node_id = integer(
        "node.id",
        1,
        "This broker's ID, unique in the cluster. `broker.id` is its older name.",
        at_least=0,
        importance=HIGH,
    )
    broker_id = integer(
        "broker.id",
        -1,
        "The older name of `node.id`. If both are set they must agree. With -1, a broker of a "
        "cluster has the ID in its `meta.properties`, or a generated one.",
        importance=HIGH,
    )
    broker_rack = string(
        "broker.rack",
        None,
        "The rack or zone of this broker. Given to clients, which may read from a replica nearby.",
    )
    controller_quota_window_num = integer(
        "controller.quota.window.num",
        11,
        "Samples kept for the quota on topic creation and deletion.",
        at_least=1,
        importance=LOW,
    )
    controller_quota_window_size_seconds = integer(
        "controller.quota.window.size.seconds",
        1,
        "Length of one such sample.",
        at_least=1,
        importance=LOW,
    )
    auto_create_topics_enable = boolean(
        "auto.create.topics.enable",
        True,
        "Whether asking for the metadata of a topic that does not exist creates it, with `num.partitions` "
        "and `default.replication.factor`.",
        importance=HIGH,
    )
    delete_topic_enable = boolean(
        "delete.topic.enable", True, "Whether topics may be deleted at all.", importance=HIGH
    )
    num_partitions = integer(
        "num.partitions",
        1,
        "How many partitions a new topic gets if the creator does not specify it.",
        at_least=1,
    )
    default_replication_factor = integer(
        "default.replication.factor",
        1,
        "How many replicas a new topic gets if the creator does not specify it.",
    )
    create_topic_policy_class_name = class_name(
        "create.topic.policy.class.name",
        None,
        "A class that may veto the creation of topics.",
        importance=LOW,
        inert=JVM,
    )
    alter_config_policy_class_name = class_name(
        "alter.config.policy.class.name",
        None,
        "A class that may veto changes of configuration.",
        importance=LOW,
        inert=JVM,
    )
    max_request_partition_size_limit = integer(
        "max.request.partition.size.limit",
        2000,
        "Most partitions one DescribeTopicPartitions answer holds.",
        at_least=1,
    )
    background_threads = integer(
        "background.threads",
        10,
        "Threads for background work.",
        at_least=1,
        scope=CLUSTER,
        importance=HIGH,
        inert=ONE_LOOP,
    )
    config_providers = strings(
        "config.providers",
        (),
        "Classes that read values of settings from other sources.",
        scope=CLUSTER,
        importance=LOW,
        inert=JVM,
    )
