/* SPDX-License-Identifier: MIT */
/*
 * An application of EDK2 that uses the library class: it seals the message of README.md, opens it,
 * finds a damaged tag, hashes a message in two pieces by each hash that EverycoreHashInstanceLib
 * registers, and prints what it found. Then it ends the machine.
 */
#include <Uefi.h>
#include <IndustryStandard/Tpm20.h>
#include <Library/BaseMemoryLib.h>
#include <Library/HashLib.h>
#include <Library/UefiBootServicesTableLib.h>
#include <Library/UefiRuntimeServicesTableLib.h>

#include <everycore/cpu.h>
#include <everycore/gcm.h>

STATIC VOID Print(CONST CHAR8 *Text)
{
    CHAR16 Line[2] = {0, 0};

    for (; *Text != 0; Text++) {
        Line[0] = *Text;
        gST->ConOut->OutputString(gST->ConOut, Line);
    }
}

STATIC VOID PrintStart(CONST UINT8 *Bytes)
{
    CHAR8 Digits[9];
    UINTN Index;

    for (Index = 0; Index < 8; Index++)
        Digits[Index] = "0123456789abcdef"[Bytes[Index / 2] >> (Index % 2 ? 0 : 4) & 15];
    Digits[8] = 0;
    Print(Digits);
}

STATIC HASH_INTERFACE *Hashes[4];
STATIC UINTN HashCount;

/* HashLib's router has this function in a platform. It refuses nothing here. */
EFI_STATUS EFIAPI RegisterHashInterfaceLib(HASH_INTERFACE *Hash)
{
    if (HashCount == sizeof Hashes / sizeof *Hashes)
        return EFI_OUT_OF_RESOURCES;
    Hashes[HashCount++] = Hash;
    return EFI_SUCCESS;
}

/* The hash by the name that TPM 2.0 has for it, and the start of the digest of "abc". */
STATIC VOID PrintHash(CONST HASH_INTERFACE *Hash)
{
    TPML_DIGEST_VALUES List = {0};
    HASH_HANDLE Handle;

    if (Hash->HashInit(&Handle) != EFI_SUCCESS || Hash->HashUpdate(Handle, "a", 1) != EFI_SUCCESS ||
        Hash->HashUpdate(Handle, "bc", 2) != EFI_SUCCESS ||
        Hash->HashFinal(Handle, &List) != EFI_SUCCESS || List.count != 1) {
        Print(" failed");
        return;
    }
    Print(List.digests[0].hashAlg == TPM_ALG_SHA256   ? " sha256 "
          : List.digests[0].hashAlg == TPM_ALG_SHA384 ? " sha384 "
                                                      : " other ");
    PrintStart((CONST UINT8 *)&List.digests[0].digest);
}

EFI_STATUS EFIAPI UefiMain(EFI_HANDLE Image, EFI_SYSTEM_TABLE *Table)
{
    STATIC CONST uint8_t Secret[32] = "thirty-one characters, one zero";
    STATIC CONST uint8_t Nonce[12] = {1};
    /* Text: with its final zero byte, as README.md seals it */
    STATIC CONST uint8_t Text[18] = "every core counts";
    uint8_t Message[18], Tag[16];
    union evc_gcm_key Key;
    enum evc_status Status;

    CopyMem(Message, Text, sizeof Text);
    Print("\r\nEVERYCORE: tag ");
    Status = evc_gcm_set_best(&Key, evc_cpu_features(), 0, Secret, 256);
    if (Status == EVC_OK)
        Status = evc_gcm_seal(&Key, Nonce, 12, NULL, 0, Message, Message, sizeof Message, Tag, 16);
    if (Status == EVC_OK) {
        PrintStart(Tag);
        Status = evc_gcm_open(&Key, Nonce, 12, NULL, 0, Message, Message, sizeof Message, Tag, 16);
        Print(Status == EVC_OK && CompareMem(Message, Text, sizeof Text) == 0 ? " opened"
                                                                              : " not opened");
        Tag[0] ^= 1;
        Status = evc_gcm_open(&Key, Nonce, 12, NULL, 0, Message, Message, sizeof Message, Tag, 16);
    }
    Print(Status == EVC_ERR_TAG ? " refused" : " not refused");
    for (UINTN Index = 0; Index < HashCount; Index++)
        PrintHash(Hashes[Index]);
    Print(".\r\n");
    gRT->ResetSystem(EfiResetShutdown, EFI_SUCCESS, 0, NULL);
    return EFI_SUCCESS;
}
