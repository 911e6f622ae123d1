/* SPDX-License-Identifier: MIT */
/*
 * SHA-256 and SHA-384 for HashLib of SecurityPkg, which measures what is booted. The constructor
 * selects the kernels once, and registers both hashes; the platform's policy may refuse either.
 */
#include <Uefi.h>
#include <IndustryStandard/Tpm20.h>
#include <Library/HashLib.h>
#include <Library/MemoryAllocationLib.h>

#include <everycore/cpu.h>
#include <everycore/sha2.h>

struct algorithm {
    HASH_INTERFACE interface;
    enum evc_sha2_hash hash;
    TPMI_ALG_HASH tpm_name;
    const struct evc_sha2 *kernel;
};

/* A HASH_HANDLE points to one. */
struct message {
    const struct algorithm *algorithm;
    struct evc_sha2_state state;
};

static EFI_STATUS start(const struct algorithm *algorithm, HASH_HANDLE *handle)
{
    struct message *message = AllocatePool(sizeof *message);

    if (!message)
        return EFI_OUT_OF_RESOURCES;
    message->algorithm = algorithm;
    if (evc_sha2_start(&message->state, algorithm->kernel, algorithm->hash) != EVC_OK) {
        FreePool(message);
        return EFI_DEVICE_ERROR;
    }
    *handle = (HASH_HANDLE)message;
    return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI update(HASH_HANDLE handle, VOID *data, UINTN len_bytes)
{
    struct message *message = (struct message *)handle;

    return evc_sha2_update(&message->state, data, len_bytes) == EVC_OK ? EFI_SUCCESS
                                                                       : EFI_INVALID_PARAMETER;
}

/* Frees the message, also if it fails. */
static EFI_STATUS EFIAPI finish(HASH_HANDLE handle, TPML_DIGEST_VALUES *list)
{
    struct message *message = (struct message *)handle;
    TPMT_HA *digest = &list->digests[0];
    /* all members of the union of digests begin at one address */
    const enum evc_status status = evc_sha2_finish(&message->state, (uint8_t *)&digest->digest);

    if (status == EVC_OK) {
        list->count = 1;
        digest->hashAlg = message->algorithm->tpm_name;
    }
    FreePool(message);
    return status == EVC_OK ? EFI_SUCCESS : EFI_DEVICE_ERROR;
}

static EFI_STATUS EFIAPI start_sha256(HASH_HANDLE *handle);
static EFI_STATUS EFIAPI start_sha384(HASH_HANDLE *handle);

enum { SHA256, SHA384, N_ALGORITHMS };

static struct algorithm algorithms[N_ALGORITHMS] = {
    [SHA256] = {{HASH_ALGORITHM_SHA256_GUID, start_sha256, update, finish},
                EVC_SHA256,
                TPM_ALG_SHA256,
                NULL},
    [SHA384] = {{HASH_ALGORITHM_SHA384_GUID, start_sha384, update, finish},
                EVC_SHA384,
                TPM_ALG_SHA384,
                NULL},
};

static EFI_STATUS EFIAPI start_sha256(HASH_HANDLE *handle)
{
    return start(&algorithms[SHA256], handle);
}

static EFI_STATUS EFIAPI start_sha384(HASH_HANDLE *handle)
{
    return start(&algorithms[SHA384], handle);
}

EFI_STATUS EFIAPI EverycoreHashInstanceLibConstructor(EFI_HANDLE image, EFI_SYSTEM_TABLE *table)
{
    const uint64_t features = evc_cpu_features();

    (void)image, (void)table;
    for (UINTN i = 0; i < N_ALGORITHMS; i++) {
        EFI_STATUS status;

        algorithms[i].kernel = evc_sha2_select(features, 0, algorithms[i].hash);
        status = RegisterHashInterfaceLib(&algorithms[i].interface);
        if (status != EFI_SUCCESS && status != EFI_UNSUPPORTED)
            return status;
    }
    return EFI_SUCCESS;
}
