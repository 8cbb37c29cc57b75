/* SPDX-License-Identifier: MIT */
/* Status codes by name and text, and the sentence that goes with an error. */
#include "check.h"

LAW(every_status_has_a_name_and_a_text)
{
    TEXT(qs_status_name(QS_OK), "QS_OK");
    TEXT(qs_status_name(QS_ENOMEM), "QS_ENOMEM");
    TEXT(qs_status_name(QS_EINVAL), "QS_EINVAL");
    TEXT(qs_status_name(QS_ERANGE), "QS_ERANGE");
    TEXT(qs_status_name(QS_ESTATE), "QS_ESTATE");
    for (int status = 0; status >= -4; status--)
        CHECK(*qs_status_text((qs_status)status));
}

LAW(success_is_zero_and_failure_negative)
{
    EQUAL(QS_OK, 0);
    CHECK(QS_ENOMEM < 0 && QS_EINVAL < 0 && QS_ERANGE < 0 && QS_ESTATE < 0);
}

LAW(a_number_that_is_no_status_has_a_name_all_the_same)
{
    CHECK(*qs_status_name((qs_status)-99));
    CHECK(*qs_status_text((qs_status)-99));
}

LAW(an_error_gives_back_its_status_and_keeps_its_sentence)
{
    qs_error why;
    STATUS(qs_error_set(&why, QS_EINVAL, "%s: %d", "limit", 3), QS_EINVAL);
    TEXT(why.text, "limit: 3");
    STATUS(qs_error_set(NULL, QS_ENOMEM, "%s", "nobody listens"), QS_ENOMEM);
}

LAW(an_error_that_is_too_long_is_cut)
{
    char longer[1000];
    qs_error why;
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    STATUS(qs_error_set(&why, QS_EINVAL, "%s", longer), QS_EINVAL);
    EQUAL(strlen(why.text), sizeof why.text - 1);
}
