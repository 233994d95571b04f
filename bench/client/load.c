/* The one client of every race: load on a Kafka broker through librdkafka, so that the client costs little.
 *
 *   load produce|consume|latency|end-to-end|version key=value ...
 *
 * Prints one line of JSON. Ends with code 1 and a sentence on standard error when anything was not delivered.
 */
#define _GNU_SOURCE
#include <librdkafka/rdkafka.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "latencies.h"

enum {
    PRODUCE_CHUNK = 500,
    PAYLOAD_POOL_BYTES = 4 << 20,
    FLUSH_TIMEOUT_MS = 60000,
    METADATA_TIMEOUT_MS = 60000,
    METADATA_RETRY_US = 20000,
    ALL_READ_LOOK_US = 20000,
    SILENCE_MS_MAX = 30000,
    BURST_INTERVAL_NS = 1000000,
    TIMER_SLACK_NS = 1000,
    WARM_BYTES_MAX = 2000000000,
    MESSAGE_BYTES = 200, /* that librdkafka keeps beside a record, about */
    PAGE_BYTES = 4096,
};

static struct {
    const char *brokers, *topic, *acks, *codec, *idempotence, *linger_ms, *batch_bytes, *batch_records,
        *requests_in_flight_max, *ca;
    long records, record_bytes, partitions, in_flight, rate, seconds, warmup_seconds;
} options = {
    .brokers = "",
    .topic = "",
    .acks = "all",
    .codec = "none",
    .idempotence = "false",
    .linger_ms = "5",
    .batch_bytes = "1000000",
    .batch_records = "10000",
    .requests_in_flight_max = "1000000",
    .ca = "",
    .records = 1000000,
    .record_bytes = 100,
    .partitions = 1,
    .in_flight = 1,
    .rate = 1000,
    .seconds = 10,
    .warmup_seconds = 1,
};

static void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("load: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    _exit(1);
}

static double cpu_seconds(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* What a run is measured by; the line that is printed. */

static struct {
    uint64_t started_ns;
    double started_cpu;
} run;

static void start_clock(void) {
    run.started_cpu = cpu_seconds();
    run.started_ns = now_ns();
}

static void report(const char *mode, uint64_t records, uint64_t bytes) {
    double seconds = (double)(now_ns() - run.started_ns) / 1e9;
    printf("{\"mode\": \"%s\", \"records\": %lu, \"bytes\": %lu, \"seconds\": %.6f, \"cpu_seconds\": %.6f", mode,
           (unsigned long)records, (unsigned long)bytes, seconds, cpu_seconds() - run.started_cpu);
    print_latencies();
    printf(", \"librdkafka\": \"%s\"}\n", rd_kafka_version_str());
}

/* Records of which half is fresh noise and half the same text in each: close to 2:1 for lz4, once batched. */

static char *payload_pool;

static void fill_payload_pool(void) {
    static const char text[] =
        "{\"station\": \"Vltava, Praha - Chuchle\", \"quality\": \"good\", \"discharge_m3_s\": 148.";
    uint64_t state = 0x9e3779b97f4a7c15u;
    long half = options.record_bytes / 2;
    payload_pool = malloc(PAYLOAD_POOL_BYTES + (size_t)options.record_bytes);
    for (long i = 0; i < PAYLOAD_POOL_BYTES + options.record_bytes; i++) {
        long place = i % options.record_bytes;
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        payload_pool[i] = place < half ? text[place % (long)(sizeof text - 1)] : (char)(state >> 32);
    }
}

static char *payload(uint64_t index) {
    uint64_t distinct = (uint64_t)(PAYLOAD_POOL_BYTES / options.record_bytes);
    return payload_pool + index % (distinct ? distinct : 1) * (uint64_t)options.record_bytes;
}

/* Memory that the client asks for while it falls behind would have to be found by the kernel page by page: a run of
 * the same broker takes three times as long then, or not, as chance has it. So it is found before the clock starts. */
static void warm_memory(void) {
    size_t wanted = (size_t)options.records * (size_t)(options.record_bytes + MESSAGE_BYTES);
    size_t size = wanted < WARM_BYTES_MAX ? wanted : WARM_BYTES_MAX;
    char *memory = malloc(size);
    for (size_t page = 0; page < size; page += PAGE_BYTES)
        memory[page] = 1;
    free(memory);
}

/* librdkafka's handles. */

static void set(rd_kafka_conf_t *conf, const char *name, const char *value) {
    char error[512];
    if (rd_kafka_conf_set(conf, name, value, error, sizeof error) != RD_KAFKA_CONF_OK)
        fail("%s=%s: %s", name, value, error);
}

static void on_error(rd_kafka_t *client, int code, const char *reason, void *opaque) {
    (void)client, (void)opaque;
    if (code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN)
        fail("%s: %s", options.brokers, reason);
}

static rd_kafka_t *new_client(rd_kafka_type_t type, rd_kafka_conf_t *conf) {
    char error[512];
    set(conf, "bootstrap.servers", options.brokers);
    set(conf, "socket.nagle.disable", "true");
    if (*options.ca) {
        set(conf, "security.protocol", "ssl");
        set(conf, "ssl.ca.location", options.ca);
    }
    rd_kafka_conf_set_error_cb(conf, on_error);
    rd_kafka_t *client = rd_kafka_new(type, conf, error, sizeof error);
    if (!client)
        fail("%s", error);
    return client;
}

typedef void delivery_callback(rd_kafka_t *, const rd_kafka_message_t *, void *);

static void on_failed_delivery(rd_kafka_t *client, const rd_kafka_message_t *message, void *opaque) {
    (void)client, (void)opaque;
    if (message->err)
        fail("a record was not delivered: %s", rd_kafka_err2str(message->err));
}

static rd_kafka_t *new_producer(delivery_callback *callback, const char *batch_records, bool only_errors) {
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    set(conf, "acks", options.acks);
    set(conf, "compression.codec", options.codec);
    set(conf, "enable.idempotence", options.idempotence);
    set(conf, "linger.ms", options.linger_ms);
    set(conf, "batch.size", options.batch_bytes);
    set(conf, "batch.num.messages", batch_records);
    set(conf, "max.in.flight.requests.per.connection", options.requests_in_flight_max);
    set(conf, "queue.buffering.max.messages", "500000");
    set(conf, "delivery.report.only.error", only_errors ? "true" : "false");
    rd_kafka_conf_set_dr_msg_cb(conf, callback);
    return new_client(RD_KAFKA_PRODUCER, conf);
}

/* The client reads ahead as far as it can: its default pauses a partition for a second when its queue is full. */
static rd_kafka_t *new_consumer(void) {
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    set(conf, "queued.min.messages", "10000000");
    set(conf, "queued.max.messages.kbytes", "2097151");
    return new_client(RD_KAFKA_CONSUMER, conf);
}

static int known_partitions(rd_kafka_t *client, rd_kafka_topic_t *topic) {
    const struct rd_kafka_metadata *metadata;
    rd_kafka_resp_err_t error = rd_kafka_metadata(client, 0, topic, &metadata, METADATA_TIMEOUT_MS);
    if (error)
        fail("no metadata of %s: %s", options.topic, rd_kafka_err2str(error));
    int count = metadata->topic_cnt && !metadata->topics[0].err ? metadata->topics[0].partition_cnt : 0;
    rd_kafka_metadata_destroy(metadata);
    return count;
}

/* Returns when the client knows the topic's partitions: connecting is not what is measured. Kafka answers that a
 * topic was created before its brokers know of it. */
static rd_kafka_topic_t *open_topic(rd_kafka_t *client) {
    rd_kafka_topic_t *topic = rd_kafka_topic_new(client, options.topic, NULL);
    uint64_t deadline_ns = now_ns() + METADATA_TIMEOUT_MS * 1000000ull;
    int count;
    while ((count = known_partitions(client, topic)) < options.partitions) {
        if (now_ns() > deadline_ns)
            fail("%s has %d partitions, not %ld", options.topic, count, options.partitions);
        usleep(METADATA_RETRY_US);
    }
    return topic;
}

static void flush(rd_kafka_t *producer) {
    if (rd_kafka_flush(producer, FLUSH_TIMEOUT_MS))
        fail("%d records not acknowledged within %d ms", rd_kafka_outq_len(producer), FLUSH_TIMEOUT_MS);
}

static rd_kafka_queue_t *consume_all_partitions(rd_kafka_t *consumer, rd_kafka_topic_t *topic) {
    rd_kafka_queue_t *queue = rd_kafka_queue_new(consumer);
    for (int32_t partition = 0; partition < options.partitions; partition++)
        if (rd_kafka_consume_start_queue(topic, partition, RD_KAFKA_OFFSET_BEGINNING, queue))
            fail("cannot consume %s-%d: %s", options.topic, partition, rd_kafka_err2str(rd_kafka_last_error()));
    return queue;
}

/* produce: as many records as the client can send, in its batches. */

static void produce_chunk(rd_kafka_t *producer, rd_kafka_topic_t *topic, uint64_t first, int count) {
    rd_kafka_message_t messages[PRODUCE_CHUNK];
    size_t size = (size_t)options.record_bytes;
    int32_t partition = (int32_t)(first / PRODUCE_CHUNK % (uint64_t)options.partitions);
    for (int i = 0; i < count; i++)
        messages[i] = (rd_kafka_message_t){.payload = payload(first + (uint64_t)i), .len = size};
    for (int done = 0; done < count;) {
        int taken = rd_kafka_produce_batch(topic, partition, 0, messages + done, count - done);
        done += taken;
        if (done < count && messages[done].err != RD_KAFKA_RESP_ERR__QUEUE_FULL)
            fail("cannot produce: %s", rd_kafka_err2str(messages[done].err));
        rd_kafka_poll(producer, done < count ? 1 : 0);
    }
}

static void produce(void) {
    warm_memory();
    rd_kafka_t *producer = new_producer(on_failed_delivery, options.batch_records, true);
    rd_kafka_topic_t *topic = open_topic(producer);
    fill_payload_pool();
    start_clock();
    for (long sent = 0; sent < options.records; sent += PRODUCE_CHUNK) {
        long left = options.records - sent;
        produce_chunk(producer, topic, (uint64_t)sent, (int)(left < PRODUCE_CHUNK ? left : PRODUCE_CHUNK));
    }
    flush(producer);
    report("produce", (uint64_t)options.records, (uint64_t)(options.records * options.record_bytes));
}

/* consume: every partition from its beginning, until the wanted number of records has come. */

static struct {
    uint64_t records, bytes;
} consumed;

static void count_record(rd_kafka_message_t *message, void *opaque) {
    (void)opaque;
    if (message->err)
        fail("cannot consume: %s", rd_kafka_message_errstr(message));
    consumed.records++;
    consumed.bytes += message->len;
}

static void consume(void) {
    warm_memory();
    rd_kafka_t *consumer = new_consumer();
    rd_kafka_topic_t *topic = open_topic(consumer);
    start_clock();
    rd_kafka_queue_t *queue = consume_all_partitions(consumer, topic);
    while (consumed.records < (uint64_t)options.records)
        if (rd_kafka_consume_callback_queue(queue, SILENCE_MS_MAX, count_record, NULL) <= 0)
            fail("nothing came for %d ms, after %lu records", SILENCE_MS_MAX, (unsigned long)consumed.records);
    report("consume", consumed.records, consumed.bytes);
}

/* latency: one record a request, a fixed number of requests under way. */

static struct {
    rd_kafka_topic_t *topic;
    long sent, acknowledged;
} exchange;

static void send_one(uint64_t *sent_ns) {
    *sent_ns = now_ns();
    int32_t partition = (int32_t)(exchange.sent % options.partitions);
    if (rd_kafka_produce(exchange.topic, partition, 0, payload((uint64_t)exchange.sent), (size_t)options.record_bytes,
                         NULL, 0, sent_ns))
        fail("cannot produce: %s", rd_kafka_err2str(rd_kafka_last_error()));
    exchange.sent++;
}

static void on_acknowledged(rd_kafka_t *client, const rd_kafka_message_t *message, void *opaque) {
    on_failed_delivery(client, message, opaque);
    exchange.acknowledged++;
    record_latency(now_ns() - *(uint64_t *)message->_private);
    if (exchange.sent < options.records)
        send_one(message->_private);
}

static void latency(void) {
    options.linger_ms = "0";
    rd_kafka_t *producer = new_producer(on_acknowledged, "1", false);
    exchange.topic = open_topic(producer);
    uint64_t *sent_ns = calloc((size_t)options.in_flight, sizeof *sent_ns);
    fill_payload_pool();
    start_clock();
    for (long i = 0; i < options.in_flight && i < options.records; i++)
        send_one(sent_ns + i);
    while (exchange.acknowledged < options.records)
        rd_kafka_poll(producer, 100);
    report("latency", (uint64_t)exchange.acknowledged, (uint64_t)(exchange.acknowledged * options.record_bytes));
}

/* end-to-end: a fixed rate; each record carries when it was handed to the producer. Before that each partition gets a
 * record without a time: once they are all there, every partition is being read. librdkafka asks for the beginning of
 * each partition on its own, and while it is busy fetching the first of them, the last may wait for seconds. */

struct stamp {
    uint64_t run_id, sent_ns;
};

static struct {
    uint64_t run_id, measured_from_ns;
    uint64_t received, expected;
    long partitions_read;
} arrivals;

static void on_arrival(rd_kafka_message_t *message, void *opaque) {
    struct stamp stamp;
    (void)opaque;
    if (message->err)
        fail("cannot consume: %s", rd_kafka_message_errstr(message));
    memcpy(&stamp, message->payload, sizeof stamp);
    if (stamp.run_id != arrivals.run_id)
        return;
    if (!stamp.sent_ns) {
        __atomic_fetch_add(&arrivals.partitions_read, 1, __ATOMIC_RELEASE);
        return;
    }
    if (stamp.sent_ns >= arrivals.measured_from_ns)
        record_latency(now_ns() - stamp.sent_ns);
    arrivals.received++;
}

static void *receive(void *opaque) {
    rd_kafka_t *consumer = opaque;
    rd_kafka_queue_t *queue = consume_all_partitions(consumer, open_topic(consumer));
    while (arrivals.received < arrivals.expected)
        if (rd_kafka_consume_callback_queue(queue, SILENCE_MS_MAX, on_arrival, NULL) <= 0)
            fail("nothing came for %d ms, after %lu of %lu records", SILENCE_MS_MAX,
                 (unsigned long)arrivals.received, (unsigned long)arrivals.expected);
    return NULL;
}

static void send_stamped(rd_kafka_t *producer, rd_kafka_topic_t *topic, char *record, uint64_t index,
                         uint64_t sent_ns) {
    struct stamp stamp = {arrivals.run_id, sent_ns};
    int32_t partition = (int32_t)(index % (uint64_t)options.partitions);
    size_t size = (size_t)options.record_bytes;
    memcpy(record, payload(index), size);
    memcpy(record, &stamp, sizeof stamp);
    while (rd_kafka_produce(topic, partition, RD_KAFKA_MSG_F_COPY, record, size, NULL, 0, NULL)) {
        if (rd_kafka_last_error() != RD_KAFKA_RESP_ERR__QUEUE_FULL)
            fail("cannot produce: %s", rd_kafka_err2str(rd_kafka_last_error()));
        rd_kafka_poll(producer, 1);
    }
}

static void wait_until_all_are_read(rd_kafka_t *producer, rd_kafka_topic_t *topic) {
    char *record = malloc((size_t)options.record_bytes);
    for (long partition = 0; partition < options.partitions; partition++)
        send_stamped(producer, topic, record, (uint64_t)partition, 0);
    flush(producer);
    while (__atomic_load_n(&arrivals.partitions_read, __ATOMIC_ACQUIRE) < options.partitions)
        usleep(ALL_READ_LOOK_US); /* The receiver gives up when nothing comes any more. */
    free(record);
}

/* Each record at its time; above some 20,000 a second, those of a millisecond at once. */
static void send_at_rate(rd_kafka_t *producer, rd_kafka_topic_t *topic) {
    char *record = malloc((size_t)options.record_bytes);
    double interval_ns = 1e9 / (double)options.rate;
    uint64_t started_ns = now_ns();
    for (uint64_t sent = 0; sent < arrivals.expected;) {
        uint64_t due = (uint64_t)((double)(now_ns() - started_ns) / interval_ns);
        for (; sent < due && sent < arrivals.expected; sent++)
            send_stamped(producer, topic, record, sent, now_ns());
        rd_kafka_poll(producer, 0);
        uint64_t wake_ns = started_ns + (uint64_t)((double)(sent + 1) * interval_ns);
        if (interval_ns < BURST_INTERVAL_NS / 20)
            wake_ns += BURST_INTERVAL_NS;
        struct timespec wake = {(time_t)(wake_ns / 1000000000u), (long)(wake_ns % 1000000000u)};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, NULL);
    }
    flush(producer);
}

static void end_to_end(void) {
    pthread_t receiver;
    rd_kafka_t *producer = new_producer(on_failed_delivery, options.batch_records, true);
    rd_kafka_topic_t *topic = open_topic(producer);
    if (options.record_bytes < (long)sizeof(struct stamp))
        fail("a record of %ld bytes cannot carry its %zu-byte stamp", options.record_bytes, sizeof(struct stamp));
    fill_payload_pool();
    arrivals.run_id = now_ns() ^ (uint64_t)getpid() << 48;
    arrivals.expected = (uint64_t)(options.rate * (options.seconds + options.warmup_seconds));
    pthread_create(&receiver, NULL, receive, new_consumer());
    wait_until_all_are_read(producer, topic);
    start_clock();
    arrivals.measured_from_ns = now_ns() + (uint64_t)options.warmup_seconds * 1000000000u;
    send_at_rate(producer, topic);
    pthread_join(receiver, NULL);
    report("end-to-end", arrivals.received, arrivals.received * (uint64_t)options.record_bytes);
}

/* The command line. */

static void read_option(const char *argument) {
    const struct {
        const char *name;
        const char **text;
        long *number;
    } known[] = {
        {"brokers", &options.brokers, NULL},
        {"topic", &options.topic, NULL},
        {"acks", &options.acks, NULL},
        {"codec", &options.codec, NULL},
        {"idempotence", &options.idempotence, NULL},
        {"linger-ms", &options.linger_ms, NULL},
        {"batch-bytes", &options.batch_bytes, NULL},
        {"batch-records", &options.batch_records, NULL},
        {"requests-in-flight-max", &options.requests_in_flight_max, NULL},
        {"ca", &options.ca, NULL},
        {"records", NULL, &options.records},
        {"record-bytes", NULL, &options.record_bytes},
        {"partitions", NULL, &options.partitions},
        {"in-flight", NULL, &options.in_flight},
        {"rate", NULL, &options.rate},
        {"seconds", NULL, &options.seconds},
        {"warmup-seconds", NULL, &options.warmup_seconds},
    };
    const char *equals = strchr(argument, '=');
    size_t length = equals ? (size_t)(equals - argument) : 0;
    for (size_t i = 0; equals && i < sizeof known / sizeof *known; i++) {
        if (strlen(known[i].name) != length || strncmp(known[i].name, argument, length))
            continue;
        if (known[i].text)
            *known[i].text = equals + 1;
        else if ((*known[i].number = strtol(equals + 1, NULL, 10)) < 0)
            fail("%s: a number that is not negative is needed", argument);
        return;
    }
    fail("unknown option %s", argument);
}

static void version(void) {
    puts(rd_kafka_version_str());
}

int main(int count, char **arguments) {
    const struct {
        const char *name;
        void (*run)(void);
    } modes[] = {
        {"produce", produce},
        {"consume", consume},
        {"latency", latency},
        {"end-to-end", end_to_end},
        {"version", version},
    };
    for (int i = 2; i < count; i++)
        read_option(arguments[i]);
    prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS);
    for (size_t i = 0; count > 1 && i < sizeof modes / sizeof *modes; i++) {
        if (strcmp(modes[i].name, arguments[1]))
            continue;
        modes[i].run();
        fflush(stdout);
        _exit(0); /* The handles go with the process: closing them politely takes a second and proves nothing. */
    }
    fail("usage: load produce|consume|latency|end-to-end|version key=value ...");
}
