/* SPDX-License-Identifier: MIT */
/* Trace sources: every kind at every port, in order of time, with the packet as it then is. */
#include "scene.h"

/* What a callback was told, as text: "0:q1 0:r1 0:s1 1:e1". */
typedef struct diary {
    char text[2048];
    qs_time last;
    unsigned told;
} diary;

typedef struct page {
    diary *diary;
    qs_trace_kind kind;
} page;

static void note(void *context, qs_time now, const qs_packet *p)
{
    static const char letters[] = "qdrsex";
    const page *mine = context;
    diary *d = mine->diary;
    const size_t used = strlen(d->text);
    CHECK(now >= d->last);
    d->last = now;
    d->told++;
    snprintf(d->text + used, sizeof d->text - used, used ? " %g:%c%d" : "%g:%c%d", (double)now / (double)QS_SECOND,
             letters[mine->kind], (int)p->seq);
}

/* Attaches one diary to every kind at one port; the pages must live as long as the scene. */
static void attach(scene *s, size_t port, diary *d, page pages[QS_TRACE_KINDS])
{
    *d = (diary){.last = 0};
    for (unsigned kind = 0; kind < QS_TRACE_KINDS; kind++) {
        pages[kind] = (page){d, (qs_trace_kind)kind};
        scene_require(s, qs_sim_trace(s->sim, port, (qs_trace_kind)kind, note, &pages[kind]));
    }
}

static const int64_t times[] = {0, 0, 0, SECONDS(10)}, sizes[] = {1, 1, 1, 2};

static void build(scene *s, const qs_class_spec *klass, const qs_spec *ring, qs_time propagation)
{
    *s = scene_new(SECONDS(20));
    scene_port(s, &(qs_port_spec){.name = "x",
                                  .rate = QS_INT(8),
                                  .scheduler = BARE("fifo"),
                                  .ring = ring,
                                  .propagation = propagation,
                                  .classes = klass,
                                  .class_count = 1});
}

LAW(a_port_tells_every_station_of_a_packet_in_order_of_time)
{
    const qs_class_spec klass = {.name = "k", .queue = SPEC("drop-tail", NUMBER("packets", 1))};
    scene s;
    diary d;
    page pages[QS_TRACE_KINDS];
    build(&s, &klass, NULL, SECONDS(3));
    scene_flow(&s, "f", 0, ARRIVALS(times, sizes));
    attach(&s, 0, &d, pages);
    scene_run(&s);
    TEXT(d.text, "0:q0 0:q1 0:q2 0:r0 0:s0 0:d2 1:e0 1:r1 1:s1 2:e1 4:x0 5:x1 10:q3 10:r3 10:s3 12:e3 15:x3");
    scene_end(&s);
}

LAW(a_port_with_a_ring_tells_of_hand_over_and_start_apart)
{
    const qs_class_spec klass = {.name = "k"};
    scene s;
    diary d;
    page pages[QS_TRACE_KINDS];
    build(&s, &klass, SPEC("tx-ring", NUMBER("limit", 1)), 0);
    scene_flow(&s, "f", 0, ARRIVALS(times, sizes));
    attach(&s, 0, &d, pages);
    scene_run(&s);
    TEXT(d.text, "0:q0 0:q1 0:q2 0:r0 0:s0 0:r1 1:e0 1:x0 1:s1 1:r2 2:e1 2:x1 2:s2 3:e2 3:x2 10:q3 10:r3 10:s3 "
                 "12:e3 12:x3");
    scene_end(&s);
}

LAW(a_policer_drop_is_told_without_a_queueing)
{
    const qs_class_spec klass = {.name = "k", .policer = SPEC("token-bucket", NUMBER("rate", 0), NUMBER("burst", 1))};
    scene s;
    diary d;
    page pages[QS_TRACE_KINDS];
    build(&s, &klass, NULL, 0);
    scene_flow(&s, "f", 0, ARRIVALS(times, sizes));
    attach(&s, 0, &d, pages);
    scene_run(&s);
    TEXT(d.text, "0:q0 0:d1 0:d2 0:r0 0:s0 1:e0 1:x0 10:d3");
    scene_end(&s);
}

static void check_drop(void *context, qs_time now, const qs_packet *p)
{
    *(int *)context |= 1 << p->fate;
    EQUAL(p->received, -1);
    EQUAL(p->sent, now);
}

LAW(a_drop_says_its_reason)
{
    const qs_class_spec klass = {.name = "k",
                                 .queue = SPEC("drop-tail", NUMBER("packets", 0)),
                                 .policer = SPEC("token-bucket", NUMBER("rate", 0), NUMBER("burst", 2))};
    scene s;
    int fates = 0;
    build(&s, &klass, NULL, 0);
    scene_flow(&s, "f", 0, ARRIVALS(times, sizes));
    scene_require(&s, qs_sim_trace(s.sim, 0, QS_TRACE_DROPPED, check_drop, &fates));
    scene_run(&s);
    EQUAL(fates, 1 << QS_DROPPED_QUEUE | 1 << QS_DROPPED_POLICER);
    scene_end(&s);
}

static void check_received(void *context, qs_time now, const qs_packet *p)
{
    ++*(unsigned *)context;
    EQUAL(p->fate, QS_RECEIVED);
    EQUAL(p->received, now);
    EQUAL(p->hop, 1);
    for (int i = 0; i < 2; i++) {
        CHECK(p->hops[i].queued <= p->hops[i].ring && p->hops[i].ring <= p->hops[i].start);
        EQUAL(p->hops[i].end, p->hops[i].start + SECONDS((qs_time)p->size));
    }
    EQUAL(now, p->hops[1].end + SECONDS(1));
}

LAW(a_packet_is_received_at_its_last_port_only_and_brings_its_history)
{
    const qs_class_spec klass = {.name = "k"};
    const qs_port_spec more = {.name = "y", .rate = QS_INT(8), .scheduler = BARE("fifo"), .propagation = SECONDS(1)};
    scene s;
    unsigned first = 0, last = 0;
    build(&s, &klass, NULL, SECONDS(1));
    scene_port(&s, &more);
    scene_flow(&s, "f", 0, ARRIVALS(times, sizes));
    scene_require(&s, qs_sim_trace(s.sim, 0, QS_TRACE_RECEIVED, check_received, &first));
    scene_require(&s, qs_sim_trace(s.sim, 1, QS_TRACE_RECEIVED, check_received, &last));
    scene_run(&s);
    EQUAL(first, 0);
    EQUAL(last, 4);
    scene_end(&s);
}

static void append_a(void *context, qs_time now, const qs_packet *p)
{
    (void)now, (void)p;
    strcat(context, "a");
}

static void append_b(void *context, qs_time now, const qs_packet *p)
{
    (void)now, (void)p;
    strcat(context, "b");
}

LAW(callbacks_are_called_in_order_of_attachment)
{
    const qs_class_spec klass = {.name = "k"};
    char text[64] = "";
    scene s;
    build(&s, &klass, NULL, 0);
    scene_flow(&s, "f", 0, ARRIVALS(times, sizes));
    scene_require(&s, qs_sim_trace(s.sim, 0, QS_TRACE_END, append_b, text));
    scene_require(&s, qs_sim_trace(s.sim, 0, QS_TRACE_END, append_a, text));
    scene_require(&s, qs_sim_trace(s.sim, 0, QS_TRACE_END, append_b, text));
    scene_run(&s);
    TEXT(text, "babbabbabbab");
    scene_end(&s);
}

LAW(a_trace_changes_nothing_of_what_is_traced)
{
    const qs_class_spec klass = {.name = "k", .queue = SPEC("drop-tail", NUMBER("packets", 1))};
    scene plain, traced;
    diary d;
    page pages[QS_TRACE_KINDS];
    build(&plain, &klass, NULL, SECONDS(3));
    build(&traced, &klass, NULL, SECONDS(3));
    scene_flow(&plain, "f", 0, ARRIVALS(times, sizes));
    scene_flow(&traced, "f", 0, ARRIVALS(times, sizes));
    attach(&traced, 0, &d, pages);
    scene_run(&plain);
    scene_run(&traced);
    EQUAL(plain.rows.rows, traced.rows.rows);
    CHECK(memcmp(plain.rows.received, traced.rows.received, plain.rows.rows * sizeof(int64_t)) == 0);
    CHECK(memcmp(plain.rows.fate, traced.rows.fate, plain.rows.rows) == 0);
    scene_end(&plain);
    scene_end(&traced);
}

LAW(a_trace_needs_a_port_a_kind_and_a_function_and_comes_before_the_run)
{
    const qs_class_spec klass = {.name = "k"};
    unsigned count = 0;
    scene s;
    build(&s, &klass, NULL, 0);
    scene_flow(&s, "f", 0, ARRIVALS(times, sizes));
    STATUS(qs_sim_trace(s.sim, 1, QS_TRACE_END, check_received, &count), QS_EINVAL);
    STATUS(qs_sim_trace(s.sim, 0, QS_TRACE_KINDS, check_received, &count), QS_EINVAL);
    STATUS(qs_sim_trace(s.sim, 0, QS_TRACE_END, NULL, &count), QS_EINVAL);
    CHECK(*qs_sim_error(s.sim));
    scene_run(&s);
    STATUS(qs_sim_trace(s.sim, 0, QS_TRACE_END, check_received, &count), QS_ESTATE);
    scene_end(&s);
}
