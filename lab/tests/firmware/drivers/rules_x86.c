/* SPDX-License-Identifier: MIT */
/* Drivers that break rules of x86; rules.c includes them. */

/* Calls a service with the stack aligned to 8 bytes. */
START(call_stack_alignment)
{
    __asm__ volatile(
        "subq $40, %%rsp\n\tmovq $1, %%rcx\n\tcall *%0\n\taddq $40, %%rsp" ::"r"(bs->stall)
        : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "memory", "cc");
    return 0;
}

/* Reads the BIOS data area, on a path that is not taken. */
START(code_absolute_address)
{
    if (is_taken)
        __asm__ volatile("movl 0x12340, %0" : "=r"(seen));
    return 0;
}

/* Identifies the processor. */
START(code_cpuid)
{
    u32 a = 0, b, c = 0, d;

    __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    return 0;
}

/* Has port I/O on a path that is not taken. */
START(code_port_io)
{
    if (is_taken)
        __asm__ volatile("outb %%al, $0x80" ::"a"(0));
    return 0;
}

/* Has a barrier of 32-bit code, on a path that is not taken. */
START(code_stack_32_bit)
{
    if (is_taken)
        __asm__ volatile("lock addl $0, (%%esp)" ::: "memory");
    return 0;
}

/* Reads the time stamp counter. */
START(code_time_stamp)
{
    u32 a, d;

    __asm__ volatile("rdtsc" : "=a"(a), "=d"(d));
    (void)a;
    (void)d;
    return 0;
}

/* Has a barrier of 32-bit code. */
START(memory_stack_32_bit)
{
    __asm__ volatile("lock addl $0, (%%esp)" ::: "memory");
    return 0;
}

/* Writes to a port. */
START(port_io)
{
    __asm__ volatile("outb %%al, $0x80" ::"a"(0));
    return 0;
}
