// SPDX-License-Identifier: MIT
//! peers/peer.h in Rust: layouts as there.

use std::ffi::{c_char, c_uint, c_void};
use std::slice;

#[repr(C)]
pub struct Message {
    pub input: *const u8,
    pub output: *mut u8,
    pub iv: *const u8,
    pub aad: *const u8,
    pub tag: *mut u8,
    pub len_bytes: usize,
    pub aad_bytes: usize,
}

pub type Run = unsafe extern "C" fn(context: *mut c_void, message: *const Message) -> bool;
pub type Text = unsafe extern "C" fn() -> *const c_char;
pub type Open = unsafe extern "C" fn(
    mode: *const c_char,
    key: *const u8,
    key_bits: c_uint,
    run: *mut Option<Run>,
) -> *mut c_void;

#[repr(C)]
pub struct Peer {
    pub name: *const c_char,
    pub version: Text,
    pub absent: Option<Text>,
    pub hardware: Option<Text>,
    pub open: Open,
    pub close: unsafe extern "C" fn(context: *mut c_void),
}

// Nothing in it changes.
unsafe impl Sync for Peer {}

#[allow(dead_code)] // each peer uses some
impl Message {
    /// # Safety
    /// As all below: the message is the harness's, whose pointers hold while it is computed.
    pub unsafe fn input(&self) -> &[u8] {
        slice::from_raw_parts(self.input, self.len_bytes)
    }

    pub unsafe fn output(&self) -> &mut [u8] {
        slice::from_raw_parts_mut(self.output, self.len_bytes)
    }

    pub unsafe fn aad(&self) -> &[u8] {
        slice::from_raw_parts(self.aad, self.aad_bytes)
    }

    pub unsafe fn iv<const N: usize>(&self) -> &[u8; N] {
        &*self.iv.cast()
    }

    pub unsafe fn tag(&self) -> &mut [u8; 16] {
        &mut *self.tag.cast()
    }

    /// For crates that work in place: the input, copied to the output.
    pub unsafe fn copied(&self) -> &mut [u8] {
        let output = self.output();
        output.copy_from_slice(self.input());
        output
    }
}
