/* SPDX-License-Identifier: MIT */
/* Queues by name. */
#include <qossim/queue.h>

#include <string.h>

const qs_queue_ops *const qs_queues[] = {&qs_queue_drop_tail, NULL};

static const qs_queue_ops *find_queue(const char *name)
{
    for (size_t i = 0; qs_queues[i]; i++)
        if (strcmp(qs_queues[i]->name, name) == 0)
            return qs_queues[i];
    return NULL;
}

qs_status qs_queue_init(qs_queue *q, const qs_spec *spec, qs_ratio rate, const char *owner, qs_error *why)
{
    const qs_queue_ops *ops = find_queue(spec->kind);
    if (!ops)
        return qs_error_set(why, QS_EINVAL, "%s: there is no queue %s", owner, spec->kind);
    qs_value values[QS_PARAMS_MAX];
    qs_status status = qs_params_read(ops->params, spec, values, owner, why);
    if (status)
        return status;
    qs_queue_limit limit;
    status = ops->limit(&limit, &(qs_queue_setup){values, rate, owner, why});
    if (status)
        return status;
    *q = (qs_queue){.limit = limit};
    return QS_OK;
}
