/* Latencies, counted in buckets that grow with the value: each is within 1/128 of what was measured. */
#include <stdint.h>
#include <stdio.h>
#include <time.h>

enum { SUB_BITS = 7, SUB_COUNT = 1 << SUB_BITS, BUCKETS = 64 * SUB_COUNT };

static uint64_t latency_counts[BUCKETS], latency_total, latency_ns_max;

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void record_latency(uint64_t ns) {
    unsigned shift = ns < SUB_COUNT ? 0 : (unsigned)(63 - SUB_BITS - __builtin_clzll(ns));
    latency_counts[shift * SUB_COUNT + (ns >> shift)]++;
    latency_total++;
    if (ns > latency_ns_max)
        latency_ns_max = ns;
}

static double percentile_us(double fraction) {
    uint64_t seen = 0, wanted = (uint64_t)(fraction * (double)latency_total);
    for (unsigned bucket = 0; bucket < BUCKETS; bucket++) {
        seen += latency_counts[bucket];
        if (seen > wanted) {
            unsigned shift = bucket < 2 * SUB_COUNT ? 0 : bucket / SUB_COUNT - 1;
            return (double)((uint64_t)(bucket - shift * SUB_COUNT) << shift) / 1e3;
        }
    }
    return (double)latency_ns_max / 1e3;
}

/* As further fields of a JSON object; nothing where no latency was recorded. */
static void print_latencies(void) {
    if (latency_total)
        printf(", \"p50_us\": %.1f, \"p90_us\": %.1f, \"p99_us\": %.1f, \"p999_us\": %.1f, \"max_us\": %.1f",
               percentile_us(0.5), percentile_us(0.9), percentile_us(0.99), percentile_us(0.999),
               (double)latency_ns_max / 1e3);
}
