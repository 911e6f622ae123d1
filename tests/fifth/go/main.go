// SPDX-License-Identifier: MIT

// Repeats one operation of a module as often as it is told, and prints a checksum of the result.
package main

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/des"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha3"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math/big"
	randv2 "math/rand/v2"
	"os"
	"strconv"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	dcrecdsa "github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"
	"github.com/klauspost/compress/zstd"
	"github.com/oasisprotocol/curve25519-voi/primitives/ed25519"
	"golang.org/x/crypto/nacl/secretbox"
	"golang.org/x/crypto/twofish"
)

func main() {
	count, err := strconv.Atoi(os.Args[2])
	check(err)
	text := make([]byte, 65536)
	switch os.Args[1] {
	case "3des":
		block, err := des.NewTripleDESCipher(text[:24])
		check(err)
		mode := cipher.NewCBCEncrypter(block, text[:8])
		for range count {
			mode.CryptBlocks(text, text)
		}
	case "ctr":
		block, err := aes.NewCipher(text[:32])
		check(err)
		mode := cipher.NewCTR(block, text[:16])
		for range count {
			mode.XORKeyStream(text, text)
		}
	case "sha1":
		for range count {
			sum := sha1.Sum(text)
			copy(text, sum[:])
		}
	case "sha3":
		for range count {
			sum := sha3.Sum256(text)
			copy(text, sum[:])
		}
	case "x25519":
		text[0] = 9
		for range count {
			secret, err := ecdh.X25519().NewPrivateKey(append([]byte{7}, text[1:32]...))
			check(err)
			public, err := ecdh.X25519().NewPublicKey(text[:32])
			check(err)
			shared, err := secret.ECDH(public)
			check(err)
			copy(text, shared)
		}
	case "p384":
		one := big.NewInt(1)
		key := &ecdsa.PrivateKey{D: one}
		key.Curve = elliptic.P384()
		key.X, key.Y = key.Curve.ScalarBaseMult(one.Bytes())
		signature, err := ecdsa.SignASN1(rand.Reader, key, text[:32])
		check(err)
		for range count {
			if !ecdsa.VerifyASN1(&key.PublicKey, text[:32], signature) {
				panic("a signature does not fit")
			}
		}
	case "secp256k1":
		key := secp256k1.PrivKeyFromBytes(append([]byte{1}, text[:31]...))
		signature := dcrecdsa.Sign(key, text[:32])
		for range count {
			if !signature.Verify(text[:32], key.PubKey()) {
				panic("a signature does not fit")
			}
		}
	case "ed25519":
		key := ed25519.NewKeyFromSeed(text[:32])
		signature := ed25519.Sign(key, text[:64])
		for range count {
			if !ed25519.Verify(key.Public().(ed25519.PublicKey), text[:64], signature) {
				panic("a signature does not fit")
			}
		}
	case "twofish":
		block, err := twofish.NewCipher(text[:32])
		check(err)
		for range count {
			for at := 0; at < len(text); at += 16 {
				block.Encrypt(text[at:], text[at:])
			}
		}
	case "secretbox":
		var key [32]byte
		var nonce [24]byte
		sealed := make([]byte, 0, len(text)+secretbox.Overhead)
		for range count {
			copy(text, secretbox.Seal(sealed, text, &nonce, &key))
		}
	case "chacha8":
		source := randv2.NewChaCha8([32]byte{5})
		for range count {
			source.Read(text)
		}
	case "pcg":
		source := randv2.New(randv2.NewPCG(1, 2))
		for range count {
			text[source.IntN(len(text))] ^= byte(source.Uint32())
		}
	case "json":
		rows := make([]map[string]any, 2000)
		for n := range rows {
			rows[n] = map[string]any{"name": strconv.Itoa(n * 7919), "size": n, "share": float64(n) / 7}
		}
		for range count {
			words, err := json.Marshal(rows)
			check(err)
			check(json.Unmarshal(words, &rows))
			copy(text, words)
		}
	case "zstd":
		writer, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
		check(err)
		for n := range text {
			text[n] = byte(n * n >> 7)
		}
		for range count {
			packed := writer.EncodeAll(text, nil)
			copy(text[n(packed):], packed)
		}
	case "fibonacci":
		one, other := big.NewInt(1), big.NewInt(1)
		for range count {
			one.Add(one, other)
			one, other = other, one
		}
		copy(text, one.Text(10))
	default:
		panic(os.Args[1] + " is unknown")
	}
	fmt.Printf("%08x\n", crc32.ChecksumIEEE(text))
}

func n(packed []byte) int { return len(packed) % 4096 }

func check(err error) {
	if err != nil {
		panic(err)
	}
}
