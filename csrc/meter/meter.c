/* SPDX-License-Identifier: MIT */
/* Meters by name. What every meter at a class has in common are the bytes it counts and when it acts. */
#include <qossim/meter.h>

#include <stdlib.h>
#include <string.h>

const qs_meter_ops *const qs_meters[] = {&qs_meter_token_bucket, NULL};

/* The rows that all meters share stand first in each table. */
enum { METER_COUNTS, METER_OVERHEAD, METER_WHEN };

static const qs_meter_ops *find_meter(const char *name)
{
    for (size_t i = 0; qs_meters[i]; i++)
        if (strcmp(qs_meters[i]->name, name) == 0)
            return qs_meters[i];
    return NULL;
}

qs_status qs_meter_init(qs_meter *meter, const qs_spec *spec, const char *owner, qs_error *why)
{
    const qs_meter_ops *ops = find_meter(spec->kind);
    if (!ops)
        return qs_error_set(why, QS_EINVAL, "%s: there is no meter %s", owner, spec->kind);
    qs_value values[QS_PARAMS_MAX];
    qs_status status = qs_params_read(ops->params, spec, values, owner, why);
    if (status)
        return status;
    void *state = calloc(1, ops->state_size);
    if (!state)
        return QS_ENOMEM;
    status = ops->init(state, values, owner, why);
    if (status) {
        free(state);
        return status;
    }
    *meter = (qs_meter){
        .ops = ops,
        .state = state,
        .counts_wire = values[METER_COUNTS].value.whole == 1,
        .only_in_congestion = values[METER_WHEN].value.whole == 1,
        .overhead = (uint32_t)values[METER_OVERHEAD].value.whole,
    };
    return QS_OK;
}

void qs_meter_fini(qs_meter *meter)
{
    free(meter->state);
    *meter = (qs_meter){0};
}
