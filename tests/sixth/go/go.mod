module sixth

go 1.26.0

require (
	github.com/minio/md5-simd v1.1.2
	golang.org/x/crypto v0.59.0
)
