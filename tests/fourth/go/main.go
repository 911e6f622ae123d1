// SPDX-License-Identifier: MIT

// Repeats one operation of a module as often as it is told, and prints a checksum of the result.
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/mlkem"
	"crypto/rand"
	"fmt"
	"hash/crc32"
	"math/big"
	"os"
	"strconv"

	"github.com/cloudflare/circl/dh/x448"
	"github.com/cloudflare/circl/sign/mldsa/mldsa65"
	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/cast5"
	"lukechampine.com/blake3"
)

func main() {
	count, err := strconv.Atoi(os.Args[2])
	check(err)
	text := make([]byte, 65536)
	switch os.Args[1] {
	case "p256":
		one := big.NewInt(1)
		key := &ecdsa.PrivateKey{D: one}
		key.Curve = elliptic.P256()
		key.X, key.Y = key.Curve.ScalarBaseMult(one.Bytes())
		signature, err := ecdsa.SignASN1(rand.Reader, key, text[:32])
		check(err)
		for range count {
			if !ecdsa.VerifyASN1(&key.PublicKey, text[:32], signature) {
				panic("a signature does not fit")
			}
		}
	case "mlkem":
		secret, err := mlkem.NewDecapsulationKey768(text[:mlkem.SeedSize])
		check(err)
		_, sealed := secret.EncapsulationKey().Encapsulate()
		for range count {
			_, err := secret.Decapsulate(sealed)
			check(err)
		}
	case "blake3":
		for range count {
			sum := blake3.Sum256(text)
			copy(text, sum[:])
		}
	case "argon2":
		for range count {
			copy(text, argon2.IDKey(text[:16], text[:16], 3, 65536, 1, 32))
		}
	case "cast5":
		cipher, err := cast5.NewCipher(text[:16])
		check(err)
		for range count {
			for at := 0; at < len(text); at += 8 {
				cipher.Encrypt(text[at:], text[at:])
			}
		}
	case "x448":
		var secret, public, shared x448.Key
		secret[3] = 7
		x448.KeyGen(&public, &secret)
		for range count {
			x448.Shared(&shared, &secret, &public)
			public = shared
		}
		copy(text, public[:])
	case "mldsa":
		var seed [mldsa65.SeedSize]byte
		_, secret := mldsa65.NewKeyFromSeed(&seed)
		signature := make([]byte, mldsa65.SignatureSize)
		for range count {
			check(mldsa65.SignTo(secret, text[:64], nil, false, signature))
			copy(text, signature[:64])
		}
	default:
		panic(os.Args[1] + " is unknown")
	}
	fmt.Printf("%08x\n", crc32.ChecksumIEEE(text))
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
