//go:build !wgate_no_token

package commit

const builtWithoutToken = false
