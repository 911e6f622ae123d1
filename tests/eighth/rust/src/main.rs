// SPDX-License-Identifier: MIT
//! Repeats one operation of a crate as often as it is told, and prints a part of the result.

use std::env::args;

fn main() {
    let count: usize = args().nth(2).unwrap().parse().unwrap();
    let mut text = vec![0u8; 65536];
    match args().nth(1).unwrap().as_str() {
        "blst" => {
            use blst::min_pk::SecretKey;
            let secret = SecretKey::key_gen(&[7; 32], &[]).unwrap();
            let public = secret.sk_to_pk();
            for _ in 0..count {
                let signature = secret.sign(&text[..32], b"domain", &[]);
                let error = signature.verify(true, &text[..32], b"domain", &[], &public, true);
                assert_eq!(error, blst::BLST_ERROR::BLST_SUCCESS);
                text[..96].copy_from_slice(&signature.compress());
            }
        }
        "md5" => {
            for _ in 0..count {
                let digest = md5::compute(&text);
                text[..16].copy_from_slice(&digest.0);
            }
        }
        "scrypt" => {
            let params = scrypt::Params::new(14, 8, 1, 32).unwrap();
            for _ in 0..count {
                let mut key = [0u8; 32];
                scrypt::scrypt(&text[..16], b"salt", &params, &mut key).unwrap();
                text[..32].copy_from_slice(&key);
            }
        }
        "sha1-checked" => {
            for _ in 0..count {
                let digest = sha1_checked::Sha1::try_digest(&text);
                text[..20].copy_from_slice(digest.hash());
            }
        }
        "ahash" => {
            let mut table = ahash::AHashMap::with_hasher(ahash::RandomState::with_seeds(1, 2, 3, 4));
            for n in 0..count {
                *table.entry(format!("word {}", n * 7919 % 50021)).or_insert(0usize) += n;
            }
            text[..8].copy_from_slice(&table["word 7919"].to_le_bytes());
        }
        _ => panic!("no such operation"),
    }
    println!("{:?}", &text[..8]);
}
