/* SPDX-License-Identifier: MIT */
/* Classifier: the first class that fits by DSCP or by flow, else the one that takes the rest, afresh at each port. */
#include "scene.h"

static const int64_t zero[1], one_byte[] = {1};

/* Offers one packet of each flow and says how many each class got: "1 0 2". */
static const char *sort(scene *s, const qs_class_spec *classes, size_t count, const unsigned *dscps, size_t flows)
{
    static const char *const names[] = {"f0", "f1", "f2", "f3", "f4", "f5"};
    *s = scene_new(SECONDS(1));
    scene_port(s,
               &(qs_port_spec){
                   .name = "x", .rate = QS_INT(8), .scheduler = BARE("pq"), .classes = classes, .class_count = count});
    for (size_t f = 0; f < flows; f++)
        scene_flow(s, names[f], dscps[f], ARRIVALS(zero, one_byte));
    scene_run(s);
    s->text[0] = '\0';
    for (size_t c = 0; c < count; c++)
        snprintf(s->text + strlen(s->text), sizeof s->text - strlen(s->text), c ? " %d" : "%d",
                 (int)qs_sim_class_counts(s->sim, 0, c)->offered);
    return s->text;
}

LAW(a_class_takes_the_dscps_it_matches)
{
    const qs_class_spec classes[] = {
        {.name = "ef", .match = UINT64_C(1) << 46},
        {.name = "af", .match = UINT64_C(1) << 10 | UINT64_C(1) << 12 | UINT64_C(1) << 63},
        {.name = "rest"},
    };
    scene s;
    TEXT(sort(&s, classes, 3, (const unsigned[]){46, 12, 63, 0, 45, 47}, 6), "1 2 3");
    scene_end(&s);
}

LAW(a_class_takes_the_flows_it_names)
{
    static const char *const named[] = {"f2", "f0"};
    const qs_class_spec classes[] = {{.name = "named", .flows = named, .flow_count = 2}, {.name = "rest"}};
    scene s;
    TEXT(sort(&s, classes, 2, (const unsigned[]){0, 0, 0, 0}, 4), "2 2");
    scene_end(&s);
}

LAW(a_class_takes_what_fits_either_way)
{
    static const char *const named[] = {"f3"};
    const qs_class_spec classes[] = {{.name = "both", .match = 2, .flows = named, .flow_count = 1}, {.name = "rest"}};
    scene s;
    TEXT(sort(&s, classes, 2, (const unsigned[]){1, 0, 1, 5}, 4), "3 1");
    scene_end(&s);
}

LAW(the_first_class_that_fits_takes_the_packet)
{
    static const char *const named[] = {"f0"};
    const qs_class_spec classes[] = {{.name = "a", .match = 2},
                                     {.name = "b", .match = 6},
                                     {.name = "c", .flows = named, .flow_count = 1},
                                     {.name = "rest"}};
    scene s;
    TEXT(sort(&s, classes, 4, (const unsigned[]){1, 1, 2, 3}, 4), "2 1 0 1");
    scene_end(&s);
}

LAW(the_class_that_takes_the_rest_may_be_declared_first)
{
    const qs_class_spec classes[] = {{.name = "rest"}, {.name = "a", .match = 2}};
    scene s;
    TEXT(sort(&s, classes, 2, (const unsigned[]){1, 0, 0}, 3), "2 1");
    scene_end(&s);
}

LAW(a_port_without_classes_is_one_fifo_without_a_limit)
{
    static const char *const schedulers[] = {"fifo", "pq", "wfq", "scfq", "drr"};
    for (size_t i = 0; i < COUNT(schedulers); i++) {
        scene s = scene_new(SECONDS(1));
        scene_port(&s,
                   &(qs_port_spec){.name = "x", .rate = QS_INT(8), .scheduler = &(qs_spec){schedulers[i], NULL, 0}});
        for (unsigned f = 0; f < 3; f++)
            scene_flow(&s, (const char *[]){"a", "b", "c"}[f], 20 * f, ARRIVALS(zero, one_byte));
        scene_run(&s);
        EQUAL(qs_sim_port_counts(s.sim, 0)->class_count, 1);
        EQUAL(qs_sim_class_counts(s.sim, 0, 0)->offered, 3);
        TEXT(scene_column(&s, s.rows.hops[0].start, QS_SECOND), "0 1 2");
        scene_end(&s);
    }
}

LAW(a_packet_is_classified_afresh_at_each_port)
{
    static const qs_class_spec near[] = {{.name = "a", .match = 2}, {.name = "rest"}};
    static const qs_class_spec far[] = {{.name = "rest"}, {.name = "b", .match = 4}};
    scene s = scene_new(SECONDS(1));
    scene_port(&s, &(qs_port_spec){
                       .name = "near", .rate = QS_INT(8), .scheduler = BARE("pq"), .classes = near, .class_count = 2});
    scene_port(&s, &(qs_port_spec){
                       .name = "far", .rate = QS_INT(8), .scheduler = BARE("pq"), .classes = far, .class_count = 2});
    scene_flow(&s, "f", 1, ARRIVALS(zero, one_byte));
    scene_flow(&s, "g", 2, ARRIVALS(zero, one_byte));
    scene_run(&s);
    EQUAL(qs_sim_class_counts(s.sim, 0, 0)->offered, 1);
    EQUAL(qs_sim_class_counts(s.sim, 0, 1)->offered, 1);
    EQUAL(qs_sim_class_counts(s.sim, 1, 0)->offered, 1);
    EQUAL(qs_sim_class_counts(s.sim, 1, 1)->offered, 1);
    scene_end(&s);
}
