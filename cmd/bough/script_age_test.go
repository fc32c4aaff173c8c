package main

import (
	"fmt"
	"io"
	"os"

	encryption "filippo.io/age"
	"github.com/klauspost/compress/zstd"
)

// ageMain is 'age -d -i KEY FILE', made of the library of age alone.
func ageMain() {
	if err := decrypt(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "age:", err)
		os.Exit(1)
	}
}

func decrypt(args []string) error {
	if len(args) != 4 || args[0] != "-d" || args[1] != "-i" {
		return fmt.Errorf("unexpected arguments %q", args)
	}
	key, err := os.Open(args[2])
	if err != nil {
		return err
	}
	defer key.Close()
	identities, err := encryption.ParseIdentities(key)
	if err != nil {
		return err
	}
	object, err := os.Open(args[3])
	if err != nil {
		return err
	}
	defer object.Close()
	plain, err := encryption.Decrypt(object, identities...)
	if err != nil {
		return err
	}
	_, err = io.Copy(os.Stdout, plain)
	return err
}

// zstdMain is 'zstd -d', from standard input to standard output.
func zstdMain() {
	r, err := zstd.NewReader(os.Stdin)
	if err == nil {
		_, err = io.Copy(os.Stdout, r)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "zstd:", err)
		os.Exit(1)
	}
}
