// SPDX-License-Identifier: MIT
//! hardware-rust-crypto: GCM of 256 bits, with nonces from outside (its feature hazmat-explicit-nonce). It has AES
//! instructions on vectors of 128 bits alone, and no code without them.

use crate::peer::{Library, Message, Run, TAG_BYTES};
use hardware_rust_crypto::aes_gcm::HardwareAes256Gcm;
use std::ffi::CStr;
use std::slice;

pub struct HardwareRustCrypto;

impl Library for HardwareRustCrypto {
    const NAME: &'static CStr = c"hardware-rust-crypto";

    /// The crate does not tell; Cargo.toml pins it.
    fn version() -> &'static CStr {
        c"1.0.1"
    }

    /// The tag lies directly behind the ciphertext, in the messages as in the crate's calls.
    fn open(mode: &str, key: &[u8]) -> Option<Run> {
        let seals = match mode {
            "gcm-seal" => true,
            "gcm-open" => false,
            _ => return None,
        };
        let key = HardwareAes256Gcm::new(key).ok()?; // of 32 bytes
        Some(if seals {
            Box::new(move |m: &Message| {
                let sealed_bytes = m.len_bytes + TAG_BYTES;
                let out = unsafe { slice::from_raw_parts_mut(m.output, sealed_bytes) };
                key.encrypt_with_nonce_to(&m.iv::<12>(), m.aad(), m.input(), out)
                    .is_ok()
            })
        } else {
            Box::new(move |m: &Message| {
                let sealed_bytes = m.len_bytes + TAG_BYTES;
                let sealed = unsafe { slice::from_raw_parts(m.input, sealed_bytes) };
                key.decrypt_with_nonce_to(&m.iv::<12>(), m.aad(), sealed, m.output())
                    .is_ok()
            })
        })
    }
}
