// SPDX-License-Identifier: MIT
#include <espy/math.h>

// Larger than every finite float that is not itself the maximum; comparisons with NaN are false.
#define ESPY_FLOAT_MAX 3.402823466e+38f

static float espyMin(float a, float b)
{
    return b < a ? b : a;
}

static float espyMax(float a, float b)
{
    return b > a ? b : a;
}

static bool espyFinite(float v)
{
    return v >= -ESPY_FLOAT_MAX && v <= ESPY_FLOAT_MAX;
}

espyBox espyBox_Empty(void)
{
    espyVec3 high = {ESPY_FLOAT_MAX, ESPY_FLOAT_MAX, ESPY_FLOAT_MAX};
    espyVec3 low = {-ESPY_FLOAT_MAX, -ESPY_FLOAT_MAX, -ESPY_FLOAT_MAX};
    return (espyBox){high, low};
}

bool espyBox_IsValid(espyBox box)
{
    return espyFinite(box.min.x) && espyFinite(box.min.y) && espyFinite(box.min.z) && espyFinite(box.max.x) &&
           espyFinite(box.max.y) && espyFinite(box.max.z) && box.min.x <= box.max.x && box.min.y <= box.max.y &&
           box.min.z <= box.max.z;
}

espyBox espyBox_AddPoint(espyBox box, espyVec3 p)
{
    box.min = (espyVec3){espyMin(box.min.x, p.x), espyMin(box.min.y, p.y), espyMin(box.min.z, p.z)};
    box.max = (espyVec3){espyMax(box.max.x, p.x), espyMax(box.max.y, p.y), espyMax(box.max.z, p.z)};
    return box;
}

espyBox espyBox_Union(espyBox a, espyBox b)
{
    a.min = (espyVec3){espyMin(a.min.x, b.min.x), espyMin(a.min.y, b.min.y), espyMin(a.min.z, b.min.z)};
    a.max = (espyVec3){espyMax(a.max.x, b.max.x), espyMax(a.max.y, b.max.y), espyMax(a.max.z, b.max.z)};
    return a;
}

bool espyBox_Overlaps(espyBox a, espyBox b)
{
    return a.min.x <= b.max.x && b.min.x <= a.max.x && a.min.y <= b.max.y && b.min.y <= a.max.y && a.min.z <= b.max.z &&
           b.min.z <= a.max.z;
}

espyBox espyBox_Grow(espyBox box, float amount)
{
    box.min = (espyVec3){box.min.x - amount, box.min.y - amount, box.min.z - amount};
    box.max = (espyVec3){box.max.x + amount, box.max.y + amount, box.max.z + amount};
    return box;
}

espyMat4 espyMat4_Identity(void)
{
    return (espyMat4){{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}};
}

espyMat4 espyMat4_Multiply(espyMat4 a, espyMat4 b)
{
    espyMat4 r;
    for (int column = 0; column < 4; ++column)
    {
        for (int row = 0; row < 4; ++row)
        {
            float sum = 0.0f;
            for (int k = 0; k < 4; ++k)
            {
                sum += a.m[4 * k + row] * b.m[4 * column + k];
            }
            r.m[4 * column + row] = sum;
        }
    }
    return r;
}

espyMat4 espyMat4_FromTrs(espyVec3 t, const float q[4], espyVec3 s)
{
    float x = q[0], y = q[1], z = q[2], w = q[3];
    return (espyMat4){{
        (1.0f - 2.0f * (y * y + z * z)) * s.x,
        2.0f * (x * y + z * w) * s.x,
        2.0f * (x * z - y * w) * s.x,
        0.0f,
        2.0f * (x * y - z * w) * s.y,
        (1.0f - 2.0f * (x * x + z * z)) * s.y,
        2.0f * (y * z + x * w) * s.y,
        0.0f,
        2.0f * (x * z + y * w) * s.z,
        2.0f * (y * z - x * w) * s.z,
        (1.0f - 2.0f * (x * x + y * y)) * s.z,
        0.0f,
        t.x,
        t.y,
        t.z,
        1.0f,
    }};
}

espyVec3 espyMat4_TransformPoint(espyMat4 m, espyVec3 p)
{
    return (espyVec3){
        m.m[0] * p.x + m.m[4] * p.y + m.m[8] * p.z + m.m[12],
        m.m[1] * p.x + m.m[5] * p.y + m.m[9] * p.z + m.m[13],
        m.m[2] * p.x + m.m[6] * p.y + m.m[10] * p.z + m.m[14],
    };
}

espyBox espyMat4_TransformBox(espyMat4 m, espyBox box)
{
    espyBox out = espyBox_Empty();
    if (!espyBox_IsValid(box))
    {
        return out;
    }
    for (int i = 0; i < 8; ++i)
    {
        espyVec3 corner = {i & 1 ? box.max.x : box.min.x, i & 2 ? box.max.y : box.min.y, i & 4 ? box.max.z : box.min.z};
        out = espyBox_AddPoint(out, espyMat4_TransformPoint(m, corner));
    }
    return out;
}

float espyMat4_Determinant3(espyMat4 m)
{
    return m.m[0] * (m.m[5] * m.m[10] - m.m[9] * m.m[6]) - m.m[4] * (m.m[1] * m.m[10] - m.m[9] * m.m[2]) +
           m.m[8] * (m.m[1] * m.m[6] - m.m[5] * m.m[2]);
}

bool espyMat4_IsFinite(espyMat4 m)
{
    for (int i = 0; i < 16; ++i)
    {
        if (!espyFinite(m.m[i]))
        {
            return false;
        }
    }
    return true;
}

bool espyMat4_InvertAffine(espyMat4 m, espyMat4* out)
{
    float determinant = espyMat4_Determinant3(m);
    if (!(determinant > 0.0f || determinant < 0.0f) || !espyMat4_IsFinite(m))
    {
        return false;
    }
    float inverse = 1.0f / determinant;
    const float* a = m.m;
    espyMat4 r = espyMat4_Identity();
    r.m[0] = (a[5] * a[10] - a[9] * a[6]) * inverse;
    r.m[1] = (a[9] * a[2] - a[1] * a[10]) * inverse;
    r.m[2] = (a[1] * a[6] - a[5] * a[2]) * inverse;
    r.m[4] = (a[8] * a[6] - a[4] * a[10]) * inverse;
    r.m[5] = (a[0] * a[10] - a[8] * a[2]) * inverse;
    r.m[6] = (a[4] * a[2] - a[0] * a[6]) * inverse;
    r.m[8] = (a[4] * a[9] - a[8] * a[5]) * inverse;
    r.m[9] = (a[8] * a[1] - a[0] * a[9]) * inverse;
    r.m[10] = (a[0] * a[5] - a[4] * a[1]) * inverse;
    r.m[12] = -(r.m[0] * a[12] + r.m[4] * a[13] + r.m[8] * a[14]);
    r.m[13] = -(r.m[1] * a[12] + r.m[5] * a[13] + r.m[9] * a[14]);
    r.m[14] = -(r.m[2] * a[12] + r.m[6] * a[13] + r.m[10] * a[14]);
    if (!espyMat4_IsFinite(r))
    {
        return false;
    }
    *out = r;
    return true;
}
