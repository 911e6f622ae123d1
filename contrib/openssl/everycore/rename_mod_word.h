/* SPDX-License-Identifier: MIT */
/* In a source tree: OpenSSL's own function of bn_word.c gets another name. */
#define EVC_OPENSSL_TREE 1

#define BN_mod_word evc_openssl_BN_mod_word
