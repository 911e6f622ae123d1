// SPDX-License-Identifier: MIT

// Repeats one operation of a crate as often as it is told, and prints a checksum of the result.
use aes::cipher::{BlockEncrypt, KeyInit};
use aes_soft::cipher::{BlockCipher, NewBlockCipher};
use chacha20poly1305::AeadInPlace;
use curve25519_dalek::{edwards::EdwardsPoint, montgomery::MontgomeryPoint, scalar::Scalar};
use p256::ecdsa::signature::Signer;
use sha3::Digest;

fn main() {
    let mut text = vec![0u8; 16384];
    let count: u32 = std::env::args().nth(2).unwrap().parse().unwrap();
    let mut repeat = |once: &mut dyn FnMut(&mut Vec<u8>)| {
        for _ in 0..count {
            once(&mut text);
        }
    };
    match std::env::args().nth(1).as_deref() {
        Some("aes") => {
            let key = aes::Aes256::new(&[0; 32].into());
            let mut blocks = [aes::Block::default(); 1024];
            repeat(&mut |text| {
                key.encrypt_blocks(&mut blocks);
                text[..16].copy_from_slice(&blocks[1]);
            });
        }
        Some("aes-soft") => {
            let key = aes_soft::Aes256::new(&[0; 32].into());
            repeat(&mut |text| {
                let mut blocks = Default::default();
                key.encrypt_blocks(&mut blocks);
                text[0] ^= blocks[0][0];
            });
        }
        Some("chacha20poly1305") => {
            let key = chacha20poly1305::ChaCha20Poly1305::new(&[0; 32].into());
            repeat(&mut |text| {
                key.encrypt_in_place_detached(&[0; 12].into(), b"", text).unwrap();
            });
        }
        Some("x25519") => {
            let mut point = MontgomeryPoint([9; 32]);
            repeat(&mut |text| {
                point = point.mul_clamped([7; 32]);
                text[0] ^= point.0[0];
            });
        }
        Some("ed25519") => {
            let (a, b) = (Scalar::from_bytes_mod_order([7; 32]), Scalar::from_bytes_mod_order([9; 32]));
            let mut point = EdwardsPoint::mul_base(&a);
            repeat(&mut |text| {
                point = EdwardsPoint::vartime_double_scalar_mul_basepoint(&a, &point, &b);
                text[0] ^= point.compress().0[0];
            });
        }
        Some("p256") => {
            let key = p256::ecdsa::SigningKey::from_slice(&[7; 32]).unwrap();
            repeat(&mut |text| {
                let made: p256::ecdsa::Signature = key.sign(&text[..64]);
                text[..64].copy_from_slice(&made.to_bytes());
            });
        }
        Some("sha3") => repeat(&mut |text| text[0] ^= sha3::Sha3_256::digest(&*text)[0]),
        _ => repeat(&mut |text| text[0] ^= blake3::hash(text).as_bytes()[0]),
    }
    println!("{}", text.iter().fold(0u64, |sum, &one| sum * 31 % 1000003 + u64::from(one)));
}
