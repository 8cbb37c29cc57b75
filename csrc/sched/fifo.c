/* SPDX-License-Identifier: MIT */
/* First in, first out over all classes: one list of everything that waits, in order of arrival. */
#include <qossim/sched.h>

typedef struct fifo_state {
    qs_packet *oldest;
    qs_packet *newest;
} fifo_state;

static void fifo_enqueue(void *state, size_t c, qs_packet *p, bool first, qs_time now)
{
    fifo_state *fifo = state;
    (void)c, (void)first, (void)now;
    p->older = fifo->newest;
    p->newer = NULL;
    if (fifo->newest)
        fifo->newest->newer = p;
    else
        fifo->oldest = p;
    fifo->newest = p;
}

static size_t fifo_select(const void *state, const qs_backlog *backlog)
{
    (void)backlog;
    return ((const fifo_state *)state)->oldest->klass;
}

static void unlink_packet(fifo_state *fifo, const qs_packet *p)
{
    if (p->older)
        p->older->newer = p->newer;
    else
        fifo->oldest = p->newer;
    if (p->newer)
        p->newer->older = p->older;
    else
        fifo->newest = p->older;
}

static void fifo_leave(void *state, size_t c, qs_packet *p, qs_packet *rest)
{
    (void)c, (void)rest;
    unlink_packet(state, p);
}

static const qs_param no_params[] = {{0}};

const qs_sched_ops qs_sched_fifo = {
    .name = "fifo",
    .summary = "First in, first out over all classes",
    .params = no_params,
    .state_size = sizeof(fifo_state),
    .enqueue = fifo_enqueue,
    .select = fifo_select,
    .dequeue = fifo_leave,
    .retract = fifo_leave,
};
