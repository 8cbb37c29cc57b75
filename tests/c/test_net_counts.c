/* SPDX-License-Identifier: MIT */
/* Counters: by flow, port and class, from warm-up on, and the identities between them. */
#include "scene.h"

static scene build(qs_time duration, qs_time warmup, const qs_class_spec *klass)
{
    scene s = scene_with((qs_sim_config){.duration = duration, .warmup = warmup, .record = QS_RECORD_PACKETS});
    scene_port(&s, &(qs_port_spec){.name = "x",
                                   .rate = QS_INT(8),
                                   .framing = SPEC("overhead", NUMBER("bytes", 1)),
                                   .scheduler = BARE("fifo"),
                                   .classes = klass,
                                   .class_count = klass ? 1 : 0});
    return s;
}

LAW(counts_leave_out_what_was_sent_before_warm_up)
{
    static const int64_t times[] = {0, SECONDS(4), SECONDS(5) - 1, SECONDS(5), SECONDS(9)};
    static const int64_t sizes[] = {1, 10, 100, 3, 4};
    scene s = build(SECONDS(10), SECONDS(5), NULL);
    scene_flow(&s, "f", 0, ARRIVALS(times, sizes));
    scene_run(&s);
    EQUAL(s.rows.rows, 5); /* the rows have them all */
    const qs_flow_counts *flow = qs_sim_flow_counts(s.sim, 0);
    EQUAL(flow->sent, 2);
    EQUAL(flow->sent_bytes, 7);
    EQUAL(flow->fates[QS_RECEIVED], 2);
    EQUAL(flow->received_bytes, 7);
    const qs_class_counts *k = qs_sim_class_counts(s.sim, 0, 0);
    EQUAL(k->offered, 2);
    EQUAL(k->offered_bytes, 7);
    EQUAL(k->sent, 2);
    EQUAL(k->sent_bytes, 7);
    const qs_port_counts *port = qs_sim_port_counts(s.sim, 0);
    EQUAL(port->sent, 2);
    EQUAL(port->sent_bytes, 7);
    EQUAL(port->wire_bits, 72);
    scene_check_identities(&s);
    scene_end(&s);
}

/* Two bytes of IP are three seconds on the wire, of a packet of one second each: received at 3 s, 6 s, ... 15 s. */
LAW(what_is_sent_from_warm_up_on_and_arrives_before_duration_is_delivered)
{
    static const int64_t times[] = {0, SECONDS(1), SECONDS(2), SECONDS(3), SECONDS(4)}, sizes[] = {2, 2, 2, 2, 2};
    static const struct {
        qs_time duration, warmup;
        bool cut;
        uint64_t delivered;
    } rows[] = {
        {SECONDS(20), 0, false, 10},
        {SECONDS(15), 0, false, 8}, /* received at `duration` is too late */
        {SECONDS(15) + 1, 0, false, 10},
        {SECONDS(12), SECONDS(2), false, 2}, /* of those sent at 2 s, 3 s and 4 s only the one that is there at 9 s */
        {SECONDS(12) + 1, SECONDS(2), false, 4},
        {SECONDS(12) + 1, SECONDS(2) + 1, false, 2},
        {SECONDS(12) + 1, SECONDS(2), true, 4},
        {SECONDS(3), 0, false, 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        scene s = scene_with((qs_sim_config){
            .duration = rows[i].duration, .warmup = rows[i].warmup, .cut = rows[i].cut, .record = QS_RECORD_NONE});
        scene_port(&s, &(qs_port_spec){.name = "x",
                                       .rate = QS_INT(8),
                                       .framing = SPEC("overhead", NUMBER("bytes", 1)),
                                       .scheduler = BARE("fifo")});
        scene_flow(&s, "f", 0, ARRIVALS(times, sizes));
        scene_run(&s);
        EQUAL(qs_sim_flow_counts(s.sim, 0)->delivered_bytes, rows[i].delivered);
        scene_end(&s);
    }
}

/* A byte each, all at 0: two are dropped, the others leave at 1 s, 2 s and 3 s and arrive 7 s later. */
LAW(what_is_in_flight_at_the_end_of_duration_is_not_delivered)
{
    static const int64_t zeros[5], sizes[] = {1, 1, 1, 1, 1};
    static const struct {
        qs_time duration, warmup;
        uint64_t delivered;
    } rows[] = {{SECONDS(8), 0, 0},  {SECONDS(8) + 1, 0, 1},       {SECONDS(9), 0, 1}, {SECONDS(20), 0, 3},
                {SECONDS(20), 1, 0}, {SECONDS(20), SECONDS(9), 0}, {1, 0, 0},          {SECONDS(7), SECONDS(8), 0}};
    const qs_class_spec klass = {.name = "k", .queue = SPEC("drop-tail", NUMBER("packets", 2))};
    for (size_t i = 0; i < 6 * COUNT(rows); i++) {
        const size_t row = i / 6;
        scene s = scene_with((qs_sim_config){
            .duration = rows[row].duration, .warmup = rows[row].warmup, .cut = i % 2, .record = (qs_record)(i % 3)});
        scene_port(&s, &(qs_port_spec){.name = "x",
                                       .rate = QS_INT(8),
                                       .scheduler = BARE("fifo"),
                                       .propagation = SECONDS(7),
                                       .classes = &klass,
                                       .class_count = 1});
        scene_flow(&s, "f", 0, ARRIVALS(zeros, sizes));
        scene_run(&s);
        EQUAL(qs_sim_flow_counts(s.sim, 0)->delivered_bytes, rows[row].delivered);
        scene_end(&s);
    }
}

LAW(counts_tell_drops_by_their_reasons)
{
    static const int64_t zeros[6], sizes[] = {1, 1, 1, 1, 1, 5};
    const qs_class_spec klass = {.name = "k",
                                 .queue = SPEC("drop-tail", NUMBER("packets", 2)),
                                 .policer = SPEC("token-bucket", NUMBER("rate", 0), NUMBER("burst", 6))};
    scene s = build(SECONDS(10), 0, &klass);
    scene_flow(&s, "f", 0, ARRIVALS(zeros, sizes));
    scene_run(&s);
    const qs_class_counts *k = qs_sim_class_counts(s.sim, 0, 0);
    EQUAL(k->offered, 6);
    EQUAL(k->offered_bytes, 10);
    EQUAL(k->dropped_policer, 1);
    EQUAL(k->dropped_queue, 2);
    EQUAL(k->sent, 3);
    const qs_flow_counts *flow = qs_sim_flow_counts(s.sim, 0);
    EQUAL(flow->fates[QS_DROPPED_POLICER], 1);
    EQUAL(flow->fates[QS_DROPPED_QUEUE], 2);
    EQUAL(flow->fates[QS_RECEIVED], 3);
    EQUAL(flow->received_bytes, 3);
    scene_check_identities(&s);
    scene_end(&s);
}

/* Two bytes on the wire every five seconds: 2/5 of the time. */
LAW(the_wire_is_busy_while_it_sends_between_warm_up_and_duration)
{
    static const struct {
        qs_time duration, warmup, busy;
    } rows[] = {
        {SECONDS(50), 0, SECONDS(20)},           {SECONDS(50), SECONDS(25), SECONDS(10)},
        {SECONDS(50), SECONDS(26), SECONDS(9)},   /* half of one that began before */
        {SECONDS(51), SECONDS(25), SECONDS(11)},  /* half of one that ends after */
        {SECONDS(48), SECONDS(47), 0},           {SECONDS(47) - 1, SECONDS(45) + 1, SECONDS(2) - 2},
        {SECONDS(50), SECONDS(60), 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        scene s = build(rows[i].duration, rows[i].warmup, NULL);
        scene_flow(&s, "f", 0, SPEC("cbr", NUMBER("interval", SECONDS(5)), NUMBER("size", 1)));
        scene_run(&s);
        EQUAL(qs_sim_port_counts(s.sim, 0)->busy, rows[i].busy);
        scene_end(&s);
    }
}

LAW(a_saturated_wire_is_busy_all_the_time)
{
    scene s = build(SECONDS(1000), SECONDS(10), NULL);
    scene_flow(&s, "f", 0, SPEC("cbr", RATIO("interval", SECONDS(10), 7), NUMBER("size", 1)));
    scene_run(&s);
    EQUAL(qs_sim_port_counts(s.sim, 0)->busy, SECONDS(990));
    scene_end(&s);
}

/* Five packets at 0, two bytes each on the wire: 4 wait from 0 on, 3 from 2 s on, 2 from 4 s on. */
LAW(the_largest_queue_is_what_waits_when_an_instant_is_over_from_warm_up_on)
{
    static const int64_t zeros[5], sizes[] = {1, 2, 3, 4, 5};
    static const struct {
        qs_time warmup;
        uint64_t packets, bytes;
    } rows[] = {{0, 4, 14},         {1, 4, 14},          {SECONDS(2) - 1, 4, 14}, {SECONDS(2), 3, 12},
                {SECONDS(5), 2, 9}, {SECONDS(14), 0, 0}, {SECONDS(100), 0, 0}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        scene s = build(SECONDS(200), rows[i].warmup, NULL);
        scene_flow(&s, "f", 0, ARRIVALS(zeros, sizes));
        scene_run(&s);
        const qs_class_counts *k = qs_sim_class_counts(s.sim, 0, 0);
        EQUAL(k->largest_queue, rows[i].packets);
        EQUAL(k->largest_queue_bytes, rows[i].bytes);
        EQUAL(k->offered, rows[i].warmup ? 0 : 5);
        scene_end(&s);
    }
}

/* The same packets: 4 wait for 2 s, 3 for 3 s, 2 for 4 s, 1 for 5 s. */
LAW(the_area_under_the_queue_is_that_between_warm_up_and_duration)
{
    static const int64_t zeros[5], sizes[] = {1, 2, 3, 4, 5};
    static const struct {
        qs_time duration, warmup, area;
    } rows[] = {{SECONDS(200), 0, SECONDS(30)},
                {SECONDS(200), SECONDS(5), SECONDS(13)},
                {SECONDS(7), SECONDS(1), SECONDS(17)},
                {SECONDS(1), 0, SECONDS(4)},
                {SECONDS(200), SECONDS(14), 0},
                {SECONDS(14), SECONDS(14) - 1, 1},
                {SECONDS(3), SECONDS(2), SECONDS(3)},
                {SECONDS(3), SECONDS(3), 0},
                {SECONDS(3), SECONDS(4), 0}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        scene s = build(rows[i].duration, rows[i].warmup, NULL);
        scene_flow(&s, "f", 0, ARRIVALS(zeros, sizes));
        scene_run(&s);
        CHECK(qs_sim_class_counts(s.sim, 0, 0)->queue_area == (qs_u128)rows[i].area);
        CHECK(qs_sim_port_counts(s.sim, 0)->ring_area == 0);
        EQUAL(qs_sim_port_counts(s.sim, 0)->largest_ring, 0);
        scene_end(&s);
    }
}

/* 100 packets wait for the first, the largest, which lasts 3 million seconds: more picoseconds than 64 bits hold. */
LAW(the_area_under_the_queue_has_more_than_64_bits)
{
    int64_t zeros[101] = {0}, sizes[101];
    for (size_t i = 0; i < COUNT(sizes); i++)
        sizes[i] = i ? 1 : 65535;
    scene s = scene_with((qs_sim_config){.duration = SECONDS(3000000), .cut = true, .record = QS_RECORD_NONE});
    scene_port(&s, &(qs_port_spec){.name = "x", .rate = QS_OVER(8 * 65535, 3000000), .scheduler = BARE("fifo")});
    scene_flow(&s, "f", 0, ARRIVALS(zeros, sizes));
    scene_run(&s);
    CHECK(qs_sim_class_counts(s.sim, 0, 0)->queue_area == (qs_u128)100 * SECONDS(3000000));
    scene_end(&s);
}

/* Of what is sent at 0 .. 9: 0 and 1 come through, then only every third. */
LAW(a_loss_period_is_a_longest_run_of_packets_lost_one_after_the_other)
{
    static const int64_t times[] = {0, 0, 0, 0, SECONDS(6), SECONDS(6), SECONDS(6), SECONDS(6), SECONDS(6)};
    static const int64_t sizes[] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    static const struct {
        qs_time warmup;
        uint64_t periods, longest;
    } rows[] = {{0, 2, 3}, {1, 1, 3}, {SECONDS(6), 1, 3}, {SECONDS(7), 0, 0}};
    const qs_class_spec klass = {.name = "k", .queue = SPEC("drop-tail", NUMBER("packets", 1))};
    for (size_t i = 0; i < COUNT(rows); i++) {
        scene s = build(SECONDS(10), rows[i].warmup, &klass);
        scene_flow(&s, "f", 0, ARRIVALS(times, sizes));
        scene_run(&s);
        EQUAL(qs_sim_flow_counts(s.sim, 0)->loss_periods, rows[i].periods);
        EQUAL(qs_sim_flow_counts(s.sim, 0)->longest_loss, rows[i].longest);
        scene_end(&s);
    }
}

LAW(the_largest_queue_does_not_count_what_is_dropped_at_the_end_of_its_instant)
{
    static const int64_t zeros[9], sizes[] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    const qs_class_spec klass = {.name = "k", .queue = SPEC("drop-tail", NUMBER("packets", 2))};
    scene s = build(SECONDS(10), 0, &klass);
    scene_flow(&s, "f", 0, ARRIVALS(zeros, sizes));
    scene_run(&s);
    EQUAL(qs_sim_class_counts(s.sim, 0, 0)->largest_queue, 2);
    scene_end(&s);
}

LAW(nothing_counts_in_a_run_that_is_cut_before_warm_up_is_over)
{
    static const int64_t zeros[5], sizes[] = {1, 2, 3, 4, 5};
    scene s = scene_with(
        (qs_sim_config){.duration = SECONDS(3), .warmup = SECONDS(4), .cut = true, .record = QS_RECORD_PACKETS});
    scene_port(&s, &(qs_port_spec){.name = "x", .rate = QS_INT(8), .scheduler = BARE("fifo")});
    scene_flow(&s, "f", 0, ARRIVALS(zeros, sizes));
    scene_run(&s);
    EQUAL(s.rows.rows, 5);
    EQUAL(qs_sim_flow_counts(s.sim, 0)->sent, 0);
    EQUAL(qs_sim_class_counts(s.sim, 0, 0)->largest_queue, 0);
    EQUAL(qs_sim_port_counts(s.sim, 0)->busy, 0);
    scene_end(&s);
}

LAW(counts_are_the_same_whatever_is_recorded)
{
    qs_flow_counts flows[3];
    qs_port_counts ports[3];
    qs_class_counts classes[3];
    for (unsigned record = 0; record < 3; record++) {
        const qs_class_spec klass = {.name = "k", .queue = SPEC("drop-tail", NUMBER("packets", 2))};
        scene s =
            scene_with((qs_sim_config){.duration = SECONDS(300), .warmup = SECONDS(7), .record = (qs_record)record});
        scene_port(&s,
                   &(qs_port_spec){
                       .name = "x", .rate = QS_INT(8), .scheduler = BARE("fifo"), .classes = &klass, .class_count = 1});
        scene_flow(&s, "f", 0, SPEC("cbr", RATIO("interval", SECONDS(20), 7), NUMBER("size", 3)));
        scene_flow(&s, "g", 0, SPEC("cbr", RATIO("interval", SECONDS(13), 2), NUMBER("size", 1)));
        scene_run(&s);
        CHECK((s.rows.rows > 0) == (record == QS_RECORD_PACKETS));
        CHECK((qs_sim_summary(s.sim, 0) != NULL) == (record == QS_RECORD_SUMMARY));
        flows[record] = *qs_sim_flow_counts(s.sim, 0);
        ports[record] = *qs_sim_port_counts(s.sim, 0);
        classes[record] = *qs_sim_class_counts(s.sim, 0, 0);
        CHECK(classes[record].dropped_queue > 0);
        scene_check_identities(&s);
        scene_end(&s);
    }
    for (int i = 1; i < 3; i++) {
        CHECK(memcmp(&flows[0], &flows[i], sizeof flows[0]) == 0);
        CHECK(memcmp(&ports[0], &ports[i], sizeof ports[0]) == 0);
        CHECK(memcmp(&classes[0], &classes[i], sizeof classes[0]) == 0);
    }
}
