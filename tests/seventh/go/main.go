// SPDX-License-Identifier: MIT

// Repeats one operation of a module as often as it is told, and prints a part of the result.
package main

import (
	"compress/flate"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"

	"golang.org/x/crypto/bcrypt"
	"golang.org/x/crypto/scrypt"
)

func main() {
	count, err := strconv.Atoi(os.Args[2])
	check(err)
	text := make([]byte, 65536)
	switch os.Args[1] {
	case "scrypt":
		for range count {
			key, err := scrypt.Key(text[:16], text[:16], 16384, 8, 1, 32)
			check(err)
			copy(text, key)
		}
	case "bcrypt":
		hash := []byte("$2a$10$abcdefghijklmnopqrstuuHZ9Jq1E3j4PZ4jYvKPRKBjM3p0dVSu2")
		for range count {
			if bcrypt.CompareHashAndPassword(hash, []byte("word")) != nil {
				text[0]++
			}
		}
	case "p384":
		secret, err := ecdsa.ParseRawPrivateKey(elliptic.P384(), append([]byte{1}, text[:47]...))
		check(err)
		for range count {
			signature, err := secret.Sign(nil, text[:48], crypto.SHA384) // RFC 6979
			check(err)
			if !ecdsa.VerifyASN1(&secret.PublicKey, text[:48], signature) {
				os.Exit(1)
			}
			copy(text, signature[20:68])
		}
	case "flate":
		words := rand.New(rand.NewPCG(1, 2))
		for n := range text {
			text[n] = "etaoin shrdlu"[words.IntN(13)]
		}
		writer, err := flate.NewWriter(io.Discard, 6)
		check(err)
		for range count {
			_, err := writer.Write(text)
			check(err)
			text[77]++
		}
	default:
		os.Exit(2)
	}
	fmt.Printf("%x\n", text[:16])
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
