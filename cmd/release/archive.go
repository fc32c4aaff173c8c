package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"time"
)

// pack returns the archive of a target and, for Linux, its packages.
func (b *build) pack(t target, program []byte) ([]file, error) {
	all := append([]file{{t.program(), program, 0o755}}, b.files...)
	dir := b.archive(t)
	if t.system == "windows" {
		data, err := zipped(dir, all, b.time)
		return []file{{name: dir + ".zip", data: data}}, err
	}
	data, err := tarred(dir, all, b.time)
	if err != nil || t.system != "linux" {
		return []file{{name: dir + ".tar.gz", data: data}}, err
	}
	packages, err := b.packages(t, program)
	return append([]file{{name: dir + ".tar.gz", data: data}}, packages...), err
}

// archive returns the name of the folder in the archive of a target; an extension makes it the
// name of the archive.
func (b *build) archive(t target) string { return "bough_" + b.version + "_" + t.String() }

// tarred returns a compressed tar archive of files below a folder.
func tarred(dir string, files []file, when time.Time) ([]byte, error) {
	var b bytes.Buffer
	zw, err := gzip.NewWriterLevel(&b, gzip.DefaultCompression) // its header has no name and no time
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(zw)
	for _, f := range files {
		h := &tar.Header{Name: dir + "/" + f.name, Mode: int64(f.mode), Size: int64(len(f.data)), ModTime: when, Format: tar.FormatPAX}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	err = zw.Close()
	return b.Bytes(), err
}

// zipped is tarred for a zip archive.
func zipped(dir string, files []file, when time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: dir + "/" + f.name, Method: zip.Deflate, Modified: when}
		h.SetMode(f.mode)
		to, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := to.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

// gzipped returns compressed data, without a name and a time.
func gzipped(data []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	err = w.Close()
	return b.Bytes(), err
}
