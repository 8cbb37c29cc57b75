/* SPDX-License-Identifier: MIT */
/* Everything, in the order in which a packet meets it. */
#ifndef QOSSIM_QOSSIM_H
#define QOSSIM_QOSSIM_H

#include <qossim/engine.h>

#include <qossim/source.h>

#include <qossim/meter.h>

#include <qossim/queue.h>

#include <qossim/sched.h>

#include <qossim/port.h>

#include <qossim/record.h>

#include <qossim/stats.h>

#include <qossim/net.h>

#endif
