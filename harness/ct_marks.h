/* SPDX-License-Identifier: MIT */
/*
 * The region that ct looks at: from the first instruction of ct_begin to the first of ct_end. A
 * tracer finds both by name in the symbol table.
 */
#ifndef HARNESS_CT_MARKS_H
#define HARNESS_CT_MARKS_H

void ct_begin(void);
void ct_end(void);

#endif
