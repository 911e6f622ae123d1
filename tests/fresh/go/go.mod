module fresh

go 1.24

require (
	github.com/consensys/gnark-crypto v0.18.0
	github.com/dchest/siphash v1.2.3
	github.com/decred/dcrd/dcrec/secp256k1/v4 v4.4.0
	github.com/emmansun/gmsm v0.30.0
	github.com/klauspost/reedsolomon v1.12.4
	github.com/minio/sha256-simd v1.0.1
	github.com/zeebo/blake3 v0.2.4
)
