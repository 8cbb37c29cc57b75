/* SPDX-License-Identifier: MIT */
/* Recorder: when its columns have been taken it is empty, and can be filled and taken again. */
#include "check.h"

static void fill_and_take_twice(bool exact)
{
    static const uint32_t route[] = {0};
    qs_recorder *r = NULL;
    STATUS(qs_recorder_create(&r, 1, 1, NULL), QS_OK);
    STATUS(qs_recorder_expect(r, 0, route, 1, 2, exact), QS_OK);
    for (int time = 0; time < 2; time++) {
        qs_packet *p = packet_new(1);
        for (p->seq = 0; p->seq < 2; p->seq++)
            STATUS(qs_recorder_write(r, p, 0), QS_OK);
        free(p);
        qs_columns c;
        STATUS(qs_recorder_take(r, &c), QS_OK);
        EQUAL(c.rows, 2);
        qs_columns_fini(&c);
    }
    qs_recorder_destroy(r);
}

LAW(recorder_of_rows_in_chunks_can_be_taken_twice)
{
    fill_and_take_twice(false);
}

LAW(recorder_of_rows_in_place_can_be_taken_twice)
{
    fill_and_take_twice(true);
}
