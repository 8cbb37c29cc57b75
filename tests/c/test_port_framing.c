/* SPDX-License-Identifier: MIT */
/* Framing: bits on the wire by link layer, from tables worked by hand. */
#include "check.h"

static qs_framing framing(const qs_spec *spec)
{
    qs_framing f = {0};
    qs_error why = {""};
    if (!STATUS(qs_framing_init(&f, spec, "port \"x\"", &why), QS_OK))
        printf("    %s\n", why.text);
    return f;
}

static void check_bytes(const qs_framing *f, const uint32_t (*table)[2], size_t rows)
{
    for (size_t i = 0; i < rows; i++)
        EQUAL(qs_framing_bits(f, table[i][0]), table[i][1] * 8);
}

LAW(without_framing_the_wire_carries_the_datagram)
{
    const qs_framing f = framing(NULL);
    check_bytes(&f, (const uint32_t[][2]){{1, 1}, {40, 40}, {65535, 65535}}, 3);
}

LAW(aal5_with_llc_snap_fills_whole_cells)
{
    static const uint32_t cells[][2] = {{1, 1},     {32, 1},    {33, 2},      {40, 2},    {64, 2},    {80, 2},
                                        {81, 3},    {110, 3},   {128, 3},     {200, 5},   {500, 11},  {512, 11},
                                        {1000, 22}, {1006, 22}, {1024, 22},   {1028, 22}, {1040, 22}, {1041, 23},
                                        {1052, 23}, {1500, 32}, {65535, 1366}};
    const qs_framing plain = framing(BARE("aal5")), named = framing(SPEC("aal5", WORD("encapsulation", "llc-snap")));
    for (size_t i = 0; i < COUNT(cells); i++) {
        EQUAL(qs_framing_bits(&plain, cells[i][0]), cells[i][1] * 424);
        EQUAL(qs_framing_bits(&named, cells[i][0]), cells[i][1] * 424);
    }
}

LAW(aal5_with_vc_multiplexing_saves_eight_bytes)
{
    static const uint32_t cells[][2] = {{40, 1},    {41, 2},    {64, 2},    {128, 3},   {500, 11},  {1000, 21},
                                        {1001, 22}, {1028, 22}, {1041, 22}, {1048, 22}, {1049, 23}, {1500, 32}};
    const qs_framing f = framing(SPEC("aal5", WORD("encapsulation", "vc-mux")));
    for (size_t i = 0; i < COUNT(cells); i++)
        EQUAL(qs_framing_bits(&f, cells[i][0]), cells[i][1] * 424);
}

LAW(ethernet_adds_header_and_check_pads_to_64_bytes_and_counts_preamble_and_gap)
{
    const qs_framing f = framing(BARE("ethernet"));
    check_bytes(&f, (const uint32_t[][2]){{1, 84}, {46, 84}, {47, 85}, {1500, 1538}, {65535, 65573}}, 5);
}

LAW(ethernet_tags_take_four_bytes_each_before_padding)
{
    const qs_framing one = framing(SPEC("ethernet", NUMBER("tags", 1)));
    const qs_framing two = framing(SPEC("ethernet", NUMBER("tags", 2)));
    check_bytes(&one, (const uint32_t[][2]){{42, 84}, {43, 85}, {1500, 1542}}, 3);
    check_bytes(&two, (const uint32_t[][2]){{38, 84}, {39, 85}, {1500, 1546}}, 3);
}

LAW(ethernet_leaves_preamble_and_gap_out_when_told_to)
{
    const qs_framing f = framing(SPEC("ethernet", NUMBER("gap", 0)));
    check_bytes(&f, (const uint32_t[][2]){{1, 64}, {46, 64}, {47, 65}, {1500, 1518}}, 4);
}

LAW(serial_links_add_seven_or_eight_bytes)
{
    const qs_framing ppp = framing(BARE("ppp")), hdlc = framing(BARE("hdlc")), relay = framing(BARE("frame-relay"));
    for (uint32_t size = 1; size <= 65535; size += 1023) {
        EQUAL(qs_framing_bits(&ppp, size), (size + 8) * 8);
        EQUAL(qs_framing_bits(&hdlc, size), (size + 7) * 8);
        EQUAL(qs_framing_bits(&relay, size), (size + 7) * 8);
    }
}

LAW(a_plain_overhead_counts_before_its_minimum)
{
    const qs_framing f = framing(SPEC("overhead", NUMBER("bytes", 18), NUMBER("minimum", 64)));
    check_bytes(&f, (const uint32_t[][2]){{1, 64}, {46, 64}, {47, 65}, {1500, 1518}}, 4);
    const qs_framing none = framing(SPEC("overhead", NUMBER("bytes", 0)));
    EQUAL(qs_framing_bits(&none, 1), 8);
}

LAW(a_framing_that_is_not_there_is_refused_by_name)
{
    qs_framing f;
    qs_error why = {""};
    STATUS(qs_framing_init(&f, BARE("token-ring"), "port \"x\"", &why), QS_EINVAL);
    CONTAINS(why.text, "token-ring");
    CONTAINS(why.text, "port \"x\"");
    STATUS(qs_framing_init(&f, SPEC("aal5", WORD("encapsulation", "mpoa")), "port \"x\"", &why), QS_EINVAL);
    CONTAINS(why.text, "mpoa");
    STATUS(qs_framing_init(&f, SPEC("ethernet", NUMBER("tags", 17)), "port \"x\"", &why), QS_EINVAL);
    CONTAINS(why.text, "tags");
    STATUS(qs_framing_init(&f, BARE("overhead"), "port \"x\"", &why), QS_EINVAL);
    CONTAINS(why.text, "bytes");
}

LAW(every_framing_is_found_by_its_name)
{
    static const char *const names[] = {"aal5", "ethernet", "ppp", "hdlc", "frame-relay", "overhead"};
    size_t count = 0;
    for (; qs_framings[count]; count++) {
        bool known = false;
        for (size_t i = 0; i < COUNT(names); i++)
            known = known || strcmp(names[i], qs_framings[count]->name) == 0;
        CHECK(known);
    }
    EQUAL(count, COUNT(names));
}
