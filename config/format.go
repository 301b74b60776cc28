package config

import "github.com/hashicorp/hcl/v2/hclwrite"

// Format returns src with blanks and indentation as they should be; the text stays the same otherwise. A file that Load
// would refuse for its size or nesting is returned as it is.
func Format(src []byte) []byte {
	if prescan("", src) != nil {
		return src
	}
	return hclwrite.Format(src)
}
