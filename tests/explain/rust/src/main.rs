// SPDX-License-Identifier: MIT

// Repeats one operation of a crate for a second and a half.
use aes_gcm::aead::{AeadInPlace, KeyInit};
use ring::aead;
use sha2::Digest;
use std::time::{Duration, Instant};

fn repeat(mut once: impl FnMut()) {
    let end = Instant::now() + Duration::from_millis(1500);
    let mut count = 0u64;
    while Instant::now() < end {
        once();
        count += 1;
    }
    println!("{count}");
}

fn seal(algorithm: &'static aead::Algorithm) {
    let key = aead::LessSafeKey::new(aead::UnboundKey::new(algorithm, &[0; 32]).unwrap());
    let mut text = vec![0u8; 16384];
    repeat(|| {
        let nonce = aead::Nonce::assume_unique_for_key([0; 12]);
        key.seal_in_place_separate_tag(nonce, aead::Aad::empty(), &mut text).unwrap();
    });
}

fn main() {
    let mut text = vec![0u8; 16384];
    match std::env::args().nth(1).as_deref() {
        Some("ring-gcm") => seal(&aead::AES_256_GCM),
        Some("ring-chacha") => seal(&aead::CHACHA20_POLY1305),
        Some("crates-gcm") => {
            let gcm = aes_gcm::Aes256Gcm::new(&[0; 32].into());
            repeat(|| {
                gcm.encrypt_in_place_detached(&[0; 12].into(), b"", &mut text).unwrap();
            });
        }
        _ => repeat(|| text[0] = sha2::Sha256::digest(&text)[0]),
    }
}
