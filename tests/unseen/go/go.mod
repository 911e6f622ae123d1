module unseen

go 1.24

require (
	github.com/cloudflare/circl v1.6.1
	golang.org/x/crypto v0.40.0
)
