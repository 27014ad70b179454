// SPDX-License-Identifier: MIT
// The stand-in for jansson prints what jansson prints. Compiled in here, since a build has one or the other.
#undef ESPY_HAVE_JANSSON
#include "tools/cli/json_lite.c"

#include "test_main.h"

static void espyTest_Prints(json_t* value, const char* expected)
{
    assert_non_null(value);
    char* text = json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(9));
    assert_non_null(text);
    assert_string_equal(text, expected);
    free(text);
    json_decref(value);
}

static void test_numbers_print_as_jansson_prints_them(void** state)
{
    (void)state;
    espyTest_Prints(json_integer(-9007199254740993), "-9007199254740993");
    espyTest_Prints(json_real(0.1), "0.1");
    espyTest_Prints(json_real(4.0), "4.0");
    espyTest_Prints(json_real(-0.0), "-0.0");
    espyTest_Prints(json_real(1e-7), "1e-7");
    espyTest_Prints(json_real(1.5e20), "1.5e20");
    espyTest_Prints(json_real(123456789.0), "123456789.0");
    espyTest_Prints(json_real(1234567890.0), "1.23456789e9");
    espyTest_Prints(json_boolean(true), "true");
    espyTest_Prints(json_null(), "null");
}

static void test_text_is_escaped(void** state)
{
    (void)state;
    espyTest_Prints(json_string(""), "\"\"");
    espyTest_Prints(json_string("a\"b\\c/d\n\t\r\b\f\x01\x1f"), "\"a\\\"b\\\\c/d\\n\\t\\r\\b\\f\\u0001\\u001F\"");
    espyTest_Prints(json_string("Größe"), "\"Größe\"");
}

static void test_containers_nest(void** state)
{
    (void)state;
    espyTest_Prints(json_object(), "{}");
    espyTest_Prints(json_array(), "[]");
    json_t* list = json_array();
    assert_int_equal(json_array_append_new(list, json_integer(1)), 0);
    assert_int_equal(json_array_append_new(list, json_array()), 0);
    json_t* object = json_object();
    assert_int_equal(json_object_set_new(object, "list", list), 0);
    assert_int_equal(json_object_set_new(object, "k\"", json_string("v")), 0);
    json_t* outer = json_array();
    assert_int_equal(json_array_append_new(outer, object), 0);
    espyTest_Prints(outer, "[{\"list\":[1,[]],\"k\\\"\":\"v\"}]");
}

static void test_what_is_missing_fails(void** state)
{
    (void)state;
    json_t* object = json_object();
    assert_int_equal(json_object_set_new(object, "key", NULL), -1);
    assert_int_equal(json_object_set_new(NULL, "key", json_null()), -1);
    espyTest_Prints(object, "{}");
    json_decref(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_print_as_jansson_prints_them),
        cmocka_unit_test(test_text_is_escaped),
        cmocka_unit_test(test_containers_nest),
        cmocka_unit_test(test_what_is_missing_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
