/* SPDX-License-Identifier: MIT */
/* Tags of the disciplines that sort by virtual time. */
#include "tags.h"

#include <stdlib.h>

/* numerator / weight in tags; the numerator, with its binary digits behind the point, is below 2^126. */
static qs_tag over_weight(qs_u128 numerator, uint64_t weight)
{
    return (qs_tag){numerator / weight, (uint64_t)(((numerator % weight) << 64) / weight)};
}

/* What rounding may have added up to, in 2^-124 bit: that far below 10^-6 bit a difference counts as just that. */
#define ROUNDING ((uint64_t)1 << 44)

static void scale_class(qs_tags *tags, size_t c, uint64_t weight)
{
    qs_tagged *t = &tags->classes[c];
    t->weight = weight;
    t->per_bit = over_weight((qs_u128)tags->smallest << QS_TAG_POINT, weight);
    const qs_tag millionth = qs__tag_ratio(t->per_bit, 1, 1000000), rounding = {0, ROUNDING};
    tags->equal[c] = qs__tag_less(rounding, millionth) ? qs__tag_difference(millionth, rounding) : millionth;
}

/* ---- Heads in short ------------------------------------------------------------------------------------------- */

enum { KEY_SHIFT = 20, FEW_CLASSES = 8 };

#define NO_KEY UINT64_MAX

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Of two parts of the classes together; `b_first`: those of `b` stand before those of `a`. No branch: it would be
 * mispredicted half the time. */
static qs_key_node least_of(qs_key_node a, qs_key_node b, bool b_first)
{
    const bool same = a.least == b.least, b_wins = b.least < a.least || (same && b_first);
    const uint64_t larger = b_wins ? a.least : b.least, loser_above = b_wins ? a.above : b.above;
    return (qs_key_node){
        .least = b_wins ? b.least : a.least,
        .klass = b_wins ? b.klass : a.klass,
        .above = smaller(b_wins ? b.above : a.above, same ? loser_above : larger),
    };
}

static void set_key(qs_keys *keys, size_t c, uint64_t key)
{
    qs_key_node *tree = keys->tree, node = {.least = key, .klass = c, .above = NO_KEY};
    size_t i = keys->leaves + c;
    for (; i > 1; i /= 2) {
        tree[i] = node;
        node = least_of(node, tree[i ^ 1], i % 2);
    }
    tree[1] = node;
}

static bool has_key(const qs_keys *keys, size_t c)
{
    return keys->tree[keys->leaves + c].least != NO_KEY;
}

/* NO_KEY - 1 if it is out of reach. */
static uint64_t key_of(const qs_keys *keys, qs_tag tag)
{
    const qs_u128 key = (tag.high - keys->base + ((qs_u128)1 << (KEY_SHIFT - 1))) >> KEY_SHIFT;
    return key < NO_KEY ? (uint64_t)key : NO_KEY - 1;
}

/* Takes the smallest head as the new base. What is then still out of reach has the largest key; before the smallest
 * key comes near it, the base moves again. */
static void rebase(qs_tags *tags)
{
    qs_keys *keys = &tags->keys;
    qs_u128 base = 0;
    bool any = false;
    for (size_t c = 0; c < tags->count; c++) {
        if (!has_key(keys, c))
            continue;
        base = any && base < tags->heads[c].high ? base : tags->heads[c].high;
        any = true;
    }
    keys->base = base;
    for (size_t c = 0; c < tags->count; c++)
        if (has_key(keys, c))
            set_key(keys, c, key_of(keys, tags->heads[c]));
}

/* A head that is below the base, or far above it, moves the base. */
static void set_head(qs_tags *tags, size_t c, qs_tag tag)
{
    qs_keys *keys = &tags->keys;
    tags->heads[c] = tag;
    if (!keys->leaves)
        return;
    const uint64_t key = key_of(keys, tag);
    if (QS_LIKELY(tag.high >= keys->base && key < NO_KEY / 2)) {
        set_key(keys, c, key);
        return;
    }
    set_key(keys, c, 0); /* anything but NO_KEY */
    rebase(tags);
}

static void clear_head(qs_tags *tags, size_t c)
{
    if (tags->keys.leaves)
        set_key(&tags->keys, c, NO_KEY);
}

/* The first class with the least key, or QS_NO_CLASS when the tags must be looked at. */
static size_t select_by_keys(const qs_keys *keys)
{
    const qs_key_node *root = &keys->tree[1];
    const bool clear = root->least < NO_KEY / 2 && root->above - root->least > keys->gap;
    return QS_LIKELY(clear) ? (size_t)root->klass : QS_NO_CLASS;
}

/* Few classes are scanned as fast; weights too far apart need the tags themselves. */
static qs_status init_keys(qs_tags *tags)
{
    qs_keys *keys = &tags->keys;
    qs_u128 least = tags->equal[0].high, most = least;
    for (size_t c = 1; c < tags->count; c++) {
        least = tags->equal[c].high < least ? tags->equal[c].high : least;
        most = tags->equal[c].high > most ? tags->equal[c].high : most;
    }
    if (tags->count <= FEW_CLASSES || least < (qs_u128)3 << KEY_SHIFT)
        return QS_OK;
    size_t leaves = FEW_CLASSES;
    while (leaves < tags->count)
        leaves *= 2;
    keys->tree = malloc(2 * leaves * sizeof *keys->tree);
    if (!keys->tree)
        return QS_ENOMEM;
    for (size_t i = 0; i < 2 * leaves; i++)
        keys->tree[i] = (qs_key_node){.least = NO_KEY, .above = NO_KEY};
    keys->gap = (uint64_t)(most >> KEY_SHIFT) + 3;
    keys->leaves = leaves;
    return QS_OK;
}

/* Of two weights; beyond it tags would not be fine enough for the heavier class. */
enum { LARGEST_RATIO = 1000000000 };

/* ---- Tags ---------------------------------------------------------------------------------------------------- */

qs_status qs__tags_init(qs_tags *tags, const qs_sched_setup *setup)
{
    uint64_t *weights = malloc(setup->classes * sizeof *weights);
    if (!weights)
        return QS_ENOMEM;
    qs_status status = qs_shares_weights(setup, weights);
    if (status)
        goto free_weights;
    status = QS_ENOMEM;
    tags->count = setup->classes;
    tags->classes = calloc(tags->count, sizeof *tags->classes);
    if (!tags->classes)
        goto free_weights;
    tags->heads = calloc(2 * tags->count, sizeof *tags->heads);
    if (!tags->heads)
        goto free_classes;
    tags->equal = tags->heads + tags->count;
    tags->smallest = weights[0];
    for (size_t c = 1; c < tags->count; c++)
        tags->smallest = weights[c] < tags->smallest ? weights[c] : tags->smallest;
    for (size_t c = 0; c < tags->count; c++) {
        if (weights[c] / LARGEST_RATIO > tags->smallest) {
            status = qs_error_set(setup->why, QS_ERANGE, "%s: bandwidths must be within a factor of %d", setup->owner,
                                  LARGEST_RATIO);
            goto free_heads;
        }
        scale_class(tags, c, weights[c]);
    }
    status = init_keys(tags);
    if (status)
        goto free_heads;
    free(weights);
    return QS_OK;

free_heads:
    free(tags->heads);
free_classes:
    free(tags->classes);
free_weights:
    free(weights);
    return status;
}

void qs__tags_fini(qs_tags *tags)
{
    free(tags->keys.tree);
    free(tags->heads);
    free(tags->classes);
}

void qs__tags_enqueue(qs_tags *tags, size_t c, qs_packet *p, bool first, uint64_t bits, qs_tag now)
{
    qs_tagged *t = &tags->classes[c];
    const qs_tag start = qs__tag_less(now, t->newest) ? t->newest : now;
    p->tag = qs__tag_sum(start, qs__tag_times(t->per_bit, bits));
    t->newest = p->tag;
    if (first)
        set_head(tags, c, p->tag);
}

static bool smaller_by_more(const qs_tags *tags, size_t c, size_t best)
{
    if (!qs__tag_less(tags->heads[c], tags->heads[best]))
        return false;
    const qs_tag difference = qs__tag_difference(tags->heads[best], tags->heads[c]);
    return !qs__tag_less(difference, tags->equal[c]) && !qs__tag_less(difference, tags->equal[best]);
}

static size_t select_by_tags(const qs_tags *tags, const qs_backlog *backlog)
{
    size_t best = qs_backlog_first(backlog);
    for (size_t c = best; (c = qs_backlog_after(backlog, c)) != QS_NO_CLASS;)
        best = smaller_by_more(tags, c, best) ? c : best;
    return best;
}

size_t qs__tags_select(const qs_tags *tags, const qs_backlog *backlog)
{
    const size_t c = tags->keys.leaves ? select_by_keys(&tags->keys) : QS_NO_CLASS;
    return c != QS_NO_CLASS ? c : select_by_tags(tags, backlog);
}

void qs__tags_dequeue(qs_tags *tags, size_t c, qs_packet *p, const qs_packet *rest)
{
    tags->classes[c].handed = p->tag;
    if (rest)
        set_head(tags, c, rest->tag);
    else
        clear_head(tags, c);
}

void qs__tags_retract(qs_tags *tags, size_t c, const qs_packet *rest)
{
    tags->classes[c].newest = rest ? rest->tag : tags->classes[c].handed;
    if (!rest)
        clear_head(tags, c);
}
