/* Many connections, each sending one small request at a time; now and then one more that asks and never reads.
 *
 *   crowd PORT CONNECTIONS REQUESTS_PER_S SECONDS REQUEST_FILE SLOW_REQUEST_FILE SLOW_PER_S
 *
 * The files hold whole frames, length included; what is in them is the caller's business. Prints one line of JSON
 * with the latencies of the requests that are read.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "latencies.h"

enum {
    ANSWER_BYTES_MAX = 4096,
    SLOW_RECEIVE_BYTES = 4096,
    SLOW_REQUESTS = 8,
    EVENTS_MAX = 256,
    TIMER_SLACK_NS = 1000,
};

struct connection {
    int socket;
    uint64_t sent_ns;
    size_t received;
    bool is_waiting;
    char answer[ANSWER_BYTES_MAX];
};

struct frame {
    char *bytes;
    size_t size;
};

static void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("crowd: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

static struct frame read_frame(const char *path) {
    FILE *file = fopen(path, "rb");
    struct frame frame = {malloc(1 << 20), 0};
    if (!file)
        fail("cannot open %s: %s", path, strerror(errno));
    frame.size = fread(frame.bytes, 1, 1 << 20, file);
    fclose(file);
    return frame;
}

static int connect_to(int port, int receive_bytes) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int one = 1, number = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (receive_bytes)
        setsockopt(number, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes);
    if (number < 0 || connect(number, (struct sockaddr *)&address, sizeof address))
        fail("cannot connect to port %d: %s", port, strerror(errno));
    setsockopt(number, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    fcntl(number, F_SETFL, O_NONBLOCK);
    return number;
}

static void send_request(struct connection *connection, struct frame request) {
    connection->sent_ns = now_ns();
    connection->received = 0;
    connection->is_waiting = true;
    if (send(connection->socket, request.bytes, request.size, MSG_NOSIGNAL) != (ssize_t)request.size)
        fail("a request could not be sent: %s", strerror(errno));
}

static void read_answer(struct connection *connection) {
    ssize_t count = recv(connection->socket, connection->answer + connection->received,
                         ANSWER_BYTES_MAX - connection->received, 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (count <= 0)
        fail("the broker closed a connection: %s", count ? strerror(errno) : "end of stream");
    connection->received += (size_t)count;
    uint32_t size;
    memcpy(&size, connection->answer, sizeof size);
    if (connection->received < sizeof size || connection->received < ntohl(size) + sizeof size)
        return;
    record_latency(now_ns() - connection->sent_ns);
    connection->is_waiting = false;
}

/* Asks several times over and never reads: the broker's answers stay with the broker. */
static void open_slow_reader(int port, struct frame request) {
    int number = connect_to(port, SLOW_RECEIVE_BYTES);
    for (int i = 0; i < SLOW_REQUESTS; i++)
        if (send(number, request.bytes, request.size, MSG_NOSIGNAL) < 0)
            return;
}

int main(int count, char **arguments) {
    if (count != 8)
        fail("usage: crowd PORT CONNECTIONS REQUESTS_PER_S SECONDS REQUEST_FILE SLOW_REQUEST_FILE SLOW_PER_S");
    int port = atoi(arguments[1]), connections = atoi(arguments[2]);
    double rate = atof(arguments[3]), seconds = atof(arguments[4]), slow_rate = atof(arguments[7]);
    struct frame request = read_frame(arguments[5]), slow_request = read_frame(arguments[6]);
    struct connection *crowd = calloc((size_t)connections, sizeof *crowd);
    int poller = epoll_create1(0);
    prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS);
    for (int i = 0; i < connections; i++) {
        crowd[i].socket = connect_to(port, 0);
        epoll_ctl(poller, EPOLL_CTL_ADD, crowd[i].socket,
                  &(struct epoll_event){.events = EPOLLIN, .data.ptr = crowd + i});
    }
    uint64_t started_ns = now_ns(), sent = 0, skipped = 0, slow_readers = 0;
    for (double elapsed = 0; elapsed < seconds; elapsed = (double)(now_ns() - started_ns) / 1e9) {
        for (; (double)sent < elapsed * rate; sent++) {
            struct connection *next = crowd + sent % (uint64_t)connections;
            if (next->is_waiting)
                skipped++;
            else
                send_request(next, request);
        }
        for (; (double)slow_readers < elapsed * slow_rate; slow_readers++)
            open_slow_reader(port, slow_request);
        struct epoll_event events[EVENTS_MAX];
        double until_next_ns = ((double)(sent + 1) / rate - elapsed) * 1e9;
        struct timespec wait = {.tv_nsec = until_next_ns > 0 && until_next_ns < 1e9 ? (long)until_next_ns : 0};
        int ready = epoll_pwait2(poller, events, EVENTS_MAX, &wait, NULL);
        for (int i = 0; i < ready; i++)
            read_answer(events[i].data.ptr);
    }
    printf("{\"requests\": %lu, \"skipped\": %lu, \"slow_readers\": %lu", (unsigned long)latency_total,
           (unsigned long)skipped, (unsigned long)slow_readers);
    print_latencies();
    puts("}");
    return 0;
}
