/* SPDX-License-Identifier: MIT */
/*
 * Functions that code under -fsanitize=undefined calls when it finds something: here it is counted,
 * and the code goes on. So a sanitizer costs what its checks cost, without its run time. The names
 * are what GCC and clang call.
 */
#include <stdlib.h>

#include "subject.h"

unsigned long sanitizer_hits;

#define COUNTS(name)                 \
    SUBJECT_GLUE void name(void);    \
    SUBJECT_GLUE void name(void)     \
    {                                \
        sanitizer_hits++;            \
    }

#define ENDS(name)                   \
    SUBJECT_GLUE void name(void);    \
    SUBJECT_GLUE void name(void)     \
    {                                \
        abort();                     \
    }

/* -fno-sanitize-recover calls the second, clang's -fsanitize-minimal-runtime the last two. */
#define HANDLER(name)                           \
    COUNTS(__ubsan_handle_##name)               \
    ENDS(__ubsan_handle_##name##_abort)         \
    COUNTS(__ubsan_handle_##name##_minimal)     \
    ENDS(__ubsan_handle_##name##_minimal_abort)

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
HANDLER(nullability_arg)
HANDLER(nullability_return)
HANDLER(nullability_return_v1)
HANDLER(invalid_builtin)
HANDLER(alignment_assumption)
HANDLER(implicit_conversion)
HANDLER(function_type_mismatch)
HANDLER(function_type_mismatch_v1)

/* There is nothing to go on with. */
ENDS(__ubsan_handle_builtin_unreachable)
ENDS(__ubsan_handle_builtin_unreachable_minimal)
ENDS(__ubsan_handle_missing_return)
ENDS(__ubsan_handle_missing_return_minimal)
