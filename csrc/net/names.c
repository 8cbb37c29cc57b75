/* SPDX-License-Identifier: MIT */
/* Flows by name: open addressing with linear probing; the hash is FNV-1a (Fowler, Noll and Vo). */
#include "names.h"

#include <stdlib.h>
#include <string.h>

enum { ROOM_FIRST = 16 };

static uint64_t hash(const char *name)
{
    uint64_t h = UINT64_C(0xCBF29CE484222325);
    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * UINT64_C(0x100000001B3);
    return h;
}

/* The slot of `name`, or the empty one where it would go. */
static size_t slot_of(const qs_names *names, const char *name)
{
    size_t slot = (size_t)hash(name) & (names->room - 1);
    while (names->slots[slot] && strcmp(names->names[names->slots[slot] - 1], name) != 0)
        slot = (slot + 1) & (names->room - 1);
    return slot;
}

static qs_status grow(qs_names *names)
{
    const size_t room = names->room ? 2 * names->room : ROOM_FIRST;
    uint32_t *slots = calloc(room, sizeof *slots);
    if (!slots)
        return QS_ENOMEM;
    const char **more = realloc(names->names, room / 2 * sizeof *more);
    if (!more) {
        free(slots);
        return QS_ENOMEM;
    }
    free(names->slots);
    *names = (qs_names){slots, more, room, names->count};
    for (size_t i = 0; i < names->count; i++)
        names->slots[slot_of(names, names->names[i])] = (uint32_t)i + 1;
    return QS_OK;
}

void qs__names_fini(qs_names *names)
{
    free(names->slots);
    free(names->names);
    *names = (qs_names){0};
}

qs_status qs__names_add(qs_names *names, const char *name)
{
    if (2 * (names->count + 1) > names->room && grow(names))
        return QS_ENOMEM;
    names->slots[slot_of(names, name)] = (uint32_t)names->count + 1;
    names->names[names->count++] = name;
    return QS_OK;
}

size_t qs__names_find(const qs_names *names, const char *name)
{
    if (!names->room)
        return SIZE_MAX;
    const uint32_t found = names->slots[slot_of(names, name)];
    return found ? found - 1 : SIZE_MAX;
}
