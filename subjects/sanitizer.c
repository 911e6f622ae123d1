/* SPDX-License-Identifier: MIT */
/*
 * What code under -fsanitize=undefined calls when it finds something: here it is counted, and the code goes on. So a
 * sanitizer costs what its checks cost, without its run time. The names are what GCC and clang call.
 */
#include <stdlib.h>

#include "subject.h"

unsigned long sanitizer_hits;

#define HANDLER(name)                                  \
    SUBJECT_GLUE void __ubsan_handle_##name(void);     \
    SUBJECT_GLUE void __ubsan_handle_##name(void)      \
    {                                                  \
        sanitizer_hits++;                              \
    }                                                  \
    SUBJECT_GLUE void __ubsan_handle_##name##_abort(void); \
    SUBJECT_GLUE void __ubsan_handle_##name##_abort(void)  \
    {                                                  \
        abort();                                       \
    }

HANDLER(type_mismatch)
HANDLER(type_mismatch_v1)
HANDLER(pointer_overflow)
HANDLER(out_of_bounds)
HANDLER(local_out_of_bounds)
HANDLER(shift_out_of_bounds)
HANDLER(add_overflow)
HANDLER(sub_overflow)
HANDLER(mul_overflow)
HANDLER(negate_overflow)
HANDLER(divrem_overflow)
HANDLER(load_invalid_value)
HANDLER(float_cast_overflow)
HANDLER(vla_bound_not_positive)
HANDLER(nonnull_arg)
HANDLER(nonnull_return)
HANDLER(nonnull_return_v1)
HANDLER(invalid_builtin)
HANDLER(alignment_assumption)
HANDLER(implicit_conversion)
HANDLER(function_type_mismatch)
HANDLER(function_type_mismatch_v1)

/* There is nothing to go on with. */
SUBJECT_GLUE void __ubsan_handle_builtin_unreachable(void);
SUBJECT_GLUE void __ubsan_handle_builtin_unreachable(void)
{
    abort();
}

SUBJECT_GLUE void __ubsan_handle_missing_return(void);
SUBJECT_GLUE void __ubsan_handle_missing_return(void)
{
    abort();
}
