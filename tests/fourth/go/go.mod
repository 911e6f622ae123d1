module fourth

go 1.24

require (
	github.com/cloudflare/circl v1.6.1
	golang.org/x/crypto v0.40.0
	lukechampine.com/blake3 v1.4.1
)

require (
	github.com/klauspost/cpuid/v2 v2.0.9 // indirect
	golang.org/x/sys v0.34.0 // indirect
)
