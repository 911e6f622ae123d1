// SPDX-License-Identifier: MIT
//! One crate as a peer, by the feature that is chosen.

mod peer;

#[cfg(feature = "graviola")]
mod graviola;
#[cfg(feature = "graviola")]
use crate::graviola::Graviola as Chosen;

#[cfg(feature = "hardware-rust-crypto")]
mod hardware_rust_crypto;
#[cfg(feature = "hardware-rust-crypto")]
use crate::hardware_rust_crypto::HardwareRustCrypto as Chosen;

#[cfg(feature = "ring")]
mod ring;
#[cfg(feature = "ring")]
use crate::ring::Ring as Chosen;

#[cfg(feature = "rustcrypto")]
mod rustcrypto;
#[cfg(feature = "rustcrypto")]
use rustcrypto::RustCrypto as Chosen;

#[no_mangle]
#[allow(non_upper_case_globals)] // the name in catalog/peers/peer.h
pub static evc_peer: peer::Peer = peer::Peer::of::<Chosen>();
