/* shrink.h: makes a failing case smaller while it still fails. */
#ifndef TESTS_SHRINK_H
#define TESTS_SHRINK_H

#include "case.h"

/* Whether a case fails when it is run in its own process; why gets the words. */
bool fails(const fcase *c, unsigned how, char *why, size_t size);
void shrink(fcase *c, unsigned how);

#endif
