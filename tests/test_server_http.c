// SPDX-License-Identifier: MIT
// The server over sockets: who may ask, bounds, slow clients, events.
#include "test_main.h"

#include "http.h"

#include "scenes/scenes.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define ESPY_FOLDER ESPY_BINARY_DIR "/test_server_http"
#define ESPY_LEVEL ESPY_FOLDER "/level.glb"
#define ESPY_PAGE ESPY_FOLDER "/page"
#define ESPY_TOKEN "0123456789abcdef"

typedef struct espyHttpCase
{
    espyProject* project;
    espyHttp* http;
    espyApi* api;
    uint16_t port;
    char reply[65536];
    size_t replySize;
} espyHttpCase;

static void espyCase_Start(espyHttpCase* c, const char* token, uint32_t deadline)
{
    const espyHttpDef def = {
        .host = "127.0.0.1", .port = 0, .token = token, .page = ESPY_PAGE, .deadlineSeconds = deadline};
    espyCliLine line = {""};
    espyCliExit status = espyiProject_Open(ESPY_LEVEL, NULL, &c->project, &line);
    status = status == espyCliExit_Ok ? espyiHttp_Start(&def, &c->http, &line) : status;
    assert_string_equal(line.text, "");
    assert_int_equal(status, espyCliExit_Ok);
    c->api = espyiApi_Create(c->project, espyiHttp_Wake, c->http);
    espyiHttp_SetApi(c->http, c->api);
    c->port = espyiHttp_GetPort(c->http);
}

static void espyCase_Stop(espyHttpCase* c)
{
    espyiHttp_Stop(c->http);
    espyiApi_Destroy(c->api);
    espyiProject_Close(c->project);
}

static int espyCase_SetUp(void** state)
{
    espyWorld* world;
    espyImportReport report;
    assert_int_equal(system("rm -rf '" ESPY_FOLDER "' && mkdir -p '" ESPY_PAGE "/assets'"), 0);
    assert_int_equal(system("echo '<h1>page</h1>' > '" ESPY_PAGE "/index.html' && echo secret > '" ESPY_FOLDER
                            "/secret' && ln -s ../secret '" ESPY_PAGE "/link'"),
                     0);
    assert_int_equal(espyScene_Build("rooms", 2, 1, &world), espyResult_Ok);
    assert_int_equal(espyImport_SaveGlb(world, ESPY_LEVEL, NULL, 0, &report), espyResult_Ok);
    espyWorld_Destroy(world);
    *state = calloc(1, sizeof(espyHttpCase));
    return 0;
}

static int espyCase_TearDown(void** state)
{
    free(*state);
    return 0;
}

// --- a client

static int espyCase_Connect(const espyHttpCase* c)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(c->port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int handle = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(handle >= 0);
    assert_int_equal(connect(handle, (struct sockaddr*)&address, sizeof address), 0);
    return handle;
}

/// Reads until the other side closes, `milliseconds` pass, or `until` (may be null) has come.
static void espyCase_Read(espyHttpCase* c, int handle, int milliseconds, const char* until)
{
    c->replySize = 0;
    c->reply[0] = '\0';
    struct pollfd wait = {handle, POLLIN, 0};
    while (c->replySize + 1 < sizeof c->reply && poll(&wait, 1, milliseconds) > 0)
    {
        ssize_t got = recv(handle, c->reply + c->replySize, sizeof c->reply - 1 - c->replySize, 0);
        if (got <= 0)
        {
            return;
        }
        c->replySize += (size_t)got;
        c->reply[c->replySize] = '\0';
        if (until && strstr(c->reply, until))
        {
            return;
        }
    }
}

/// Sends a request as it is and returns the status of the answer, 0 without one.
static int espyCase_Send(espyHttpCase* c, const char* text)
{
    int status = 0;
    int handle = espyCase_Connect(c);
    send(handle, text, strlen(text), MSG_NOSIGNAL);
    espyCase_Read(c, handle, 5000, NULL);
    close(handle);
    return sscanf(c->reply, "HTTP/1.1 %d", &status) == 1 ? status : 0;
}

/// A GET with more header lines; '%u' in them is the port.
static int espyCase_Get(espyHttpCase* c, const char* target, const char* headers)
{
    char text[2048], lines[1024];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(lines, sizeof lines, headers, c->port);
#pragma GCC diagnostic pop
    snprintf(text, sizeof text, "GET %s HTTP/1.1\r\n%sConnection: close\r\n\r\n", target, lines);
    return espyCase_Send(c, text);
}

static double espyCase_GetSeconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// --- tests

static void espyTest_OnlyOwnPagesMayAsk(void** state)
{
    espyHttpCase* c = *state;
    espyCase_Start(c, NULL, 30);
    assert_int_equal(espyCase_Get(c, "/api/status", "Host: 127.0.0.1:%u\r\n"), 200);
    assert_int_equal(espyCase_Get(c, "/api/status", "Host: localhost:%u\r\n"), 200);
    assert_int_equal(espyCase_Get(c, "/api/status", "Host: localhost:%1$u\r\nOrigin: http://localhost:%1$u\r\n"), 200);
    // A name that somebody makes point here.
    assert_int_equal(espyCase_Get(c, "/api/status", "Host: evil.example:%u\r\n"), 403);
    assert_int_equal(espyCase_Get(c, "/api/status", "Host: 127.0.0.1\r\n"), 403);
    assert_int_equal(espyCase_Get(c, "/api/status", ""), 403);
    // Another site, another port, an opaque origin.
    assert_int_equal(espyCase_Get(c, "/api/status", "Host: localhost:%u\r\nOrigin: http://evil.example\r\n"), 403);
    assert_int_equal(espyCase_Get(c, "/api/status", "Host: localhost:%u\r\nOrigin: http://localhost:1\r\n"), 403);
    assert_int_equal(espyCase_Get(c, "/api/status", "Host: localhost:%u\r\nOrigin: null\r\n"), 403);
    assert_int_equal(espyCase_Get(c, "/api/status", "Host: localhost:%u\r\nSec-Fetch-Site: cross-site\r\n"), 403);
    assert_int_equal(espyCase_Get(c, "/api/events", "Host: localhost:%u\r\nOrigin: http://evil.example\r\n"), 403);
    espyCase_Stop(c);
}

static void espyTest_Token(void** state)
{
    espyHttpCase* c = *state;
    espyCase_Start(c, ESPY_TOKEN, 30);
    assert_int_equal(espyCase_Get(c, "/api/status", "Host: localhost:%u\r\n"), 401);
    assert_int_equal(espyCase_Get(c, "/api/status", "Host: localhost:%u\r\nAuthorization: Bearer 0123456789abcdeX\r\n"),
                     401);
    assert_int_equal(espyCase_Get(c, "/api/status", "Host: localhost:%u\r\nAuthorization: Bearer 0123\r\n"), 401);
    assert_int_equal(espyCase_Get(c, "/api/status", "Host: localhost:%u\r\nAuthorization: Bearer " ESPY_TOKEN "\r\n"),
                     200);
    assert_int_equal(espyCase_Get(c, "/api/status?token=" ESPY_TOKEN, "Host: localhost:%u\r\n"), 200);
    // The page itself has no secrets: it must load before it can send a token.
    assert_int_equal(espyCase_Get(c, "/", "Host: localhost:%u\r\n"), 200);
    espyCase_Stop(c);
}

static void espyTest_Files(void** state)
{
    espyHttpCase* c = *state;
    espyCase_Start(c, NULL, 30);
    assert_int_equal(espyCase_Get(c, "/", "Host: localhost:%u\r\n"), 200);
    assert_non_null(strstr(c->reply, "<h1>page</h1>"));
    assert_non_null(strstr(c->reply, "Content-Security-Policy"));
    static const char* const targets[] = {"/../secret",      "/assets/../../secret", "/%2e%2e/secret", "/..%2fsecret",
                                          "/link",           "//etc/passwd",         "/index.html/",   "/assets",
                                          "/%00/index.html", "/index.html%00.png"};
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; ++i)
    {
        int status = espyCase_Get(c, targets[i], "Host: localhost:%u\r\n");
        if (status != 404 && status != 400)
        {
            fail_msg("%s: %d", targets[i], status);
        }
        assert_null(strstr(c->reply, "secret\n"));
    }
    espyCase_Stop(c);
}

static void espyTest_Bounds(void** state)
{
    espyHttpCase* c = *state;
    espyCase_Start(c, NULL, 30);
    char host[64], text[512];
    snprintf(host, sizeof host, "Host: localhost:%u\r\nConnection: close\r\n", c->port);
    snprintf(text, sizeof text,
             "PUT /api/occlusion/preview HTTP/1.1\r\n%sContent-Type: application/json\r\n"
             "Content-Length: 99999999\r\n\r\n",
             host);
    assert_int_equal(espyCase_Send(c, text), 413);
    snprintf(text, sizeof text, "PUT /api/occlusion/preview HTTP/1.1\r\n%sContent-Length: -5\r\n\r\n", host);
    assert_true(espyCase_Send(c, text) >= 400);
    // Chunks that never say how long they are in all.
    size_t size = (2u << 20) + 4096;
    char* big = malloc(size);
    int used = snprintf(big, size,
                        "PUT /api/occlusion/preview HTTP/1.1\r\n%sContent-Type: application/json\r\n"
                        "Transfer-Encoding: chunked\r\n\r\n180000\r\n",
                        host);
    memset(big + used, ' ', 0x180000);
    snprintf(big + used + 0x180000, 16, "\r\n0\r\n\r\n");
    assert_int_equal(espyCase_Send(c, big), 413);
    // Headers without end.
    used = snprintf(big, size, "GET /api/status HTTP/1.1\r\n%sX: ", host);
    memset(big + used, 'x', 65536);
    snprintf(big + used + 65536, 8, "\r\n\r\n");
    int status = espyCase_Send(c, big);
    assert_true(status == 0 || status >= 400);
    free(big);
    assert_true(espyCase_Send(c, "\x16\x03\x01 this is no HTTP\r\n\r\n") >= 0);
    assert_int_equal(espyCase_Get(c, "/api/status", "Host: localhost:%u\r\n"), 200);
    espyCase_Stop(c);
}

/// One byte a while keeps any limit of silence away; the whole request has a deadline.
static void espyTest_SlowClients(void** state)
{
    espyHttpCase* c = *state;
    espyCase_Start(c, NULL, 1);
    static const char request[] =
        "GET /api/status HTTP/1.1\r\nX-Slow: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    int slow[60];
    for (int i = 0; i < 60; ++i)
    {
        slow[i] = espyCase_Connect(c);
    }
    double start = espyCase_GetSeconds();
    bool closed = false;
    for (size_t at = 0; at + 1 < sizeof request && !closed; ++at)
    {
        const struct timespec pause = {0, 100000000};
        for (int i = 0; i < 60; ++i)
        {
            send(slow[i], request + at, 1, MSG_NOSIGNAL);
        }
        nanosleep(&pause, NULL);
        if (at == 3)
        {
            // Others are served meanwhile.
            assert_int_equal(espyCase_Get(c, "/api/status", "Host: localhost:%u\r\n"), 200);
        }
        char byte;
        closed = recv(slow[0], &byte, 1, MSG_DONTWAIT) == 0;
    }
    assert_true(closed);
    assert_true(espyCase_GetSeconds() - start < 5.0);
    for (int i = 0; i < 60; ++i)
    {
        close(slow[i]);
    }
    assert_int_equal(espyCase_Get(c, "/api/status", "Host: localhost:%u\r\n"), 200);
    espyCase_Stop(c);
}

static void espyTest_Events(void** state)
{
    espyHttpCase* c = *state;
    espyCase_Start(c, NULL, 1);
    char text[512];
    int handle = espyCase_Connect(c);
    snprintf(text, sizeof text, "GET /api/events HTTP/1.1\r\nHost: localhost:%u\r\n\r\n", c->port);
    send(handle, text, strlen(text), MSG_NOSIGNAL);
    espyCase_Read(c, handle, 5000, "retry: 1000");
    assert_non_null(strstr(c->reply, "text/event-stream"));
    // Longer than the deadline: a stream has none.
    const struct timespec pause = {2, 0};
    nanosleep(&pause, NULL);
    snprintf(text, sizeof text,
             "PUT /api/occlusion/preview HTTP/1.1\r\nHost: localhost:%u\r\nContent-Type: application/json\r\n"
             "Connection: close\r\nContent-Length: 16\r\n\r\n{\"enabled\":true}",
             c->port);
    assert_int_equal(espyCase_Send(c, text), 200);
    espyCase_Read(c, handle, 5000, "event: preview");
    assert_non_null(strstr(c->reply, "event: preview"));
    close(handle);
    // A bake reports its progress and its end, and the server answers while it runs.
    handle = espyCase_Connect(c);
    snprintf(text, sizeof text, "GET /api/events HTTP/1.1\r\nHost: localhost:%u\r\n\r\n", c->port);
    send(handle, text, strlen(text), MSG_NOSIGNAL);
    espyCase_Read(c, handle, 5000, "retry: 1000");
    snprintf(text, sizeof text,
             "POST /api/occlusion/bake HTTP/1.1\r\nHost: localhost:%u\r\nConnection: close\r\nContent-Length: "
             "0\r\n\r\n",
             c->port);
    assert_int_equal(espyCase_Send(c, text), 202);
    assert_int_equal(espyCase_Get(c, "/api/scene", "Host: localhost:%u\r\n"), 200);
    espyCase_Read(c, handle, 60000, "\"state\":\"done\"");
    assert_non_null(strstr(c->reply, "\"state\":\"running\""));
    assert_non_null(strstr(c->reply, "\"state\":\"done\""));
    // Stopped with a listener still there.
    espyCase_Stop(c);
    close(handle);
}

static void espyTest_ManyListeners(void** state)
{
    espyHttpCase* c = *state;
    espyCase_Start(c, NULL, 30);
    char text[256];
    int handles[17], refused = 0;
    snprintf(text, sizeof text, "GET /api/events HTTP/1.1\r\nHost: localhost:%u\r\n\r\n", c->port);
    for (int i = 0; i < 17; ++i)
    {
        handles[i] = espyCase_Connect(c);
        send(handles[i], text, strlen(text), MSG_NOSIGNAL);
        espyCase_Read(c, handles[i], 5000, "\r\n\r\n");
        refused += strstr(c->reply, " 503 ") != NULL;
    }
    assert_int_equal(refused, 1);
    for (int i = 0; i < 17; ++i)
    {
        close(handles[i]);
    }
    espyCase_Stop(c);
}

static void espyTest_Loopback(void** state)
{
    (void)state;
    assert_true(espyiHttp_IsLoopback("127.0.0.1"));
    assert_true(espyiHttp_IsLoopback("127.9.9.9"));
    assert_true(espyiHttp_IsLoopback("::1"));
    assert_true(espyiHttp_IsLoopback("localhost"));
    assert_false(espyiHttp_IsLoopback("0.0.0.0"));
    assert_false(espyiHttp_IsLoopback("::"));
    assert_false(espyiHttp_IsLoopback("192.168.1.2"));
    assert_false(espyiHttp_IsLoopback("example.org"));
    espyHttp* http;
    espyCliLine line;
    const espyHttpDef def = {.host = "example.org", .deadlineSeconds = 30};
    assert_int_equal(espyiHttp_Start(&def, &http, &line), espyCliExit_Usage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(espyTest_OnlyOwnPagesMayAsk, espyCase_SetUp, espyCase_TearDown),
        cmocka_unit_test_setup_teardown(espyTest_Token, espyCase_SetUp, espyCase_TearDown),
        cmocka_unit_test_setup_teardown(espyTest_Files, espyCase_SetUp, espyCase_TearDown),
        cmocka_unit_test_setup_teardown(espyTest_Bounds, espyCase_SetUp, espyCase_TearDown),
        cmocka_unit_test_setup_teardown(espyTest_SlowClients, espyCase_SetUp, espyCase_TearDown),
        cmocka_unit_test_setup_teardown(espyTest_Events, espyCase_SetUp, espyCase_TearDown),
        cmocka_unit_test_setup_teardown(espyTest_ManyListeners, espyCase_SetUp, espyCase_TearDown),
        cmocka_unit_test(espyTest_Loopback),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
