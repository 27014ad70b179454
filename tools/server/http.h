// SPDX-License-Identifier: MIT
// The server's side of HTTP: who may ask, how long and how much, and server-sent events. The answers are api.h's.
//
// Rules
//   Host, Origin   Host must be the address that was asked for (or localhost); an Origin must be the server's own; what
//                  a browser marks as coming from another site is refused. So no page of another site reaches it, also
//                  not by a name that it makes point here.
//   Token          With one, every request under /api carries it: "Authorization: Bearer T", or ?token=T where a header
//                  cannot be set (server-sent events).
//   Bounds         64 connections, 16 of them for events, 1 MiB of body, 32 KiB of headers, 30 s for a request as a
//                  whole (the library's own limit is for silence, which a slow client breaks).
#ifndef ESPYI_HTTP_H
#define ESPYI_HTTP_H

#include "api.h"

typedef struct espyHttp espyHttp;

typedef struct espyHttpDef
{
    const char* host;  ///< Numeric address to listen at; "localhost" is 127.0.0.1.
    uint16_t port;     ///< 0: any that is free.
    const char* token; ///< Null: none.
    const char* page;  ///< Folder of the page's files; null or missing: the API alone.
    uint32_t deadlineSeconds;
} espyHttpDef;

/// True for an address that only this machine reaches.
bool espyiHttp_IsLoopback(const char* host);

/// Starts to answer, in a thread of its own, from which alone `api` is called. BadInput for an address that is none,
/// Environment for one that cannot be listened at.
espyCliExit espyiHttp_Start(const espyHttpDef* def, espyHttp** out, espyCliLine* line);
/// Connects the server to the API that it answers with. Nothing but 503 is answered before.
void espyiHttp_SetApi(espyHttp* http, espyApi* api);
/// For espyiApi_Create: wakes those who wait for events.
void espyiHttp_Wake(void* http);
uint16_t espyiHttp_GetPort(const espyHttp* http);
bool espyiHttp_HasPage(const espyHttp* http);
void espyiHttp_Stop(espyHttp* http);

#endif
