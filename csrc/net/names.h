/* SPDX-License-Identifier: MIT */
/* Flows by name: a hash table of their indices, so that a thousand flows are added in a thousand steps. */
#ifndef QOSSIM_NET_NAMES_H
#define QOSSIM_NET_NAMES_H

#include <qossim/engine.h>

typedef struct qs_names {
    uint32_t *slots; /* index + 1; 0: empty */
    const char **names;
    size_t room; /* of slots, a power of two, at least twice as many as names */
    size_t count;
} qs_names;

void qs__names_fini(qs_names *names);

/* Gives `name`, which is borrowed, the next index. The caller has seen that it is not there. */
qs_status qs__names_add(qs_names *names, const char *name) QS_NODISCARD;

/* The index of `name`, or SIZE_MAX. */
size_t qs__names_find(const qs_names *names, const char *name);

#endif
