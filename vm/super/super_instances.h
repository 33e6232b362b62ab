/* super_instances.h: the instances in super.def of a file's kernels. Included once, at
 * the end of a file that defines INSTANCE_kernel(TYPE, body, index) for each kernel
 * that is its own; those of other files come to nothing there.
 */
#ifndef INSTANCE_dot_fiber
#define INSTANCE_dot_fiber(TYPE, B, W)
#endif
#ifndef INSTANCE_fold_chosen
#define INSTANCE_fold_chosen(TYPE, B, W)
#endif
#ifndef INSTANCE_dot_range
#define INSTANCE_dot_range(TYPE, B, W)
#endif
#ifndef INSTANCE_dot_merge
#define INSTANCE_dot_merge(TYPE, B, W)
#endif
#ifndef INSTANCE_scatter_fiber
#define INSTANCE_scatter_fiber(TYPE, B, W)
#endif
#ifndef INSTANCE_dot_into
#define INSTANCE_dot_into(TYPE, B, W)
#endif
#ifndef INSTANCE_merge_fibers
#define INSTANCE_merge_fibers(TYPE, B, W)
#endif

#define SUPER(kernel, TYPE, body, index) INSTANCE_##kernel(TYPE, body, index)
#include "super.def"
