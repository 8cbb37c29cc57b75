/* SPDX-License-Identifier: MIT */
/* What the tests of tag schedulers share: the textbook's sessions, and the rule by which tags are compared. */
#ifndef QOSSIM_TESTS_TAGS_H
#define QOSSIM_TESTS_TAGS_H

#include "exact.h"
#include "rig.h"

/* Bennett and Zhang 1996, figure 1: session 1 of weight 1/2, ten more of 1/20 each. */
static const qs_share bennett_zhang[11] = {
    {.bandwidth = {10, 0, 1}}, {.bandwidth = {1, 0, 1}}, {.bandwidth = {1, 0, 1}}, {.bandwidth = {1, 0, 1}},
    {.bandwidth = {1, 0, 1}},  {.bandwidth = {1, 0, 1}}, {.bandwidth = {1, 0, 1}}, {.bandwidth = {1, 0, 1}},
    {.bandwidth = {1, 0, 1}},  {.bandwidth = {1, 0, 1}}, {.bandwidth = {1, 0, 1}},
};

/* Eleven packets of session 1, `spacing` seconds apart, and one of each other session at 0; all of one byte. */
static inline const char *serve_bennett_zhang(rig *r, const qs_spec *spec, unsigned spacing)
{
    rig_arrival arrivals[21];
    size_t count = 0;
    arrivals[count++] = (rig_arrival){1, 0, 1};
    for (size_t c = 2; c <= 11; c++)
        arrivals[count++] = (rig_arrival){c, 0, 1};
    for (unsigned k = 1; k < 11; k++)
        arrivals[count++] = (rig_arrival){1, k * spacing, 1};
    rig_init(r, spec, bennett_zhang, 11, QS_INT(8));
    return rig_serve(r, arrivals, count);
}

/* Parekh and Gallager 1993, figure 2. */
static const rig_arrival parekh_gallager[] = {{2, 0, 3}, {1, 1, 1}, {1, 2, 1}, {1, 3, 2},
                                              {2, 5, 2}, {2, 9, 2}, {1, 11, 2}};

/* Golestani's late arrival: sessions 2 to 11 have two packets each from 0 on, session 1 one at 1. */
static inline const char *serve_late_arrival(rig *r, const qs_spec *spec)
{
    rig_arrival arrivals[21];
    size_t count = 0;
    for (int twice = 0; twice < 2; twice++)
        for (size_t c = 2; c <= 11; c++)
            arrivals[count++] = (rig_arrival){c, 0, 1};
    arrivals[count++] = (rig_arrival){1, 1, 1};
    rig_init(r, spec, bennett_zhang, 11, QS_INT(8));
    return rig_serve(r, arrivals, count);
}

/*
 * The class whose tag is best: a scan in declaration order that replaces the best only by one smaller by at least
 * 10^-6 bit, the difference times the smaller weight. Tags are in bits over weight.
 */
static inline size_t tags_best(const exact *tags, const uint64_t *weights, const bool *waiting, size_t classes)
{
    size_t best = QS_NO_CLASS;
    for (size_t c = 0; c < classes; c++) {
        if (!waiting[c])
            continue;
        if (best == QS_NO_CLASS) {
            best = c;
            continue;
        }
        if (exact_order(tags[c], tags[best]) >= 0)
            continue;
        const uint64_t smaller = weights[c] < weights[best] ? weights[c] : weights[best];
        const exact gap = exact_times(exact_difference(tags[best], tags[c]), smaller);
        if (exact_order(exact_times(gap, 1000000), exact_of(1)) >= 0)
            best = c;
    }
    return best;
}

/* Few classes or many. */
static inline size_t tags_classes(uint64_t *d)
{
    return dice_below(d, 2) ? dice_within(d, 1, 8) : dice_within(d, 9, RIG_CLASSES);
}

/* A weight up to the largest; 0 asks for weights that differ by millionths, so that tags do too. */
static inline uint64_t tags_weight(uint64_t *d, uint64_t largest)
{
    return largest ? dice_within(d, 1, largest) : 10000000 + dice_below(d, 40);
}

/* The tags of a class's packets in order of arrival; what left the queue before the latest one is forgotten. */
typedef struct tags_line {
    exact *tags;
    size_t first, count, room; /* tags[first] is the head's, tags[first - 1] that of the packet taken before it */
} tags_line;

static inline void tags_push(tags_line *line, exact tag)
{
    if (line->count == line->room && line->first > line->room / 2) {
        line->count -= line->first - 1;
        memmove(line->tags, line->tags + line->first - 1, line->count * sizeof *line->tags);
        line->first = 1;
    }
    if (line->count == line->room) {
        line->room = line->room ? 2 * line->room : 16;
        line->tags = realloc(line->tags, line->room * sizeof *line->tags);
        REQUIRE(line->tags);
    }
    line->tags[line->count++] = tag;
}

/* A tag scheduler as its paper writes it: a tag for every packet, and the smallest is served. */
typedef struct tags_model {
    size_t classes;
    uint64_t weights[RIG_CLASSES];
    tags_line lines[RIG_CLASSES];
    exact virtual_time;
} tags_model;

static inline void tags_fini(tags_model *m)
{
    for (size_t c = 0; c < m->classes; c++)
        free(m->lines[c].tags);
}

/* The tag of the packet of class `c` that came last, if any is remembered. */
static inline exact tags_latest(const tags_model *m, size_t c)
{
    const tags_line *line = &m->lines[c];
    return line->count ? line->tags[line->count - 1] : exact_of(0);
}

/* Tags a packet of class `c`: max(virtual time, tag of the one before) + length / weight. */
static inline void tags_offer(tags_model *m, size_t c, uint64_t bits)
{
    const exact before = tags_latest(m, c);
    const exact begin = exact_order(before, m->virtual_time) > 0 ? before : m->virtual_time;
    tags_push(&m->lines[c], exact_sum(begin, exact_over(exact_of(bits), m->weights[c])));
}

/* Takes a packet from the rig and holds it against the model; returns its tag. */
static inline exact tags_take(tags_model *m, rig *r)
{
    exact heads[RIG_CLASSES];
    bool waiting[RIG_CLASSES];
    for (size_t c = 0; c < m->classes; c++) {
        waiting[c] = r->queues[c].packets > 0;
        heads[c] = waiting[c] ? m->lines[c].tags[m->lines[c].first] : exact_of(0);
    }
    const size_t c = tags_best(heads, m->weights, waiting, m->classes);
    qs_packet *p = rig_take(r);
    REQUIRE(p);
    REQUIRE(p->klass == c);
    free(p);
    m->lines[c].first++;
    return heads[c];
}

static inline void tags_drop(tags_model *m, rig *r, size_t c)
{
    rig_drop(r, c);
    m->lines[c].count--;
}

#endif
