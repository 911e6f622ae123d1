// SPDX-License-Identifier: MIT
//! Repeats one operation of a crate as often as it is told, and prints a checksum of the result.

use aes_gcm_siv::{AeadInPlace, Aes256GcmSiv};
use bls12_381::{pairing, G1Affine, G1Projective, G2Affine, Scalar};
use crypto_bigint::modular::runtime_mod::{DynResidue, DynResidueParams};
use crypto_bigint::U2048;
use des::cipher::{generic_array::GenericArray, BlockEncrypt, BlockSizeUser, KeyInit};
use ml_kem::kem::{Decapsulate, Encapsulate};
use ml_kem::{KemCore, MlKem768};
use ring::signature::{EcdsaKeyPair, Ed25519KeyPair, ECDSA_P256_SHA256_ASN1_SIGNING};
use sha2::Digest;
use std::collections::HashMap;
use tiny_keccak::Hasher;

fn encrypt<C: BlockEncrypt + KeyInit + BlockSizeUser>(text: &mut [u8], count: usize) {
    let cipher = C::new(&GenericArray::default());
    for _ in 0..count {
        for block in text.chunks_exact_mut(C::block_size()) {
            cipher.encrypt_block(GenericArray::from_mut_slice(block));
        }
    }
}

struct Fixed(u64); // random numbers for key pairs, the same in each run

impl rand_core::RngCore for Fixed {
    fn next_u32(&mut self) -> u32 {
        self.next_u64() as u32
    }
    fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        self.0.rotate_left(29)
    }
    fn fill_bytes(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            *byte = self.next_u64() as u8;
        }
    }
    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), rand_core::Error> {
        self.fill_bytes(bytes);
        Ok(())
    }
}

impl rand_core::CryptoRng for Fixed {}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let count: usize = words[2].parse().unwrap();
    let mut text = vec![3u8; 16384];
    match words[1].as_str() {
        "aes-gcm-siv" => {
            let cipher = Aes256GcmSiv::new(&GenericArray::default());
            for _ in 0..count {
                cipher.encrypt_in_place_detached(&GenericArray::default(), b"", &mut text).unwrap();
            }
        }
        "bls12-381" => {
            let mut point = G1Projective::generator();
            for n in 0..count {
                point *= Scalar::from_raw([n as u64 ^ 0xdeadbeef, 5, 7, 9]);
                let value = pairing(&G1Affine::from(point), &G2Affine::generator());
                text[n % 64] ^= format!("{value:?}").as_bytes()[70];
            }
        }
        "crypto-bigint" => {
            let modulus = U2048::from_be_slice(&[0xd5; 256]);
            let params = DynResidueParams::new(&modulus);
            let mut number = DynResidue::new(&U2048::from_be_slice(&[0x37; 256]), params);
            for _ in 0..count {
                number = number.pow(&U2048::from_be_slice(&[0x9b; 256]));
            }
            text[0] ^= number.retrieve().as_words()[0] as u8;
        }
        "des" => encrypt::<des::TdesEde3>(&mut text, count),
        "serpent" => encrypt::<serpent::Serpent>(&mut text, count),
        "sm4" => encrypt::<sm4::Sm4>(&mut text, count),
        "ml-kem" => {
            let mut random = Fixed(7);
            let (secret, public) = MlKem768::generate(&mut random);
            for _ in 0..count {
                let (sealed, shared) = public.encapsulate(&mut random).unwrap();
                assert_eq!(secret.decapsulate(&sealed).unwrap(), shared);
                text[..32].copy_from_slice(&shared);
            }
        }
        "ring-p256" => {
            let random = ring::rand::SystemRandom::new();
            let pair = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &random).unwrap();
            let key = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, pair.as_ref(), &random).unwrap();
            for _ in 0..count {
                key.sign(&random, &text[..64]).unwrap();
            }
        }
        "ring-ed25519" => {
            let key = Ed25519KeyPair::from_seed_unchecked(&[9; 32]).unwrap();
            for _ in 0..count {
                let signature = key.sign(&text[..64]);
                text[..64].copy_from_slice(signature.as_ref());
            }
        }
        "sha512" => {
            for _ in 0..count {
                let digest = sha2::Sha512::digest(&text);
                text[..64].copy_from_slice(&digest);
            }
        }
        "tiny-keccak" => {
            for _ in 0..count {
                let mut hasher = tiny_keccak::Sha3::v256();
                hasher.update(&text);
                let mut digest = [0; 32];
                hasher.finalize(&mut digest);
                text[..32].copy_from_slice(&digest);
            }
        }
        "fxhash" => {
            let mut map: HashMap<u64, u64, fxhash::FxBuildHasher> = HashMap::default();
            for n in 0..count as u64 {
                *map.entry(n.wrapping_mul(0x9e3779b97f4a7c15) >> 44).or_default() += n;
            }
            text[0] ^= map.len() as u8;
        }
        "lz4" => {
            for (n, byte) in text.iter_mut().enumerate() {
                *byte = (n * n >> 9) as u8;
            }
            for n in 0..count {
                let packed = lz4_flex::compress_prepend_size(&text);
                text = lz4_flex::decompress_size_prepended(&packed).unwrap();
                text[n * 7919 % 16384] ^= packed[n % packed.len()];
            }
        }
        name => panic!("{name} is unknown"),
    }
    println!("{:08x}", text.iter().fold(0u32, |sum, &byte| sum.wrapping_mul(31).wrapping_add(byte.into())));
}
