package mcp_test

import (
	"os"
	"testing"

	"github.com/bough-dev/bough/internal/testsize"
)

func TestMain(m *testing.M) { os.Exit(testsize.InMemory(testsize.Waiting(testsize.LazyGC(m))).Run()) }
