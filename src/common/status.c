/* SPDX-License-Identifier: MIT */
/* The status codes in words. */
#include "everycore/everycore.h"

const char *evc_status_text(enum evc_status status)
{
    switch (status) {
    case EVC_OK: return "ok";
    case EVC_ERR_KEY_SIZE: return "key size not allowed (it is in bits)";
    case EVC_ERR_EQUAL_KEYS: return "the two keys of XTS are equal";
    case EVC_ERR_NONCE_SIZE: return "nonce size not allowed";
    case EVC_ERR_TAG_SIZE: return "tag size not allowed";
    case EVC_ERR_LENGTH: return "length not allowed, or not what was announced";
    case EVC_ERR_TAG: return "the tag does not match";
    case EVC_ERR_DIRECTION: return "the key was set up for encryption only";
    case EVC_ERR_KERNEL:
        return "kernel is NULL, memory is too small for its key, or the key is not set up";
    case EVC_ERR_PARAMETER:
        return "no such variant or flag, parameters are NULL (unknown name), or a buffer with a "
               "length is NULL";
    case EVC_ERR_STATE:
        return "call out of order: no message begun, finished, other direction, parts in wrong "
               "order";
    case EVC_ERR_ALIGNMENT: return "the key is not aligned to 16 bytes";
    case EVC_ERR_OVERLAP:
        return "the user key lies in the memory of the key, or the output in the info";
    case EVC_ERR_MODULUS: return "the modulus is even, or its first byte is zero";
    case EVC_ERR_RANGE: return "an operand is not below the modulus";
    case EVC_ERR_INVERSE: return "no inverse: the number and the modulus have a common divisor";
    case EVC_ERR_SCRATCH: return "the scratch memory is too small";
    case EVC_ERR_COMPOSITE: return "the number is no prime";
    case EVC_ERR_RANDOM: return "the randomness that was given failed, or repeats itself";
    case EVC_ERR_GROUP: return "the parameters are no group";
    case EVC_ERR_PEER: return "the value of the peer is not in the group";
    case EVC_ERR_KEY: return "the numbers are no key of RSA";
    case EVC_ERR_FAULT:
        return "the result of a private operation is wrong: a fault of the computer or a kernel";
    case EVC_ERR_SIGNATURE: return "the signature does not match";
    case EVC_ERR_PADDING: return "OAEP padding check failed";
    case EVC_ERR_HASH:
        return "the hash failed, has no function or no prefix, or its digest or block size is not "
               "supported";
    case EVC_ERR_ENCODING: return "the file is neither DER nor PEM of such a key";
    case EVC_ERR_ALGORITHM: return "the file has a key of another algorithm or version";
    case EVC_ERR_ENCRYPTED: return "the private key of the file is encrypted";
    case EVC_ERR_STOPPED: return "the search was stopped by its report";
    }
    return "unknown status";
}
