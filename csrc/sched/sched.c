/* SPDX-License-Identifier: MIT */
/* Schedulers by name, and the weights that the fair ones share. */
#include <qossim/sched.h>

#include "../engine/wide.h"

#include <stdlib.h>
#include <string.h>

const qs_sched_ops *const qs_scheds[] = {
    &qs_sched_fifo, &qs_sched_pq, &qs_sched_wfq, &qs_sched_scfq, &qs_sched_drr, NULL,
};

static const qs_sched_ops *find_sched(const char *name)
{
    for (size_t i = 0; qs_scheds[i]; i++)
        if (strcmp(qs_scheds[i]->name, name) == 0)
            return qs_scheds[i];
    return NULL;
}

qs_status qs_sched_init(qs_sched *s, const qs_spec *spec, const qs_sched_setup *setup)
{
    const qs_sched_ops *ops = find_sched(spec->kind);
    if (!ops)
        return qs_error_set(setup->why, QS_EINVAL, "%s: there is no scheduler %s", setup->owner, spec->kind);
    if (setup->classes < 1 || setup->classes > QS_CLASSES_MAX)
        return qs_error_set(setup->why, QS_EINVAL, "%s: a scheduler has 1 to %d classes, got %zu", setup->owner,
                            QS_CLASSES_MAX, setup->classes);
    qs_value values[QS_PARAMS_MAX];
    qs_status status = qs_params_read(ops->params, spec, values, setup->owner, setup->why);
    if (status)
        return status;
    const size_t words = (setup->classes + 63) / 64;
    qs_sched sched = {.ops = ops, .backlog = {.words = calloc(words, sizeof(uint64_t)), .count = words}};
    sched.state = calloc(1, ops->state_size ? ops->state_size : 1);
    qs_sched_setup with_values = *setup;
    with_values.values = values;
    if (!sched.backlog.words || !sched.state)
        status = QS_ENOMEM;
    else if (ops->init)
        status = ops->init(sched.state, &with_values);
    if (status) {
        free(sched.backlog.words);
        free(sched.state);
        return status;
    }
    *s = sched;
    return QS_OK;
}

void qs_sched_fini(qs_sched *s)
{
    if (s->ops && s->ops->fini)
        s->ops->fini(s->state);
    free(s->backlog.words);
    free(s->state);
    *s = (qs_sched){0};
}

static qs_status weights_too_long(const qs_sched_setup *setup)
{
    return qs_error_set(setup->why, QS_ERANGE,
                        "%s: the bandwidths as whole numbers in the same proportion need more than 62 bits",
                        setup->owner);
}

/* The least common denominator of all bandwidths. */
static qs_status common_denominator(const qs_sched_setup *setup, uint64_t *common)
{
    qs_u128 lcm = 1;
    for (size_t c = 0; c < setup->classes; c++) {
        const qs_ratio bandwidth = setup->shares[c].bandwidth;
        if (!bandwidth.per || qs_ratio_double(bandwidth) <= 0)
            return qs_error_set(setup->why, QS_EINVAL, "%s: class %zu needs a bandwidth above 0 bit/s", setup->owner,
                                c);
        lcm = lcm / qs__gcd((uint64_t)lcm, bandwidth.per) * bandwidth.per;
        if (lcm >> 62)
            return weights_too_long(setup);
    }
    *common = (uint64_t)lcm;
    return QS_OK;
}

qs_status qs_shares_weights(const qs_sched_setup *setup, uint64_t *weights)
{
    uint64_t lcm = 1, common = 0;
    const qs_status status = common_denominator(setup, &lcm);
    if (status)
        return status;
    for (size_t c = 0; c < setup->classes; c++) {
        const qs_ratio bandwidth = setup->shares[c].bandwidth;
        uint64_t n;
        if (!qs__ratio_numerator(bandwidth, &n) || (qs_u128)n * (lcm / bandwidth.per) >> 62)
            return weights_too_long(setup);
        weights[c] = n * (lcm / bandwidth.per);
        common = qs__gcd(common, weights[c]);
    }
    for (size_t c = 0; c < setup->classes; c++)
        weights[c] /= common;
    return QS_OK;
}
