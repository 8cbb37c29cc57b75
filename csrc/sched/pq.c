/* SPDX-License-Identifier: MIT */
/* Strict priority: the first class, in order of declaration, that has something waiting. */
#include <qossim/sched.h>

static size_t pq_select(const void *state, const qs_backlog *backlog)
{
    (void)state;
    return qs_backlog_first(backlog);
}

static const qs_param no_params[] = {{0}};

const qs_sched_ops qs_sched_pq = {
    .name = "pq",
    .summary = "Strict priority, classes in order of declaration",
    .params = no_params,
    .select = pq_select,
};
