package wasm

import "github.com/wgate/wgate/config"

// OptionsOf returns the options that a plugin block stands for.
func OptionsOf(p *config.Plugin) Options {
	return Options{
		Name: p.Name, SHA256: p.SHA256, Guard: p.Guard, Memory: p.Memory, Time: p.Time, Output: p.Output, Config: p.Config,
	}
}
