/* SPDX-License-Identifier: MIT */
/* The simulation's state, shared by building (build.c), the loop (loop.c) and questions (net.c). */
#ifndef QOSSIM_NET_SIM_H
#define QOSSIM_NET_SIM_H

#include "../engine/pool.h"
#include "../port/port.h"
#include "names.h"

typedef struct qs_flow {
    qs_departure pending; /* `at` is QS_NEVER once the source has no more to say */
    qs_time stop;         /* the earlier of the flow's and the run's */
    uint64_t seq;     /* of the next packet to be sent */
    uint64_t awaited; /* of the packet behind the latest that counts and was received; 0: there was none */
    qs_source source;
    uint32_t *route;
    uint32_t *lines; /* by hop: among the inbound lines of the next port on the route */
    size_t hops;
    size_t slot; /* among the arrivals of its first port */
    qs_flow_counts counts;
    bool listens;
    bool told; /* has heard of a packet in this instant */
    bool own;  /* a source that is not one of ours */
    unsigned dscp;
    qs_time *propagation; /* by hop */
    char *name;
} qs_flow;

/* Who writes down what happens at one port. */
typedef struct qs_scribe {
    struct qs_sim *sim;
    qs_recorder *recorder;
    int port;
} qs_scribe;

struct qs_sim {
    qs_flow *flows;
    qs_port *ports;
    qs_port **order; /* ports such that none leads to one before it, if there is such an order */
    qs_pool pool;
    qs_time until; /* instants at or after it are not simulated */
    qs_time now;
    qs_time window;   /* how far a port runs ahead of those that it leads to */
    bool by_instants; /* all ports go through time together: routes that go in circles, traces, sources that listen */
    bool told;        /* a source has heard of a packet in this instant */
    bool measuring;   /* warm-up is over */
    bool measured;    /* and so is the duration */
    bool built;
    bool done;
    bool taken;
    qs_status status; /* sticky */
    size_t flow_count, flow_room;
    qs_names flow_names;
    size_t port_count, port_room;
    qs_recorder *recorder;
    qs_summary *summaries; /* by flow */
    qs_scribe *scribes; /* one per port, and one for reception */
    qs_line *leaving;   /* by hop: what is still under way when the run is over */
    size_t longest;     /* hops of the longest route */
    qs_sim_config config;
    qs_error why;
};

/* Resolves names, sizes pools, connects the recorder, asks each source for its first departure. */
qs_status qs__sim_build(qs_sim *sim) QS_NODISCARD;

/* Simulates up to about `budget` instants before `until`; true if the budget is used up. Failures are left in
 * sim->status. */
bool qs__sim_loop(qs_sim *sim, qs_time until, uint64_t budget);

/* The run is over: what is still under way is inside. */
void qs__sim_leave(qs_sim *sim);

void qs__sim_fail(qs_sim *sim, qs_status status);

#endif
