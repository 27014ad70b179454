// SPDX-License-Identifier: MIT
// libmicrohttpd around the API.
#include "http.h"

#include "options.h"
#include "static_files.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum
{
    espyHttp_MaxConnections = 64,
    espyHttp_MaxListeners = 16,
    espyHttp_HeaderBytes = 32 * 1024,
    espyHttp_SilenceSeconds = 15,
    espyHttp_HeartbeatSeconds = 10
};

/// One connection, for the deadline.
typedef struct espyHttpConnection
{
    int socket;
    double since; ///< When its request began.
    bool used, streams;
} espyHttpConnection;

/// One who waits for events.
typedef struct espyHttpListener
{
    espyHttp* http;
    struct MHD_Connection* connection;
    uint64_t last; ///< Number of the last event sent.
    char text[1024];
    size_t size, sent;
    bool used, suspended, ping;
} espyHttpListener;

typedef struct espyHttpRequest
{
    char* target;
    unsigned char* body;
    size_t bodySize, bodyCapacity;
    bool begun, tooLarge;
} espyHttpRequest;

struct espyHttp
{
    struct MHD_Daemon* daemon;
    espyApi* api;
    espyStaticFiles files;
    char* host;
    char* token;
    uint16_t port;
    double deadline;
    pthread_mutex_t lock; ///< Over connections and listeners.
    espyHttpConnection connections[espyHttp_MaxConnections + 8];
    espyHttpListener listeners[espyHttp_MaxListeners];
    pthread_t watcher;
    bool watching, closing;
};

static double espyHttp_GetSeconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

bool espyiHttp_IsLoopback(const char* host)
{
    struct in_addr address;
    struct in6_addr address6;
    if (strcmp(host, "localhost") == 0)
    {
        return true;
    }
    if (inet_pton(AF_INET, host, &address) == 1)
    {
        return ntohl(address.s_addr) >> 24 == 127;
    }
    return inet_pton(AF_INET6, host, &address6) == 1 && IN6_IS_ADDR_LOOPBACK(&address6);
}

// --- answers

static enum MHD_Result espyHttp_Queue(struct MHD_Connection* connection, unsigned status, struct MHD_Response* response)
{
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
    MHD_add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
    enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result espyHttp_Answer(struct MHD_Connection* connection, const espyApiResponse* answer)
{
    struct MHD_Response* response = MHD_create_response_from_buffer(answer->size, answer->body, MHD_RESPMEM_MUST_FREE);
    if (!response)
    {
        free(answer->body);
        return MHD_NO;
    }
    MHD_add_response_header(response, "Content-Type", answer->type);
    MHD_add_response_header(response, "Cache-Control", "no-store");
    if (answer->allow)
    {
        MHD_add_response_header(response, "Allow", answer->allow);
    }
    return espyHttp_Queue(connection, (unsigned)answer->status, response);
}

static enum MHD_Result espyHttp_Refuse(struct MHD_Connection* connection, int status, const char* code,
                                       const char* message)
{
    char text[512];
    int size = snprintf(text, sizeof text, "{\"error\":{\"code\":\"%s\",\"message\":\"%s\"}}", code, message);
    char* copy = malloc((size_t)size);
    const espyApiResponse answer = {
        .status = status, .type = "application/json", .body = copy, .size = copy ? (size_t)size : 0};
    if (copy)
    {
        memcpy(copy, text, (size_t)size);
    }
    return espyHttp_Answer(connection, &answer);
}

static enum MHD_Result espyHttp_SendFile(struct MHD_Connection* connection, const espyStaticFile* file)
{
    int handle = open(file->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    struct stat info;
    if (handle < 0 || fstat(handle, &info) != 0 || !S_ISREG(info.st_mode))
    {
        if (handle >= 0)
        {
            close(handle);
        }
        return espyHttp_Refuse(connection, 404, "noPath", "the file is not there any more");
    }
    struct MHD_Response* response = MHD_create_response_from_fd((uint64_t)info.st_size, handle);
    if (!response)
    {
        close(handle);
        return MHD_NO;
    }
    MHD_add_response_header(response, "Content-Type", file->type);
    MHD_add_response_header(response, "Cache-Control", file->forever ? "max-age=31536000, immutable" : "no-cache");
    MHD_add_response_header(response, "Content-Security-Policy",
                            "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' "
                            "'unsafe-inline'; img-src 'self' data: blob:; frame-ancestors 'none'");
    return espyHttp_Queue(connection, 200, response);
}

// --- who may ask

/// "host:port" as a browser writes it of this server; any port where the header names none and ours is 80.
static bool espyHttp_IsOurHost(const espyHttp* http, const char* text)
{
    static const char* const local[] = {"127.0.0.1", "localhost", "[::1]"};
    char expected[160];
    bool loopback = espyiHttp_IsLoopback(http->host);
    for (int i = 0; i < 3 && loopback; ++i)
    {
        snprintf(expected, sizeof expected, "%s:%u", local[i], (unsigned)http->port);
        if (strcasecmp(text, expected) == 0)
        {
            return true;
        }
    }
    const char* form = strchr(http->host, ':') ? "[%s]:%u" : "%s:%u";
    // An address for all interfaces is reached under any name: the token guards it.
    bool everywhere = strcmp(http->host, "0.0.0.0") == 0 || strcmp(http->host, "::") == 0;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(expected, sizeof expected, form, http->host, (unsigned)http->port);
#pragma GCC diagnostic pop
    return everywhere || strcasecmp(text, expected) == 0;
}

static bool espyHttp_IsOurOrigin(const espyHttp* http, const char* origin, const char* host)
{
    return strncasecmp(origin, "http://", 7) == 0 && strcasecmp(origin + 7, host) == 0 &&
           espyHttp_IsOurHost(http, origin + 7);
}

/// Takes as long for a wrong token as for the right one.
static bool espyHttp_IsToken(const espyHttp* http, const char* text)
{
    size_t length = strlen(http->token), given = strlen(text);
    unsigned differs = length != given;
    for (size_t i = 0; i < given; ++i)
    {
        differs |= (unsigned)(unsigned char)text[i] ^ (unsigned char)http->token[length ? i % length : 0];
    }
    return differs == 0;
}

static bool espyHttp_HasToken(const espyHttp* http, struct MHD_Connection* connection)
{
    const char* header = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Authorization");
    const char* query = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "token");
    return (header && strncmp(header, "Bearer ", 7) == 0 && espyHttp_IsToken(http, header + 7)) ||
           (query && espyHttp_IsToken(http, query));
}

/// Why a request is refused before it is read; null where it is not.
static const char* espyHttp_FindFault(const espyHttp* http, struct MHD_Connection* connection, const char* url,
                                      int* status)
{
    const char* host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host");
    const char* origin = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Origin");
    const char* site = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Sec-Fetch-Site");
    const char* length = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Length");
    *status = 403;
    if (!host || !espyHttp_IsOurHost(http, host))
    {
        return "the Host header does not name this server";
    }
    if (origin && !espyHttp_IsOurOrigin(http, origin, host))
    {
        return "pages of other sites may not ask";
    }
    bool api = strncmp(url, "/api", 4) == 0;
    if (api && site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0)
    {
        return "pages of other sites may not ask";
    }
    if (api && http->token && !espyHttp_HasToken(http, connection))
    {
        *status = 401;
        return "a token is needed: Authorization: Bearer TOKEN, as espy serve was started with";
    }
    uint64_t size = 0;
    if (length && (!espyiCliNumber_ParseU64(length, &size) || size > ESPY_API_MAX_BODY))
    {
        *status = 413;
        return "the body is longer than 1 MiB";
    }
    return NULL;
}

// --- server-sent events

/// Runs in the server's thread. Holds the lock over "nothing to send" and "asleep", so that no wake is missed.
static ssize_t espyHttp_ReadEvents(void* context, uint64_t position, char* out, size_t capacity)
{
    espyHttpListener* listener = context;
    espyHttp* http = listener->http;
    (void)position;
    if (listener->sent == listener->size)
    {
        pthread_mutex_lock(&http->lock);
        listener->sent = 0;
        listener->size = espyiApi_NextEvent(http->api, &listener->last, listener->text, sizeof listener->text);
        if (listener->size == 0 && listener->ping)
        {
            listener->size = (size_t)snprintf(listener->text, sizeof listener->text, ": here\n\n");
        }
        listener->ping = false;
        bool closing = http->closing;
        if (listener->size == 0 && !closing)
        {
            listener->suspended = true;
            MHD_suspend_connection(listener->connection);
        }
        pthread_mutex_unlock(&http->lock);
        if (listener->size == 0)
        {
            return closing ? (ssize_t)MHD_CONTENT_READER_END_OF_STREAM : 0;
        }
    }
    size_t size = listener->size - listener->sent;
    size = size < capacity ? size : capacity;
    memcpy(out, listener->text + listener->sent, size);
    listener->sent += size;
    return (ssize_t)size;
}

static void espyHttp_FreeListener(void* context)
{
    espyHttpListener* listener = context;
    pthread_mutex_lock(&listener->http->lock);
    listener->used = false;
    pthread_mutex_unlock(&listener->http->lock);
}

static void espyHttp_WakeAll(espyHttp* http, bool ping)
{
    pthread_mutex_lock(&http->lock);
    for (int i = 0; i < espyHttp_MaxListeners; ++i)
    {
        espyHttpListener* listener = &http->listeners[i];
        listener->ping = listener->ping || ping;
        if (listener->used && listener->suspended)
        {
            listener->suspended = false;
            MHD_resume_connection(listener->connection);
        }
    }
    pthread_mutex_unlock(&http->lock);
}

void espyiHttp_Wake(void* http)
{
    espyHttp_WakeAll(http, false);
}

static void espyHttp_SetStreams(espyHttp* http, struct MHD_Connection* connection)
{
    const union MHD_ConnectionInfo* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    espyHttpConnection* entry = info ? info->socket_context : NULL;
    pthread_mutex_lock(&http->lock);
    if (entry)
    {
        entry->streams = true;
    }
    pthread_mutex_unlock(&http->lock);
}

static enum MHD_Result espyHttp_StartEvents(espyHttp* http, struct MHD_Connection* connection)
{
    espyHttpListener* listener = NULL;
    pthread_mutex_lock(&http->lock);
    for (int i = 0; i < espyHttp_MaxListeners && !listener; ++i)
    {
        listener = http->listeners[i].used ? NULL : &http->listeners[i];
    }
    if (listener)
    {
        *listener = (espyHttpListener){.http = http, .connection = connection, .used = true};
        listener->last = espyiApi_GetEventNumber(http->api);
        listener->size = (size_t)snprintf(listener->text, sizeof listener->text, "retry: 1000\n\n");
    }
    pthread_mutex_unlock(&http->lock);
    if (!listener)
    {
        return espyHttp_Refuse(connection, 503, "busy", "too many listen for events already");
    }
    struct MHD_Response* response =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 1024, espyHttp_ReadEvents, listener, espyHttp_FreeListener);
    if (!response)
    {
        espyHttp_FreeListener(listener);
        return MHD_NO;
    }
    espyHttp_SetStreams(http, connection);
    MHD_add_response_header(response, "Content-Type", "text/event-stream");
    MHD_add_response_header(response, "Cache-Control", "no-store");
    return espyHttp_Queue(connection, 200, response);
}

// --- requests

static void* espyHttp_BeginRequest(void* context, const char* uri, struct MHD_Connection* connection)
{
    (void)context, (void)connection;
    espyHttpRequest* request = calloc(1, sizeof *request);
    if (request)
    {
        request->target = strdup(uri);
    }
    return request;
}

static void espyHttp_EndRequest(void* context, struct MHD_Connection* connection, void** state,
                                enum MHD_RequestTerminationCode code)
{
    espyHttp* http = context;
    espyHttpRequest* request = *state;
    (void)code;
    if (request)
    {
        free(request->target);
        free(request->body);
        free(request);
        *state = NULL;
    }
    const union MHD_ConnectionInfo* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    espyHttpConnection* entry = info ? info->socket_context : NULL;
    pthread_mutex_lock(&http->lock);
    if (entry)
    {
        entry->since = espyHttp_GetSeconds();
        entry->streams = false;
    }
    pthread_mutex_unlock(&http->lock);
}

/// Keeps what has come of the body; what is too long is read and thrown away.
static void espyHttp_AddBody(espyHttpRequest* request, const char* data, size_t size)
{
    if (request->tooLarge || size > ESPY_API_MAX_BODY - request->bodySize)
    {
        request->tooLarge = true;
        return;
    }
    if (request->bodySize + size > request->bodyCapacity)
    {
        size_t capacity = 2 * (request->bodySize + size);
        unsigned char* body = realloc(request->body, capacity);
        request->tooLarge = !body;
        if (!body)
        {
            return;
        }
        request->body = body;
        request->bodyCapacity = capacity;
    }
    memcpy(request->body + request->bodySize, data, size);
    request->bodySize += size;
}

static enum MHD_Result espyHttp_Dispatch(espyHttp* http, struct MHD_Connection* connection, const char* url,
                                         const char* method, const espyHttpRequest* request)
{
    bool reads = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
    if (strncmp(url, "/api", 4) != 0)
    {
        const espyStaticFile* file = espyiStaticFiles_Find(&http->files, url);
        if (reads && file)
        {
            return espyHttp_SendFile(connection, file);
        }
        return espyHttp_Refuse(connection, 404, "noPath",
                               http->files.count > 0
                                   ? "there is no such file"
                                   : "the page is not built here (Node is needed for it): the API is under /api");
    }
    pthread_mutex_lock(&http->lock);
    espyApi* api = http->api;
    pthread_mutex_unlock(&http->lock);
    if (!api)
    {
        return espyHttp_Refuse(connection, 503, "busy", "the level is being opened");
    }
    if (strcmp(url, "/api/events") == 0 && strcmp(method, "GET") == 0)
    {
        return espyHttp_StartEvents(http, connection);
    }
    const espyApiRequest r = {
        .method = method,
        .target = request->target,
        .contentType = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Type"),
        .body = request->body,
        .bodySize = request->bodySize,
    };
    espyApiResponse answer;
    espyiApi_Handle(api, &r, &answer);
    return espyHttp_Answer(connection, &answer);
}

static enum MHD_Result espyHttp_Handle(void* context, struct MHD_Connection* connection, const char* url,
                                       const char* method, const char* version, const char* data, size_t* dataSize,
                                       void** state)
{
    espyHttp* http = context;
    espyHttpRequest* request = *state;
    (void)version;
    if (!request || !request->target)
    {
        return MHD_NO;
    }
    if (!request->begun)
    {
        request->begun = true;
        int status = 400;
        // A zero would end the path for the library and not for us.
        const char* fault = strstr(request->target, "%00") ? "the path holds a zero"
                                                           : espyHttp_FindFault(http, connection, url, &status);
        if (fault)
        {
            return espyHttp_Refuse(connection, status,
                                   status == 401   ? "noToken"
                                   : status == 413 ? "tooLarge"
                                                   : "notAllowed",
                                   fault);
        }
        return MHD_YES;
    }
    if (*dataSize > 0)
    {
        espyHttp_AddBody(request, data, *dataSize);
        *dataSize = 0;
        return MHD_YES;
    }
    if (request->tooLarge)
    {
        return espyHttp_Refuse(connection, 413, "tooLarge", "the body is longer than 1 MiB");
    }
    return espyHttp_Dispatch(http, connection, url, method, request);
}

// --- the deadline

static void espyHttp_Notify(void* context, struct MHD_Connection* connection, void** socketContext,
                            enum MHD_ConnectionNotificationCode code)
{
    espyHttp* http = context;
    pthread_mutex_lock(&http->lock);
    if (code == MHD_CONNECTION_NOTIFY_STARTED)
    {
        const union MHD_ConnectionInfo* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        for (size_t i = 0; info && i < sizeof http->connections / sizeof http->connections[0]; ++i)
        {
            if (!http->connections[i].used)
            {
                http->connections[i] =
                    (espyHttpConnection){.socket = info->connect_fd, .since = espyHttp_GetSeconds(), .used = true};
                *socketContext = &http->connections[i];
                break;
            }
        }
    }
    else if (*socketContext)
    {
        ((espyHttpConnection*)*socketContext)->used = false;
        *socketContext = NULL;
    }
    pthread_mutex_unlock(&http->lock);
}

static void* espyHttp_Watch(void* context)
{
    espyHttp* http = context;
    double lastPing = espyHttp_GetSeconds();
    for (bool closing = false; !closing;)
    {
        const struct timespec pause = {0, 250000000};
        nanosleep(&pause, NULL);
        double now = espyHttp_GetSeconds();
        pthread_mutex_lock(&http->lock);
        closing = http->closing;
        for (size_t i = 0; i < sizeof http->connections / sizeof http->connections[0]; ++i)
        {
            const espyHttpConnection* entry = &http->connections[i];
            if (entry->used && !entry->streams && now - entry->since > http->deadline)
            {
                shutdown(entry->socket, SHUT_RDWR);
            }
        }
        pthread_mutex_unlock(&http->lock);
        bool ping = now - lastPing > espyHttp_HeartbeatSeconds;
        lastPing = ping ? now : lastPing;
        if (ping)
        {
            espyHttp_WakeAll(http, true);
        }
    }
    return NULL;
}

// --- life

static espyCliExit espyHttp_Listen(espyHttp* http, espyCliLine* line)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(http->port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(http->port)};
    bool six = inet_pton(AF_INET6, http->host, &v6.sin6_addr) == 1;
    if (!six && inet_pton(AF_INET, http->host, &v4.sin_addr) != 1)
    {
        return espyiCliLine_Set(line, espyCliExit_Usage, "serve: --host %s is no address: write it in numbers",
                                http->host);
    }
    const struct sockaddr* address = six ? (const struct sockaddr*)&v6 : (const struct sockaddr*)&v4;
    unsigned flags = MHD_USE_AUTO | MHD_USE_INTERNAL_POLLING_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC |
                     (six ? MHD_USE_IPv6 : 0u);
    http->daemon = MHD_start_daemon(
        flags, http->port, NULL, NULL, espyHttp_Handle, http, MHD_OPTION_SOCK_ADDR, address,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)espyHttp_MaxConnections, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)espyHttp_HeaderBytes, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)espyHttp_SilenceSeconds,
        MHD_OPTION_URI_LOG_CALLBACK, espyHttp_BeginRequest, http, MHD_OPTION_NOTIFY_COMPLETED, espyHttp_EndRequest,
        http, MHD_OPTION_NOTIFY_CONNECTION, espyHttp_Notify, http, MHD_OPTION_END);
    if (!http->daemon)
    {
        return espyiCliLine_Set(line, espyCliExit_Environment,
                                "cannot listen at %s port %u: choose another with --port", http->host,
                                (unsigned)http->port);
    }
    const union MHD_DaemonInfo* info = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_BIND_PORT);
    http->port = info && info->port != 0 ? info->port : http->port;
    return espyCliExit_Ok;
}

espyCliExit espyiHttp_Start(const espyHttpDef* def, espyHttp** out, espyCliLine* line)
{
    *out = NULL;
    espyHttp* http = calloc(1, sizeof *http);
    if (!http || pthread_mutex_init(&http->lock, NULL) != 0)
    {
        free(http);
        return espyiCliLine_Set(line, espyCliExit_Environment, "out of memory");
    }
    http->host = strdup(strcmp(def->host, "localhost") == 0 ? "127.0.0.1" : def->host);
    http->token = def->token ? strdup(def->token) : NULL;
    http->port = def->port;
    http->deadline = (double)def->deadlineSeconds;
    if (def->page)
    {
        espyiStaticFiles_List(def->page, &http->files);
    }
    espyCliExit status = http->host && (http->token || !def->token)
                             ? espyHttp_Listen(http, line)
                             : espyiCliLine_Set(line, espyCliExit_Environment, "out of memory");
    if (status == espyCliExit_Ok)
    {
        http->watching = pthread_create(&http->watcher, NULL, espyHttp_Watch, http) == 0;
        status = http->watching ? status : espyiCliLine_Set(line, espyCliExit_Environment, "no thread can be started");
    }
    if (status != espyCliExit_Ok)
    {
        espyiHttp_Stop(http);
        return status;
    }
    *out = http;
    return espyCliExit_Ok;
}

void espyiHttp_SetApi(espyHttp* http, espyApi* api)
{
    pthread_mutex_lock(&http->lock);
    http->api = api;
    pthread_mutex_unlock(&http->lock);
}

uint16_t espyiHttp_GetPort(const espyHttp* http)
{
    return http->port;
}

bool espyiHttp_HasPage(const espyHttp* http)
{
    return http->files.count > 0;
}

void espyiHttp_Stop(espyHttp* http)
{
    if (!http)
    {
        return;
    }
    pthread_mutex_lock(&http->lock);
    http->closing = true;
    pthread_mutex_unlock(&http->lock);
    if (http->watching)
    {
        pthread_join(http->watcher, NULL);
    }
    if (http->daemon)
    {
        espyHttp_WakeAll(http, false);
        MHD_stop_daemon(http->daemon);
    }
    espyiStaticFiles_Free(&http->files);
    pthread_mutex_destroy(&http->lock);
    free(http->host);
    free(http->token);
    free(http);
}
