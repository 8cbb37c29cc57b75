/* SPDX-License-Identifier: MIT */
/*
 * The seed experiment and nothing else, as one straight loop over transmissions: EF and BE packets on a 2 Mbit/s ATM
 * PVC, priority queueing, a ring that holds two packets, EF on to an idle second port. No events, no objects, no
 * choices: what a core could reach if it knew in advance what it will be asked. Prints the packets, the processor
 * seconds it took, and the sums of both flows' delays in picoseconds, which must be those of the simulator. Takes the
 * duration in seconds.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { EF_QUEUE = 16, BE_LIMIT = 64, BE_QUEUE = 128 };

static const int64_t T = 4664000000, PROPAGATION = 691000000, BE_INTERVAL = 5000000000;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Packet k of EF leaves at floor(k * 81920000000 / 3); a packet is its departure, doubled, plus 1 for EF. */
#define PUSH_EF(at) (efq[ef_tail++ % EF_QUEUE] = (at) * 2 + 1)
#define PUSH_BE(at) (beq[be_tail++ % BE_QUEUE] = (at) * 2)
#define NEXT_EF() (ef_count++, ef = ef_count * 81920000000 / 3, ef = ef < duration ? ef : INT64_MAX)
#define NEXT_BE() (be_count++, be = be + BE_INTERVAL < duration ? be + BE_INTERVAL : INT64_MAX)

int main(int argc, char **argv)
{
    const int64_t duration = (int64_t)(1e12 * (argc > 1 ? atof(argv[1]) : 10000));
    const double began = seconds();
    int64_t efq[EF_QUEUE], beq[BE_QUEUE], ring[3] = {0};
    uint64_t ef_head = 0, ef_tail = 0, be_head = 0, be_tail = 0, held = 0;
    int64_t ef = 0, be = 0, ef_count = 0, be_count = 0, delay[2] = {0, 0}, end = 0;
    for (;;) {
        const int64_t now = held ? end : ef < be ? ef : be; /* a transmission ends, or an idle port is reached */
        if (now == INT64_MAX)
            break;
        if (held) {
            const int64_t is_ef = ring[0] & 1;
            delay[is_ef] += now + PROPAGATION - (ring[0] >> 1) + is_ef * (T + PROPAGATION);
            ring[0] = ring[1], ring[1] = ring[2], held--;
        }
        if (ef == now)
            PUSH_EF(ef), NEXT_EF();
        if (be == now)
            PUSH_BE(be), NEXT_BE();
        while (held < 3 && (ef_head != ef_tail || be_head != be_tail))
            ring[held++] = ef_head != ef_tail ? efq[ef_head++ % EF_QUEUE] : beq[be_head++ % BE_QUEUE];
        be_tail = be_tail - be_head > BE_LIMIT ? be_head + BE_LIMIT : be_tail;
        end = held ? now + T : end;
        while ((ef < be ? ef : be) < end && held) { /* what comes meanwhile: to the ring while it has room */
            if (ef <= be) {
                held < 3 ? (void)(ring[held++] = ef * 2 + 1) : (void)PUSH_EF(ef);
                NEXT_EF();
            } else {
                if (held < 3)
                    ring[held++] = be * 2;
                else if (be_tail - be_head < BE_LIMIT)
                    PUSH_BE(be);
                NEXT_BE();
            }
        }
    }
    printf("%" PRId64 " %.9f %" PRId64 " %" PRId64 "\n", ef_count + be_count, seconds() - began, delay[1], delay[0]);
    return 0;
}
