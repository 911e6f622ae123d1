/* SPDX-License-Identifier: MIT */
/* An application with settings that can be changed in the finished file, named as EDK2's AutoGen
 * names them (PatchableInModule PCDs). It prints them, and ends the machine. */
#include "efi.h"

#define SETTING(type, name, value) \
    volatile type _gPcd_BinaryPatch_##name = (value); \
    uint64_t _gPcd_BinaryPatch_Size_##name = sizeof(type)

SETTING(uint32_t, PcdRounds, 0x11223344u);
SETTING(uint8_t, PcdEnable, 1);
SETTING(uint64_t, PcdBase, 0x1122334455667788u);
volatile uint8_t _gPcd_BinaryPatch_PcdLabel[12] = {'d', 'e', 'f', 'a', 'u', 'l', 't', 0};
uint64_t _gPcd_BinaryPatch_Size_PcdLabel = sizeof _gPcd_BinaryPatch_PcdLabel;

static void print(struct efi_system_table *table, const char *text)
{
    uint16_t line[2] = {0, 0};

    for (; *text; text++) {
        line[0] = (uint16_t)*text;
        table->output->output_string(table->output, line);
    }
}

static void print_number(struct efi_system_table *table, uint64_t number)
{
    char text[18] = " ", *at = text + 1;
    int shift = 60;

    for (; shift >= 0; shift -= 4)
        *at++ = "0123456789abcdef"[number >> shift & 15];
    *at = 0;
    print(table, text);
}

efi_status EFIAPI efi_main(efi_handle image, struct efi_system_table *table)
{
    char label[sizeof _gPcd_BinaryPatch_PcdLabel + 1] = {0};
    unsigned i;

    (void)image;
    for (i = 0; i < sizeof _gPcd_BinaryPatch_PcdLabel; i++)
        label[i] = (char)_gPcd_BinaryPatch_PcdLabel[i];
    print(table, "\r\nEVERYCORE: the settings are");
    print_number(table, _gPcd_BinaryPatch_PcdRounds);
    print_number(table, _gPcd_BinaryPatch_PcdEnable);
    print_number(table, _gPcd_BinaryPatch_PcdBase);
    print(table, " ");
    print(table, label);
    print(table, ".\r\n");
    table->runtime->reset_system(2, 0, 0, 0); /* EfiResetShutdown */
    return 0;
}
