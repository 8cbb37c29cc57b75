/* SPDX-License-Identifier: MIT */
/* Sources by name, and the packet sizes they share. */
#include <qossim/source.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const qs_source_ops *const qs_sources[] = {&qs_source_cbr, &qs_source_poisson, &qs_source_trace, NULL};

qs_status qs_source_init_ops(qs_source *source, const qs_source_ops *ops, const qs_spec *spec,
                             const qs_source_setup *setup)
{
    qs_value values[QS_PARAMS_MAX];
    char owner[128];
    snprintf(owner, sizeof owner, "flow \"%s\"", setup->flow);
    qs_status status = qs_params_read(ops->params, spec, values, owner, setup->why);
    if (status)
        return status;
    void *state = calloc(1, ops->state_size ? ops->state_size : 1);
    if (!state)
        return QS_ENOMEM;
    qs_source_setup with_values = *setup;
    with_values.values = values;
    status = ops->init(state, &with_values);
    if (status) {
        free(state);
        return status;
    }
    *source = (qs_source){ops, state};
    return QS_OK;
}

qs_status qs_source_init(qs_source *source, const qs_spec *spec, const qs_source_setup *setup)
{
    for (size_t i = 0; qs_sources[i]; i++)
        if (strcmp(qs_sources[i]->name, spec->kind) == 0)
            return qs_source_init_ops(source, qs_sources[i], spec, setup);
    return qs_error_set(setup->why, QS_EINVAL, "flow \"%s\": there is no source %s", setup->flow, spec->kind);
}

void qs_source_fini(qs_source *source)
{
    if (source->ops && source->ops->fini)
        source->ops->fini(source->state);
    free(source->state);
    *source = (qs_source){0};
}

static qs_status check_arrays(const qs_sizes *sizes, const qs_source_setup *setup)
{
    int64_t before = 0;
    for (size_t i = 0; i < sizes->count; i++) {
        if (sizes->sizes[i] < 1 || sizes->sizes[i] > 65535)
            return qs_error_set(setup->why, QS_EINVAL, "flow \"%s\": sizes must be 1 to 65535 byte, got %lld",
                                setup->flow, (long long)sizes->sizes[i]);
        if (sizes->cumulative[i] < before)
            return qs_error_set(setup->why, QS_EINVAL, "flow \"%s\": cumulative weights must not fall", setup->flow);
        before = sizes->cumulative[i];
    }
    if (before < 1)
        return qs_error_set(setup->why, QS_EINVAL, "flow \"%s\": weights must add up to at least 1", setup->flow);
    return QS_OK;
}

qs_status qs_sizes_init(qs_sizes *sizes, const qs_value values[3], const qs_source_setup *setup)
{
    const qs_value *one = &values[0], *several = &values[1], *weights = &values[2];
    if (one->given == several->given)
        return qs_error_set(setup->why, QS_EINVAL, "flow \"%s\": exactly one of size and sizes must be given",
                            setup->flow);
    if (one->given) {
        *sizes = (qs_sizes){.one = (uint32_t)one->value.whole};
        return QS_OK;
    }
    if (several->count == 0 || several->count != weights->count)
        return qs_error_set(setup->why, QS_EINVAL,
                            "flow \"%s\": sizes and weights must be of one length, at least 1, got %zu and %zu",
                            setup->flow, several->count, weights->count);
    if (!setup->rng)
        return qs_error_set(setup->why, QS_EINVAL, "flow \"%s\": drawing sizes needs a random stream", setup->flow);
    *sizes = (qs_sizes){0, several->array, weights->array, several->count};
    return check_arrays(sizes, setup);
}

uint32_t qs_sizes_choose(const qs_sizes *sizes, const qs_rng *rng)
{
    const int64_t x = (int64_t)qs_rng_below(rng, (uint64_t)sizes->cumulative[sizes->count - 1]);
    size_t low = 0, high = sizes->count - 1; /* the first whose cumulative weight is above x */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (sizes->cumulative[middle] > x)
            high = middle;
        else
            low = middle + 1;
    }
    return (uint32_t)sizes->sizes[low];
}
