// SPDX-License-Identifier: MIT
//! AWS-LC: GCM through EVP_AEAD, other ciphers through EVP_CIPHER and CMAC, big numbers through BN. Hardware off: OPENSSL_ia32cap
//! in the environment.

use crate::peer::{Library, Message, Run, TAG_BYTES};
use aws_lc_sys as lc;
use std::ffi::{c_int, CStr};
use std::ptr::{null, null_mut};

pub struct AwsLc;

/// A context of the library, freed with what holds it.
struct Owned<T>(*mut T, unsafe extern "C" fn(*mut T));

impl<T> Owned<T> {
    /// A method, so that closures capture the owner: of a field they would capture a copy.
    fn get(&self) -> *mut T {
        self.0
    }
}

impl<T> Drop for Owned<T> {
    fn drop(&mut self) {
        unsafe { self.1(self.0) }
    }
}

impl Library for AwsLc {
    const NAME: &'static CStr = c"aws-lc";

    /// "5.12.0" of "AWS-LC 5.12.0".
    fn version() -> &'static CStr {
        unsafe {
            let text = lc::OpenSSL_version(lc::OPENSSL_VERSION);
            let bytes = CStr::from_ptr(text).to_bytes();
            CStr::from_ptr(text.add(bytes.iter().position(u8::is_ascii_digit).unwrap_or(0)))
        }
    }

    fn open(mode: &str, key: &[u8]) -> Option<Run> {
        unsafe {
            match mode {
                "gcm-seal" | "gcm-open" => gcm(key, mode == "gcm-seal"),
                "ccm-seal" | "ccm-open" => ccm(key, mode == "ccm-seal"),
                "cmac" => cmac(key),
                "mont-mul" | "mont-sqr" | "exp" | "exp-public" | "mod-word16"
                | "mod-word16-once" => number(mode, key),
                _ => cipher(mode, key),
            }
        }
    }
}

unsafe fn gcm(key: &[u8], seals: bool) -> Option<Run> {
    let algorithm = match key.len() {
        16 => lc::EVP_aead_aes_128_gcm(),
        24 => lc::EVP_aead_aes_192_gcm(),
        _ => lc::EVP_aead_aes_256_gcm(),
    };
    let c = lc::EVP_AEAD_CTX_new(algorithm, key.as_ptr(), key.len(), TAG_BYTES);
    let c = Owned(c, lc::EVP_AEAD_CTX_free);
    let call = if seals {
        lc::EVP_AEAD_CTX_seal
    } else {
        lc::EVP_AEAD_CTX_open
    };
    let (behind_in, behind_out) = if seals {
        (0, TAG_BYTES)
    } else {
        (TAG_BYTES, 0)
    };
    Some(Box::new(move |m: &Message| {
        let (n_in, most_out, mut n) = (m.len_bytes + behind_in, m.len_bytes + behind_out, 0);
        1 == call(
            c.get(),
            m.output,
            &mut n,
            most_out,
            m.iv,
            12,
            m.input,
            n_in,
            m.aad,
            m.aad_bytes,
        )
    }))
}

/// A context with the key set, and what `before_key` needs.
unsafe fn context(
    algorithm: *const lc::EVP_CIPHER,
    key: &[u8],
    encrypts: bool,
    before_key: impl Fn(*mut lc::EVP_CIPHER_CTX) -> bool,
) -> Option<Owned<lc::EVP_CIPHER_CTX>> {
    let c = Owned(lc::EVP_CIPHER_CTX_new(), lc::EVP_CIPHER_CTX_free);
    let good =
        1 == lc::EVP_CipherInit_ex(
            c.get(),
            algorithm,
            null_mut(),
            null(),
            null(),
            encrypts.into(),
        ) && before_key(c.get())
            && 1 == lc::EVP_CipherInit_ex(c.get(), null(), null_mut(), key.as_ptr(), null(), -1)
            && 1 == lc::EVP_CIPHER_CTX_set_padding(c.get(), 0);
    good.then_some(c)
}

unsafe fn cipher(mode: &str, key: &[u8]) -> Option<Run> {
    let (algorithm, encrypts) = match (mode, key.len()) {
        ("cbc-enc" | "cbc-dec", 16) => (lc::EVP_aes_128_cbc(), mode == "cbc-enc"),
        ("cbc-enc" | "cbc-dec", 24) => (lc::EVP_aes_192_cbc(), mode == "cbc-enc"),
        ("cbc-enc" | "cbc-dec", 32) => (lc::EVP_aes_256_cbc(), mode == "cbc-enc"),
        ("ctr", 16) => (lc::EVP_aes_128_ctr(), true),
        ("ctr", 24) => (lc::EVP_aes_192_ctr(), true),
        ("ctr", 32) => (lc::EVP_aes_256_ctr(), true),
        ("xts-enc" | "xts-dec", 64) => (lc::EVP_aes_256_xts(), mode == "xts-enc"),
        _ => return None,
    };
    let c = context(algorithm, key, encrypts, |_| true)?;
    Some(Box::new(move |m: &Message| {
        let mut n = 0;
        1 == lc::EVP_CipherInit_ex(c.get(), null(), null_mut(), null(), m.iv, -1)
            && 1 == lc::EVP_CipherUpdate(c.get(), m.output, &mut n, m.input, m.len_bytes as c_int)
    }))
}

unsafe fn ccm_context(key: &[u8], encrypts: bool) -> Option<Owned<lc::EVP_CIPHER_CTX>> {
    let algorithm = match key.len() {
        16 => lc::EVP_aes_128_ccm(),
        24 => lc::EVP_aes_192_ccm(),
        _ => lc::EVP_aes_256_ccm(),
    };
    let control = |c, what, n| 1 == lc::EVP_CIPHER_CTX_ctrl(c, what, n, null_mut());
    context(algorithm, key, encrypts, |c| {
        control(c, lc::EVP_CTRL_AEAD_SET_IVLEN, 12)
            && control(c, lc::EVP_CTRL_AEAD_SET_TAG, TAG_BYTES as c_int)
    })
}

/// The tag in or out, by the name of the control.
unsafe fn tag(c: &Owned<lc::EVP_CIPHER_CTX>, what: c_int, m: &Message) -> bool {
    1 == lc::EVP_CIPHER_CTX_ctrl(c.get(), what, TAG_BYTES as c_int, m.tag.cast())
}

/// The length comes before the associated data; opening, the tag before all.
unsafe fn ccm_text(c: &Owned<lc::EVP_CIPHER_CTX>, m: &Message) -> bool {
    let (length, aad_bytes, mut n) = (m.len_bytes as c_int, m.aad_bytes as c_int, 0);
    1 == lc::EVP_CipherInit_ex(c.get(), null(), null_mut(), null(), m.iv, -1)
        && 1 == lc::EVP_CipherUpdate(c.get(), null_mut(), &mut n, null(), length)
        && 1 == lc::EVP_CipherUpdate(c.get(), null_mut(), &mut n, m.aad, aad_bytes)
        && 1 == lc::EVP_CipherUpdate(c.get(), m.output, &mut n, m.input, length)
}

unsafe fn ccm(key: &[u8], seals: bool) -> Option<Run> {
    let c = ccm_context(key, seals)?;
    Some(if seals {
        Box::new(move |m: &Message| ccm_text(&c, m) && tag(&c, lc::EVP_CTRL_AEAD_GET_TAG, m))
    } else {
        Box::new(move |m: &Message| tag(&c, lc::EVP_CTRL_AEAD_SET_TAG, m) && ccm_text(&c, m))
    })
}

unsafe fn cmac(key: &[u8]) -> Option<Run> {
    let algorithm = match key.len() {
        16 => lc::EVP_aes_128_cbc(),
        24 => lc::EVP_aes_192_cbc(),
        _ => lc::EVP_aes_256_cbc(),
    };
    let c = Owned(lc::CMAC_CTX_new(), lc::CMAC_CTX_free);
    let good = 1
        == lc::CMAC_Init(
            c.get(),
            key.as_ptr().cast(),
            key.len(),
            algorithm,
            null_mut(),
        );
    let run: Run = Box::new(move |m: &Message| {
        let mut n = 0;
        1 == lc::CMAC_Reset(c.get())
            && 1 == lc::CMAC_Update(c.get(), m.input, m.len_bytes)
            && 1 == lc::CMAC_Final(c.get(), m.tag, &mut n)
    });
    good.then_some(run)
}

fn new_number(bytes: &[u8]) -> Owned<lc::BIGNUM> {
    unsafe {
        let number = lc::BN_bin2bn(bytes.as_ptr(), bytes.len(), null_mut());
        Owned(number, lc::BN_free)
    }
}

/// The number as the message wants it, if it does.
unsafe fn store(number: *const lc::BIGNUM, m: &Message) -> bool {
    m.output.is_null() || 1 == lc::BN_bn2bin_padded(m.output, m.len_bytes, number)
}

/// key: n, a and b. Products are of x in Montgomery's form.
unsafe fn number(mode: &str, key: &[u8]) -> Option<Run> {
    let part = |i| new_number(&key[i * key.len() / 3..(i + 1) * key.len() / 3]);
    let (n, a, b, x) = (part(0), part(1), part(2), part(1));
    let e65537 = new_number(&[1, 0, 1]);
    let c = Owned(lc::BN_CTX_new(), lc::BN_CTX_free);
    let form = lc::BN_MONT_CTX_new_for_modulus(n.get(), c.get());
    let form = Owned(form, lc::BN_MONT_CTX_free);
    if let "mont-mul" | "mont-sqr" = mode {
        lc::BN_to_montgomery(x.get(), a.get(), form.get(), c.get());
        lc::BN_to_montgomery(b.get(), b.get(), form.get(), c.get());
    }
    let squares = mode == "mont-sqr";
    Some(match mode {
        "mont-mul" | "mont-sqr" => Box::new(move |m: &Message| {
            let factor = if squares { x.get() } else { b.get() };
            1 == lc::BN_mod_mul_montgomery(x.get(), x.get(), factor, form.get(), c.get())
                && (m.output.is_null()
                    || 1 == lc::BN_from_montgomery(a.get(), x.get(), form.get(), c.get())
                        && store(a.get(), m))
        }),
        "exp" => Box::new(move |m: &Message| {
            let (a, b, n) = (a.get(), b.get(), n.get());
            1 == lc::BN_mod_exp_mont_consttime(x.get(), a, b, n, c.get(), form.get())
                && store(x.get(), m)
        }),
        "exp-public" => Box::new(move |m: &Message| {
            let (a, e, n) = (a.get(), e65537.get(), n.get());
            1 == lc::BN_mod_exp_mont(x.get(), a, e, n, c.get(), form.get()) && store(x.get(), m)
        }),
        _ => Box::new(move |m: &Message| {
            let remainder = lc::BN_mod_word(a.get(), 65521);
            m.output.is_null()
                || 1 == lc::BN_set_word(x.get(), remainder) && store(x.get(), m)
        }),
    })
}
