// SPDX-License-Identifier: MIT

// Repeats one operation of Go's library for a second.
package main

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"fmt"
	"os"
	"time"
)

func main() {
	text := make([]byte, 16384)
	var once func()
	switch os.Args[1] {
	case "gcm":
		block, _ := aes.NewCipher(make([]byte, 32))
		gcm, _ := cipher.NewGCM(block)
		nonce, out := make([]byte, 12), make([]byte, 0, 17000)
		once = func() { out = gcm.Seal(out[:0], nonce, text, nil) }
	case "sha":
		once = func() { sum := sha256.Sum256(text); text[0] = sum[0] }
	case "rsa":
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			panic(err)
		}
		once = func() { rsa.SignPKCS1v15(nil, key, 0, text[:32]) }
	}
	count := 0
	for end := time.Now().Add(1500 * time.Millisecond); time.Now().Before(end); count++ {
		once()
	}
	fmt.Println(count)
}
