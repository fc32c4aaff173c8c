//go:build !linux

package testsize

func memory() bool { return false }
