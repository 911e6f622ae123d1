module eighth

go 1.26.0

require (
	github.com/minio/sha256-simd v1.0.1
	github.com/pion/srtp/v3 v3.1.3
	github.com/tjfoc/gmsm v1.4.1
)

require (
	github.com/klauspost/cpuid/v2 v2.2.3 // indirect
	github.com/pion/logging v0.2.4 // indirect
	github.com/pion/randutil v0.1.0 // indirect
	github.com/pion/rtcp v1.2.19 // indirect
	github.com/pion/rtp v1.10.5 // indirect
	github.com/pion/transport/v5 v5.1.1 // indirect
	golang.org/x/sys v0.41.0 // indirect
)
