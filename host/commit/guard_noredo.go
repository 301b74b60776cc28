//go:build wgate_no_redo

package commit

const builtWithoutRedo = true
