/* SPDX-License-Identifier: MIT */
/* The parts of Mbed TLS to build: AES by tables, without instructions or assembly of a CPU. */
#define MBEDTLS_AES_C
#define MBEDTLS_CIPHER_MODE_CBC
#define MBEDTLS_CIPHER_MODE_CTR
#define MBEDTLS_CIPHER_MODE_XTS
