/* SPDX-License-Identifier: MIT */
/* Parameters by their tables: every name known, every value within its bounds, and a sentence that says so. */
#include "check.h"

static const qs_param table[] = {
    {"limit", "byte", 1, 1000, QS_REQUIRED, "a number that must be given"},
    {"depth", "", 0, 10, 4, "a number with a default"},
    {"extra", "ps", 0, 1e18, QS_NONE, "a number that may be left out, and need not be whole", true},
    {"admit", "overshoot|strict|none", 0, 0, 1, "a choice"},
    {"times", "array", 0, 0, QS_NONE, "an array"},
    {0},
};

static qs_value values[QS_PARAMS_MAX];
static qs_error why;

static qs_status read(const qs_spec *spec)
{
    memset(values, 0xAA, sizeof values);
    why.text[0] = '\0';
    return qs_params_read(table, spec, values, "port \"x\"", &why);
}

LAW(params_take_their_defaults)
{
    STATUS(read(SPEC("k", NUMBER("limit", 7))), QS_OK);
    CHECK(values[0].given && values[1].given && !values[2].given && values[3].given && !values[4].given);
    EQUAL(values[0].value.whole, 7);
    EQUAL(values[1].value.whole, 4);
    EQUAL(values[1].value.per, 1);
    EQUAL(values[3].value.whole, 1);
    CHECK(!values[4].array && !values[4].count);
}

LAW(params_come_in_the_order_of_their_table)
{
    static const int64_t times[] = {1, 2, 3};
    STATUS(read(SPEC("k", ARRAY("times", times, 3), WORD("admit", "none"), RATIO("extra", 10, 4), NUMBER("depth", 0),
                     NUMBER("limit", 1000))),
           QS_OK);
    EQUAL(values[0].value.whole, 1000);
    EQUAL(values[1].value.whole, 0);
    EQUAL(values[2].value.whole, 2);
    EQUAL(values[2].value.part, 2);
    EQUAL(values[2].value.per, 4);
    EQUAL(values[3].value.whole, 2);
    CHECK(values[4].array == times);
    EQUAL(values[4].count, 3);
}

static void refuse(const qs_spec *spec, const char *name, const char *word)
{
    STATUS(read(spec), QS_EINVAL);
    CONTAINS(why.text, "port \"x\"");
    CONTAINS(why.text, name);
    CONTAINS(why.text, word);
}

LAW(params_refuse_what_is_missing_or_not_there)
{
    refuse(BARE("k"), "limit", "missing");
    refuse(SPEC("k", NUMBER("limit", 7), NUMBER("colour", 1)), "colour", "k");
    refuse(SPEC("k", NUMBER("limit", 7), NUMBER("limit", 8)), "limit", "twice");
}

LAW(params_refuse_a_number_out_of_its_bounds_and_say_which)
{
    refuse(SPEC("k", NUMBER("limit", 0)), "limit", "1 to 1000 byte, got 0");
    refuse(SPEC("k", NUMBER("limit", 1001)), "limit", "1001");
    refuse(SPEC("k", RATIO("limit", 2001, 2)), "limit", "1000.5");
    refuse(SPEC("k", NUMBER("limit", 1), NUMBER("depth", 11)), "depth", "0 to 10, got 11");
}

LAW(params_refuse_a_fraction_where_only_whole_numbers_will_do)
{
    refuse(SPEC("k", RATIO("limit", 5, 2)), "limit", "whole number of byte, got 2.5");
    refuse(SPEC("k", NUMBER("limit", 1), RATIO("depth", 1, 2)), "depth", "whole number, got 0.5");
}

LAW(params_refuse_a_number_that_is_none)
{
    const qs_setting no_ratio[] = {{.name = "limit", .value = {1, 0, 0}}};
    const qs_setting improper[] = {{.name = "limit", .value = {1, 3, 3}}};
    refuse(&(qs_spec){"k", no_ratio, 1}, "limit", "ratio");
    refuse(&(qs_spec){"k", improper, 1}, "limit", "ratio");
}

LAW(params_refuse_one_kind_of_value_for_another)
{
    static const int64_t times[] = {1};
    refuse(SPEC("k", WORD("limit", "strict")), "limit", "number");
    refuse(SPEC("k", ARRAY("limit", times, 1)), "limit", "number");
    refuse(SPEC("k", NUMBER("limit", 1), NUMBER("admit", 1)), "admit", "overshoot|strict|none");
    refuse(SPEC("k", NUMBER("limit", 1), NUMBER("times", 1)), "times", "array");
}

LAW(params_know_a_choice_by_its_whole_word_only)
{
    static const char *const wrong[] = {"over", "overshoots", "", "strict|none", "|", "Strict"};
    for (size_t i = 0; i < COUNT(wrong); i++)
        refuse(SPEC("k", NUMBER("limit", 1), WORD("admit", wrong[i])), "admit", "overshoot|strict|none");
}

LAW(params_of_a_component_without_any_refuse_every_name)
{
    static const qs_param none[] = {{0}};
    STATUS(qs_params_read(none, BARE("pq"), values, "port \"x\"", &why), QS_OK);
    STATUS(qs_params_read(none, SPEC("pq", NUMBER("depth", 1)), values, "port \"x\"", &why), QS_EINVAL);
    CONTAINS(why.text, "depth");
}

/* Every table that the library has: names, bounds and defaults that agree with each other. */
static void check_table(const char *kind, const qs_param *params)
{
    size_t rows = 0;
    for (; params && params[rows].name; rows++) {
        const qs_param *p = &params[rows];
        CHECK(*p->name && p->unit && *p->meaning);
        CHECK(p->min <= p->max);
        if (!strchr(p->unit, '|') && isfinite(p->fallback))
            CHECK(p->fallback >= p->min && p->fallback <= p->max);
        for (size_t i = 0; i < rows; i++)
            CHECK(strcmp(params[i].name, p->name) != 0);
    }
    CHECK(rows <= QS_PARAMS_MAX);
    CHECK(*kind);
}

LAW(every_table_of_parameters_is_sound)
{
    for (size_t i = 0; qs_sources[i]; i++)
        check_table(qs_sources[i]->name, qs_sources[i]->params);
    for (size_t i = 0; qs_meters[i]; i++)
        check_table(qs_meters[i]->name, qs_meters[i]->params);
    for (size_t i = 0; qs_queues[i]; i++)
        check_table(qs_queues[i]->name, qs_queues[i]->params);
    for (size_t i = 0; qs_scheds[i]; i++)
        check_table(qs_scheds[i]->name, qs_scheds[i]->params);
    for (size_t i = 0; qs_framings[i]; i++)
        check_table(qs_framings[i]->name, qs_framings[i]->params);
    check_table("tx-ring", qs_ring_params);
}

LAW(a_ratio_is_near_its_double)
{
    CLOSE(qs_ratio_double(QS_INT(5)), 5, 0);
    CLOSE(qs_ratio_double(QS_OVER(7, 2)), 3.5, 0);
    CLOSE(qs_ratio_double(QS_OVER(1, 3)), 1.0 / 3, 0);
}
