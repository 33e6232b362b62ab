/* check_main.c: runs all suites. CK_RUN_SUITE and CK_RUN_CASE pick some, and
 * CK_FORK=no keeps them in this process (for a debugger). */
#include "check.h"
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

/* Asked by AddressSanitizer, if that is there: a block that no machine has is refused
 * there, too, instead of ending the run. Visible, as gcc's is a shared library. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

/* Blocks of some hundred KB are made and freed by each of some thousand small programs. The
 * C library would get each from the system and give it back, page by page: two thirds of
 * the time of suites that have many. */
static void keep_blocks(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 256 << 20);
#endif
}

int main(void)
{
    keep_blocks();
    SRunner *r = srunner_create(NULL);
#define SUITE(name) srunner_add_suite(r, suite_##name());
    SUITES(SUITE)
#undef SUITE
    srunner_run_all(r, CK_ENV);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
