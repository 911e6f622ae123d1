// SPDX-License-Identifier: MIT
//! Repeats one operation of a crate as often as it is told, and prints a checksum of the result.

use aegis::aegis128l::Aegis128L;
use aria::cipher::{generic_array::GenericArray, BlockEncrypt, KeyInit};
use ascon_hash::{AsconHash, Digest};
use fips204::ml_dsa_65;
use fips204::traits::{KeyGen, Signer};
use groestl::Groestl256;
use p384::ecdsa::{signature::Signer as _, Signature, SigningKey};
use rand_chacha::rand_core::{RngCore, SeedableRng};
use streebog::Streebog256;

fn hash<D: Digest>(text: &mut [u8], count: usize) {
    for _ in 0..count {
        let digest = D::digest(&*text);
        text[..digest.len()].copy_from_slice(&digest);
    }
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let count: usize = words[2].parse().unwrap();
    let mut text = vec![3u8; 16384];
    match words[1].as_str() {
        "aegis" => {
            for _ in 0..count {
                let sealed = Aegis128L::<16>::new(&[1; 16], &[2; 16]).encrypt(&text, b"");
                text.copy_from_slice(&sealed.0);
            }
        }
        "aria" => {
            let cipher = aria::Aria256::new(GenericArray::from_slice(&[1; 32]));
            for _ in 0..count {
                for block in text.chunks_exact_mut(16) {
                    cipher.encrypt_block(GenericArray::from_mut_slice(block));
                }
            }
        }
        "ascon" => hash::<AsconHash>(&mut text, count),
        "groestl" => hash::<Groestl256>(&mut text, count),
        "streebog" => hash::<Streebog256>(&mut text, count),
        "mldsa" => {
            let secret = ml_dsa_65::KG::keygen_from_seed(&[5; 32]).1;
            for _ in 0..count {
                let signature = secret.try_sign_with_seed(&[6; 32], &text[..64], b"").unwrap();
                text[..64].copy_from_slice(&signature[..64]);
            }
        }
        "p384" => {
            let key = SigningKey::from_slice(&[7; 48]).unwrap();
            for _ in 0..count {
                let signature: Signature = key.sign(&text[..64]);
                text[..64].copy_from_slice(&signature.to_bytes()[..64]);
            }
        }
        "chacha" => {
            let mut source = rand_chacha::ChaCha20Rng::from_seed([8; 32]);
            for _ in 0..count {
                source.fill_bytes(&mut text);
            }
        }
        name => panic!("{name} is unknown"),
    }
    println!("{:08x}", text.iter().fold(0u32, |sum, &byte| sum.wrapping_mul(31).wrapping_add(byte.into())));
}
