/* check_main.c: runs all suites, or with arguments k n every n-th from the k-th on: n such
 * processes run all of them side by side. CK_RUN_SUITE and CK_RUN_CASE pick some, and
 * CK_FORK=no keeps them in this process (for a debugger). */
#include "check.h"
#include <stdio.h>
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

int main(int argc, char **argv)
{
    Suite *(*const all[])(void) = {
#define SUITE(name) suite_##name,
        SUITES(SUITE)
#undef SUITE
    };
    const size_t step = argc == 3 ? strtoul(argv[2], NULL, 10) : 1;
    const size_t first = argc == 3 ? strtoul(argv[1], NULL, 10) - 1 : 0;
    if ((argc != 1 && argc != 3) || first >= step) {
        fprintf(stderr, "check_main: expected no arguments, or k n with 1 <= k <= n\n");
        return EXIT_FAILURE;
    }
    keep_blocks();
    SRunner *r = srunner_create(NULL);
    for (size_t s = first; s < sizeof all / sizeof *all; s += step)
        srunner_add_suite(r, all[s]());
    srunner_run_all(r, CK_ENV);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
