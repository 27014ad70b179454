// SPDX-License-Identifier: MIT
// Progress bar and progress lines.
#include "progress.h"
#include "cli_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if !defined(_WIN32)
#include <sys/ioctl.h>
#endif

#define ESPY_CLI_BAR_SECONDS 0.1
#define ESPY_CLI_LINE_SECONDS 2.0
/// Before this the time left would be a guess that jumps about.
#define ESPY_CLI_ESTIMATE_SECONDS 1.0

enum
{
    espyCliBar_MinColumns = 10,
    espyCliBar_MaxColumns = 40,
    espyCliBar_DefaultWidth = 80
};

const char* const espyiCliProgressModes[] = {"auto", "plain", "none", NULL};

double espyiCliClock_GetSeconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void espyiCliProgress_Begin(espyCliProgress* progress, espyCliProgressMode mode, FILE* stream, const char* title)
{
    const char* terminal = getenv("TERM");
    bool bar = mode == espyCliProgressMode_Auto && isatty(fileno(stream)) && terminal && strcmp(terminal, "dumb") != 0;
    *progress = (espyCliProgress){.stream = stream,
                                  .title = title,
                                  .bar = bar,
                                  .lines = !bar && mode != espyCliProgressMode_None,
                                  .width = espyCliBar_DefaultWidth};
#if !defined(_WIN32)
    struct winsize size;
    if (bar && ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    {
        progress->width = size.ws_col;
    }
#endif
}

/// 3.2 M, 480 k, 12.
static void espyCliProgress_FormatRate(double rate, char* out, size_t size)
{
    if (rate >= 999.5e6)
    {
        snprintf(out, size, "%.1f G", rate * 1e-9);
    }
    else if (rate >= 999.5e3)
    {
        snprintf(out, size, "%.1f M", rate * 1e-6);
    }
    else if (rate >= 9999.5)
    {
        snprintf(out, size, "%.0f k", rate * 1e-3);
    }
    else
    {
        snprintf(out, size, rate >= 10.0 ? "%.0f" : "%.1f", rate);
    }
}

/// 0:12, 3:07, 2:15:00.
static void espyCliProgress_FormatTime(double seconds, char* out, size_t size)
{
    uint64_t whole = (uint64_t)ceil(seconds);
    unsigned hours = (unsigned)(whole / 3600u), minutes = (unsigned)(whole / 60u % 60u), rest = (unsigned)(whole % 60u);
    if (hours > 0)
    {
        snprintf(out, size, "%u:%02u:%02u", hours, minutes, rest);
    }
    else
    {
        snprintf(out, size, "%u:%02u", minutes, rest);
    }
}

static double espyCliProgress_GetShare(const espyCliProgressState* state)
{
    if (state->total == 0)
    {
        return 0.0;
    }
    return state->done >= state->total ? 1.0 : (double)state->done / (double)state->total;
}

void espyiCliProgress_Describe(const espyCliProgressState* state, char* out, size_t size)
{
    double share = espyCliProgress_GetShare(state);
    char count[80] = "", rate[80] = "", left[80] = "", number[40];
    if (state->count > 0)
    {
        snprintf(count, sizeof count, " of %s %s", espyiCliNumber_FromCount(state->count).text, state->countName);
    }
    if (state->rate > 0.0 && isfinite(state->rate))
    {
        espyCliProgress_FormatRate(state->rate, number, sizeof number);
        snprintf(rate, sizeof rate, ", %s %s/s", number, state->rateName);
    }
    double seconds = share > 0.0 ? state->seconds * (1.0 - share) / share : 0.0;
    // A week is as good as "no idea".
    if (share > 0.0 && state->seconds >= ESPY_CLI_ESTIMATE_SECONDS && seconds < 604800.0)
    {
        espyCliProgress_FormatTime(seconds, number, sizeof number);
        snprintf(left, sizeof left, ", %s left", number);
    }
    snprintf(out, size, "%.0f %%%s%s%s", floor(share * 100.0), count, rate, left);
}

void espyiCliProgress_Show(espyCliProgress* progress, const espyCliProgressState* state)
{
    double wait = progress->bar ? ESPY_CLI_BAR_SECONDS : ESPY_CLI_LINE_SECONDS;
    if ((!progress->bar && !progress->lines) || state->seconds - progress->lastSeconds < wait)
    {
        return;
    }
    progress->lastSeconds = state->seconds;
    char text[320];
    espyiCliProgress_Describe(state, text, sizeof text);
    if (!progress->bar)
    {
        fprintf(progress->stream, "espy: %s: %s\n", progress->title, text);
        fflush(progress->stream);
        return;
    }
    // One column stays free: a full line would wrap on some terminals.
    int room = progress->width - (int)strlen(progress->title) - (int)strlen(text) - 6;
    int columns = room > espyCliBar_MaxColumns ? espyCliBar_MaxColumns : room;
    char bar[espyCliBar_MaxColumns + 1] = "";
    char line[512];
    if (columns >= espyCliBar_MinColumns)
    {
        int filled = (int)(espyCliProgress_GetShare(state) * columns);
        memset(bar, '-', (size_t)columns);
        memset(bar, '#', (size_t)filled);
        bar[columns] = '\0';
        snprintf(line, sizeof line, "%s [%s] %s", progress->title, bar, text);
    }
    else
    {
        snprintf(line, sizeof line, "%.*s", progress->width > 1 ? progress->width - 1 : 1, text);
    }
    size_t length = strlen(line);
    int blank = progress->shownColumns > length ? (int)(progress->shownColumns - length) : 0;
    fprintf(progress->stream, "\r%s%*s", line, blank, "");
    fflush(progress->stream);
    progress->shownColumns = length;
}

void espyiCliProgress_End(espyCliProgress* progress)
{
    if (progress->shownColumns > 0)
    {
        fprintf(progress->stream, "\r%*s\r", (int)progress->shownColumns, "");
        fflush(progress->stream);
        progress->shownColumns = 0;
    }
}
