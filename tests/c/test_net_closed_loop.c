/* SPDX-License-Identifier: MIT */
/* Sources that listen: a toy that keeps a window of packets under way hears of every delivery and every loss. */
#include "scene.h"

typedef struct toy {
    uint64_t ready; /* packets that may be sent */
    uint64_t left;  /* packets to be sent in all */
    qs_time at;     /* when the next may go */
    qs_time pause;  /* between news and the packet it allows */
    qs_time last;
    bool gives_up; /* a loss allows nothing */
} toy;

enum { TOY_WINDOW, TOY_TOTAL, TOY_PAUSE, TOY_GIVES_UP };

static const qs_param toy_params[] = {
    {"window", "", 0, 1000, QS_REQUIRED, "packets under way"},
    {"total", "", 1, 1e9, QS_REQUIRED, "packets in all"},
    {"pause", "ps", 0, 1e18, 0, "from news of a packet to the next"},
    {"gives-up", "", 0, 1, 0, "1: a lost packet is not replaced"},
    {0},
};

/* The simulation owns the states; the test looks at the latest through this. */
static char toy_news[4096];

static qs_status toy_init(void *state, const qs_source_setup *setup)
{
    *(toy *)state = (toy){.ready = setup->values[TOY_WINDOW].value.whole,
                          .left = setup->values[TOY_TOTAL].value.whole,
                          .pause = (qs_time)setup->values[TOY_PAUSE].value.whole,
                          .gives_up = setup->values[TOY_GIVES_UP].value.whole == 1,
                          .at = setup->start};
    toy_news[0] = '\0';
    return QS_OK;
}

static qs_departure toy_next(void *state)
{
    toy *t = state;
    if (!t->ready || !t->left)
        return (qs_departure){QS_NEVER, 0};
    t->ready--;
    t->left--;
    return (qs_departure){t->at, 1};
}

static qs_expectation toy_expect(const void *state, qs_time until)
{
    (void)until;
    return (qs_expectation){((const toy *)state)->left, false};
}

static void toy_told(void *state, const qs_packet *p, qs_fate fate, qs_time now)
{
    toy *t = state;
    const size_t used = strlen(toy_news);
    CHECK(now >= t->last);
    EQUAL(p->fate, fate);
    t->last = now;
    t->at = now + t->pause;
    t->ready += fate == QS_RECEIVED || !t->gives_up;
    snprintf(toy_news + used, sizeof toy_news - used, used ? " %g:%c%d" : "%g:%c%d", (double)now / (double)QS_SECOND,
             "irqp"[fate], (int)p->seq);
}

static const qs_source_ops toy_ops = {
    .name = "toy",
    .summary = "A window of packets",
    .params = toy_params,
    .state_size = sizeof(toy),
    .init = toy_init,
    .next = toy_next,
    .expect = toy_expect,
    .told = toy_told,
};

static void add_toy(scene *s, const char *name, const qs_spec *source)
{
    qs_flow_spec spec = scene_flow_spec(s, name, source);
    spec.ops = &toy_ops;
    scene_require(s, qs_sim_add_flow(s->sim, &spec));
}

static scene build(const qs_class_spec *klass, qs_time propagation)
{
    scene s = scene_new(SECONDS(100));
    scene_port(&s, &(qs_port_spec){.name = "x",
                                   .rate = QS_INT(8),
                                   .scheduler = BARE("fifo"),
                                   .propagation = propagation,
                                   .classes = klass,
                                   .class_count = klass ? 1 : 0});
    return s;
}

LAW(a_window_of_one_sends_when_its_packet_has_been_received)
{
    scene s = build(NULL, SECONDS(3));
    add_toy(&s, "f", SPEC("toy", NUMBER("window", 1), NUMBER("total", 4)));
    scene_run(&s);
    TEXT(scene_column(&s, s.rows.sent, QS_SECOND), "0 4 8 12");
    TEXT(toy_news, "4:r0 8:r1 12:r2 16:r3");
    scene_check_identities(&s);
    scene_end(&s);
}

LAW(a_window_of_one_sends_at_once_without_propagation)
{
    scene s = build(NULL, 0);
    add_toy(&s, "f", SPEC("toy", NUMBER("window", 1), NUMBER("total", 3)));
    scene_run(&s);
    TEXT(scene_column(&s, s.rows.sent, QS_SECOND), "0 1 2");
    TEXT(scene_column(&s, s.rows.hops[0].start, QS_SECOND), "0 1 2");
    scene_end(&s);
}

LAW(a_source_may_take_its_time)
{
    scene s = build(NULL, SECONDS(3));
    add_toy(&s, "f", SPEC("toy", NUMBER("window", 1), NUMBER("total", 3), NUMBER("pause", SECONDS(6))));
    scene_run(&s);
    TEXT(scene_column(&s, s.rows.sent, QS_SECOND), "0 10 20");
    scene_end(&s);
}

LAW(a_window_fills_a_long_line)
{
    scene s = build(NULL, SECONDS(3));
    add_toy(&s, "f", SPEC("toy", NUMBER("window", 4), NUMBER("total", 8)));
    scene_run(&s);
    TEXT(scene_column(&s, s.rows.sent, QS_SECOND), "0 0 0 0 4 5 6 7");
    TEXT(scene_column(&s, s.rows.hops[0].start, QS_SECOND), "0 1 2 3 4 5 6 7");
    scene_end(&s);
}

LAW(a_source_hears_of_a_packet_that_its_queue_drops)
{
    const qs_class_spec klass = {.name = "k", .queue = SPEC("drop-tail", NUMBER("packets", 1))};
    scene s = build(&klass, SECONDS(3));
    add_toy(&s, "f", SPEC("toy", NUMBER("window", 4), NUMBER("total", 6), NUMBER("gives-up", 1)));
    scene_run(&s);
    TEXT(scene_fates(&s), "rrqqrr");
    CONTAINS(toy_news, "0:q3");
    CONTAINS(toy_news, "0:q2");
    CONTAINS(toy_news, " 4:r0 5:r1 8:r4 9:r5");
    scene_end(&s);
}

LAW(a_source_hears_of_a_packet_that_a_policer_drops)
{
    const qs_class_spec klass = {.name = "k", .policer = SPEC("token-bucket", NUMBER("rate", 0), NUMBER("burst", 2))};
    scene s = build(&klass, SECONDS(3));
    add_toy(&s, "f", SPEC("toy", NUMBER("window", 1), NUMBER("total", 4), NUMBER("pause", SECONDS(1))));
    scene_run(&s);
    TEXT(toy_news, "4:r0 9:r1 10:p2 11:p3");
    TEXT(scene_column(&s, s.rows.sent, QS_SECOND), "0 5 10 11");
    scene_end(&s);
}

LAW(a_source_stops_at_the_end_whatever_it_hears)
{
    scene s = build(NULL, SECONDS(9));
    add_toy(&s, "f", SPEC("toy", NUMBER("window", 1), NUMBER("total", 1000)));
    scene_run(&s);
    EQUAL(s.rows.rows, 10); /* 0, 10 .. 90 s */
    scene_check_identities(&s);
    scene_end(&s);
}

LAW(open_and_closed_loops_share_a_port)
{
    scene s = build(NULL, 0);
    add_toy(&s, "closed", SPEC("toy", NUMBER("window", 1), NUMBER("total", 4)));
    scene_flow(&s, "open", 0, SPEC("cbr", NUMBER("interval", SECONDS(2)), NUMBER("size", 1)));
    scene_run(&s);
    /* At 0 both send, closed first; it is received at 1 s and waits for the open one until 2 s, and so on. */
    TEXT(toy_news, "1:r0 3:r1 5:r2 7:r3");
    scene_end(&s);
}

LAW(a_source_that_waits_for_news_before_it_sends_is_never_heard)
{
    scene s = build(NULL, 0);
    add_toy(&s, "f", SPEC("toy", NUMBER("window", 0), NUMBER("total", 4)));
    scene_run(&s);
    EQUAL(s.rows.rows, 0);
    scene_end(&s);
}

/* It would never end within an instant; each answer is an instant of its own, which a budget counts. */
LAW(a_source_that_answers_a_drop_at_once_can_be_interrupted)
{
    const qs_class_spec klass = {.name = "k", .policer = SPEC("token-bucket", NUMBER("rate", 0), NUMBER("burst", 0))};
    scene s = build(&klass, 0);
    add_toy(&s, "f", SPEC("toy", NUMBER("window", 1), NUMBER("total", 5)));
    bool done = true;
    STATUS(qs_sim_advance(s.sim, 2, &done), QS_OK);
    CHECK(!done);
    scene_run(&s);
    TEXT(toy_news, "0:p0 0:p1 0:p2 0:p3 0:p4");
    TEXT(scene_column(&s, s.rows.sent, QS_SECOND), "0 0 0 0 0");
    scene_check_identities(&s);
    scene_end(&s);
}

static qs_departure wild_next(void *state)
{
    toy *t = state;
    if (!t->left)
        return (qs_departure){QS_NEVER, 0};
    t->left--;
    return (qs_departure){t->left ? SECONDS(1) : t->pause, t->gives_up ? 0 : 1};
}

/* Of one packet at 1 s and one at `pause`; with gives-up, of no bytes. */
static qs_status run_wild(qs_time pause, unsigned empty)
{
    static qs_source_ops wild;
    wild = toy_ops;
    wild.next = wild_next;
    wild.told = NULL;
    scene s = build(NULL, 0);
    qs_flow_spec spec = scene_flow_spec(&s, "f",
                                        SPEC("wild", NUMBER("window", 1), NUMBER("total", 2),
                                             NUMBER("pause", (uint64_t)pause), NUMBER("gives-up", empty)));
    spec.ops = &wild;
    scene_require(&s, qs_sim_add_flow(s.sim, &spec));
    const qs_status status = qs_sim_run(s.sim);
    if (status)
        CONTAINS(qs_sim_error(s.sim), "departure");
    scene_end(&s);
    return status;
}

LAW(a_source_of_ones_own_may_not_send_nothing_or_in_the_past)
{
    STATUS(run_wild(SECONDS(2), 0), QS_OK);
    STATUS(run_wild(SECONDS(1) - 1, 0), QS_EINVAL);
    STATUS(run_wild(SECONDS(2), 1), QS_EINVAL);
}

LAW(a_source_of_ones_own_has_its_parameters_checked)
{
    scene s = build(NULL, 0);
    qs_flow_spec spec = scene_flow_spec(&s, "f", SPEC("toy", NUMBER("window", 1001), NUMBER("total", 1)));
    spec.ops = &toy_ops;
    STATUS(qs_sim_add_flow(s.sim, &spec), QS_EINVAL);
    CONTAINS(qs_sim_error(s.sim), "window");
    CONTAINS(qs_sim_error(s.sim), "1001");
    CONTAINS(qs_sim_error(s.sim), "flow \"f\"");
    scene_end(&s);
}
