/* SPDX-License-Identifier: MIT */
/*
 * The harness: a file of laws is a program. LAW(name) { ... } registers itself; main runs all laws, or those whose
 * name contains the program's argument, and ends with the line "N passed, N failed".
 */
#ifndef QOSSIM_TESTS_CHECK_H
#define QOSSIM_TESTS_CHECK_H

#include <qossim/qossim.h>

#include <inttypes.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct check_law {
    const char *name;
    void (*check)(void);
    struct check_law *next;
} check_law;

static struct {
    check_law *first, *last;
    const char *running;
    unsigned failures; /* of the law that is running */
    jmp_buf give_up;
} checks;

/* Defines one law. Its name says what holds. */
#define LAW(law)                                                                                                       \
    static void law(void);                                                                                             \
    __attribute__((constructor)) static void check_add_##law(void)                                                     \
    {                                                                                                                  \
        static check_law entry = {#law, law, NULL};                                                                    \
        *(checks.last ? &checks.last->next : &checks.first) = &entry;                                                  \
        checks.last = &entry;                                                                                          \
    }                                                                                                                  \
    static void law(void)

/* ---- Checks: all go on after a failure, but for REQUIRE, which ends the law -------------------------------- */

#define CHECK(condition) check_that(__FILE__, __LINE__, (condition), #condition)
#define REQUIRE(condition)                                                                                             \
    do {                                                                                                               \
        if (!CHECK(condition))                                                                                         \
            longjmp(checks.give_up, 1);                                                                                \
    } while (0)
#define EQUAL(got, want) check_equal(__FILE__, __LINE__, (qs_i128)(got), (qs_i128)(want), #got)
#define CLOSE(got, want, tolerance) check_close(__FILE__, __LINE__, (got), (want), (tolerance), #got)
#define TEXT(got, want) check_text(__FILE__, __LINE__, (got), (want), #got)
#define CONTAINS(text, part) check_contains(__FILE__, __LINE__, (text), (part))
#define STATUS(got, want) check_status(__FILE__, __LINE__, (got), (want), #got)

static inline void check_failed(const char *file, int line)
{
    if (!checks.failures++)
        printf("%s fails\n", checks.running);
    printf("  %s:%d: ", file, line);
}

static inline bool check_that(const char *file, int line, bool holds, const char *condition)
{
    if (!holds) {
        check_failed(file, line);
        printf("%s\n", condition);
    }
    return holds;
}

static inline void check_print(qs_i128 n)
{
    if (n == (int64_t)n)
        printf("%" PRId64, (int64_t)n);
    else
        printf("0x%016" PRIx64 "%016" PRIx64, (uint64_t)((qs_u128)n >> 64), (uint64_t)n);
}

static inline bool check_equal(const char *file, int line, qs_i128 got, qs_i128 want, const char *what)
{
    if (got == want)
        return true;
    check_failed(file, line);
    printf("%s is ", what);
    check_print(got);
    printf(", not ");
    check_print(want);
    printf("\n");
    return false;
}

static inline bool check_close(const char *file, int line, double got, double want, double tolerance, const char *what)
{
    if (fabs(got - want) <= tolerance)
        return true;
    check_failed(file, line);
    printf("%s is %.17g, not %.17g within %g\n", what, got, want, tolerance);
    return false;
}

static inline bool check_text(const char *file, int line, const char *got, const char *want, const char *what)
{
    if (strcmp(got, want) == 0)
        return true;
    check_failed(file, line);
    printf("%s is\n    %s\n  not\n    %s\n", what, got, want);
    return false;
}

static inline bool check_contains(const char *file, int line, const char *text, const char *part)
{
    if (strstr(text, part))
        return true;
    check_failed(file, line);
    printf("\"%s\" does not name \"%s\"\n", text, part);
    return false;
}

static inline bool check_status(const char *file, int line, qs_status got, qs_status want, const char *what)
{
    if (got == want)
        return true;
    check_failed(file, line);
    printf("%s is %s, not %s\n", what, qs_status_name(got), qs_status_name(want));
    return false;
}

/* ---- Running (a program with a main of its own defines CHECK_NO_MAIN) -------------------------------------- */

#ifndef CHECK_NO_MAIN

static inline bool check_holds(check_law *law)
{
    checks.running = law->name;
    checks.failures = 0;
    if (!setjmp(checks.give_up))
        law->check();
    return checks.failures == 0;
}

int main(int argc, char **argv)
{
    unsigned passed = 0, failed = 0;
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    for (check_law *law = checks.first; law; law = law->next)
        if (argc < 2 || strstr(law->name, argv[1]))
            ++*(check_holds(law) ? &passed : &failed);
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}

#endif

/* ---- What tests say often ---------------------------------------------------------------------------------- */

/* Settings and specs in place: SPEC("drop-tail", NUMBER("packets", 10)); a spec without settings is BARE("pq"). */
#define NUMBER(key, n) {.name = (key), .value = {(uint64_t)(n), 0, 1}}
#define RATIO(key, n, d)                                                                                               \
    {                                                                                                                  \
        .name = (key), .value = {(uint64_t)(n) / (d), (uint64_t)(n) % (d), (d)}                                        \
    }
#define WORD(key, chosen) {.name = (key), .value = {0, 0, 1}, .word = (chosen)}
#define ARRAY(key, values, length) {.name = (key), .value = {0, 0, 1}, .array = (values), .count = (length)}
#define SPEC(kind, ...)                                                                                                \
    (&(const qs_spec){(kind), (const qs_setting[]){__VA_ARGS__},                                                       \
                      sizeof((const qs_setting[]){__VA_ARGS__}) / sizeof(qs_setting)})
#define BARE(kind) (&(const qs_spec){(kind), NULL, 0})
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* A packet of nothing but zeros, with room for so many hops; free it. */
static inline qs_packet *packet_new(size_t hops)
{
    const size_t bytes = sizeof(qs_packet) + hops * sizeof(qs_hop);
    qs_packet *p = aligned_alloc(_Alignof(qs_packet), (bytes + _Alignof(qs_packet) - 1) & ~(_Alignof(qs_packet) - 1));
    REQUIRE(p);
    memset(p, 0, bytes);
    return p;
}

/* A generator for random tests: SplitMix64. */
static inline uint64_t dice(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

/* One of 0 .. n-1. */
static inline uint64_t dice_below(uint64_t *state, uint64_t n)
{
    return (uint64_t)(((qs_u128)dice(state) * n) >> 64);
}

/* One of low .. high. */
static inline uint64_t dice_within(uint64_t *state, uint64_t low, uint64_t high)
{
    return low + dice_below(state, high - low + 1);
}

#endif
