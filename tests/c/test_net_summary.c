/* SPDX-License-Identifier: MIT */
/* Summaries: what streams by while the run goes on is what the packets' rows say afterwards. */
#include "scene.h"

static const qs_time warmup = SECONDS(20);

/* Two ports, a queue that drops, a ring: every stage of the delay is there. */
static scene build(qs_record record)
{
    const qs_class_spec klass = {.name = "k", .queue = SPEC("drop-tail", NUMBER("packets", 3))};
    scene s = scene_with((qs_sim_config){.duration = SECONDS(2000), .warmup = warmup, .record = record});
    scene_port(&s, &(qs_port_spec){.name = "x",
                                   .rate = QS_INT(11),
                                   .scheduler = BARE("fifo"),
                                   .ring = SPEC("tx-ring", NUMBER("limit", 2)),
                                   .propagation = SECONDS(1) / 7,
                                   .classes = &klass,
                                   .class_count = 1});
    scene_port(&s, &(qs_port_spec){.name = "y", .rate = QS_INT(13), .scheduler = BARE("fifo"), .propagation = 5});
    scene_flow(&s, "f", 0, SPEC("cbr", RATIO("interval", SECONDS(20), 7), NUMBER("size", 3)));
    scene_flow(&s, "g", 0, SPEC("cbr", RATIO("interval", SECONDS(16), 5), NUMBER("size", 2)));
    scene_run(&s);
    return s;
}

static void check_stats(const qs_stats *got, const qs_time *values, size_t count)
{
    qs_i128 sum = 0;
    qs_time min = QS_NEVER, max = -QS_NEVER;
    for (size_t i = 0; i < count; i++) {
        sum += values[i];
        min = values[i] < min ? values[i] : min;
        max = values[i] > max ? values[i] : max;
    }
    EQUAL(got->count, count);
    EQUAL(got->min, min);
    EQUAL(got->max, max);
    CHECK(qs_stats_sum(got) == sum);
    CLOSE(qs_stats_mean(got), (double)sum / (double)count, 1e-3);
}

static void check_flow(const scene *rows, const scene *summary, size_t f)
{
    static qs_time delays[4096], ipdvs[4096];
    const qs_summary *got = qs_sim_summary(summary->sim, f);
    const qs_columns *c = &rows->rows;
    qs_stages stages[2] = {{0}};
    size_t received = 0, pairs = 0;
    for (size_t i = 0; i < c->rows; i++) {
        if ((size_t)c->flow[i] != f || c->sent[i] < warmup || c->received[i] < 0)
            continue;
        delays[received++] = c->received[i] - c->sent[i];
        if (i && c->flow[i - 1] == c->flow[i] && c->sent[i - 1] >= warmup && c->received[i - 1] >= 0)
            ipdvs[pairs++] = delays[received - 1] - delays[received - 2];
        for (size_t hop = 0; hop < 2; hop++) {
            stages[hop].queue += c->hops[hop].ring[i] - c->hops[hop].queued[i];
            stages[hop].ring += c->hops[hop].start[i] - c->hops[hop].ring[i];
            stages[hop].serialisation += c->hops[hop].end[i] - c->hops[hop].start[i];
            stages[hop].propagation += hop ? 5 : SECONDS(1) / 7;
        }
    }
    CHECK(pairs > 0 && pairs < received - 1); /* losses do leave holes */
    check_stats(&got->delay, delays, received);
    check_stats(&got->ipdv, ipdvs, pairs);
    EQUAL(got->hops, 2);
    qs_i128 all = 0;
    for (size_t hop = 0; hop < 2; hop++) {
        CHECK(qs_summary_stages(got, hop).queue == stages[hop].queue);
        CHECK(qs_summary_stages(got, hop).ring == stages[hop].ring);
        CHECK(qs_summary_stages(got, hop).serialisation == stages[hop].serialisation);
        CHECK(qs_summary_stages(got, hop).propagation == stages[hop].propagation);
        all += stages[hop].queue + stages[hop].ring + stages[hop].serialisation + stages[hop].propagation;
    }
    CHECK(all == qs_stats_sum(&got->delay));
}

LAW(a_summary_says_what_the_rows_say)
{
    scene rows = build(QS_RECORD_PACKETS), summary = build(QS_RECORD_SUMMARY);
    for (size_t f = 0; f < 2; f++)
        check_flow(&rows, &summary, f);
    EQUAL(summary.rows.rows, 0);
    scene_end(&rows);
    scene_end(&summary);
}

LAW(a_summary_of_a_flow_that_is_never_received_is_empty)
{
    static const int64_t zero[1], size[] = {5};
    const qs_class_spec klass = {.name = "k", .policer = SPEC("token-bucket", NUMBER("rate", 0), NUMBER("burst", 1))};
    scene s = scene_with((qs_sim_config){.duration = SECONDS(1), .record = QS_RECORD_SUMMARY});
    scene_port(&s, &(qs_port_spec){
                       .name = "x", .rate = QS_INT(8), .scheduler = BARE("fifo"), .classes = &klass, .class_count = 1});
    scene_flow(&s, "f", 0, ARRIVALS(zero, size));
    scene_run(&s);
    const qs_summary *got = qs_sim_summary(s.sim, 0);
    EQUAL(got->delay.count, 0);
    EQUAL(got->ipdv.count, 0);
    CHECK(isnan(qs_stats_mean(&got->delay)));
    scene_end(&s);
}
