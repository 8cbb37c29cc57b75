/* SPDX-License-Identifier: MIT */
/* Building: everything that can be wrong is found before the first event, and the sentence names it. */
#include "scene.h"

static const qs_port_spec plain = {.name = "x", .rate = {8, 0, 1}};

static qs_sim *create(void)
{
    const qs_sim_config config = {.duration = SECONDS(1), .record = QS_RECORD_PACKETS};
    qs_sim *sim = NULL;
    STATUS(qs_sim_create(&sim, &config), QS_OK);
    REQUIRE(sim);
    return sim;
}

/* The port is refused, and the sentence has the word. */
static void refuse_port(const qs_port_spec *spec, qs_status status, const char *word)
{
    qs_sim *sim = create();
    STATUS(qs_sim_add_port(sim, spec), status);
    CONTAINS(qs_sim_error(sim), word);
    CONTAINS(qs_sim_error(sim), spec->name);
    EQUAL(qs_sim_port_count(sim), 0);
    STATUS(qs_sim_add_port(sim, &plain), QS_OK); /* and the simulation is none the worse */
    STATUS(qs_sim_run(sim), QS_OK);
    qs_sim_destroy(sim);
}

static void refuse_class(const qs_class_spec *classes, size_t count, const char *word)
{
    qs_port_spec spec = plain;
    spec.scheduler = BARE("pq");
    spec.classes = classes;
    spec.class_count = count;
    refuse_port(&spec, QS_EINVAL, word);
}

static void refuse_flow(const qs_flow_spec *spec, qs_status status, const char *word)
{
    qs_sim *sim = create();
    STATUS(qs_sim_add_port(sim, &plain), QS_OK);
    STATUS(qs_sim_add_flow(sim, spec), status);
    CONTAINS(qs_sim_error(sim), word);
    CONTAINS(qs_sim_error(sim), spec->name);
    EQUAL(qs_sim_flow_count(sim), 0);
    STATUS(qs_sim_run(sim), QS_OK);
    qs_sim_destroy(sim);
}

static const uint32_t route_0[] = {0};

static qs_flow_spec flow(const qs_spec *source)
{
    return (qs_flow_spec){.name = "f", .source = source, .route = route_0, .hops = 1, .stop = QS_NEVER};
}

LAW(a_duration_is_above_zero_and_within_the_clock)
{
    qs_sim *sim = NULL;
    STATUS(qs_sim_create(&sim, &(qs_sim_config){.duration = 0}), QS_EINVAL);
    STATUS(qs_sim_create(&sim, &(qs_sim_config){.duration = -1}), QS_EINVAL);
    STATUS(qs_sim_create(&sim, &(qs_sim_config){.duration = QS_NEVER}), QS_EINVAL);
    STATUS(qs_sim_create(&sim, &(qs_sim_config){.duration = 1, .warmup = -1}), QS_EINVAL);
    CHECK(!sim);
}

LAW(a_port_is_refused_for_a_rate_that_cannot_be)
{
    qs_port_spec spec = {.name = "slow", .rate = QS_INT(0)};
    refuse_port(&spec, QS_EINVAL, "rate");
    spec.rate = QS_INT(8000000000001);
    refuse_port(&spec, QS_EINVAL, "rate");
    spec.rate = QS_OVER(1, 1000000000);
    refuse_port(&spec, QS_ERANGE, "clock");
}

LAW(a_port_is_refused_for_parts_that_are_not_there)
{
    qs_port_spec spec = plain;
    spec.name = "y";
    spec.framing = BARE("token-ring");
    refuse_port(&spec, QS_EINVAL, "token-ring");
    spec.framing = NULL;
    spec.scheduler = BARE("lottery");
    refuse_port(&spec, QS_EINVAL, "lottery");
    spec.scheduler = BARE("fifo");
    spec.ring = SPEC("tx-ring", NUMBER("limit", 0));
    refuse_port(&spec, QS_EINVAL, "limit");
    spec.ring = NULL;
    spec.propagation = -1;
    refuse_port(&spec, QS_EINVAL, "propagation");
}

LAW(a_port_with_classes_has_exactly_one_that_takes_the_rest)
{
    static const qs_class_spec none[] = {{.name = "a", .match = 1}, {.name = "b", .match = 2}};
    static const qs_class_spec two[] = {{.name = "a"}, {.name = "b"}};
    refuse_class(none, 2, "rest");
    refuse_class(two, 2, "rest");
}

LAW(two_classes_of_a_port_have_two_names)
{
    static const qs_class_spec twins[] = {{.name = "gold", .match = 1}, {.name = "gold"}};
    refuse_class(twins, 2, "gold");
}

LAW(a_class_is_refused_for_a_queue_or_policer_that_cannot_be)
{
    const qs_class_spec red = {.name = "k", .queue = BARE("red")};
    const qs_class_spec leaky = {.name = "k", .policer = BARE("leaky-bucket")};
    const qs_class_spec missing = {.name = "k", .policer = SPEC("token-bucket", NUMBER("rate", 1))};
    refuse_class(&red, 1, "red");
    refuse_class(&leaky, 1, "leaky-bucket");
    refuse_class(&missing, 1, "burst");
    refuse_class(&missing, 1, "\"k\"");
}

LAW(a_scheduler_refuses_classes_without_the_share_it_needs)
{
    static const qs_class_spec bare[] = {{.name = "a", .match = 1}, {.name = "b"}};
    static const char *const needy[] = {"wfq", "scfq", "drr"};
    qs_port_spec spec = plain;
    spec.classes = bare;
    spec.class_count = 2;
    for (size_t i = 0; i < COUNT(needy); i++) {
        spec.scheduler = &(qs_spec){needy[i], NULL, 0};
        refuse_port(&spec, QS_EINVAL, "bandwidth");
    }
}

LAW(a_port_has_no_more_classes_than_the_largest_number)
{
    static qs_class_spec classes[QS_CLASSES_MAX + 1];
    static char names[QS_CLASSES_MAX + 1][8];
    for (size_t c = 0; c <= QS_CLASSES_MAX; c++) {
        snprintf(names[c], sizeof names[c], "c%zu", c);
        classes[c] = (qs_class_spec){.name = names[c], .match = c ? 1 : 0};
    }
    refuse_class(classes, QS_CLASSES_MAX + 1, "4096");
    qs_sim *sim = create();
    qs_port_spec spec = plain;
    spec.scheduler = BARE("pq");
    spec.classes = classes;
    spec.class_count = QS_CLASSES_MAX;
    STATUS(qs_sim_add_port(sim, &spec), QS_OK);
    qs_sim_destroy(sim);
}

LAW(two_ports_have_two_names)
{
    qs_sim *sim = create();
    STATUS(qs_sim_add_port(sim, &plain), QS_OK);
    STATUS(qs_sim_add_port(sim, &plain), QS_EINVAL);
    CONTAINS(qs_sim_error(sim), "\"x\"");
    qs_sim_destroy(sim);
}

LAW(ports_come_before_flows_and_both_before_the_run)
{
    const qs_flow_spec spec = flow(SPEC("cbr", NUMBER("interval", 1), NUMBER("size", 1)));
    qs_port_spec more = plain;
    more.name = "more";
    qs_sim *sim = create();
    STATUS(qs_sim_add_port(sim, &plain), QS_OK);
    qs_flow_spec slow = spec;
    slow.source = SPEC("cbr", NUMBER("interval", SECONDS(1)), NUMBER("size", 1));
    STATUS(qs_sim_add_flow(sim, &slow), QS_OK);
    STATUS(qs_sim_add_port(sim, &more), QS_ESTATE);
    CHECK(*qs_sim_error(sim));
    STATUS(qs_sim_run(sim), QS_OK);
    slow.name = "late";
    STATUS(qs_sim_add_flow(sim, &slow), QS_ESTATE);
    STATUS(qs_sim_add_port(sim, &more), QS_ESTATE);
    qs_sim_destroy(sim);
}

LAW(a_flow_is_refused_for_a_source_that_cannot_be)
{
    qs_flow_spec spec = flow(BARE("cbr"));
    refuse_flow(&spec, QS_EINVAL, "interval");
    spec = flow(SPEC("cbr", NUMBER("interval", 0), NUMBER("size", 1)));
    refuse_flow(&spec, QS_EINVAL, "interval");
    spec = flow(SPEC("cbr", NUMBER("interval", 1)));
    refuse_flow(&spec, QS_EINVAL, "size");
    spec = flow(SPEC("cbr", NUMBER("interval", 1), NUMBER("size", 65536)));
    refuse_flow(&spec, QS_EINVAL, "65536");
    spec = flow(BARE("pareto"));
    refuse_flow(&spec, QS_EINVAL, "pareto");
    spec = flow(SPEC("poisson", NUMBER("interval", 1), NUMBER("size", 1)));
    refuse_flow(&spec, QS_EINVAL, "random");
}

LAW(a_flow_is_refused_for_a_route_that_cannot_be)
{
    qs_flow_spec spec = flow(SPEC("cbr", NUMBER("interval", 1), NUMBER("size", 1)));
    spec.hops = 0;
    refuse_flow(&spec, QS_EINVAL, "route");
    spec.hops = 1;
    spec.route = (const uint32_t[]){7};
    refuse_flow(&spec, QS_EINVAL, "7");
    spec.hops = 2;
    spec.route = (const uint32_t[]){0, 0};
    refuse_flow(&spec, QS_EINVAL, "twice");
}

LAW(a_flow_is_refused_for_a_dscp_or_a_time_that_cannot_be)
{
    qs_flow_spec spec = flow(SPEC("cbr", NUMBER("interval", 1), NUMBER("size", 1)));
    spec.dscp = 64;
    refuse_flow(&spec, QS_EINVAL, "64");
    spec.dscp = 63;
    spec.start = -1;
    refuse_flow(&spec, QS_EINVAL, "start");
    spec.start = 0;
    spec.stop = -1;
    refuse_flow(&spec, QS_EINVAL, "stop");
}

LAW(two_flows_have_two_names)
{
    const qs_flow_spec spec = flow(SPEC("cbr", NUMBER("interval", SECONDS(1)), NUMBER("size", 1)));
    qs_sim *sim = create();
    STATUS(qs_sim_add_port(sim, &plain), QS_OK);
    STATUS(qs_sim_add_flow(sim, &spec), QS_OK);
    STATUS(qs_sim_add_flow(sim, &spec), QS_EINVAL);
    CONTAINS(qs_sim_error(sim), "\"f\"");
    qs_sim_destroy(sim);
}

LAW(a_class_may_name_only_flows_that_are_there)
{
    static const char *const names[] = {"f", "nobody"};
    const qs_class_spec classes[] = {{.name = "k", .flows = names, .flow_count = 2}, {.name = "rest"}};
    const qs_flow_spec spec = flow(SPEC("cbr", NUMBER("interval", SECONDS(1)), NUMBER("size", 1)));
    qs_port_spec port = plain;
    port.scheduler = BARE("pq");
    port.classes = classes;
    port.class_count = 2;
    qs_sim *sim = create();
    STATUS(qs_sim_add_port(sim, &port), QS_OK);
    STATUS(qs_sim_add_flow(sim, &spec), QS_OK);
    STATUS(qs_sim_run(sim), QS_EINVAL);
    CONTAINS(qs_sim_error(sim), "nobody");
    STATUS(qs_sim_run(sim), QS_EINVAL); /* it stays as it is */
    qs_columns columns;
    STATUS(qs_sim_take(sim, &columns), QS_ESTATE);
    qs_sim_destroy(sim);
}

LAW(names_and_routes_are_copied)
{
    char port_name[] = "port", class_name[] = "klass", flow_name[] = "flow", named[] = "flow";
    uint32_t route[] = {0};
    const char *flows[] = {named};
    qs_class_spec classes[] = {{.name = class_name, .flows = flows, .flow_count = 1}, {.name = "rest"}};
    qs_port_spec port = plain;
    port.name = port_name;
    port.scheduler = BARE("pq");
    port.classes = classes;
    port.class_count = 2;
    qs_flow_spec spec = flow(SPEC("cbr", NUMBER("interval", SECONDS(1)), NUMBER("size", 1)));
    spec.name = flow_name;
    spec.route = route;
    qs_sim *sim = create();
    STATUS(qs_sim_add_port(sim, &port), QS_OK);
    STATUS(qs_sim_add_flow(sim, &spec), QS_OK);
    memset(port_name, '!', 4);
    memset(class_name, '!', 5);
    memset(flow_name, '!', 4);
    memset(named, '?', 4);
    memset(classes, 0, sizeof classes);
    route[0] = 99;
    STATUS(qs_sim_run(sim), QS_OK);
    EQUAL(qs_sim_class_counts(sim, 0, 0)->offered, 1);
    qs_sim_destroy(sim);
}

LAW(a_long_name_is_cut_in_a_sentence_and_nowhere_else)
{
    char name[1000];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    const qs_class_spec klass = {.name = name, .queue = BARE("red")};
    qs_port_spec port = plain;
    port.name = name;
    port.classes = &klass;
    port.class_count = 1;
    qs_sim *sim = create();
    STATUS(qs_sim_add_port(sim, &port), QS_EINVAL);
    CHECK(strlen(qs_sim_error(sim)) < sizeof((qs_error *)0)->text);
    port.class_count = 0;
    STATUS(qs_sim_add_port(sim, &port), QS_OK);
    qs_flow_spec spec = flow(BARE("pareto"));
    spec.name = name;
    STATUS(qs_sim_add_flow(sim, &spec), QS_EINVAL);
    STATUS(qs_sim_run(sim), QS_OK);
    qs_sim_destroy(sim);
}
