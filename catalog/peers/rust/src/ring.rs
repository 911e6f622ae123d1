// SPDX-License-Identifier: MIT
//! ring: GCM, in place; each message is copied first, in the figure.

use crate::peer::{Library, Message, Run};
use ring::aead::{Aad, LessSafeKey, Nonce, UnboundKey, AES_128_GCM, AES_256_GCM};
use std::ffi::CStr;

pub struct Ring;

impl Library for Ring {
    const NAME: &'static CStr = c"ring";

    /// The crate does not tell; Cargo.toml pins it.
    fn version() -> &'static CStr {
        c"0.17.14"
    }

    fn open(mode: &str, key: &[u8]) -> Option<Run> {
        let algorithm = match key.len() {
            16 => &AES_128_GCM,
            32 => &AES_256_GCM,
            _ => return None,
        };
        let key = LessSafeKey::new(UnboundKey::new(algorithm, key).ok()?);
        match mode {
            "gcm-seal" => Some(Box::new(move |m: &Message| {
                let nonce = Nonce::assume_unique_for_key(m.iv());
                key.seal_in_place_separate_tag(nonce, Aad::from(m.aad()), m.copied())
                    .map(|tag| m.tag().copy_from_slice(tag.as_ref()))
                    .is_ok()
            })),
            "gcm-open" => Some(Box::new(move |m: &Message| {
                let nonce = Nonce::assume_unique_for_key(m.iv());
                let tag = (*m.tag()).into();
                key.open_in_place_separate_tag(nonce, Aad::from(m.aad()), tag, m.copied(), 0..)
                    .is_ok()
            })),
            _ => None,
        }
    }
}
