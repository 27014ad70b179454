// SPDX-License-Identifier: MIT
// Pictures on their way to a file: what is replaced, what is written through, what stays when it fails.
#include "test_main.h"

#include "canvas.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ESPY_PLACE ESPY_BINARY_DIR "/canvas"

static bool espyTest_IsPng(const char* path)
{
    static const unsigned char magic[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
    unsigned char head[8] = {0};
    FILE* file = fopen(path, "rb");
    size_t size = file ? fread(head, 1, sizeof head, file) : 0;
    if (file)
    {
        fclose(file);
    }
    return size == sizeof head && memcmp(head, magic, sizeof head) == 0;
}

static void espyTest_Touch(const char* path)
{
    FILE* file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fputs("old", file) >= 0, 1);
    assert_int_equal(fclose(file), 0);
}

static void pictures_go_through_links_and_replace_whole_files(void** state)
{
    (void)state;
    espyCanvas canvas;
    char message[256] = "";
    struct stat info, before;
    assert_true(espyCanvas_Create(&canvas, 20, 10, 0x336699));
    const char *real = ESPY_PLACE "_real.png", *soft = ESPY_PLACE "_link.png", *second = ESPY_PLACE "_hard.png";
    remove(real);
    remove(soft);
    remove(second);
    // A new file.
    assert_true(espyCanvas_WritePng(&canvas, real, message, sizeof message));
    assert_true(espyTest_IsPng(real));
    // Through a link, whose target is replaced: the link stays, and so do the permissions. Another name of the old file
    // keeps the old file.
    espyTest_Touch(real);
    assert_int_equal(chmod(real, 0640), 0);
    assert_int_equal(symlink("canvas_real.png", soft), 0);
    assert_int_equal(link(real, second), 0);
    assert_int_equal(stat(real, &before), 0);
    assert_true(espyCanvas_WritePng(&canvas, soft, message, sizeof message));
    assert_true(lstat(soft, &info) == 0 && S_ISLNK(info.st_mode));
    assert_true(lstat(real, &info) == 0 && S_ISREG(info.st_mode) && info.st_ino != before.st_ino);
    assert_int_equal(info.st_mode & 07777, 0640);
    assert_true(espyTest_IsPng(real));
    assert_false(espyTest_IsPng(second));
    // Into a link that has no file yet.
    remove(real);
    assert_true(espyCanvas_WritePng(&canvas, soft, message, sizeof message));
    assert_true(lstat(soft, &info) == 0 && S_ISLNK(info.st_mode) && espyTest_IsPng(real));
    // Devices are written to, not replaced.
    assert_true(espyCanvas_WritePng(&canvas, "/dev/null", message, sizeof message));
    assert_true(lstat("/dev/null", &info) == 0 && S_ISCHR(info.st_mode));
    assert_string_equal(message, "");
    // What cannot be written is named.
    assert_false(espyCanvas_WritePng(&canvas, ESPY_PLACE "_none/a.png", message, sizeof message));
    assert_non_null(strstr(message, "canvas_none/a.png"));
    assert_false(espyCanvas_WritePng(&canvas, "/dev/full", message, sizeof message));
    assert_non_null(strstr(message, "/dev/full"));
    remove(real);
    remove(soft);
    remove(second);
    espyCanvas_Free(&canvas);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures_go_through_links_and_replace_whole_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
