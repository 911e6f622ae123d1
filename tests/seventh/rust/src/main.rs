// SPDX-License-Identifier: MIT
//! Repeats one operation of a crate as often as it is told, and prints a part of the result.

use std::env::args;

fn main() {
    let count: usize = args().nth(2).unwrap().parse().unwrap();
    let mut text = vec![0u8; 65536];
    match args().nth(1).unwrap().as_str() {
        "argon2" => {
            let mut key = [0u8; 32];
            for _ in 0..count {
                argon2::Argon2::default().hash_password_into(&key, b"salt and pepper", &mut text[..32]).unwrap();
                key.copy_from_slice(&text[..32]);
            }
        }
        "secp256k1" => {
            use secp256k1::{Message, Secp256k1, SecretKey};
            let curve = Secp256k1::new();
            let secret = SecretKey::from_slice(&[7; 32]).unwrap();
            let public = secret.public_key(&curve);
            let mut digest = [1u8; 32];
            for _ in 0..count {
                let signature = curve.sign_ecdsa(&Message::from_digest(digest), &secret);
                curve.verify_ecdsa(&Message::from_digest(digest), &signature, &public).unwrap();
                digest.copy_from_slice(&signature.serialize_compact()[..32]);
            }
            text[..32].copy_from_slice(&digest);
        }
        "keccak" => {
            use tiny_keccak::{Hasher, Keccak};
            for _ in 0..count {
                let mut hash = Keccak::v256();
                hash.update(&text);
                hash.finalize(&mut text[..32]);
            }
        }
        "aws-x25519" => {
            use aws_lc_rs::agreement::{agree, PrivateKey, UnparsedPublicKey, X25519};
            let secret = PrivateKey::from_private_key(&X25519, &[64; 32]).unwrap();
            let mut point = secret.compute_public_key().unwrap().as_ref().to_vec();
            for _ in 0..count {
                let peer = UnparsedPublicKey::new(&X25519, &point);
                point = agree(&secret, peer, (), |shared| Ok(shared.to_vec())).unwrap();
            }
            text[..32].copy_from_slice(&point);
        }
        "json" => {
            let mut lines = String::from("[");
            for n in 0..2000 {
                lines += &format!("{{\"id\": {n}, \"name\": \"person {n}\", \"weight\": {}.5, \"tags\": [\"a\", null]}},", n * 7);
            }
            lines += "0]";
            for _ in 0..count {
                let value: serde_json::Value = serde_json::from_str(&lines).unwrap();
                text[0] ^= serde_json::to_string(&value).unwrap().len() as u8;
            }
        }
        _ => std::process::exit(2),
    }
    println!("{:02x?}", &text[..16]);
}
