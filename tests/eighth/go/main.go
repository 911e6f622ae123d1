// SPDX-License-Identifier: MIT

// Repeats one operation of a module as often as it is told, and prints a part of the result.
package main

import (
	"crypto/md5"
	"fmt"
	"os"
	"strconv"

	"github.com/minio/sha256-simd"
	"github.com/pion/srtp/v3"
	"github.com/tjfoc/gmsm/sm4"
)

func main() {
	count, err := strconv.Atoi(os.Args[2])
	check(err)
	text := make([]byte, 65536)
	switch os.Args[1] {
	case "md5":
		for range count {
			digest := md5.Sum(text)
			copy(text, digest[:])
		}
	case "minio":
		for range count {
			digest := sha256.Sum256(text)
			copy(text, digest[:])
		}
	case "srtp":
		key := make([]byte, 30)
		call, err := srtp.CreateContext(key[:16], key[16:], srtp.ProtectionProfileAes128CmHmacSha1_80)
		check(err)
		packet := make([]byte, 1200)
		packet[0] = 0x80
		for n := range count {
			packet[2], packet[3] = byte(n>>8), byte(n)
			done, err := call.EncryptRTP(nil, packet, nil)
			check(err)
			copy(text, done[len(done)-10:])
		}
	case "sm4":
		cipher, err := sm4.NewCipher(text[:16])
		check(err)
		for range count {
			for place := 0; place < len(text); place += 16 {
				cipher.Encrypt(text[place:place+16], text[place:place+16])
			}
		}
	}
	fmt.Println(text[:8])
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
