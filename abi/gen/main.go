package main

import (
	"fmt"
	"os"
)

func main() {
	if err := run("."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run writes all outputs below dir, the folder abi.
func run(dir string) error {
	outs, err := renderAll(dir)
	if err != nil {
		return err
	}
	for _, o := range outs {
		if err := os.WriteFile(o.path, o.text, 0o644); err != nil {
			return fmt.Errorf("abi: %w", err)
		}
	}
	return nil
}
