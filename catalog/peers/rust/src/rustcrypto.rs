// SPDX-License-Identifier: MIT
//! RustCrypto: aes and the crates of its modes; XTS works in place, and each message is copied first,
//! in the figure. Its portable code is another build: the configurations of aes and polyval.

use crate::peer::{Library, Message, Run};
use aes::cipher::consts::{U12, U16};
use aes::cipher::{Array, BlockCipherDecrypt, BlockCipherEncrypt, BlockSizeUser, KeyInit};
use aes::cipher::{BlockModeDecrypt, BlockModeEncrypt, InnerIvInit, StreamCipher};
use aes::{Aes128, Aes192, Aes256};
use aes_gcm::aead::{inout::InOutBuf, AeadCore, AeadInOut};
use cmac::{Cmac, Mac};
use std::ffi::CStr;

const PORTABLE: bool = cfg!(aes_backend = "soft");

pub struct RustCrypto;

impl Library for RustCrypto {
    const NAME: &'static CStr = if PORTABLE {
        c"rustcrypto-soft"
    } else {
        c"rustcrypto"
    };

    /// Of aes: the crate does not tell; Cargo.toml pins it.
    fn version() -> &'static CStr {
        c"0.9.4"
    }

    fn hardware() -> Option<&'static CStr> {
        PORTABLE.then_some(c"c")
    }

    fn open(mode: &str, key: &[u8]) -> Option<Run> {
        let both = if mode.starts_with("xts") { 2 } else { 1 };
        match key.len() / both {
            16 => by_size::<Aes128, Cmac<Aes128>>(mode, key),
            24 => by_size::<Aes192, Cmac<Aes192>>(mode, key),
            _ => by_size::<Aes256, Cmac<Aes256>>(mode, key),
        }
    }
}

trait Aes:
    KeyInit + BlockSizeUser<BlockSize = U16> + BlockCipherEncrypt + BlockCipherDecrypt + 'static
{
}
impl Aes for Aes128 {}
impl Aes for Aes192 {}
impl Aes for Aes256 {}

fn by_size<A, M>(mode: &str, key: &[u8]) -> Option<Run>
where
    A: Aes,
    M: Mac + KeyInit + Clone + 'static,
{
    match mode {
        "cbc-enc" | "cbc-dec" | "ctr" => one_key::<A>(mode, key),
        "xts-enc" | "xts-dec" => xts::<A>(mode == "xts-enc", key),
        "cmac" => mac::<M>(key),
        "ccm-seal" | "ccm-open" => aead::<ccm::Ccm<A, U16, U12>>(mode == "ccm-seal", key),
        "gcm-seal" | "gcm-open" => aead::<aes_gcm::AesGcm<A, U12>>(mode == "gcm-seal", key),
        _ => None,
    }
}

fn one_key<A: Aes>(mode: &str, key: &[u8]) -> Option<Run> {
    let aes = A::new_from_slice(key).ok()?;
    Some(match mode {
        "cbc-enc" => Box::new(move |m: &Message| {
            let mut chain = cbc::Encryptor::<&A>::inner_iv_init(&aes, &Array(m.iv()));
            let (input, output) = blocks(m);
            chain.encrypt_blocks_b2b(input, output).is_ok()
        }),
        "cbc-dec" => Box::new(move |m: &Message| {
            let mut chain = cbc::Decryptor::<&A>::inner_iv_init(&aes, &Array(m.iv()));
            let (input, output) = blocks(m);
            chain.decrypt_blocks_b2b(input, output).is_ok()
        }),
        _ => Box::new(move |m: &Message| {
            use ctr::cipher::StreamCipherCoreWrapper;
            let core =
                ctr::CtrCore::<&A, ctr::flavors::Ctr128BE>::inner_iv_init(&aes, &Array(m.iv()));
            let mut stream = StreamCipherCoreWrapper::from_core(core);
            stream.apply_keystream_b2b(m.input(), m.output());
            true
        }),
    })
}

type Blocks = [Array<u8, U16>];

fn blocks(m: &Message) -> (&Blocks, &mut Blocks) {
    (
        Array::slice_as_chunks(m.input()).0,
        Array::slice_as_chunks_mut(m.output()).0,
    )
}

fn xts<A: Aes>(encrypts: bool, key: &[u8]) -> Option<Run> {
    let (data, tweak) = key.split_at(key.len() / 2);
    let xts = xts_mode::Xts128::new(
        A::new_from_slice(data).ok()?,
        A::new_from_slice(tweak).ok()?,
    );
    Some(if encrypts {
        Box::new(move |m: &Message| {
            xts.encrypt_sector(m.copied(), Array(m.iv()));
            true
        })
    } else {
        Box::new(move |m: &Message| {
            xts.decrypt_sector(m.copied(), Array(m.iv()));
            true
        })
    })
}

fn mac<M: Mac + KeyInit + Clone + 'static>(key: &[u8]) -> Option<Run> {
    let keyed = <M as KeyInit>::new_from_slice(key).ok()?;
    Some(Box::new(move |m: &Message| {
        let mut mac = keyed.clone();
        mac.update(m.input());
        m.tag().copy_from_slice(&mac.finalize().into_bytes());
        true
    }))
}

fn aead<C>(seals: bool, key: &[u8]) -> Option<Run>
where
    C: KeyInit + AeadInOut + AeadCore<NonceSize = U12, TagSize = U16> + 'static,
{
    let aead = C::new_from_slice(key).ok()?;
    Some(if seals {
        Box::new(move |m: &Message| {
            let text = InOutBuf::new(m.input(), m.output());
            let sealed = text.map(|t| aead.encrypt_inout_detached(&Array(m.iv()), m.aad(), t));
            match sealed {
                Ok(Ok(tag)) => m.tag().copy_from_slice(&tag),
                _ => return false,
            }
            true
        })
    } else {
        Box::new(move |m: &Message| {
            let (nonce, tag) = (Array(m.iv()), Array(*m.tag()));
            InOutBuf::new(m.input(), m.output()).is_ok_and(|t| {
                aead.decrypt_inout_detached(&nonce, m.aad(), t, &tag)
                    .is_ok()
            })
        })
    })
}
