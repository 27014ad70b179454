// SPDX-License-Identifier: MIT
// Attacks what a file hides: very many lines from the surfaces of occludees, each free piece of which is held against
// the cells that it runs through.
//
// Independent of src/bake: its own lines, its own walk through the cells in double precision; the tracer is given by
// the caller. What a traced line finds counts only after a second look in double precision at every triangle.
#ifndef ESPY_ADVERSARY_H
#define ESPY_ADVERSARY_H

#include <espy/bake.h>

typedef struct espyAdversaryHit
{
    double t; ///< Infinity: nothing.
    uint32_t triangle;
} espyAdversaryHit;

#define ESPY_ADVERSARY_BATCH 64

/// The nearest triangles of `count` lines with unit directions from tMin on, those of the occluders
/// [firstOwn, firstOwn + ownCount) left out. Thread: any.
typedef void espyAdversaryTraceFn(void* context, const espyVec3* origins, const espyVec3* directions, uint32_t count,
                                  float tMin, uint32_t firstOwn, uint32_t ownCount, espyAdversaryHit* hits);

/// Where a camera can be. Null: everywhere. Thread: any.
typedef bool espyAdversaryPlaceFn(void* context, const double point[3]);

typedef struct espyAdversaryDef
{
    const espyBakeInput* input;
    const espyPvs* pvs;
    espyAdversaryTraceFn* trace;
    void* traceContext;
    espyAdversaryPlaceFn* place;
    void* placeContext;
    const double (*rims)[2][3]; ///< Edges of openings to pass closely; may be none.
    uint32_t rimCount;
    double tolerance; ///< Metres: a free line that passes a triangle closer than this is counted apart.
    uint64_t rays, seed;
} espyAdversaryDef;

typedef struct espyAdversaryResult
{
    uint64_t rays;       ///< Cast.
    uint64_t held;       ///< Cells that a free line ran through, from which its target had to be in sight.
    uint64_t violations; ///< Lines that prove a hidden pair visible.
    uint64_t grazing;    ///< Those that only do so within the tolerance.
    uint32_t cell, slot; ///< Of the first violation.
    double from[3], to[3];
} espyAdversaryResult;

/// The triangles of all occluders, in the order that hits count them.
typedef struct espyAdversary
{
    const espyBakeInput* input;
    espyVec3* positions;
    uint32_t* indices;
    uint32_t* objects;
    uint32_t triangleCount;
    void* surfaces;
} espyAdversary;

bool espyAdversary_Create(const espyBakeInput* input, espyAdversary* out);
void espyAdversary_Free(espyAdversary* adversary);

/// A fifth each: uniform lines; lines past edges of triangles that lines before hit; mutations of lines that ran far;
/// lines from inside hidden pairs; lines past rims. One thread; runs with other seeds add up.
void espyAdversary_Run(const espyAdversary* adversary, const espyAdversaryDef* def, espyAdversaryResult* out);

#endif
