// SPDX-License-Identifier: MIT
//! Repeats one operation of a crate as often as it is told, and prints a part of the result.

use aws_lc_rs::aead::{Aad, LessSafeKey, Nonce, UnboundKey, AES_256_GCM};
use aws_lc_rs::digest;
use blake2::{Blake2s256, Digest};
use fips203::ml_kem_768;
use fips203::traits::{Decaps, Encaps, KeyGen};
use md5::Md5;
use num_bigint::BigUint;
use regex::Regex;
use rustfft::{num_complex::Complex, FftPlanner};
use sha1::Sha1;

fn hash<D: Digest>(text: &mut [u8], count: usize) {
    for _ in 0..count {
        let sum = D::digest(&*text);
        text[..sum.len()].copy_from_slice(&sum);
    }
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let count: usize = words[2].parse().unwrap();
    let mut text = vec![3u8; 16384];
    match words[1].as_str() {
        "aws-gcm" => {
            let key = LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &[7; 32]).unwrap());
            for _ in 0..count {
                let nonce = Nonce::assume_unique_for_key([5; 12]);
                let _tag = key.seal_in_place_separate_tag(nonce, Aad::empty(), &mut text).unwrap();
            }
        }
        "aws-sha3" => {
            for _ in 0..count {
                let sum = digest::digest(&digest::SHA3_256, &text);
                text[..32].copy_from_slice(sum.as_ref());
            }
        }
        "blake2s" => hash::<Blake2s256>(&mut text, count),
        "md5" => hash::<Md5>(&mut text, count),
        "sha1" => hash::<Sha1>(&mut text, count),
        "blake2b-simd" => {
            for _ in 0..count {
                let sum = blake2b_simd::blake2b(&text);
                text[..64].copy_from_slice(sum.as_bytes());
            }
        }
        "ed25519" => {
            let pair = ed25519_compact::KeyPair::from_seed(ed25519_compact::Seed::new([9; 32]));
            for _ in 0..count {
                let signature = pair.sk.sign(&text[..32], None);
                pair.pk.verify(&text[..32], &signature).unwrap();
                text[..64].copy_from_slice(signature.as_ref());
            }
        }
        "fips203" => {
            for _ in 0..count {
                let (public, secret) = ml_kem_768::KG::try_keygen().unwrap();
                let (shared, cipher) = public.try_encaps().unwrap();
                assert!(secret.try_decaps(&cipher).unwrap() == shared);
            }
        }
        "num-bigint" => {
            let modulus = BigUint::from_bytes_be(&[0xd5; 256]);
            let exponent = BigUint::from_bytes_be(&[0x6b; 256]);
            let mut number = BigUint::from_bytes_be(&[0x37; 256]);
            for _ in 0..count {
                number = number.modpow(&exponent, &modulus);
            }
            text = number.to_bytes_be();
        }
        "regex" => {
            let lines: String = (0..20000).map(|n| format!("{} a line, of text {}\n", n * 7919 % 1000003, n)).collect();
            let wanted = Regex::new(r"(\d+)9 a (line|word), of (\w+) 1?(\d{2,4})7").unwrap();
            for n in 0..count {
                text[n % 64] ^= wanted.captures_iter(&lines).map(|one| one[4].len()).sum::<usize>() as u8;
            }
        }
        "fft" => {
            let transform = FftPlanner::<f64>::new().plan_fft_forward(1 << 16);
            let mut numbers: Vec<_> = (0..1 << 16).map(|n| Complex::new((n % 17) as f64, 0.5)).collect();
            for _ in 0..count {
                transform.process(&mut numbers);
                numbers.iter_mut().for_each(|one| *one /= 256.0);
            }
            text[0] = (numbers[5].re as i64) as u8;
        }
        _ => std::process::exit(2),
    }
    println!("{:02x?}", &text[..8]);
}
