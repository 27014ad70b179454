// SPDX-License-Identifier: MIT
// Reads pk3 archives through libzip, trusting neither their sizes nor their names.
#include "import/pk3.h"

#include "core/core.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#if defined(ESPY_HAVE_ZIP)
#include <zip.h>
#endif

/// Longer paths are nobody's map.
#define ESPY_PK3_MAX_NAME 255u

int espyiText_CompareNoCase(const char* a, const char* b)
{
    for (;; ++a, ++b)
    {
        int x = *a >= 'A' && *a <= 'Z' ? *a - 'A' + 'a' : *a;
        int y = *b >= 'A' && *b <= 'Z' ? *b - 'A' + 'a' : *b;
        if (x != y || x == 0)
        {
            return x - y;
        }
    }
}

#if defined(ESPY_HAVE_ZIP)

static espyResult espyPk3_Fail(espyiPk3* pk3, espyResult result, const char* why)
{
    snprintf(pk3->why, sizeof pk3->why, "%s", why);
    return result;
}

static bool espyPk3_IsPlainPath(const char* name)
{
    size_t length = strlen(name);
    if (length == 0 || length > ESPY_PK3_MAX_NAME || name[0] == '/')
    {
        return false;
    }
    for (size_t i = 0; i < length; ++i)
    {
        bool upward = name[i] == '.' && name[i + 1] == '.' && (i == 0 || name[i - 1] == '/');
        if (upward || (unsigned char)name[i] < 0x20 || name[i] == '\\' || name[i] == ':' || name[i] == 0x7F)
        {
            return false;
        }
    }
    return true;
}

espyResult espyiPk3_Open(espyiPk3* pk3, const char* path, const espyHooks* hooks)
{
    *pk3 = (espyiPk3){.hooks = *hooks};
    struct stat status;
    if (stat(path, &status) != 0)
    {
        bool missing = errno == ENOENT || errno == ENOTDIR;
        return espyPk3_Fail(pk3, missing ? espyResult_NotFound : espyResult_Io, strerror(errno));
    }
    // A pipe or a device could block for ever or never end.
    if (!S_ISREG(status.st_mode))
    {
        return espyPk3_Fail(pk3, espyResult_Io, "not a regular file");
    }
    int code = 0;
    zip_t* zip = zip_open(path, ZIP_RDONLY, &code);
    if (!zip)
    {
        zip_error_t error;
        zip_error_init_with_code(&error, code);
        espyPk3_Fail(pk3, espyResult_BadData, zip_error_strerror(&error));
        zip_error_fini(&error);
        return code == ZIP_ER_MEMORY ? espyResult_OutOfMemory
               : code == ZIP_ER_OPEN ? espyResult_Io
                                     : espyResult_BadData;
    }
    zip_int64_t count = zip_get_num_entries(zip, 0);
    pk3->zip = zip;
    pk3->count = count > 0 ? (uint64_t)count : 0;
    return espyResult_Ok;
}

void espyiPk3_Close(espyiPk3* pk3)
{
    if (pk3->zip)
    {
        zip_discard(pk3->zip);
    }
    *pk3 = (espyiPk3){.zip = NULL};
}

const char* espyiPk3_GetName(const espyiPk3* pk3, uint64_t index)
{
    const char* name = zip_get_name(pk3->zip, index, ZIP_FL_ENC_RAW);
    return name && espyPk3_IsPlainPath(name) ? name : NULL;
}

bool espyiPk3_Find(const espyiPk3* pk3, const char* name, uint64_t* index)
{
    for (uint64_t i = 0; i < pk3->count; ++i)
    {
        const char* entry = espyiPk3_GetName(pk3, i);
        if (entry && espyiText_CompareNoCase(entry, name) == 0)
        {
            *index = i;
            return true;
        }
    }
    return false;
}

/// Fills `bytes` and makes sure that the entry ends there: libzip checks the sum only at the end.
static bool espyPk3_Fill(zip_file_t* file, uint8_t* bytes, size_t size)
{
    size_t got = 0;
    while (got < size)
    {
        zip_int64_t read = zip_fread(file, bytes + got, size - got);
        if (read <= 0)
        {
            return false;
        }
        got += (size_t)read;
    }
    uint8_t more;
    return zip_fread(file, &more, 1) == 0;
}

espyResult espyiPk3_Read(espyiPk3* pk3, uint64_t index, size_t limit, uint8_t** bytes, size_t* size)
{
    *bytes = NULL;
    *size = 0;
    zip_stat_t status;
    zip_stat_init(&status);
    const zip_uint64_t needed = ZIP_STAT_SIZE | ZIP_STAT_ENCRYPTION_METHOD;
    if (zip_stat_index(pk3->zip, index, 0, &status) != 0 || (status.valid & needed) != needed)
    {
        return espyPk3_Fail(pk3, espyResult_BadData, "the entry cannot be read");
    }
    if (status.encryption_method != ZIP_EM_NONE)
    {
        return espyPk3_Fail(pk3, espyResult_Unsupported, "the entry is encrypted");
    }
    if (status.size > limit)
    {
        snprintf(pk3->why, sizeof pk3->why, "the entry declares %llu bytes, more than the %llu allowed",
                 (unsigned long long)status.size, (unsigned long long)limit);
        return espyResult_LimitExceeded;
    }
    uint8_t* data = NULL;
    if (status.size > 0)
    {
        data = espyiAlloc(&pk3->hooks, (size_t)status.size, 1);
        if (!data)
        {
            return espyPk3_Fail(pk3, espyResult_OutOfMemory, "out of memory");
        }
    }
    zip_file_t* file = zip_fopen_index(pk3->zip, index, 0);
    bool read = file && espyPk3_Fill(file, data, (size_t)status.size);
    if (file)
    {
        zip_fclose(file);
    }
    if (!read)
    {
        espyiFree(&pk3->hooks, data);
        return espyPk3_Fail(pk3, espyResult_BadData, "the entry is damaged");
    }
    *bytes = data;
    *size = (size_t)status.size;
    return espyResult_Ok;
}

#else

espyResult espyiPk3_Open(espyiPk3* pk3, const char* path, const espyHooks* hooks)
{
    (void)path;
    *pk3 = (espyiPk3){.hooks = *hooks};
    snprintf(pk3->why, sizeof pk3->why, "this build reads no pk3 (it lacks libzip)");
    return espyResult_Unsupported;
}

void espyiPk3_Close(espyiPk3* pk3)
{
    *pk3 = (espyiPk3){.zip = NULL};
}

const char* espyiPk3_GetName(const espyiPk3* pk3, uint64_t index)
{
    (void)pk3;
    (void)index;
    return NULL;
}

bool espyiPk3_Find(const espyiPk3* pk3, const char* name, uint64_t* index)
{
    (void)pk3;
    (void)name;
    (void)index;
    return false;
}

espyResult espyiPk3_Read(espyiPk3* pk3, uint64_t index, size_t limit, uint8_t** bytes, size_t* size)
{
    (void)pk3;
    (void)index;
    (void)limit;
    *bytes = NULL;
    *size = 0;
    return espyResult_Unsupported;
}

#endif
