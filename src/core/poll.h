// SPDX-License-Identifier: MIT
// How long work of one thread asks now and then whether to go on: a bake is to end within 200 ms of its cancelling.
//
// Counted work decides when to ask, never a clock, so that every machine asks at the same places. What the answer
// depends on (a button, a signal, time) is the asker's business.
#ifndef ESPYI_POLL_H
#define ESPYI_POLL_H

#include "core/core.h"

/// Work after which a question is due. A unit is a small step (a point, a triangle, a test of a box): ten to a hundred
/// nanoseconds, so that a question is at most a few milliseconds late.
#define ESPYI_POLL_UNITS 16384u

typedef struct espyiPoll
{
    bool (*goOn)(void* context); ///< False: stop. Null: nobody will want to.
    void* context;
    size_t units; ///< Since the last question.
    bool stopped; ///< What the last answer was. After a stop it is not asked again.
} espyiPoll;

/// Asks at once.
static inline bool espyiPoll_Ask(espyiPoll* poll)
{
    poll->units = 0;
    poll->stopped = poll->stopped || (poll->goOn && !poll->goOn(poll->context));
    return !poll->stopped;
}

/// Counts work that was done or comes next; false where it should stop. A null poll always goes on.
static inline bool espyiPoll_Work(espyiPoll* poll, size_t units)
{
    if (!poll)
    {
        return true;
    }
    poll->units += units;
    return poll->units < ESPYI_POLL_UNITS ? !poll->stopped : espyiPoll_Ask(poll);
}

static inline bool espyiPoll_IsStopped(const espyiPoll* poll)
{
    return poll && poll->stopped;
}

/// What a function that gave up reports: that it was told to, or else that memory ran out.
static inline espyResult espyiPoll_Result(const espyiPoll* poll, bool done)
{
    return done ? espyResult_Ok : espyiPoll_IsStopped(poll) ? espyResult_Cancelled : espyResult_OutOfMemory;
}

#endif
