// SPDX-License-Identifier: MIT

// Go's crypto/aes and crypto/cipher as a peer: a C archive. A call from C into Go costs more than a
// short message, so the loop over messages is here. Hardware off: GODEBUG=cpu.aes=off in the environment.
package main

// #cgo CFLAGS: -I${SRCDIR}/..
// #include "peer.h"
import "C"

import (
	"crypto/aes"
	"crypto/cipher"
	"runtime"
	"runtime/cgo"
	"strings"
	"unsafe"
)

const tagBytes = 16

// Computes one message; false: refused.
type run func(m *C.struct_peer_message) bool

func bytes(p *C.uint8_t, n C.size_t) []byte {
	return unsafe.Slice((*byte)(p), int(n))
}

func cbcEncrypt(block cipher.Block) run {
	return func(m *C.struct_peer_message) bool {
		c := cipher.NewCBCEncrypter(block, bytes(m.iv, 16))
		c.CryptBlocks(bytes(m.out, m.len_bytes), bytes(m.in, m.len_bytes))
		return true
	}
}

func cbcDecrypt(block cipher.Block) run {
	return func(m *C.struct_peer_message) bool {
		c := cipher.NewCBCDecrypter(block, bytes(m.iv, 16))
		c.CryptBlocks(bytes(m.out, m.len_bytes), bytes(m.in, m.len_bytes))
		return true
	}
}

func ctr(block cipher.Block) run {
	return func(m *C.struct_peer_message) bool {
		c := cipher.NewCTR(block, bytes(m.iv, 16))
		c.XORKeyStream(bytes(m.out, m.len_bytes), bytes(m.in, m.len_bytes))
		return true
	}
}

func gcmSeal(block cipher.Block) run {
	aead, _ := cipher.NewGCM(block)
	return func(m *C.struct_peer_message) bool {
		out := bytes(m.out, m.len_bytes+tagBytes)
		aead.Seal(out[:0], bytes(m.iv, 12), bytes(m.in, m.len_bytes), bytes(m.aad, m.aad_bytes))
		return true
	}
}

func gcmOpen(block cipher.Block) run {
	aead, _ := cipher.NewGCM(block)
	return func(m *C.struct_peer_message) bool {
		out, in := bytes(m.out, m.len_bytes), bytes(m.in, m.len_bytes+tagBytes)
		_, err := aead.Open(out[:0], bytes(m.iv, 12), in, bytes(m.aad, m.aad_bytes))
		return err == nil
	}
}

var modes = map[string]func(cipher.Block) run{
	"cbc-enc": cbcEncrypt, "cbc-dec": cbcDecrypt, "ctr": ctr, "gcm-seal": gcmSeal, "gcm-open": gcmOpen,
}

// goOpen gives a handle of the mode with its key, or 0.
//
//export goOpen
func goOpen(mode *C.char, key *C.uint8_t, keyBits C.uint) C.uintptr_t {
	make, offered := modes[C.GoString(mode)]
	block, err := aes.NewCipher(bytes(key, C.size_t(keyBits/8)))
	if !offered || err != nil {
		return 0
	}
	return C.uintptr_t(cgo.NewHandle(make(block)))
}

//export goLoop
func goLoop(handle C.uintptr_t, messages *C.struct_peer_message, mask C.size_t, calls C.uint64_t) C.bool {
	run := cgo.Handle(handle).Value().(run)
	all := unsafe.Slice(messages, int(mask)+1)
	good := true
	for i := C.uint64_t(0); i < calls; i++ {
		good = run(&all[C.size_t(i)&mask]) && good
	}
	return C.bool(good)
}

//export goClose
func goClose(handle C.uintptr_t) {
	cgo.Handle(handle).Delete()
}

//export goVersion
func goVersion() *C.char {
	return C.CString(strings.TrimPrefix(runtime.Version(), "go"))
}

func main() {}
