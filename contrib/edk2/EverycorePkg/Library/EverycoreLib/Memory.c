/* SPDX-License-Identifier: MIT */
/*
 * The four functions of memory that compilers call, from EDK2's BaseMemoryLib. They are
 * weak: where another library of the platform has them (CompilerIntrinsicsLib on Arm), the
 * linker takes its functions.
 */
#include <Base.h>
#include <Library/BaseMemoryLib.h>

#define WEAK __attribute__((weak))

void *WEAK memcpy(void *to, const void *from, __SIZE_TYPE__ len_bytes)
{
    return CopyMem(to, from, len_bytes);
}

void *WEAK memmove(void *to, const void *from, __SIZE_TYPE__ len_bytes)
{
    return CopyMem(to, from, len_bytes);
}

void *WEAK memset(void *to, int value, __SIZE_TYPE__ len_bytes)
{
    return SetMem(to, len_bytes, (UINT8)value);
}

int WEAK memcmp(const void *a, const void *b, __SIZE_TYPE__ len_bytes)
{
    return (int)CompareMem(a, b, len_bytes);
}
