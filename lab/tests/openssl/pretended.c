/* SPDX-License-Identifier: MIT */
/*
 * An OpenSSL of pretence: with -DLIBRARY a libcrypto, else the program openssl that loads it.
 * VERSION: what the library says of itself. SERVES: the provider of all algorithms. ACTIVE: what
 * `openssl list -providers` prints. FRAGILE: with a configuration that includes another one, it
 * prints an error in place of that.
 */
#if defined(LIBRARY)
#include <stddef.h>

const char *OpenSSL_version(int what)
{
    return what == 0   ? VERSION
           : what == 4 ? "OPENSSLDIR: \"" FOLDER "\""
                       : "MODULESDIR: \"" FOLDER "\"";
}

#if defined(SERVES)
static int method;

void *EVP_CIPHER_fetch(void *context, const char *name, const char *query)
{
    (void)context, (void)name, (void)query;
    return &method;
}

const void *EVP_CIPHER_get0_provider(const void *of)
{
    return of;
}

/* It has neither MACs nor KDFs. */
#define HAS_NONE(kind)                                                           \
    void *EVP_##kind##_fetch(void *context, const char *name, const char *query) \
    {                                                                            \
        (void)context, (void)name, (void)query;                                  \
        return NULL;                                                             \
    }                                                                            \
    const void *EVP_##kind##_get0_provider(const void *of)                       \
    {                                                                            \
        return of;                                                               \
    }

HAS_NONE(MAC)
HAS_NONE(KDF)

const char *OSSL_PROVIDER_get0_name(const void *of)
{
    (void)of;
    return SERVES;
}
#endif
#else
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char *OpenSSL_version(int);

#if defined(FRAGILE)
static int includes_another(void)
{
    char text[4096] = "";
    FILE *file = fopen(getenv("OPENSSL_CONF"), "r");

    if (!file || fread(text, 1, sizeof text - 1, file) == 0)
        return 0;
    fclose(file);
    return strstr(text, ".include") != NULL;
}
#endif

int main(void)
{
#if defined(FRAGILE)
    if (includes_another())
        return fputs("00:error:0E:section not found\n", stderr) < 0;
#endif
    return OpenSSL_version(0) ? puts(ACTIVE) < 0 : 1;
}
#endif
