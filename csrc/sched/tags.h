/* SPDX-License-Identifier: MIT */
/*
 * Tags: what the disciplines that sort by virtual time share. A packet of L bits in a class of weight w has the tags
 *
 *     start = max(virtual time, finish of the class's packet before), finish = start + L / w,
 *
 * and the smallest finish is next. Virtual time is counted in bits of the class with the smallest weight, 68 binary
 * digits before the point, which hold what a link can send until the clock ends, and 124 behind it: what rounding adds
 * up to in 10^9 packets is still far below what decides.
 *
 * Tags whose difference times the smaller weight is under 10^-6 bit are equal, and then the class declared first is
 * next: the result is that of a scan in order of declaration that replaces the best only by one smaller by more.
 */
#ifndef QOSSIM_SCHED_TAGS_H
#define QOSSIM_SCHED_TAGS_H

#include "../engine/wide.h"

#include <qossim/sched.h>

/* Binary digits behind the point of the high part of a tag; its low part has 64 more. */
#define QS_TAG_POINT 60

typedef struct qs_tagged {
    qs_tag per_bit; /* what a bit adds */
    qs_tag newest;  /* finish tag of the newest packet that waits or, without one, of the last handed over */
    qs_tag handed;  /* finish tag of the last packet handed over */
    uint64_t weight;
} qs_tagged;

/* In a part of the classes: the least key, the first class that has it, and the least key above it. */
typedef struct qs_key_node {
    uint64_t least;
    uint64_t klass;
    uint64_t above;
} qs_key_node;

/*
 * Heads in short, for many classes: (high part - base) / 2^20 to the nearest, in 64 bits, under a binary tree. What is
 * equal but for rounding has nearly always one key. If the next key is larger by more than `gap`, then all others are
 * larger by more, and the first class with the least key is next. Else, and where the weights are too far apart, the
 * tags themselves are scanned.
 */
typedef struct qs_keys {
    qs_key_node *tree; /* [1] is the root, [leaves + c] class c; UINT64_MAX where a class has no head */
    size_t leaves;     /* 0: not in use */
    qs_u128 base;
    uint64_t gap;
} qs_keys;

typedef struct qs_tags {
    qs_tagged *classes;
    qs_tag *heads; /* finish tag of each class's oldest packet, where there is one */
    qs_tag *equal; /* differences below this are none, where the class has the smaller weight */
    qs_keys keys;
    size_t count;
    uint64_t smallest; /* weight */
} qs_tags;

qs_status qs__tags_init(qs_tags *tags, const qs_sched_setup *setup) QS_NODISCARD;
void qs__tags_fini(qs_tags *tags);

/* Tags `p`, of `bits`, that joins class `c` at virtual time `now`. */
void qs__tags_enqueue(qs_tags *tags, size_t c, qs_packet *p, bool first, uint64_t bits, qs_tag now);

/* The class with the smallest head tag, by the rule above. */
size_t qs__tags_select(const qs_tags *tags, const qs_backlog *backlog);

void qs__tags_dequeue(qs_tags *tags, size_t c, qs_packet *p, const qs_packet *rest);
void qs__tags_retract(qs_tags *tags, size_t c, const qs_packet *rest);

#endif
