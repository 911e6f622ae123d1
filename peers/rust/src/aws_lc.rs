// SPDX-License-Identifier: MIT
//! AWS-LC: GCM through EVP_AEAD, the rest through EVP_CIPHER and CMAC. Hardware off: OPENSSL_ia32cap in
//! the environment.

use crate::peer::{Message, Open, Peer, Run};
use aws_lc_sys as lc;
use std::ffi::{c_char, c_int, c_uint, c_void, CStr};
use std::ptr::{null, null_mut};

const TAG: usize = 16;

struct Context {
    cipher: *mut lc::EVP_CIPHER_CTX,
    aead: *mut lc::EVP_AEAD_CTX,
    mac: *mut lc::CMAC_CTX,
}

/// "5.12.0" of "AWS-LC 5.12.0".
unsafe extern "C" fn version() -> *const c_char {
    let text = lc::OpenSSL_version(lc::OPENSSL_VERSION);
    let bytes = CStr::from_ptr(text).to_bytes();
    let number = bytes.iter().position(u8::is_ascii_digit).unwrap_or(0);
    text.add(number)
}

unsafe extern "C" fn run_cipher(context: *mut c_void, message: *const Message) -> bool {
    let (c, m) = (&*context.cast::<Context>(), &*message);
    let mut n: c_int = 0;
    lc::EVP_CipherInit_ex(c.cipher, null(), null_mut(), null(), m.iv, -1) == 1
        && lc::EVP_CipherUpdate(c.cipher, m.output, &mut n, m.input, m.len_bytes as c_int) == 1
}

unsafe extern "C" fn run_gcm_seal(context: *mut c_void, message: *const Message) -> bool {
    let (c, m) = (&*context.cast::<Context>(), &*message);
    let mut n = 0;
    lc::EVP_AEAD_CTX_seal(
        c.aead,
        m.output,
        &mut n,
        m.len_bytes + TAG,
        m.iv,
        12,
        m.input,
        m.len_bytes,
        m.aad,
        m.aad_bytes,
    ) == 1
}

unsafe extern "C" fn run_gcm_open(context: *mut c_void, message: *const Message) -> bool {
    let (c, m) = (&*context.cast::<Context>(), &*message);
    let mut n = 0;
    lc::EVP_AEAD_CTX_open(
        c.aead,
        m.output,
        &mut n,
        m.len_bytes,
        m.iv,
        12,
        m.input,
        m.len_bytes + TAG,
        m.aad,
        m.aad_bytes,
    ) == 1
}

/// The length comes before the associated data.
unsafe extern "C" fn run_ccm_seal(context: *mut c_void, message: *const Message) -> bool {
    let (c, m) = (&*context.cast::<Context>(), &*message);
    let (length, mut n) = (m.len_bytes as c_int, 0);
    lc::EVP_EncryptInit_ex(c.cipher, null(), null_mut(), null(), m.iv) == 1
        && lc::EVP_EncryptUpdate(c.cipher, null_mut(), &mut n, null(), length) == 1
        && lc::EVP_EncryptUpdate(c.cipher, null_mut(), &mut n, m.aad, m.aad_bytes as c_int) == 1
        && lc::EVP_EncryptUpdate(c.cipher, m.output, &mut n, m.input, length) == 1
        && lc::EVP_CIPHER_CTX_ctrl(
            c.cipher,
            lc::EVP_CTRL_AEAD_GET_TAG,
            TAG as c_int,
            m.tag.cast(),
        ) == 1
}

unsafe extern "C" fn run_cmac(context: *mut c_void, message: *const Message) -> bool {
    let (c, m) = (&*context.cast::<Context>(), &*message);
    let mut n = 0;
    lc::CMAC_Reset(c.mac) == 1
        && lc::CMAC_Update(c.mac, m.input, m.len_bytes) == 1
        && lc::CMAC_Final(c.mac, m.tag, &mut n) == 1
}

/// The cipher of a mode, and whether it encrypts.
unsafe fn cipher(mode: &str, key_bits: c_uint) -> Option<(*const lc::EVP_CIPHER, bool)> {
    Some(match (mode, key_bits) {
        ("cbc-enc" | "cbc-dec", 128) => (lc::EVP_aes_128_cbc(), mode == "cbc-enc"),
        ("cbc-enc" | "cbc-dec", 192) => (lc::EVP_aes_192_cbc(), mode == "cbc-enc"),
        ("cbc-enc" | "cbc-dec", 256) => (lc::EVP_aes_256_cbc(), mode == "cbc-enc"),
        ("ctr", 128) => (lc::EVP_aes_128_ctr(), true),
        ("ctr", 192) => (lc::EVP_aes_192_ctr(), true),
        ("ctr", 256) => (lc::EVP_aes_256_ctr(), true),
        ("xts-enc" | "xts-dec", 256) => (lc::EVP_aes_256_xts(), mode == "xts-enc"),
        ("ccm-seal", 128) => (lc::EVP_aes_128_ccm(), true),
        ("ccm-seal", 192) => (lc::EVP_aes_192_ccm(), true),
        ("ccm-seal", 256) => (lc::EVP_aes_256_ccm(), true),
        _ => return None,
    })
}

unsafe fn open_cipher(
    mode: &str,
    key: *const u8,
    key_bits: c_uint,
) -> Option<*mut lc::EVP_CIPHER_CTX> {
    let (algorithm, encrypts) = cipher(mode, key_bits)?;
    let c = lc::EVP_CIPHER_CTX_new();
    let control = |what: c_int, n: c_int| lc::EVP_CIPHER_CTX_ctrl(c, what, n, null_mut()) == 1;
    let good = lc::EVP_CipherInit_ex(c, algorithm, null_mut(), null(), null(), encrypts.into())
        == 1
        && (mode != "ccm-seal"
            || control(lc::EVP_CTRL_AEAD_SET_IVLEN, 12)
                && control(lc::EVP_CTRL_AEAD_SET_TAG, TAG as c_int))
        && lc::EVP_CipherInit_ex(c, null(), null_mut(), key, null(), -1) == 1
        && lc::EVP_CIPHER_CTX_set_padding(c, 0) == 1;
    good.then_some(c)
}

unsafe fn open_gcm(key: *const u8, key_bits: c_uint) -> *mut lc::EVP_AEAD_CTX {
    let algorithm = match key_bits {
        128 => lc::EVP_aead_aes_128_gcm(),
        192 => lc::EVP_aead_aes_192_gcm(),
        _ => lc::EVP_aead_aes_256_gcm(),
    };
    lc::EVP_AEAD_CTX_new(algorithm, key, key_bits as usize / 8, TAG)
}

unsafe fn open_cmac(key: *const u8, key_bits: c_uint) -> *mut lc::CMAC_CTX {
    let algorithm = match key_bits {
        128 => lc::EVP_aes_128_cbc(),
        192 => lc::EVP_aes_192_cbc(),
        _ => lc::EVP_aes_256_cbc(),
    };
    let c = lc::CMAC_CTX_new();
    lc::CMAC_Init(c, key.cast(), key_bits as usize / 8, algorithm, null_mut());
    c
}

unsafe fn make(mode: &str, key: *const u8, key_bits: c_uint) -> Option<(Context, Run)> {
    let mut context = Context {
        cipher: null_mut(),
        aead: null_mut(),
        mac: null_mut(),
    };
    let run: Run = match mode {
        "gcm-seal" | "gcm-open" => {
            context.aead = open_gcm(key, key_bits);
            if mode == "gcm-seal" {
                run_gcm_seal
            } else {
                run_gcm_open
            }
        }
        "cmac" => {
            context.mac = open_cmac(key, key_bits);
            run_cmac
        }
        _ => {
            context.cipher = open_cipher(mode, key, key_bits)?;
            if mode == "ccm-seal" {
                run_ccm_seal
            } else {
                run_cipher
            }
        }
    };
    Some((context, run))
}

unsafe extern "C" fn open(
    mode: *const c_char,
    key: *const u8,
    key_bits: c_uint,
    run: *mut Option<Run>,
) -> *mut c_void {
    let made = CStr::from_ptr(mode)
        .to_str()
        .ok()
        .and_then(|mode| make(mode, key, key_bits));
    match made {
        Some((context, function)) => {
            *run = Some(function);
            Box::into_raw(Box::new(context)).cast()
        }
        None => null_mut(),
    }
}

unsafe extern "C" fn close(context: *mut c_void) {
    let c = Box::from_raw(context.cast::<Context>());
    lc::EVP_CIPHER_CTX_free(c.cipher);
    lc::EVP_AEAD_CTX_free(c.aead);
    lc::CMAC_CTX_free(c.mac);
}

#[no_mangle]
#[allow(non_upper_case_globals)] // the name in peer.h
pub static evc_peer: Peer = Peer {
    name: c"aws-lc".as_ptr(),
    version,
    absent: None,
    hardware: None,
    open: open as Open,
    close,
};
