/* SPDX-License-Identifier: MIT */
/* Repeats one operation of Intel's library for IPsec as often as it is told, and prints a part of the result. */
#include <intel-ipsec-mb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 32, LENGTH = 4096 };

static unsigned char text[LANES][LENGTH], key[64] = {9}, iv[32], tag[LANES][64];
static unsigned char inner[64] __attribute__((aligned(64))), outer[64] __attribute__((aligned(64)));

static void fill(IMB_JOB *job, int lane, const char *name, const void *schedule, const struct gcm_key_data *gcm)
{
    static uint64_t des[16];
    static const void *triple[3] = {des, des, des};

    memset(job, 0, sizeof(*job));
    job->chain_order = IMB_ORDER_CIPHER_HASH;
    job->cipher_direction = IMB_DIR_ENCRYPT;
    job->cipher_mode = IMB_CIPHER_NULL;
    job->hash_alg = IMB_AUTH_NULL;
    job->src = job->dst = text[lane];
    job->msg_len_to_cipher_in_bytes = job->msg_len_to_hash_in_bytes = LENGTH;
    job->iv = iv;
    job->iv_len_in_bytes = 16;
    job->auth_tag_output = tag[lane];
    job->auth_tag_output_len_in_bytes = 16;
    job->enc_keys = job->dec_keys = schedule;
    job->key_len_in_bytes = 32;
    if (!strcmp(name, "cbc")) {
        job->cipher_mode = IMB_CIPHER_CBC;
    } else if (!strcmp(name, "gcm")) {
        job->cipher_mode = IMB_CIPHER_GCM;
        job->hash_alg = IMB_AUTH_AES_GMAC;
        job->enc_keys = job->dec_keys = gcm;
        job->iv_len_in_bytes = 12;
    } else if (!strcmp(name, "chacha20poly1305")) {
        job->cipher_mode = IMB_CIPHER_CHACHA20_POLY1305;
        job->hash_alg = IMB_AUTH_CHACHA20_POLY1305;
        job->enc_keys = job->dec_keys = key;
        job->iv_len_in_bytes = 12;
    } else if (!strcmp(name, "3des")) {
        job->cipher_mode = IMB_CIPHER_DES3;
        job->enc_keys = job->dec_keys = triple;
        job->key_len_in_bytes = 24;
        job->iv_len_in_bytes = 8;
    } else if (!strcmp(name, "zuc")) {
        job->cipher_mode = IMB_CIPHER_ZUC_EEA3;
        job->enc_keys = job->dec_keys = key;
        job->key_len_in_bytes = 16;
    } else {
        job->hash_alg = !strcmp(name, "md5") ? IMB_AUTH_MD5 : IMB_AUTH_HMAC_SHA_512;
        job->auth_tag_output_len_in_bytes = !strcmp(name, "md5") ? 12 : 32;
        job->u.HMAC._hashed_auth_key_xor_ipad = inner;
        job->u.HMAC._hashed_auth_key_xor_opad = outer;
    }
}

int main(int many, char **words)
{
    static uint32_t enc[60] __attribute__((aligned(64))), dec[60] __attribute__((aligned(64)));
    static struct gcm_key_data gcm;
    IMB_MGR *manager = alloc_mb_mgr(0);
    IMB_JOB *job;

    if (!manager || many < 3)
        return 1;
    init_mb_mgr_auto(manager, NULL);
    IMB_AES_KEYEXP_256(manager, key, enc, dec);
    IMB_AES256_GCM_PRE(manager, key, &gcm);
    for (long n = atol(words[2]); n > 0; n--) {
        for (int lane = 0; lane < LANES; lane++) {
            fill(IMB_GET_NEXT_JOB(manager), lane, words[1], enc, &gcm);
            job = IMB_SUBMIT_JOB(manager);
            if (job && job->status != IMB_STATUS_COMPLETED)
                return 2;
        }
        while ((job = IMB_FLUSH_JOB(manager)) != NULL)
            if (job->status != IMB_STATUS_COMPLETED)
                return 2;
    }
    for (int n = 0; n < 16; n++)
        printf("%02x", text[0][n] ^ tag[0][n]);
    return imb_get_errno(manager) != 0;
}
