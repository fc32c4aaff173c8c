package pack_test

import (
	"bytes"
	"io"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/pack"
	"github.com/bough-dev/bough/internal/testchat"
)

// BenchmarkPack measures packs of a chat of 10,000 messages. Each benchmark reports its time
// divided by that of a copy of the messages (read, write, fsync), x-raw, as medians of one
// run in which both alternate. first and next have the same fsync. The size of a pack
// divided by that of the messages is x-size.
func BenchmarkPack(b *testing.B) {
	var items [][]byte
	for _, m := range testchat.All((testchat.Chat{Messages: 10_000, PerFile: 834, Text: 1530}).Files()) {
		items = append(items, append([]byte(",\n    "), m.Raw...))
	}
	plain := bytes.Join(items, nil)
	s := &bench{b.TempDir(), plain}
	s.write(b, "plain", plain)
	whole := write(b, nil, false, items...)

	for _, raw := range []bool{true, false} {
		name := map[bool]string{true: "first raw", false: "first"}[raw]
		b.Run(name, func(b *testing.B) {
			s.measure(b, func() {
				s.read(b, "plain")
				s.append(b, "first", 0, 0, raw, items)
			}, func() { s.size(b, "first") })
		})
	}
	base := write(b, nil, false, items[:9980]...)
	b.Run("next 20", func(b *testing.B) {
		s.write(b, "next", base)
		s.measure(b, func() {
			p := s.open(b, "next")
			offset, first := p.End(), p.Len()
			p.Close()
			s.append(b, "next", offset, first, false, items[9980:])
		}, func() {
			if err := os.Truncate(s.path("next"), int64(len(base))); err != nil {
				b.Fatal(err)
			}
		})
	})
	var many bytes.Buffer
	w := pack.NewWriter(&many, 0, 0, false)
	for i, item := range items {
		if err := w.Add(item); err != nil {
			b.Fatal(err)
		}
		if i%10 == 9 {
			if err := w.Flush(); err != nil {
				b.Fatal(err)
			}
		}
	}
	for name, data := range map[string][]byte{"20 frames": whole, "1000 frames": many.Bytes()} {
		s.write(b, name, data)
		b.Run("open "+name, func(b *testing.B) {
			s.measure(b, func() { s.open(b, name).Close() }, nil)
		})
		p := s.open(b, name)
		b.Run("read "+name, func(b *testing.B) {
			s.measure(b, func() {
				if err := p.Read(0, p.Len(), func(int, []byte) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}, nil)
		})
		b.Run("sum "+name, func(b *testing.B) {
			s.measure(b, func() {
				if _, err := p.Sum(5, 9995); err != nil {
					b.Fatal(err)
				}
			}, nil)
		})
		b.Run("verify "+name, func(b *testing.B) {
			s.measure(b, func() {
				if bad := p.Verify(); len(bad) > 0 {
					b.Fatal(bad)
				}
			}, nil)
		})
		b.Run("rewrite "+name, func(b *testing.B) {
			var out bytes.Buffer
			s.measure(b, func() {
				out.Reset()
				if err := p.Rewrite(&out, nil, nil); err != nil {
					b.Fatal(err)
				}
			}, nil)
			b.ReportMetric(float64(out.Len())/float64(len(plain)), "x-size")
		})
		p.Close()
	}
}

type bench struct {
	dir   string
	plain []byte
}

func (s *bench) path(name string) string { return s.dir + "/" + name }

func (s *bench) write(b *testing.B, name string, data []byte) {
	if err := os.WriteFile(s.path(name), data, 0o600); err != nil {
		b.Fatal(err)
	}
}

var readBuffer = make([]byte, 1<<20)

// read reads a file through one buffer.
func (s *bench) read(b *testing.B, name string) {
	f, err := os.Open(s.path(name))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	if _, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{f}, readBuffer); err != nil {
		b.Fatal(err)
	}
}

func (s *bench) open(b *testing.B, name string) *pack.Pack {
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		b.Fatal(err)
	}
	defer root.Close()
	p, err := pack.Open(root, name)
	if err != nil {
		b.Fatal(err)
	}
	return p
}

// durably writes to a file from an offset, and fsyncs it.
func (s *bench) durably(b *testing.B, name string, offset int64, write func(*os.File)) {
	f, err := os.OpenFile(s.path(name), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(offset); err != nil {
		b.Fatal(err)
	}
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		b.Fatal(err)
	}
	write(f)
	if err := f.Sync(); err != nil {
		b.Fatal(err)
	}
}

func (s *bench) append(b *testing.B, name string, offset int64, first int, raw bool, items [][]byte) {
	s.durably(b, name, offset, func(f *os.File) {
		w := pack.NewWriter(f, offset, first, raw)
		for _, item := range items {
			if err := w.Add(item); err != nil {
				b.Fatal(err)
			}
		}
		if err := w.Flush(); err != nil {
			b.Fatal(err)
		}
	})
}

// size reports the size of a pack and removes it.
func (s *bench) size(b *testing.B, name string) {
	info, err := os.Stat(s.path(name))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(info.Size())/float64(len(s.plain)), "x-size")
	if err := os.Remove(s.path(name)); err != nil {
		b.Fatal(err)
	}
}

// measure measures run against a copy, and calls after after each.
func (s *bench) measure(b *testing.B, run, after func()) {
	var raw, ours []time.Duration
	for b.Loop() {
		begin := time.Now()
		s.durably(b, "copy", 0, func(f *os.File) {
			in, err := os.Open(s.path("plain"))
			if err != nil {
				b.Fatal(err)
			}
			defer in.Close()
			if _, err := io.CopyBuffer(struct{ io.Writer }{f}, struct{ io.Reader }{in}, readBuffer); err != nil {
				b.Fatal(err)
			}
		})
		raw = append(raw, time.Since(begin))
		if err := os.Remove(s.path("copy")); err != nil {
			b.Fatal(err)
		}
		begin = time.Now()
		run()
		ours = append(ours, time.Since(begin))
		if after != nil {
			after()
		}
	}
	slices.Sort(raw)
	slices.Sort(ours)
	b.ReportMetric(float64(ours[len(ours)/2])/float64(raw[len(raw)/2]), "x-raw")
}
