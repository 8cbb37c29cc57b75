/* SPDX-License-Identifier: MIT */
/*
 * Deficit round robin (Shreedhar and Varghese, "Efficient fair queuing using deficit round-robin", IEEE/ACM ToN 4,
 * 1996), lengths in IP bytes. The classes with a backlog stand in a round. The one at the front is visited: its
 * deficit grows by its quantum, once, and its packets go while they fit. When the next does not, the class keeps the
 * front until the next taking and then goes to the end, with its deficit; when it has none left, it leaves the round
 * and forfeits it.
 *
 * Deficits are integers in 1 / unit byte, the common denominator of the quanta. A quantum far below a packet's size
 * means many rounds in which nothing goes; they are counted, not walked.
 */
#include <qossim/sched.h>

#include "../engine/wide.h"

#include <stdlib.h>

typedef struct drr_class {
    qs_u128 quantum;
    qs_u128 deficit;
    uint32_t head; /* bytes of the oldest packet, 0 without one */
    uint32_t next; /* in the round */
    uint32_t previous;
} drr_class;

typedef struct drr_state {
    drr_class *classes;
    uint64_t unit;
    uint32_t front; /* NOBODY: the round is empty */
    bool visited;   /* the front has its quantum for this visit */
} drr_state;

#define NOBODY UINT32_MAX

enum { SMALLEST_QUANTUM = 1500 };

/* With bandwidths: in proportion to them, the smallest 1500 bytes. */
static qs_status quanta_from_bandwidths(drr_state *drr, const qs_sched_setup *setup)
{
    uint64_t *weights = malloc(setup->classes * sizeof *weights);
    if (!weights)
        return QS_ENOMEM;
    const qs_status status = qs_shares_weights(setup, weights);
    if (!status) {
        drr->unit = weights[0];
        for (size_t c = 1; c < setup->classes; c++)
            drr->unit = weights[c] < drr->unit ? weights[c] : drr->unit;
        for (size_t c = 0; c < setup->classes; c++)
            drr->classes[c].quantum = (qs_u128)weights[c] * SMALLEST_QUANTUM;
    }
    free(weights);
    return status;
}

static qs_status quanta_as_given(drr_state *drr, const qs_sched_setup *setup)
{
    qs_u128 unit = 1;
    for (size_t c = 0; c < setup->classes; c++) {
        const qs_ratio quantum = setup->shares[c].quantum;
        const double bytes = qs_ratio_double(quantum);
        if (!(bytes >= 1 && bytes <= 1e12))
            return qs_error_set(setup->why, QS_EINVAL, "%s: class %zu: quantum must be 1 to 1e12 byte, got %.16g",
                                setup->owner, c, bytes);
        unit = unit / qs__gcd((uint64_t)unit, quantum.per) * quantum.per;
        if (unit >> 62)
            return qs_error_set(setup->why, QS_ERANGE, "%s: the quanta have too many digits", setup->owner);
    }
    drr->unit = (uint64_t)unit;
    for (size_t c = 0; c < setup->classes; c++) {
        const qs_ratio quantum = setup->shares[c].quantum;
        drr->classes[c].quantum = unit * quantum.whole + unit / quantum.per * quantum.part;
    }
    return QS_OK;
}

static qs_status drr_init(void *state, const qs_sched_setup *setup)
{
    drr_state *drr = state;
    size_t given = 0;
    for (size_t c = 0; c < setup->classes; c++)
        given += setup->shares[c].quantum.per != 0;
    if (given && given != setup->classes)
        return qs_error_set(setup->why, QS_EINVAL, "%s: %zu of %zu classes have a quantum; all must, or none",
                            setup->owner, given, setup->classes);
    drr->classes = calloc(setup->classes, sizeof *drr->classes);
    if (!drr->classes)
        return QS_ENOMEM;
    drr->front = NOBODY;
    const qs_status status = given ? quanta_as_given(drr, setup) : quanta_from_bandwidths(drr, setup);
    if (status)
        free(drr->classes);
    return status;
}

static void drr_fini(void *state)
{
    free(((drr_state *)state)->classes);
}

static void join(drr_state *drr, uint32_t c)
{
    drr_class *classes = drr->classes;
    if (drr->front == NOBODY) {
        classes[c].next = classes[c].previous = c;
        drr->front = c;
        drr->visited = false;
        return;
    }
    const uint32_t last = classes[drr->front].previous;
    classes[c].previous = last;
    classes[c].next = drr->front;
    classes[last].next = classes[drr->front].previous = c;
}

static void leave(drr_state *drr, uint32_t c)
{
    drr_class *classes = drr->classes;
    classes[c].deficit = 0;
    classes[c].head = 0;
    classes[classes[c].previous].next = classes[c].next;
    classes[classes[c].next].previous = classes[c].previous;
    if (drr->front == c) {
        drr->front = classes[c].next == c ? NOBODY : classes[c].next;
        drr->visited = false;
    }
}

static void drr_enqueue(void *state, size_t c, qs_packet *p, bool first, qs_time now)
{
    drr_state *drr = state;
    (void)now;
    if (!first)
        return;
    drr->classes[c].head = p->size;
    join(drr, (uint32_t)c);
}

/* What class `c` lacks for its head, and how many quanta would bring it. */
static qs_u128 quanta_lacking(const drr_state *drr, uint32_t c)
{
    const drr_class *k = &drr->classes[c];
    const qs_u128 size = (qs_u128)k->head * drr->unit;
    return size <= k->deficit ? 0 : (size - k->deficit + k->quantum - 1) / k->quantum;
}

/*
 * Who is next, and after how many whole rounds. A class in the round that lacks k quanta has them when it is visited
 * for the k-th time, in round k - 1; the front, if it has had its quantum, in round k. The earliest round counts, and
 * in it the order of the round.
 */
static uint32_t next_class(const drr_state *drr, qs_u128 *rounds)
{
    uint32_t c = drr->front, best = c;
    qs_u128 lacking = quanta_lacking(drr, c);
    qs_u128 fewest = drr->visited || lacking == 0 ? lacking : lacking - 1;
    while (fewest && (c = drr->classes[c].next) != drr->front) {
        lacking = quanta_lacking(drr, c);
        const qs_u128 round = lacking ? lacking - 1 : 0;
        if (round < fewest) {
            fewest = round;
            best = c;
        }
    }
    *rounds = fewest;
    return best;
}

static size_t drr_select(const void *state, const qs_backlog *backlog)
{
    (void)backlog;
    qs_u128 rounds;
    return next_class(state, &rounds);
}

/* Moves on to the visit in which `winner` is next: every class gets the quanta of the visits it has until then. */
static void advance(drr_state *drr, uint32_t winner, qs_u128 rounds)
{
    drr_class *classes = drr->classes;
    if (rounds) {
        uint32_t c = drr->front;
        do {
            classes[c].deficit += rounds * classes[c].quantum;
            c = classes[c].next;
        } while (c != drr->front);
    }
    while (drr->front != winner) {
        if (!drr->visited)
            classes[drr->front].deficit += classes[drr->front].quantum;
        drr->front = classes[drr->front].next;
        drr->visited = false;
    }
    if (!drr->visited)
        classes[winner].deficit += classes[winner].quantum;
    drr->visited = true;
}

static void drr_dequeue(void *state, size_t c, qs_packet *p, qs_packet *rest)
{
    drr_state *drr = state;
    qs_u128 rounds;
    const uint32_t winner = next_class(drr, &rounds);
    advance(drr, winner, rounds);
    drr->classes[c].deficit -= (qs_u128)p->size * drr->unit;
    if (rest)
        drr->classes[c].head = rest->size;
    else
        leave(drr, (uint32_t)c);
}

/* All that a class had waiting came and is dropped in one instant: it leaves the round as if it had been taken. */
static void drr_retract(void *state, size_t c, qs_packet *p, qs_packet *rest)
{
    (void)p;
    if (!rest)
        leave(state, (uint32_t)c);
}

static const qs_param no_params[] = {{0}};

const qs_sched_ops qs_sched_drr = {
    .name = "drr",
    .summary = "Deficit round robin (Shreedhar and Varghese, 1996)",
    .params = no_params,
    .state_size = sizeof(drr_state),
    .init = drr_init,
    .fini = drr_fini,
    .enqueue = drr_enqueue,
    .select = drr_select,
    .dequeue = drr_dequeue,
    .retract = drr_retract,
};
