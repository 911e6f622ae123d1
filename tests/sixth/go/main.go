// SPDX-License-Identifier: MIT

// Repeats one operation of a module as often as it is told, and prints a part of the result.
package main

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/md5"
	"fmt"
	"hash/crc32"
	"image"
	"image/png"
	"io"
	"math/big"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	md5simd "github.com/minio/md5-simd"
	"golang.org/x/crypto/bcrypt"
	"golang.org/x/crypto/blake2s"
)

func main() {
	count, err := strconv.Atoi(os.Args[2])
	check(err)
	text := make([]byte, 65536)
	switch os.Args[1] {
	case "md5":
		for range count {
			sum := md5.Sum(text)
			copy(text, sum[:])
		}
	case "md5-simd":
		server := md5simd.NewServer()
		var all sync.WaitGroup
		for n := range 16 {
			all.Add(1)
			go func() {
				defer all.Done()
				hasher := server.NewHash()
				defer hasher.Close()
				block := make([]byte, 1<<20)
				for range count {
					hasher.Write(block)
				}
				text[n] = hasher.Sum(nil)[0]
			}()
		}
		all.Wait()
		server.Close()
	case "x25519":
		secret, err := ecdh.X25519().NewPrivateKey(append([]byte{64}, text[:31]...))
		check(err)
		point := secret.PublicKey()
		for range count {
			shared, err := secret.ECDH(point)
			check(err)
			point, err = ecdh.X25519().NewPublicKey(shared)
			check(err)
		}
		text = point.Bytes()
	case "exp":
		base, exponent, modulus := number(0x37), number(0x6b), number(0xd5)
		for range count {
			base.Exp(base, exponent, modulus)
		}
		text = base.Bytes()
	case "blake2s":
		for range count {
			sum := blake2s.Sum256(text)
			copy(text, sum[:])
		}
	case "bcrypt":
		for range count {
			sum, err := bcrypt.GenerateFromPassword([]byte("word"), 11)
			check(err)
			text[0] ^= sum[3]
		}
	case "cbc":
		block, err := aes.NewCipher(text[:16])
		check(err)
		mode := cipher.NewCBCEncrypter(block, text[:16])
		for range count {
			mode.CryptBlocks(text, text)
		}
	case "crc32":
		for range count {
			text[0] ^= byte(crc32.ChecksumIEEE(text))
		}
	case "regexp":
		lines := strings.Repeat("the quick brown fox, 17 jumps over 1999 lazy dogs\n", 2000)
		wanted := regexp.MustCompile(`(\w+) (\d+) (lazy|busy) d[aeo]gs?`)
		for range count {
			text[0] ^= byte(len(wanted.FindAllStringSubmatch(lines, -1)))
		}
	case "sort":
		numbers := make([]int, 1<<18)
		for range count {
			for n := range numbers {
				numbers[n] = (n * 7919) % 1000003
			}
			slices.Sort(numbers)
			text[0] ^= byte(numbers[77])
		}
	case "png":
		picture := image.NewRGBA(image.Rect(0, 0, 512, 512))
		for n := range picture.Pix {
			picture.Pix[n] = byte(n * n >> 9)
		}
		for range count {
			check(png.Encode(io.Discard, picture))
			picture.Pix[77]++
		}
	default:
		os.Exit(2)
	}
	fmt.Printf("%x\n", text[:16])
}

func number(fill byte) *big.Int {
	return new(big.Int).SetBytes(slices.Repeat([]byte{fill}, 256))
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
