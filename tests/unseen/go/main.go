// SPDX-License-Identifier: MIT

// Repeats one operation of a Go module as often as it is told, and prints a checksum of the result.
package main

import (
	"crypto/ed25519"
	"crypto/sha512"
	"fmt"
	"hash/crc32"
	"os"
	"strconv"

	"github.com/cloudflare/circl/dh/x25519"
	"github.com/cloudflare/circl/kem/mlkem/mlkem768"
	"golang.org/x/crypto/blake2b"
	"golang.org/x/crypto/chacha20poly1305"
)

func main() {
	text := make([]byte, 16384, 17000)
	var once func()
	switch os.Args[1] {
	case "chacha20poly1305":
		aead, _ := chacha20poly1305.New(make([]byte, 32))
		nonce := make([]byte, 12)
		once = func() { aead.Seal(text[:0], nonce, text, nil) }
	case "blake2b":
		once = func() { sum := blake2b.Sum512(text); copy(text, sum[:]) }
	case "sha512":
		once = func() { sum := sha512.Sum512(text); copy(text, sum[:]) }
	case "ed25519":
		key := ed25519.NewKeyFromSeed(make([]byte, 32))
		once = func() { copy(text, ed25519.Sign(key, text[:64])) }
	case "x25519":
		var secret, public, shared x25519.Key
		secret[0], public[0] = 8, 9
		once = func() { x25519.Shared(&shared, &secret, &public); public = shared; copy(text, shared[:]) }
	case "mlkem":
		scheme := mlkem768.Scheme()
		public, secret := scheme.DeriveKeyPair(make([]byte, scheme.SeedSize()))
		once = func() {
			sealed, shared, _ := scheme.EncapsulateDeterministically(public, text[:scheme.EncapsulationSeedSize()])
			again, _ := scheme.Decapsulate(secret, sealed)
			copy(text, shared)
			copy(text[32:], again)
		}
	}
	count, _ := strconv.Atoi(os.Args[2])
	for ; count > 0; count-- {
		once()
	}
	fmt.Println(crc32.ChecksumIEEE(text))
}
