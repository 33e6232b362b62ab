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

#define COUNT(result, name, parameters, arguments)                                         \
    result __real_##name parameters;                                                       \
    result __wrap_##name parameters;                                                       \
    result __wrap_##name parameters                                                        \
    {                                                                                      \
        count++;                                                                           \
        return __real_##name arguments;                                                    \
    }
COUNT(void *, malloc, (size_t n), (n))
COUNT(void *, calloc, (size_t n, size_t size), (n, size))
COUNT(void *, realloc, (void *p, size_t n), (p, n))
COUNT(void *, aligned_alloc, (size_t a, size_t n), (a, n))
COUNT(int, posix_memalign, (void **p, size_t a, size_t n), (p, a, n))
COUNT(void *, mmap, (void *p, size_t n, int a, int b, int c, off_t d), (p, n, a, b, c, d))
