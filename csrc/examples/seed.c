/* SPDX-License-Identifier: MIT */
/*
 * The experiment qossim began with: an EF flow over two passes of a 2 Mbit/s ATM PVC, under fair queueing or strict
 * priority, with and without best-effort load on the first. Prints the one-way delay of packets sent from 5 s on.
 */
#include <qossim/qossim.h>

#include <stdio.h>
#include <stdlib.h>

#define SET(key, ...) {.name = key, .value = __VA_ARGS__}
#define SPEC(kind, ...)                                                                                                \
    &(qs_spec){kind, (qs_setting[]){__VA_ARGS__}, sizeof((qs_setting[]){__VA_ARGS__}) / sizeof(qs_setting)}

static void check(qs_status status, const qs_sim *sim)
{
    if (!status)
        return;
    fprintf(stderr, "%s: %s\n", qs_status_name(status), sim ? qs_sim_error(sim) : qs_status_text(status));
    exit(EXIT_FAILURE);
}

static void add_pvc(qs_sim *sim, const char *name, const char *scheduler)
{
    const qs_class_spec classes[] = {
        {.name = "EF",
         .match = UINT64_C(1) << 46,
         .share.bandwidth = QS_INT(400000),
         .queue = SPEC("drop-tail", SET("packets", QS_INT(10))),
         .policer = SPEC("token-bucket", SET("rate", QS_INT(400000)), SET("burst", QS_INT(8000)))},
        {.name = "BE", .share.bandwidth = QS_INT(1600000), .queue = SPEC("drop-tail", SET("packets", QS_INT(64)))},
    };
    const qs_port_spec pvc = {
        .name = name,
        .rate = QS_INT(2000000),
        .framing = &(qs_spec){"aal5", NULL, 0},
        .scheduler = &(qs_spec){scheduler, NULL, 0},
        .ring = SPEC("tx-ring", SET("limit", QS_INT(5))),
        .propagation = QS_SECOND / 1000000 * 691,
        .classes = classes,
        .class_count = 2,
    };
    check(qs_sim_add_port(sim, &pvc), sim);
}

static void run(const char *scheduler, bool best_effort)
{
    const qs_sim_config config = {.duration = 60 * QS_SECOND, .warmup = 5 * QS_SECOND, .record = QS_RECORD_SUMMARY};
    const uint32_t route[] = {0, 1};
    const qs_flow_spec ef = {
        .name = "EF",
        .source = SPEC("cbr", SET("interval", QS_OVER(8192 * (uint64_t)QS_SECOND, 300000)), SET("size", QS_INT(1006))),
        .dscp = 46,
        .route = route,
        .hops = 2,
        .stop = QS_NEVER,
    };
    const qs_flow_spec be = {
        .name = "BE",
        .source = SPEC("cbr", SET("interval", QS_INT(QS_SECOND / 200)), SET("size", QS_INT(1028))),
        .route = route,
        .hops = 1,
        .stop = QS_NEVER,
    };
    qs_sim *sim = NULL;
    check(qs_sim_create(&sim, &config), NULL);
    add_pvc(sim, "near", scheduler);
    add_pvc(sim, "far", scheduler);
    check(qs_sim_add_flow(sim, &ef), sim);
    if (best_effort)
        check(qs_sim_add_flow(sim, &be), sim);
    check(qs_sim_run(sim), sim);
    const qs_stats *delay = &qs_sim_summary(sim, 0)->delay;
    printf("%-4s  %-11s %9.3f %9.3f %9.3f\n", scheduler, best_effort ? "loaded" : "unloaded", (double)delay->min / 1e9,
           qs_stats_mean(delay) / 1e9, (double)delay->max / 1e9);
    qs_sim_destroy(sim);
}

int main(void)
{
    printf("EF one-way delay, ms        min      mean       max\n");
    run("scfq", false);
    run("scfq", true);
    run("pq", false);
    run("pq", true);
    return EXIT_SUCCESS;
}
