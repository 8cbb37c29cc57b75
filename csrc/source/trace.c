/* SPDX-License-Identifier: MIT */
/* Recorded or made-up arrivals: arrays of times, counted from the flow's start, and of sizes. */
#include <qossim/source.h>

typedef struct trace_state {
    const int64_t *times;
    const int64_t *sizes;
    size_t count;
    size_t next;
    qs_time start;
} trace_state;

enum { TRACE_TIMES, TRACE_SIZES };

static const qs_param trace_params[] = {
    {"times", "array", 0, 0, QS_REQUIRED, "departures from the flow's start on, in order, ps"},
    {"sizes", "array", 0, 0, QS_REQUIRED, "IP datagrams, byte"},
    {0},
};

static qs_status trace_init(void *state, const qs_source_setup *setup)
{
    trace_state *trace = state;
    const qs_value *times = &setup->values[TRACE_TIMES], *sizes = &setup->values[TRACE_SIZES];
    if (times->count != sizes->count)
        return qs_error_set(setup->why, QS_EINVAL,
                            "flow \"%s\": times and sizes must be of one length, got %zu and %zu", setup->flow,
                            times->count, sizes->count);
    int64_t before = 0;
    for (size_t i = 0; i < times->count; i++) {
        if (times->array[i] < before)
            return qs_error_set(setup->why, QS_EINVAL,
                                "flow \"%s\": times must not fall or be negative, got %lld ps after %lld", setup->flow,
                                (long long)times->array[i], (long long)before);
        if (sizes->array[i] < 1 || sizes->array[i] > 65535)
            return qs_error_set(setup->why, QS_EINVAL, "flow \"%s\": sizes must be 1 to 65535 byte, got %lld",
                                setup->flow, (long long)sizes->array[i]);
        before = times->array[i];
    }
    *trace = (trace_state){times->array, sizes->array, times->count, 0, setup->start};
    return QS_OK;
}

static qs_departure trace_next(void *state)
{
    trace_state *trace = state;
    if (trace->next == trace->count || trace->times[trace->next] >= QS_NEVER - trace->start)
        return (qs_departure){QS_NEVER, 0};
    const size_t i = trace->next++;
    return (qs_departure){trace->start + trace->times[i], (uint32_t)trace->sizes[i]};
}

static qs_expectation trace_expect(const void *state, qs_time until)
{
    const trace_state *trace = state;
    size_t low = 0, high = trace->count; /* the first departure that is too late */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (trace->times[middle] < until - trace->start)
            low = middle + 1;
        else
            high = middle;
    }
    return (qs_expectation){low, true};
}

const qs_source_ops qs_source_trace = {
    .name = "trace",
    .summary = "Arrays of times and sizes",
    .params = trace_params,
    .state_size = sizeof(trace_state),
    .init = trace_init,
    .next = trace_next,
    .expect = trace_expect,
};
