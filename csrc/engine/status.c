/* SPDX-License-Identifier: MIT */
/* Status codes by name, and the sentence that goes with a build error. */
#include <qossim/engine.h>

#include <stdarg.h>
#include <stdio.h>

const char *qs_status_name(qs_status status)
{
    switch (status) {
#define QS__CASE(code, number, text)                                                                                   \
    case code:                                                                                                         \
        return #code;
        QS_STATUSES(QS__CASE)
#undef QS__CASE
    }
    return "QS_UNKNOWN";
}

const char *qs_status_text(qs_status status)
{
    switch (status) {
#define QS__CASE(code, number, text)                                                                                   \
    case code:                                                                                                         \
        return text;
        QS_STATUSES(QS__CASE)
#undef QS__CASE
    }
    return "unknown status";
}

qs_status qs_error_set(qs_error *why, qs_status status, const char *format, ...)
{
    if (why) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(why->text, sizeof why->text, format, arguments);
        va_end(arguments);
    }
    return status;
}
