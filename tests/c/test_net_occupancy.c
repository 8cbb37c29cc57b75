/* SPDX-License-Identifier: MIT */
/* How much stands in queues and rings over time: areas from warm-up to duration, which are exact, and the most. */
#include "scene.h"

typedef struct window {
    qs_time duration, warmup;
    bool cut;
} window;

static scene open_scene(window w)
{
    return scene_with(
        (qs_sim_config){.duration = w.duration, .warmup = w.warmup, .cut = w.cut, .record = QS_RECORD_PACKETS});
}

/* An area in seconds times what it counts; its fraction of a second must be none. */
static int64_t in_seconds(qs_u128 area)
{
    CHECK(area % (qs_u128)QS_SECOND == 0);
    return (int64_t)(area / (qs_u128)QS_SECOND);
}

/* Sizes 1 to 5 at 0, a byte a second: of 2, 3, 4 and 5 bytes, four packets wait until 1, 3, 6 and 10 s. */
LAW(a_queues_area_counts_what_stands_from_warm_up_to_duration)
{
    static const int64_t zeros[5], sizes[] = {1, 2, 3, 4, 5};
    static const struct {
        window window;
        int64_t packets;
    } rows[] = {
        {{SECONDS(20), 0}, 20},
        {{SECONDS(10), 0}, 20},
        {{SECONDS(20), SECONDS(2)}, 13},
        {{SECONDS(5), SECONDS(2)}, 7}, /* three stand when the sources fall silent */
        {{SECONDS(5), SECONDS(2), .cut = true}, 7},
        {{SECONDS(3), SECONDS(3)}, 0},
        {{SECONDS(3), SECONDS(4)}, 0},
        {{SECONDS(3), SECONDS(4), .cut = true}, 0},
        {{SECONDS(20), SECONDS(10)}, 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        scene s = open_scene(rows[i].window);
        scene_port(&s, &(qs_port_spec){.name = "x", .rate = QS_INT(8), .scheduler = BARE("fifo")});
        scene_flow(&s, "f", 0, ARRIVALS(zeros, sizes));
        scene_run(&s);
        EQUAL(in_seconds(qs_sim_class_counts(s.sim, 0, 0)->queue_area), rows[i].packets);
        EQUAL(in_seconds(qs_sim_port_counts(s.sim, 0)->ring_area), 0);
        EQUAL(qs_sim_port_counts(s.sim, 0)->largest_ring, 0);
        scene_end(&s);
    }
}

/* At 0 the first goes on the wire, two wait, two are dropped; at 1/2 s one comes, and goes. */
LAW(what_its_queue_drops_has_not_waited)
{
    static const int64_t times[] = {0, 0, 0, 0, 0, SECONDS(1) / 2}, sizes[] = {1, 1, 1, 1, 1, 1};
    const qs_class_spec klass = {.name = "k", .queue = SPEC("drop-tail", NUMBER("packets", 2))};
    scene s = open_scene((window){SECONDS(20), 0});
    scene_port(&s, &(qs_port_spec){
                       .name = "x", .rate = QS_INT(8), .scheduler = BARE("fifo"), .classes = &klass, .class_count = 1});
    scene_flow(&s, "f", 0, ARRIVALS(times, sizes));
    scene_run(&s);
    TEXT(scene_fates(&s), "rrrqqq");
    EQUAL(in_seconds(qs_sim_class_counts(s.sim, 0, 0)->queue_area), 3);
    scene_end(&s);
}

/* The longest packets at a byte a second: the second waits 65535 s, the third and fourth two and three times that. */
LAW(areas_are_exact_beyond_64_bits)
{
    static const int64_t zeros[4], sizes[] = {65535, 65535, 65535, 65535};
    for (qs_time warmup = 0; warmup <= SECONDS(70000); warmup += SECONDS(70000)) {
        scene s = open_scene((window){SECONDS(1000000), warmup});
        scene_port(&s, &(qs_port_spec){.name = "x",
                                       .rate = QS_INT(8),
                                       .scheduler = BARE("fifo"),
                                       .ring = SPEC("tx-ring", NUMBER("limit", 1), NUMBER("particle", 1))});
        scene_flow(&s, "f", 0, ARRIVALS(zeros, sizes));
        scene_run(&s);
        const qs_class_counts *k = qs_sim_class_counts(s.sim, 0, 0);
        const int64_t in_queue = warmup ? 65535 * 2 - 70000 : 65535 * 3; /* one is in the ring, one on the wire */
        const int64_t in_ring = warmup ? 65535 * 3 - 70000 : 65535 * 3;
        EQUAL(in_seconds(k->queue_area), in_queue);
        EQUAL(in_seconds(qs_sim_port_counts(s.sim, 0)->ring_area), in_ring * 65535);
        scene_end(&s);
    }
}

/* 1, 2 and 3 particles at 0, one a second: they return with the first bit, with the last, or each with its byte. */
LAW(a_rings_area_follows_the_rule_by_which_particles_come_back)
{
    static const int64_t zeros[3], sizes[] = {1, 2, 3};
    static const struct {
        const char *rule;
        window window;
        int64_t area;
        uint64_t largest;
    } rows[] = {
        {"start", {SECONDS(20), 0}, 2 * 1 + 3 * 3, 5},
        {"end", {SECONDS(20), 0}, 1 * 1 + 2 * 3 + 3 * 6, 6},
        {"particle", {SECONDS(20), 0}, 1 + 2 + 3 + 4 + 5 + 6, 6},
        {"start", {SECONDS(4), SECONDS(2)}, 3, 3},
        {"end", {SECONDS(4), SECONDS(2)}, 2 + 3 * 2, 5},
        {"particle", {SECONDS(4), SECONDS(2)}, 4 + 3, 4},
        {"particle", {SECONDS(4), SECONDS(2), .cut = true}, 4 + 3, 4},
        {"end", {SECONDS(4), SECONDS(4)}, 0, 3},
        {"end", {SECONDS(4), SECONDS(4), .cut = true}, 0, 0},
        {"end", {SECONDS(4), SECONDS(100)}, 0, 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        scene s = open_scene(rows[i].window);
        scene_port(&s, &(qs_port_spec){.name = "x",
                                       .rate = QS_INT(8),
                                       .scheduler = BARE("fifo"),
                                       .ring = SPEC("tx-ring", NUMBER("limit", 9), NUMBER("particle", 1),
                                                    WORD("free", rows[i].rule))});
        scene_flow(&s, "f", 0, ARRIVALS(zeros, sizes));
        scene_run(&s);
        const qs_port_counts *port = qs_sim_port_counts(s.sim, 0);
        EQUAL(in_seconds(port->ring_area), rows[i].area);
        EQUAL(port->largest_ring, rows[i].largest);
        EQUAL(in_seconds(qs_sim_class_counts(s.sim, 0, 0)->queue_area), 0);
        scene_end(&s);
    }
}

LAW(what_goes_to_an_idle_wire_stands_in_no_ring)
{
    scene s = open_scene((window){SECONDS(100), 0});
    scene_port(&s, &(qs_port_spec){.name = "x",
                                   .rate = QS_INT(8),
                                   .scheduler = BARE("fifo"),
                                   .ring = SPEC("tx-ring", NUMBER("limit", 1), NUMBER("particle", 1))});
    scene_flow(&s, "f", 0, SPEC("cbr", NUMBER("interval", SECONDS(5)), NUMBER("size", 5)));
    scene_run(&s);
    EQUAL(in_seconds(qs_sim_port_counts(s.sim, 0)->ring_area), 0);
    EQUAL(qs_sim_port_counts(s.sim, 0)->largest_ring, 0);
    scene_end(&s);
}
