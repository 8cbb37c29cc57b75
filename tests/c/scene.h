/* SPDX-License-Identifier: MIT */
/*
 * Whole simulations for tests: a scene is built port by port and flow by flow, run, and read by rows. Textbook scenes
 * run on links of 8 bit/s, on which a byte lasts a second.
 */
#ifndef QOSSIM_TESTS_SCENE_H
#define QOSSIM_TESTS_SCENE_H

#include "check.h"

enum { SCENE_PORTS = 8, SCENE_TEXT = 4096 };

#define SECONDS(n) ((n) * QS_SECOND)
#define MILLISECONDS(n) ((n) * (QS_SECOND / 1000))

typedef struct scene {
    qs_sim *sim;
    size_t ports;
    qs_columns rows; /* after scene_run of a scene that records packets */
    char text[SCENE_TEXT];
} scene;

static inline void scene_require(const scene *s, qs_status status)
{
    if (STATUS(status, QS_OK))
        return;
    printf("    %s\n", s->sim ? qs_sim_error(s->sim) : "");
    longjmp(checks.give_up, 1);
}

static inline scene scene_with(qs_sim_config config)
{
    scene s = {0};
    scene_require(&s, qs_sim_create(&s.sim, &config));
    return s;
}

/* Records packets and drains. */
static inline scene scene_new(qs_time duration)
{
    return scene_with((qs_sim_config){.duration = duration, .record = QS_RECORD_PACKETS});
}

static inline void scene_port(scene *s, const qs_port_spec *spec)
{
    scene_require(s, qs_sim_add_port(s->sim, spec));
    s->ports++;
}

/* A flow through all ports in order, unless the spec has a route; without a stop, unless the spec has one. */
static inline qs_flow_spec scene_flow_spec(const scene *s, const char *name, const qs_spec *source)
{
    static const uint32_t all[SCENE_PORTS] = {0, 1, 2, 3, 4, 5, 6, 7};
    return (qs_flow_spec){.name = name, .source = source, .route = all, .hops = s->ports, .stop = QS_NEVER};
}

static inline void scene_flow(scene *s, const char *name, unsigned dscp, const qs_spec *source)
{
    qs_flow_spec spec = scene_flow_spec(s, name, source);
    spec.dscp = dscp;
    scene_require(s, qs_sim_add_flow(s->sim, &spec));
}

/* Packets of given times (in picoseconds) and sizes. */
#define ARRIVALS(times, sizes) SPEC("trace", ARRAY("times", times, COUNT(times)), ARRAY("sizes", sizes, COUNT(sizes)))

static inline void scene_run(scene *s)
{
    scene_require(s, qs_sim_run(s->sim));
    qs_status status = qs_sim_take(s->sim, &s->rows);
    REQUIRE(status == QS_OK || status == QS_ESTATE);
}

static inline void scene_end(scene *s)
{
    qs_columns_fini(&s->rows);
    qs_sim_destroy(s->sim);
    *s = (scene){0};
}

/* ---- As text -------------------------------------------------------------------------------------------------- */

/* A column in milliseconds or seconds, "0 1.5 -"; a dash where there is nothing. */
static inline const char *scene_column(scene *s, const int64_t *column, qs_time unit)
{
    s->text[0] = '\0';
    for (size_t i = 0; i < s->rows.rows; i++) {
        const size_t used = strlen(s->text);
        if (column[i] < 0)
            snprintf(s->text + used, sizeof s->text - used, i ? " -" : "-");
        else
            snprintf(s->text + used, sizeof s->text - used, i ? " %.9g" : "%.9g", (double)column[i] / (double)unit);
    }
    return s->text;
}

/* The fates, one letter a row: received, queue, policer, inside. */
static inline const char *scene_fates(scene *s)
{
    size_t i = 0;
    for (; i < s->rows.rows && i + 1 < sizeof s->text; i++)
        s->text[i] = "irqp"[s->rows.fate[i]];
    s->text[i] = '\0';
    return s->text;
}

/* ---- What holds in every run ---------------------------------------------------------------------------------- */

/* offered = received + dropped + inside, for every flow and class; timestamps in order; no port sends two at once. */
static inline void scene_check_identities(const scene *s)
{
    for (size_t f = 0; f < qs_sim_flow_count(s->sim); f++) {
        const qs_flow_counts *counts = qs_sim_flow_counts(s->sim, f);
        uint64_t fates = 0;
        for (size_t fate = 0; fate < QS_FATES; fate++)
            fates += counts->fates[fate];
        EQUAL(counts->sent, fates);
    }
    for (size_t i = 0; i < qs_sim_port_count(s->sim); i++) {
        const qs_port_counts *port = qs_sim_port_counts(s->sim, i);
        uint64_t sent = 0, sent_bytes = 0;
        for (size_t c = 0; c < port->class_count; c++) {
            const qs_class_counts *k = qs_sim_class_counts(s->sim, i, c);
            EQUAL(k->offered, k->sent + k->dropped_queue + k->dropped_policer + k->inside);
            sent += k->sent;
            sent_bytes += k->sent_bytes;
        }
        EQUAL(port->sent, sent);
        EQUAL(port->sent_bytes, sent_bytes);
    }
}

#endif
