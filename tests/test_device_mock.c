// SPDX-License-Identifier: MIT
// The mock device: what befalls answers, what is counted, and the same answers as the device that it lets draw.
#include "test_main.h"

#include <espy/device_mock.h>
#include <string.h>

#include "core/core.h"
#include "device_case.h"
#include "hook_counter.h"

typedef struct espyMockCase
{
    espyDevice device;
    espyDeviceTarget target;
    espyDevicePass pass;
    uint64_t frame;
} espyMockCase;

static espyMockCase espyTest_Create(const espyMockDeviceDef* def)
{
    espyMockCase made = {.frame = 1};
    assert_int_equal(espyMockDevice_Create(def, &made.device), espyResult_Ok);
    assert_int_equal(espyDevice_Validate(&made.device, NULL), espyResult_Ok);
    espyDeviceTargetDef targetDef = espyDeviceTargetDef_Default();
    targetDef.width = 32;
    targetDef.height = 32;
    targetDef.ids = true;
    assert_int_equal(made.device.createTarget(made.device.context, &targetDef, &made.target), espyResult_Ok);
    made.pass = (espyDevicePass){
        .target = made.target, .viewProjection = {espyMat4_Identity()}, .clearDepth = true, .clearIds = true};
    return made;
}

/// A frame with queries of the tags first..first + count; returns its number.
static uint64_t espyTest_Frame(espyMockCase* mock, uint64_t first, uint32_t count, espyQueryKind kind)
{
    espyDevice* d = &mock->device;
    espyDeviceDraw proxy = {.toWorld = espyMat4_Identity()};
    assert_int_equal(d->beginFrame(d->context, mock->frame), espyResult_Ok);
    assert_int_equal(d->beginPass(d->context, &mock->pass), espyResult_Ok);
    for (uint32_t i = 0; i < count; ++i)
    {
        espyDeviceQuery query = {.tag = first + i, .kind = kind, .proxyCount = 1};
        assert_int_equal(d->query(d->context, &query, 1, &proxy, 1), espyResult_Ok);
    }
    assert_int_equal(d->endPass(d->context), espyResult_Ok);
    assert_int_equal(d->endFrame(d->context), espyResult_Ok);
    return mock->frame++;
}

static espyMockCounts espyTest_Counts(const espyMockCase* mock)
{
    espyMockCounts counts;
    assert_int_equal(espyMockDevice_GetCounts(&mock->device, &counts), espyResult_Ok);
    return counts;
}

static uint64_t espyTest_TagIsValue(const espyMockQuery* query, void* context)
{
    ++*(uint32_t*)context;
    assert_non_null(query->pass);
    assert_true(query->query->proxyCount == 1 && query->proxies != NULL);
    return query->query->tag * 3;
}

static void test_values(void** state)
{
    (void)state;
    uint32_t asked = 0;
    espyMockDeviceDef def = espyMockDeviceDef_Default();
    def.answer = espyTest_TagIsValue;
    def.callbackContext = &asked;
    espyMockCase mock = espyTest_Create(&def);
    const uint64_t script[2] = {77, 0};
    assert_int_equal(espyMockDevice_Script(&mock.device, script, 2), espyResult_Ok);
    espyTest_Frame(&mock, 10, 4, espyQueryKind_Count);
    espyDeviceAnswer answers[8];
    assert_int_equal(mock.device.poll(mock.device.context, answers, 8), 4);
    assert_true(answers[0].value == 77 && answers[1].value == 0);
    assert_true(answers[2].value == 36 && answers[3].value == 39 && asked == 2);
    assert_true(answers[0].tag == 10 && answers[3].tag == 13 && answers[3].frame == 1);
    // Boolean answers are not 0, rarely 1, and 0 stays 0.
    espyTest_Frame(&mock, 0, 3, espyQueryKind_Any);
    assert_int_equal(mock.device.poll(mock.device.context, answers, 8), 3);
    assert_true(answers[0].value == 0 && answers[1].value != 0 && answers[2].value != 0);
    assert_true(answers[1].value != 1 || answers[2].value != 1);
    def.faults.anyNonZero = false;
    assert_int_equal(espyMockDevice_SetFaults(&mock.device, &def.faults), espyResult_Ok);
    espyTest_Frame(&mock, 5, 1, espyQueryKind_Any);
    assert_int_equal(mock.device.poll(mock.device.context, answers, 8), 1);
    assert_int_equal(answers[0].value, 1);
    // An answer that nobody asked for.
    espyDeviceAnswer forged = {.tag = 999, .frame = 0, .value = 5};
    assert_int_equal(espyMockDevice_Inject(&mock.device, &forged), espyResult_Ok);
    assert_int_equal(mock.device.poll(mock.device.context, answers, 8), 1);
    assert_memory_equal(answers, &forged, sizeof forged);
    espyMockDevice_Destroy(&mock.device);
}

/// Chance decides when and whether; each answer comes once, and within its time.
static void test_faults(void** state)
{
    (void)state;
    enum
    {
        frames = 400,
        perFrame = 25,
        total = frames * perFrame
    };
    static uint64_t askedIn[total];
    static bool got[total];
    for (uint32_t variant = 0; variant < 6; ++variant)
    {
        espyMockDeviceDef def = espyMockDeviceDef_Default();
        def.seed = 40 + variant;
        def.faults.latency = variant % 3;
        def.faults.jitter = variant >= 2 ? 4 : 0;
        def.faults.shuffle = variant == 3;
        def.faults.dropShare = variant >= 4 ? 0.25f : 0.0f;
        def.faults.lateShare = variant == 5 ? 0.1f : 0.0f;
        def.faults.lateFrames = 50;
        espyMockCase mock = espyTest_Create(&def);
        memset(got, 0, sizeof got);
        uint32_t received = 0, late = 0, disorder = 0;
        uint64_t last = 0;
        for (uint32_t f = 0; f < frames + 100; ++f)
        {
            uint64_t frame = espyTest_Frame(&mock, f * perFrame, f < frames ? perFrame : 0, espyQueryKind_Count);
            for (uint32_t i = 0; i < perFrame && f < frames; ++i)
            {
                askedIn[f * perFrame + i] = frame;
            }
            espyDeviceAnswer answer;
            while (mock.device.poll(mock.device.context, &answer, 1) == 1)
            {
                assert_true(answer.tag < total && !got[answer.tag]);
                assert_int_equal(answer.frame, askedIn[answer.tag]);
                got[answer.tag] = true;
                uint64_t age = frame - answer.frame;
                bool isLate = age >= def.faults.lateFrames;
                assert_true(age >= def.faults.latency);
                assert_true(age <= def.faults.latency + def.faults.jitter + (isLate ? def.faults.lateFrames : 0));
                late += isLate ? 1u : 0u;
                disorder += answer.tag < last ? 1u : 0u;
                last = answer.tag;
                ++received;
            }
        }
        espyMockCounts counts = espyTest_Counts(&mock);
        assert_int_equal(counts.queries, total);
        assert_int_equal(counts.answers, received);
        assert_int_equal(received + counts.dropped, total);
        assert_int_equal(counts.pending, 0);
        assert_true(variant >= 4 ? counts.dropped > total / 5 && counts.dropped < total / 3 : counts.dropped == 0);
        assert_true((late > 0) == (variant == 5));
        assert_true((disorder > 100) == (variant >= 2));
        assert_true(counts.violations == 0 && counts.waits == 0);
        espyMockDevice_Destroy(&mock.device);
    }
}

static void test_never_ready_and_lost(void** state)
{
    (void)state;
    espyMockDeviceDef def = espyMockDeviceDef_Default();
    def.faults.neverReady = true;
    def.maxPending = 10;
    espyMockCase mock = espyTest_Create(&def);
    espyDeviceAnswer answers[16];
    for (uint32_t f = 0; f < 6; ++f)
    {
        espyTest_Frame(&mock, f * 2, 2, espyQueryKind_Count);
        assert_int_equal(mock.device.poll(mock.device.context, answers, 16), 0);
    }
    assert_true(espyTest_Counts(&mock).dropped == 2 && espyTest_Counts(&mock).pending == 10);
    def.faults.neverReady = false;
    def.faults.loseAtCall = 8; // Six of a frame, one poll, and then.
    assert_int_equal(espyMockDevice_SetFaults(&mock.device, &def.faults), espyResult_Ok);
    assert_int_equal(mock.device.poll(mock.device.context, answers, 16), 10);
    espyTest_Frame(&mock, 50, 2, espyQueryKind_Count);
    espyDevice* d = &mock.device;
    assert_int_equal(d->poll(d->context, answers, 16), 0);
    assert_int_equal(d->beginFrame(d->context, 100), espyResult_DeviceLost);
    assert_int_equal(d->beginPass(d->context, &mock.pass), espyResult_DeviceLost);
    assert_int_equal(d->drawDepth(d->context, NULL, 0), espyResult_DeviceLost);
    assert_int_equal(d->drawIds(d->context, NULL, 0, espyIdMode_Flag), espyResult_DeviceLost);
    assert_int_equal(d->query(d->context, NULL, 0, NULL, 0), espyResult_DeviceLost);
    assert_int_equal(d->endPass(d->context), espyResult_DeviceLost);
    uint32_t bits[1] = {7};
    assert_int_equal(d->readIds(d->context, mock.target, 32, bits), espyResult_DeviceLost);
    assert_int_equal(bits[0], 0);
    assert_int_equal(d->endFrame(d->context), espyResult_DeviceLost);
    espyMockCounts counts = espyTest_Counts(&mock);
    assert_true(counts.callsAfterLoss == 8 && counts.violations == 0);
    d->destroyTarget(d->context, mock.target);
    assert_int_equal(espyTest_Counts(&mock).targets, 0);
    espyMockDevice_Destroy(&mock.device);
}

static void espyTest_Expect(espyMockCase* mock, espyMockViolation violation, espyResult found, espyResult expected)
{
    assert_int_equal(found, expected);
    espyMockCounts counts = espyTest_Counts(mock);
    if (counts.violation[violation] != 1 || counts.violations != 1)
    {
        print_error("not one %s\n", espyMockViolation_GetName(violation));
        fail();
    }
    assert_int_equal(espyMockDevice_ResetCounts(&mock->device), espyResult_Ok);
}

static void test_violations(void** state)
{
    (void)state;
    espyMockDeviceDef def = espyMockDeviceDef_Default();
    def.caps.idIndex = false;
    def.caps.maxQueriesPerFrame = 4;
    def.caps.maxIds = 40;
    espyMockCase mock = espyTest_Create(&def);
    espyDevice* d = &mock.device;
    void* c = d->context;
    const espyResult bad = espyResult_InvalidArgument;
    espyDeviceDraw draw = {.toWorld = espyMat4_Identity()};
    espyDeviceQuery query = {.kind = espyQueryKind_Any, .proxyCount = 1};
    uint32_t bits[2];
    espyTest_Expect(&mock, espyMockViolation_NoFrame, d->beginPass(c, &mock.pass), bad);
    espyTest_Expect(&mock, espyMockViolation_NoFrame, d->endFrame(c), bad);
    espyTest_Expect(&mock, espyMockViolation_NoFrame, d->readIds(c, mock.target, 40, bits), bad);
    assert_int_equal(d->beginFrame(c, 8), espyResult_Ok);
    espyTest_Expect(&mock, espyMockViolation_FrameNotGrowing, d->beginFrame(c, 8), bad);
    espyTest_Expect(&mock, espyMockViolation_NoPass, d->drawDepth(c, &draw, 1), bad);
    espyTest_Expect(&mock, espyMockViolation_NoPass, d->drawIds(c, &draw, 1, espyIdMode_Flag), bad);
    espyTest_Expect(&mock, espyMockViolation_NoPass, d->query(c, &query, 1, &draw, 1), bad);
    espyTest_Expect(&mock, espyMockViolation_NoPass, d->endPass(c), bad);
    espyDevicePass wrong = mock.pass;
    wrong.target.value = 7;
    espyTest_Expect(&mock, espyMockViolation_Target, d->beginPass(c, &wrong), bad);
    wrong = mock.pass;
    wrong.viewProjection[0].m[3] = __builtin_nanf("");
    espyTest_Expect(&mock, espyMockViolation_Matrix, d->beginPass(c, &wrong), bad);
    assert_int_equal(d->beginPass(c, &mock.pass), espyResult_Ok);
    espyTest_Expect(&mock, espyMockViolation_InPass, d->beginPass(c, &mock.pass), bad);
    espyTest_Expect(&mock, espyMockViolation_InPass, d->endFrame(c), bad);
    espyTest_Expect(&mock, espyMockViolation_InPass, d->readIds(c, mock.target, 40, bits), bad);
    espyTest_Expect(&mock, espyMockViolation_Unsupported, d->drawIds(c, &draw, 1, espyIdMode_Index),
                    espyResult_Unsupported);
    draw.id = 40;
    espyTest_Expect(&mock, espyMockViolation_Id, d->drawIds(c, &draw, 1, espyIdMode_Flag), bad);
    draw.id = 39;
    assert_int_equal(d->drawIds(c, &draw, 1, espyIdMode_Flag), espyResult_Ok);
    draw.mesh.value = 3;
    espyTest_Expect(&mock, espyMockViolation_Mesh, d->drawDepth(c, &draw, 1), bad);
    draw.mesh.value = 0;
    query.firstProxy = 1;
    espyTest_Expect(&mock, espyMockViolation_Run, d->query(c, &query, 1, &draw, 1), bad);
    espyDeviceQuery many[5] = {{0}};
    espyTest_Expect(&mock, espyMockViolation_TooManyQueries, d->query(c, many, 5, NULL, 0), espyResult_LimitExceeded);
    assert_int_equal(d->query(c, many, 4, NULL, 0), espyResult_Ok);
    assert_int_equal(d->endPass(c), espyResult_Ok);
    assert_int_equal(d->readIds(c, mock.target, 40, bits), espyResult_Ok);
    assert_true(bits[0] == 0 && bits[1] == 1u << 7);
    assert_int_equal(espyTest_Counts(&mock).waits, 1);
    assert_int_equal(d->endFrame(c), espyResult_Ok);
    espyDeviceTargetDef targetDef = espyDeviceTargetDef_Default();
    targetDef.width = 0;
    espyDeviceTarget target;
    espyTest_Expect(&mock, espyMockViolation_Def, d->createTarget(c, &targetDef, &target), bad);
    // A query of nothing passes nothing, whatever the default.
    espyDeviceAnswer answers[8];
    assert_int_equal(d->poll(c, answers, 8), 4);
    assert_int_equal(answers[0].value, 0);
    // Not a mock.
    espyDevice other = espyDevice_Default();
    espyMockCounts counts;
    assert_int_equal(espyMockDevice_GetCounts(&other, &counts), bad);
    assert_int_equal(espyMockDevice_Lose(&other), bad);
    espyMockDevice_Destroy(&other);
    espyMockDevice_Destroy(&mock.device);
    def.faults.latency = 1000;
    def.faults.jitter = 24;
    assert_int_equal(espyMockDevice_Create(&def, &mock.device), bad);
}

/// With a device inside, answers and ids are that device's.
static void test_lets_another_draw(void** state)
{
    (void)state;
    espyDeviceCaseReport report = {0};
    for (uint64_t seed = 1; seed <= 12; ++seed)
    {
        espySoftDeviceDef softDef = espySoftDeviceDef_Default();
        softDef.latency = (uint32_t)(seed % 3);
        espyDevice soft, mock;
        assert_int_equal(espySoftDevice_Create(&softDef, &soft), espyResult_Ok);
        espyMockDeviceDef def = espyMockDeviceDef_Default();
        def.inner = &soft;
        def.faults.latency = (uint32_t)(seed % 2);
        def.faults.jitter = 2;
        def.faults.shuffle = true;
        assert_int_equal(espyMockDevice_Create(&def, &mock), espyResult_Ok);
        espyDeviceCase given = {
            .seed = seed, .width = 120, .height = 80, .layers = 1, .slack = 2e-3, .frame = 1, .reversedZ = true};
        espyDeviceCase_Run(&mock, &given, &report);
        espyMockCounts counts;
        espyMockDevice_GetCounts(&mock, &counts);
        assert_true(counts.violations == 0 && counts.readIds == 2 && counts.waits == 2 && counts.pending == 0);
        assert_true(counts.meshes == 0 && counts.targets == 0);
        espyMockDevice_Destroy(&mock);
        espySoftDevice_Destroy(&soft);
    }
    assert_true(report.hidden > 20 && report.samples > 1000);
}

static void test_memory(void** state)
{
    (void)state;
    for (unsigned failAt = 0; failAt < 12; ++failAt)
    {
        espyHookCounter counter = {.failAt = failAt};
        espyMockDeviceDef def = espyMockDeviceDef_Default();
        def.hooks = espyHookCounter_Hooks(&counter);
        def.maxPending = 64;
        espyDevice device;
        espyResult result = espyMockDevice_Create(&def, &device);
        assert_true(result == espyResult_Ok || (failAt > 0 && result == espyResult_OutOfMemory));
        if (result == espyResult_Ok)
        {
            espyDeviceTargetDef targetDef = espyDeviceTargetDef_Default();
            targetDef.ids = true;
            espyDeviceTarget target;
            espyDeviceMesh mesh;
            espyTriangles box = espyDeviceReference_Box();
            (void)device.createTarget(device.context, &targetDef, &target);
            (void)device.createMesh(device.context, &box, false, &mesh);
            (void)espyMockDevice_Script(&device, (const uint64_t[3]){1, 2, 3}, 3);
            espyMockDevice_Destroy(&device);
        }
        assert_int_equal(counter.held, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_never_ready_and_lost),
        cmocka_unit_test(test_violations),
        cmocka_unit_test(test_lets_another_draw),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
