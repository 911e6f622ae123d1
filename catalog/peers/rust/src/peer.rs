// SPDX-License-Identifier: MIT
//! catalog/peers/peer.h in Rust, and what all crates have in common: a mode is a closure that holds its key.

use std::ffi::{c_char, c_uint, c_void, CStr};
use std::ptr::{null, null_mut};
use std::slice;

pub const TAG_BYTES: usize = 16;
/// Its signature is what rsa-private computes: catalog/peers/peer.h.
#[allow(dead_code)] // of libraries that sign
pub const SIGNED_TEXT: &[u8] = b"everycore";
/// The modes of big numbers.
const NUMBERS: [&str; 7] = [
    "mont-mul",
    "mont-sqr",
    "exp",
    "exp-public",
    "mul-add-words",
    "mod-word16",
    "mod-word16-once",
];

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

/// Computes one message; false: refused.
pub type Run = Box<dyn Fn(&Message) -> bool>;

type RunInC = unsafe extern "C" fn(context: *mut c_void, message: *const Message) -> bool;
type Loop = unsafe extern "C" fn(*mut c_void, *const Message, usize, u64) -> bool;
type Text = unsafe extern "C" fn() -> *const c_char;

#[repr(C)]
pub struct Peer {
    name: *const c_char,
    version: Text,
    headers: *const c_char,
    absent: Option<Text>,
    hardware: Option<Text>,
    open:
        unsafe extern "C" fn(*const c_char, *const u8, c_uint, *mut Option<RunInC>) -> *mut c_void,
    close: unsafe extern "C" fn(context: *mut c_void),
    own_loop: Option<Loop>,
}

// Nothing in it changes.
unsafe impl Sync for Peer {}

pub trait Library {
    const NAME: &'static CStr;
    fn version() -> &'static CStr;
    /// As `hardware` of catalog/peers/peer.h.
    fn hardware() -> Option<&'static CStr> {
        None
    }
    /// key: of XTS both halves, of big numbers three or more: catalog/peers/peer.h.
    fn open(mode: &str, key: &[u8]) -> Option<Run>;
}

impl Peer {
    pub const fn of<L: Library>() -> Peer {
        Peer {
            name: L::NAME.as_ptr(),
            version: version::<L>,
            headers: null(),
            absent: None,
            hardware: Some(hardware::<L>),
            open: open::<L>,
            close,
            own_loop: None,
        }
    }
}

unsafe extern "C" fn version<L: Library>() -> *const c_char {
    L::version().as_ptr()
}

unsafe extern "C" fn hardware<L: Library>() -> *const c_char {
    L::hardware().map_or(null_mut(), |text| text.as_ptr().cast_mut())
}

unsafe extern "C" fn run(context: *mut c_void, message: *const Message) -> bool {
    (*context.cast::<Run>())(&*message)
}

unsafe extern "C" fn open<L: Library>(
    mode: *const c_char,
    key: *const u8,
    key_bits: c_uint,
    run_in_c: *mut Option<RunInC>,
) -> *mut c_void {
    let mode = CStr::from_ptr(mode).to_str().unwrap_or_default();
    let half_keys = match mode {
        "xts-enc" | "xts-dec" => 4,
        "rsa-private" | "rsa-public" | "prime-check" => 11,
        "dh-public" => 4,
        _ if NUMBERS.contains(&mode) => 6,
        _ => 2,
    };
    let key = slice::from_raw_parts(key, half_keys * key_bits as usize / 16);
    match L::open(mode, key) {
        Some(closure) => {
            *run_in_c = Some(run);
            Box::into_raw(Box::new(closure)).cast()
        }
        None => null_mut(),
    }
}

unsafe extern "C" fn close(context: *mut c_void) {
    drop(Box::from_raw(context.cast::<Run>()));
}

/// The harness's pointers hold while the message is computed, and its pieces do not overlap.
#[allow(dead_code)] // each library uses some
#[allow(clippy::mut_from_ref)]
impl Message {
    pub fn input(&self) -> &[u8] {
        unsafe { slice::from_raw_parts(self.input, self.len_bytes) }
    }

    pub fn output(&self) -> &mut [u8] {
        unsafe { slice::from_raw_parts_mut(self.output, self.len_bytes) }
    }

    pub fn aad(&self) -> &[u8] {
        unsafe { slice::from_raw_parts(self.aad, self.aad_bytes) }
    }

    pub fn iv<const N: usize>(&self) -> [u8; N] {
        unsafe { *self.iv.cast() }
    }

    pub fn tag(&self) -> &mut [u8; TAG_BYTES] {
        unsafe { &mut *self.tag.cast() }
    }

    /// For libraries that work in place: the input, copied to the output.
    pub fn copied(&self) -> &mut [u8] {
        let output = self.output();
        output.copy_from_slice(self.input());
        output
    }
}
