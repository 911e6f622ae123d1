// SPDX-License-Identifier: MIT
//! graviola: GCM, in place, so that each message is copied first, in the figure; and RSA's private operation as a signature
//! of PKCS #1 with SHA-256, of the text that peer.h names. It has no public operation that gives a number. A release build
//! has no switch for its code paths: GRAVIOLA_CPU_DISABLE_... is read in debug builds alone.

use crate::peer::{Library, Message, Run, SIGNED_TEXT};
use graviola::aead::AesGcm;
use graviola::signing::rsa::SigningKey;
use std::ffi::CStr;
use std::slice;

pub struct Graviola;

const MOST_BYTES: usize = 1024; // of a signature

impl Library for Graviola {
    const NAME: &'static CStr = c"graviola";

    /// The crate does not tell; Cargo.toml pins it.
    fn version() -> &'static CStr {
        c"0.4.4"
    }

    fn open(mode: &str, key: &[u8]) -> Option<Run> {
        match mode {
            "gcm-seal" | "gcm-open" if key.len() != 24 => Some(gcm(key, mode == "gcm-seal")),
            "rsa-private" => signature(key),
            _ => None,
        }
    }
}

fn gcm(key: &[u8], seals: bool) -> Run {
    let key = AesGcm::new(key);
    if seals {
        Box::new(move |m: &Message| {
            key.encrypt(&m.iv(), m.aad(), m.copied(), m.tag());
            true
        })
    } else {
        Box::new(move |m: &Message| key.decrypt(&m.iv(), m.aad(), m.copied(), m.tag()).is_ok())
    }
}

fn signature(key: &[u8]) -> Option<Run> {
    let key = SigningKey::from_pkcs1_der(&rsa_private_key(key)).ok()?;
    Some(Box::new(move |m: &Message| {
        let mut own = [0; MOST_BYTES];
        let out = if m.output.is_null() {
            &mut own[..]
        } else {
            unsafe { slice::from_raw_parts_mut(m.output, m.len_bytes) }
        };
        key.sign_pkcs1_sha256(out, SIGNED_TEXT).is_ok()
    }))
}

/// RSAPrivateKey of RFC 8017, A.1.2, of the numbers of a key: n, d, a of the same length, then five of half of it.
fn rsa_private_key(key: &[u8]) -> Vec<u8> {
    let half = key.len() / 11;
    let (n, d, rest) = (&key[..2 * half], &key[2 * half..4 * half], &key[6 * half..]);
    let mut body = Vec::new();
    for number in [&[0][..], n, &[1, 0, 1], d]
        .into_iter()
        .chain(rest.chunks(half))
    {
        let digits = &number[number.iter().take_while(|&&b| b == 0).count()..];
        let digits = [&[0][..], digits].concat(); // the highest bit is the sign; zero has a byte
        let has_room = digits.len() > 1 && digits[1] < 0x80;
        append(&mut body, 2, &digits[has_room.into()..]);
    }
    let mut whole = Vec::new();
    append(&mut whole, 0x30, &body);
    whole
}

/// A tag, the length and the contents.
fn append(to: &mut Vec<u8>, tag: u8, contents: &[u8]) {
    to.push(tag);
    match contents.len() {
        n @ 0..=0x7f => to.push(n as u8),
        n @ 0x80..=0xff => to.extend([0x81, n as u8]),
        n => {
            to.push(0x82);
            to.extend((n as u16).to_be_bytes());
        }
    }
    to.extend(contents);
}
