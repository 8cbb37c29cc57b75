/* SPDX-License-Identifier: MIT */
/* Framings by name. */
#include <qossim/port.h>

#include <string.h>

const qs_framing_ops *const qs_framings[] = {
    &qs_framing_aal5,
    &qs_framing_ethernet,
    &qs_framing_ppp,
    &qs_framing_hdlc,
    &qs_framing_frame_relay,
    &qs_framing_overhead,
    NULL,
};

qs_status qs_framing_init(qs_framing *f, const qs_spec *spec, const char *owner, qs_error *why)
{
    if (!spec) {
        *f = (qs_framing){0};
        return QS_OK;
    }
    for (size_t i = 0; qs_framings[i]; i++) {
        if (strcmp(qs_framings[i]->name, spec->kind))
            continue;
        qs_value values[QS_PARAMS_MAX];
        const qs_status status = qs_params_read(qs_framings[i]->params, spec, values, owner, why);
        if (!status)
            *f = qs_framings[i]->make(values);
        return status;
    }
    return qs_error_set(why, QS_EINVAL, "%s: there is no framing %s", owner, spec->kind);
}
