/* count_malloc.c: what the C library is asked for, linked into a program with --wrap
 * (check_standards.sh).
 */
#include <stddef.h>
#include <sys/types.h>

static long count;
long host_allocations(void);
long host_allocations(void)
{
    return count;
}

#define COUNTED(result, name, parameters, arguments)                                       \
    result __real_##name parameters;                                                       \
    result __wrap_##name parameters;                                                       \
    result __wrap_##name parameters                                                        \
    {                                                                                      \
        count++;                                                                           \
        return __real_##name arguments;                                                    \
    }
COUNTED(void *, malloc, (size_t n), (n))
COUNTED(void *, calloc, (size_t n, size_t size), (n, size))
COUNTED(void *, realloc, (void *p, size_t n), (p, n))
COUNTED(void *, aligned_alloc, (size_t a, size_t n), (a, n))
COUNTED(int, posix_memalign, (void **p, size_t a, size_t n), (p, a, n))
COUNTED(void *, mmap, (void *p, size_t n, int a, int b, int c, off_t d), (p, n, a, b, c, d))
