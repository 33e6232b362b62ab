/* check_types.c: element types: promotion, storing, conversion (of one value and of many at
 * once), printing. */
#include "check.h"
#include <float.h>
#include "oracle_value.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

START_TEST(names)
{
    for (int t = 0; t < TYPE_COUNT; t++) {
        stc_type back;
        ck_assert(stc_type_parse(stc_type_name((stc_type)t), &back));
        ck_assert_int_eq((int)back, t);
        ck_assert_uint_eq(stc_type_size((stc_type)t), type_size((stc_type)t));
    }
    stc_type t;
    ck_assert(!stc_type_parse("f16", &t));
    ck_assert(!stc_type_parse("", &t));
    ck_assert(!stc_type_parse("f64 ", &t));
    ck_assert_str_eq(type_name((stc_type)TYPE_COUNT), "unknown");
    ck_assert_str_eq(class_name(CLASS_COUNT), "unknown");
    ck_assert_str_eq(stc_status_name((stc_status)99), "unknown");
}
END_TEST

/* NumPy 2's table, written down a second time in the oracle. */
START_TEST(promotion)
{
    for (int a = 0; a < TYPE_COUNT; a++) {
        for (int b = 0; b < TYPE_COUNT; b++) {
            const stc_type want = ot_promote((stc_type)a, false, (stc_type)b, false);
            const stc_type got = type_promote((stc_type)a, (stc_type)b);
            ck_assert_msg(got == want, "%s, %s: %s, expected %s",
                          stc_type_name((stc_type)a), stc_type_name((stc_type)b),
                          stc_type_name(got), stc_type_name(want));
        }
    }
    ck_assert_int_eq(type_promote(STC_U8, STC_I8), STC_I16);
    ck_assert_int_eq(type_promote(STC_U64, STC_I64), STC_F64);
    ck_assert_int_eq(type_promote(STC_I16, STC_F32), STC_F32);
    ck_assert_int_eq(type_promote(STC_I32, STC_F32), STC_F64);
    ck_assert_int_eq(type_promote(STC_C64, STC_F64), STC_C128);
}
END_TEST

START_TEST(storing_wraps)
{
    ck_assert_int_eq(type_round(STC_I8, (value){.i64 = 200}).i64, -56);
    ck_assert_int_eq(type_round(STC_BOOL, (value){.i64 = 256}).i64, 1);
    ck_assert_uint_eq(type_round(STC_U8, (value){.u64 = 300}).u64, 44);
    ck_assert_int_eq(type_round(STC_I32, (value){.i64 = INT64_C(1) << 31}).i64, INT32_MIN);
    ck_assert(type_round(STC_F32, (value){.f32 = 0.1f}).f32 == 0.1f);
}
END_TEST

START_TEST(conversion)
{
    const double odd[] = {0,        -0.5,      1.9, -1.9, 1e30, -1e30,
                          INFINITY, -INFINITY, NAN, 255,  3e9};
    for (size_t k = 0; k < sizeof odd / sizeof *odd; k++) {
        const value v = {.f64 = odd[k]};
        const oval o = ov_real(STC_F64, odd[k]);
        ck_assert_int_eq(class_convert(CLASS_I64, CLASS_F64, v).i64,
                         ov_convert(o, STC_I64).i);
        ck_assert_uint_eq(class_convert(CLASS_U64, CLASS_F64, v).u64,
                          (uint64_t)ov_convert(o, STC_U64).i);
    }
    ck_assert(class_convert(CLASS_F64, CLASS_U64, (value){.u64 = UINT64_MAX}).f64 ==
              0x1p64);
    const value z = {.c128 = 3.0 + 4.0 * I};
    ck_assert(class_convert(CLASS_F64, CLASS_C128, z).f64 == 3);
}
END_TEST

START_TEST(loads_and_stores)
{
    char block[64];
    for (int t = 0; t < TYPE_COUNT; t++) {
        const stc_type ty = (stc_type)t;
        const oval o = ty >= STC_F32 ? ov_complex(ty, -1.5, ot_complex(ty) ? 2 : 0)
                                     : ov_int(ty, ty == STC_BOOL ? 1 : 77);
        memset(block, 0x5a, sizeof block);
        ov_save(&o, block, 1);
        const value v = type_load(ty, block, 1);
        type_store(ty, block, 2, v);
        ck_assert(memcmp(block + type_size(ty), block + 2 * type_size(ty), type_size(ty)) ==
                  0);
        const value back = value_from_public(ty, value_to_public(ty, v));
        ck_assert(class_equal(type_class(ty), v, back));
    }
}
END_TEST

START_TEST(printing_reads_back)
{
    const double odd[] = {0.1, 1.0 / 3, 1e300, 5e-324, -0.0, 123456789, 1e21, INFINITY};
    char text[64];
    for (size_t k = 0; k < sizeof odd / sizeof *odd; k++) {
        type_print(STC_F64, (value){.f64 = odd[k]}, text, sizeof text);
        ck_assert_msg(strtod(text, NULL) == odd[k], "%.17g prints as %s", odd[k], text);
        const float f = (float)odd[k];
        type_print(STC_F32, (value){.f32 = f}, text, sizeof text);
        ck_assert_msg(strtof(text, NULL) == f, "%.9g prints as %s", (double)f, text);
    }
    type_print(STC_F64, (value){.f64 = 0.1}, text, sizeof text);
    ck_assert_str_eq(text, "0.1");
    type_print(STC_U64, (value){.u64 = UINT64_MAX}, text, sizeof text);
    ck_assert_str_eq(text, "18446744073709551615");
    type_print(STC_BOOL, (value){.i64 = 1}, text, sizeof text);
    ck_assert_str_eq(text, "1");
    ck_assert_int_gt(type_print(STC_F64, (value){.f64 = 1.0 / 3}, text, 4), 4);
}
END_TEST

/* The first of 15, 16 and 17 digits (floats: 6 … 9) that reads back, by printf. */
static void by_printf(double x, bool single, char *out, size_t size)
{
    const bool tiny = fabs(x) < (single ? FLT_MIN : DBL_MIN);
    if (fabs(x) < (single ? 0x1p24 : 1e15) && x == (double)(int64_t)x) {
        snprintf(out, size, "%lld", (long long)x);
        return;
    }
    for (int digits = tiny ? 1 : single ? 6 : 15;; digits++) {
        snprintf(out, size, "%.*g", digits, x);
        if (single ? strtof(out, NULL) == (float)x : strtod(out, NULL) == x) return;
    }
}

/* Random bits, numbers of few digits and of few bits, and their neighbours. */
START_TEST(printing_is_shortest)
{
    uint64_t dice = 0x9e3779b97f4a7c15u;
    char text[64], want[64];
    for (int k = 0; k < 60000; k++) {
        value v;
        dice = dice * 6364136223846793005u + 1442695040888963407u;
        v.u64 = dice ^ dice >> 29;
        if (k % 4 == 1) v.f64 = ldexp((double)(dice >> 40), (int)(dice % 160) - 120);
        if (k % 4 == 2) v.f64 = (double)(dice >> 50) / pow(10, (double)(dice % 23));
        if (k % 4 == 3)
            v.f64 = nextafter(ldexp(1, (int)(dice >> 56) - 128), dice & 1 ? 0 : 9);
        if (!isfinite(v.f64) || v.f64 == 0) continue;
        by_printf(v.f64, false, want, sizeof want);
        type_print(STC_F64, v, text, sizeof text);
        ck_assert_msg(!strcmp(text, want), "%a prints as %s, not %s", v.f64, text, want);
        v.f32 = (float)v.f64;
        if (!isfinite(v.f32) || v.f32 == 0) continue;
        by_printf(v.f32, true, want, sizeof want);
        type_print(STC_F32, v, text, sizeof text);
        ck_assert_msg(!strcmp(text, want), "%a prints as %s, not %s", (double)v.f32, text,
                      want);
    }
}
END_TEST

/* Loops convert many at once where all are small (vm/strips/strip_load.c): with one that
 * isn't among them, first or last, all are what base operations make of them. */
static void convert_all(int machine, const char *text, int64_t out[64])
{
    heap h;
    stc_session *s;
    const stc_tensor *y;
    const void *v;
    int64_t n;
    stc_machine *m = machine_open(&h, machine == 0);
    if (machine == 2) machine_plain(m);
    ck_ok(m, stc_session_open(m, &s));
    ck_ok(m, stc_session_exec(s, text, "conversion"));
    ck_ok(m, stc_session_get(s, "y", &y));
    ck_ok(m, stc_tensor_values(y, &v, &n));
    ck_assert_int_eq(n, 20);
    memcpy(out, v, (size_t)n * sizeof *out);
    stc_session_close(s);
    machine_shut(m, &h);
}

START_TEST(many_at_once)
{
    static const struct {
        const char *from, *to, *value;
    } c[] = {{"i64", "f64", "4503599627370495"},
             {"i64", "f64", "4503599627370496"},
             {"i64", "f64", "9007199254740993"},
             {"i64", "f64", "9223372036854775807"},
             {"i64", "f64", "-1"},
             {"i64", "f64", "2251799813685247"},
             {"i64", "f64", "2251799813685249"},
             {"i64", "f64", "-2251799813685248"},
             {"i64", "f64", "-2251799813685249"},
             {"i64", "f64", "-9007199254740993"},
             {"u64", "f64", "2251799813685249"},
             {"u64", "f64", "4503599627370495"},
             {"u64", "f64", "4503599627370496"},
             {"u64", "f64", "9007199254740993"},
             {"u64", "f64", "18446744073709551615"},
             {"u64", "f64", "18446744073709549569"},
             {"f64", "i64", "2147483647.5"},
             {"f64", "i64", "2147483648"},
             {"f64", "i64", "-2147483648"},
             {"f64", "i64", "-2147483648.5"},
             {"f64", "i64", "9223372036854775807"},
             {"f64", "i64", "-1e300"},
             {"f64", "i64", "nan"},
             {"f64", "u64", "-0.5"},
             {"f64", "u64", "-1"},
             {"f64", "u64", "1e19"},
             {"f64", "u64", "inf"}};
    for (size_t k = 0; k < sizeof c / sizeof *c; k++)
        for (int at = 0; at < 20; at += 19) {
            char text[300];
            int64_t got[3][64];
            snprintf(text, sizeof text,
                     "tensor x dense %s [20]; x(i) = %s(i)\ntensor z dense %s = [%s]\n"
                     "x(i) = select(i == %d, z(0*i), x(i))\ntensor y dense %s\ny(i) = "
                     "%s(x(i))\n",
                     c[k].from, c[k].from, c[k].from, c[k].value, at, c[k].to, c[k].to);
            for (int machine = 0; machine < 3; machine++)
                convert_all(machine, text, got[machine]);
            for (int e = 0; e < 20; e++) {
                ck_assert_msg(got[1][e] == got[0][e] && got[2][e] == got[0][e],
                              "%s from %s to %s, element %d", c[k].value, c[k].from,
                              c[k].to, e);
            }
        }
}
END_TEST

Suite *suite_types(void)
{
    Suite *s = suite_create("types");
    TCase *c = tcase_create("types");
    tcase_add_test(c, names);
    tcase_add_test(c, promotion);
    tcase_add_test(c, storing_wraps);
    tcase_add_test(c, many_at_once);
    tcase_add_test(c, conversion);
    tcase_add_test(c, loads_and_stores);
    tcase_add_test(c, printing_reads_back);
    tcase_add_test(c, printing_is_shortest);
    suite_add_tcase(s, c);
    return s;
}
