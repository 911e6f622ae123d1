// SPDX-License-Identifier: MIT

// Repeats one operation of a module as often as it is told, and prints a checksum of the result.
package main

import (
	"crypto/cipher"
	"fmt"
	"hash/crc32"
	"math/big"
	"os"
	"strconv"

	bls "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/dchest/siphash"
	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"
	"github.com/emmansun/gmsm/sm3"
	"github.com/emmansun/gmsm/sm4"
	"github.com/klauspost/reedsolomon"
	"github.com/minio/sha256-simd"
	"github.com/zeebo/blake3"
)

func check(problem error) {
	if problem != nil {
		panic(problem)
	}
}

func main() {
	count, problem := strconv.Atoi(os.Args[2])
	check(problem)
	text := make([]byte, 65536)
	repeat := func(once func()) {
		for ; count > 0; count-- {
			once()
		}
	}
	switch os.Args[1] {
	case "sm3":
		repeat(func() { sum := sm3.Sum(text); copy(text, sum[:]) })
	case "sm4":
		block, problem := sm4.NewCipher(make([]byte, 16))
		check(problem)
		repeat(func() { cipher.NewCTR(block, make([]byte, 16)).XORKeyStream(text, text) })
	case "sha256":
		repeat(func() { sum := sha256.Sum256(text); copy(text, sum[:]) })
	case "blake3":
		repeat(func() { sum := blake3.Sum256(text); copy(text, sum[:]) })
	case "siphash":
		repeat(func() { text[0] += byte(siphash.Hash(1, 2, text)) })
	case "secp256k1":
		key := secp256k1.PrivKeyFromBytes(append(make([]byte, 31), 9))
		signature := ecdsa.Sign(key, text[:32])
		repeat(func() {
			if !signature.Verify(text[:32], key.PubKey()) {
				panic("wrong signature")
			}
		})
	case "bls12-381":
		_, _, point, _ := bls.Generators()
		scalar, _ := new(big.Int).SetString("73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000000", 16)
		repeat(func() { point.ScalarMultiplication(&point, scalar) })
		copy(text, point.String())
	case "reedsolomon":
		coder, problem := reedsolomon.New(10, 4, reedsolomon.WithMaxGoroutines(1))
		check(problem)
		shards := make([][]byte, 14)
		for n := range shards {
			shards[n] = make([]byte, 65536)
			shards[n][0] = byte(n)
		}
		repeat(func() { check(coder.Encode(shards)); shards[0][1]++ })
		text = shards[13]
	}
	fmt.Printf("%08x\n", crc32.ChecksumIEEE(text))
}
