// SPDX-License-Identifier: MIT
// espy-serve: a level in a browser. `espy serve` starts it.
#include "cancel.h"
#include "file_io.h"
#include "http.h"
#include "options.h"
#include "platform.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

typedef struct espyServeArgs
{
    const char* level;
    const char* data;
    const char* host;
    const char* token;
    const char* page;
    uint32_t port;
} espyServeArgs;

static bool espyServe_Parse(espyServeArgs* args, int argc, char* const* argv, espyCliExit* status)
{
    *args = (espyServeArgs){.host = "127.0.0.1", .port = 7878};
    const espyCliArgument arguments[] = {
        {"LEVEL", ".glb, .gltf, .bsp, PAK.pk3:maps/NAME.bsp, or what Assimp reads", &args->level},
    };
    const espyCliOption options[] = {
        {.name = "--data",
         .value = "OUT.espy",
         .kind = espyCliOptionKind_Text,
         .target = &args->data,
         .help = "the baked data to show and to save to (default: the data inside a .glb, else the level's name with "
                 "the ending .espy)"},
        {.name = "--port",
         .value = "N",
         .kind = espyCliOptionKind_U32,
         .target = &args->port,
         .min = 0,
         .max = 65535,
         .help = "port to listen at, 0 to 65535 (default 7878; 0: any that is free)"},
        {.name = "--host",
         .value = "A",
         .kind = espyCliOptionKind_Text,
         .target = &args->host,
         .help = "numeric address to listen at (default 127.0.0.1: this machine alone); any other needs --token"},
        {.name = "--token",
         .value = "T",
         .kind = espyCliOptionKind_Text,
         .target = &args->token,
         .help = "what every request must carry, at least 16 characters"},
        {.name = "--page",
         .value = "FOLDER",
         .kind = espyCliOptionKind_Text,
         .target = &args->page,
         .help = "folder of the page's files (default: beside the program)"},
    };
    const espyCliUsage usage = {
        .command = "serve",
        .synopsis = "serve LEVEL [--data OUT.espy] [--port N] [--host A] [--token T]",
        .summary =
            "Serves a page that shows a level, marks occluders and occludees, bakes, and shows what is culled; and\n"
            "the REST API that it uses (GET /api/openapi.json). Nothing is written before it is saved there.\n"
            "Ctrl-C ends it.",
        .arguments = arguments,
        .argumentCount = sizeof arguments / sizeof arguments[0],
        .options = options,
        .optionCount = sizeof options / sizeof options[0],
        .statuses = "0    ended by Ctrl-C\n2    the command line is wrong\n3    the level is bad\n"
                    "4    the address cannot be listened at, memory",
        .example = "espy serve level.glb",
    };
    return espyiCliOptions_Accept(&usage, argc, argv, status);
}

static espyCliExit espyServe_CheckUsage(const espyServeArgs* args, espyCliLine* line)
{
    if (espyiCliFile_IsStandard(args->level) || (args->data && espyiCliFile_IsStandard(args->data)))
    {
        return espyiCliLine_Set(line, espyCliExit_Usage, "serve: LEVEL and --data are files: '-' cannot be saved to");
    }
    if (!args->token && !espyiHttp_IsLoopback(args->host))
    {
        return espyiCliLine_Set(line, espyCliExit_Usage,
                                "serve: --host %s is reached from other machines: give --token a secret of at least 16 "
                                "characters",
                                args->host);
    }
    if (args->token && strlen(args->token) < 16)
    {
        return espyiCliLine_Set(line, espyCliExit_Usage, "serve: --token is shorter than 16 characters");
    }
    for (const char* c = args->token; c && *c; ++c)
    {
        if (*c <= ' ' || *c > '~' || strchr("&=+%#", *c))
        {
            return espyiCliLine_Set(line, espyCliExit_Usage,
                                    "serve: --token may hold letters, digits and - . _ ~ but not '%c'", *c);
        }
    }
    return espyCliExit_Ok;
}

static void espyServe_Print(const espyServeArgs* args, const espyHttp* http)
{
    const char* form = strchr(args->host, ':') ? "http://[%s]:%u/%s%s\n" : "http://%s:%u/%s%s\n";
    if (!espyiHttp_HasPage(http))
    {
        espyiCliError_Print("the page is not built here (it needs Node 18): the API is served without it");
    }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    printf(form, args->host, (unsigned)espyiHttp_GetPort(http), args->token ? "?token=" : "",
           args->token ? args->token : "");
#pragma GCC diagnostic pop
    fflush(stdout);
}

static espyCliExit espyServe_Run(const espyServeArgs* args, const char* page, espyCliLine* line)
{
    const espyHttpDef def = {
        .host = args->host, .port = (uint16_t)args->port, .token = args->token, .page = page, .deadlineSeconds = 30};
    espyProject* project = NULL;
    espyHttp* http = NULL;
    espyCliExit status = espyiProject_Open(args->level, args->data, &project, line);
    status = status == espyCliExit_Ok ? espyiHttp_Start(&def, &http, line) : status;
    espyApi* api = status == espyCliExit_Ok ? espyiApi_Create(project, espyiHttp_Wake, http) : NULL;
    if (status == espyCliExit_Ok && !api)
    {
        status = espyiCliLine_Set(line, espyCliExit_Environment, "out of memory");
    }
    if (status == espyCliExit_Ok)
    {
        espyiHttp_SetApi(http, api);
        espyServe_Print(args, http);
        espyiCliCancel_Defer(true);
        while (!espyiCliCancel_IsRequested())
        {
            const struct timespec pause = {0, 50000000};
            nanosleep(&pause, NULL);
        }
        if (espyiProject_IsDirty(project))
        {
            espyiCliError_Print("ended with changes that were not saved");
        }
    }
    espyiHttp_Stop(http);
    espyiApi_Destroy(api);
    espyiProject_Close(project);
    return status;
}

int main(int argc, char** argv)
{
    espyServeArgs args;
    espyCliExit status;
    espyCliLine line;
    char page[1024];
    espyiCliCancel_Install();
    if (!espyServe_Parse(&args, argc - 1, argv + 1, &status))
    {
        return (int)status;
    }
    // Beside the program in the build folder; under share where it is installed.
    const char* slash = strrchr(argv[0], '/');
    snprintf(page, sizeof page, "%.*s/../share/espy/editor", slash ? (int)(slash - argv[0]) : 1, slash ? argv[0] : ".");
    status = espyServe_CheckUsage(&args, &line);
    status = status == espyCliExit_Ok ? espyServe_Run(&args, args.page ? args.page : page, &line) : status;
    if (status != espyCliExit_Ok)
    {
        espyiCliError_Print("%s", line.text);
    }
    return (int)status;
}
