package config

import "github.com/hashicorp/hcl/v2"

// Syntax returns what is wrong with the syntax of one file; what its blocks mean is not looked at. Whoever formats a file
// asks this first: text that is not understood is better left as it is.
func Syntax(name string, src []byte) hcl.Diagnostics {
	ld := newLoader(Options{})
	ld.parse(name, src)
	return ld.order(ld.diags)
}
