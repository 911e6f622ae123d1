// SPDX-License-Identifier: MIT

// Repeats one operation of a crate as often as it is told, and prints a checksum of the result.
use camellia::cipher::{BlockEncrypt, KeyInit};
use graviola::{aead::AesGcm, key_agreement::x25519, signing::ecdsa};
use k256::ecdsa::signature::Signer;
use orion::hazardous::{aead, kdf::argon2i};
use rsa::traits::PublicKeyParts;

fn main() {
    let mut text = vec![0u8; 16384];
    let count: u32 = std::env::args().nth(2).unwrap().parse().unwrap();
    let mut repeat = |once: &mut dyn FnMut(&mut Vec<u8>)| {
        for _ in 0..count {
            once(&mut text);
        }
    };
    match std::env::args().nth(1).as_deref() {
        Some("graviola-gcm") => {
            let key = AesGcm::new(&[0; 32]);
            repeat(&mut |text| {
                let mut tag = [0; 16];
                key.encrypt(&[0; 12], b"", text, &mut tag);
                text[0] ^= tag[0];
            });
        }
        Some("graviola-x25519") => {
            let secret = x25519::StaticPrivateKey::from_array(&[9; 32]);
            repeat(&mut |text| {
                let mut point: [u8; 32] = text[..32].try_into().unwrap();
                point[0] |= 9;
                let public = x25519::PublicKey::from_array(&point);
                text[..32].copy_from_slice(&secret.diffie_hellman(&public).unwrap().0);
            });
        }
        Some("graviola-p256") => {
            let scalar = [7u8; 32];
            let mut der = vec![0x30, 0x41, 2, 1, 0, 0x30, 0x13, 6, 7, 0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1, 6, 8];
            der.extend([0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7, 4, 0x27, 0x30, 0x25, 2, 1, 1, 4, 0x20]);
            der.extend(scalar);
            let key = ecdsa::SigningKey::<ecdsa::P256>::from_pkcs8_der(&der).unwrap();
            let mut out = [0; 64];
            repeat(&mut |_| {
                key.sign::<graviola::hashing::Sha256>(&[b"text"], &mut out).unwrap();
            });
        }
        Some("orion-aead") => {
            let key = aead::xchacha20poly1305::SecretKey::from_slice(&[7; 32]).unwrap();
            let nonce = aead::xchacha20poly1305::Nonce::from_slice(&[7; 24]).unwrap();
            let mut out = vec![0; 16384 + 16];
            repeat(&mut |text| {
                aead::xchacha20poly1305::seal(&key, &nonce, text, None, &mut out).unwrap();
                text.copy_from_slice(&out[..16384]);
            });
        }
        Some("orion-argon2i") => repeat(&mut |text| {
            let mut out = [0; 32];
            argon2i::derive_key(&text[..32], &[1; 16], 3, 65536, None, None, &mut out).unwrap();
            text[..32].copy_from_slice(&out);
        }),
        Some("k256") => {
            let key = k256::ecdsa::SigningKey::from_bytes(&[7; 32].into()).unwrap();
            repeat(&mut |text| {
                let signature: k256::ecdsa::Signature = key.sign(&text[..32]);
                text[..32].copy_from_slice(&signature.to_bytes()[..32]);
            });
        }
        Some("rsa") => {
            let key = rsa::RsaPublicKey::new_unchecked(
                rsa::BigUint::from_bytes_be(&[0xd7; 256]),
                rsa::BigUint::from_bytes_be(&[0xa3; 256]),
            );
            let mut number = rsa::BigUint::from_bytes_be(&[0x55; 256]);
            repeat(&mut |_| number = rsa::hazmat::rsa_encrypt(&key, &number).unwrap() % key.n());
            text[..4].copy_from_slice(&number.to_bytes_be()[..4]);
        }
        Some("camellia") => {
            let key = camellia::Camellia256::new(&[0; 32].into());
            let mut blocks = [camellia::cipher::Block::<camellia::Camellia256>::default(); 1024];
            repeat(&mut |text| {
                key.encrypt_blocks(&mut blocks);
                text[..16].copy_from_slice(&blocks[1]);
            });
        }
        Some("kuznyechik") => {
            let key = kuznyechik::Kuznyechik::new(&[0; 32].into());
            let mut blocks = [kuznyechik::cipher::Block::<kuznyechik::Kuznyechik>::default(); 1024];
            repeat(&mut |text| {
                key.encrypt_blocks(&mut blocks);
                text[..16].copy_from_slice(&blocks[1]);
            });
        }
        _ => repeat(&mut |text| {
            let pair = libcrux_ml_kem::mlkem768::generate_key_pair([text[0]; 64]);
            let (sealed, _) = libcrux_ml_kem::mlkem768::encapsulate(pair.public_key(), [text[1]; 32]);
            let shared = libcrux_ml_kem::mlkem768::decapsulate(pair.private_key(), &sealed);
            text[..32].copy_from_slice(&shared);
        }),
    }
    println!("{:x}", text.iter().fold(0u32, |sum, &byte| sum.wrapping_mul(31).wrapping_add(byte.into())));
}
