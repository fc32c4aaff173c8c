// Package records stores the records of an imported message in metadata.bough.source of the
// message. A string that occurs in the message or in an earlier record is stored once, and
// replaced by a reference. docs/format.md, clause 23.4, defines the encoding.
package records

import (
	"encoding/json"
	"slices"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

// OwnSource is the member of metadata.bough of an imported message with its
// source.
const OwnSource = "source"

// The members of metadata.bough.source with the records of a message. A string
// that occurs in the content, or in an earlier record, is replaced by "" in the
// records; texts has a reference to the value for each "". See docs/format.md,
// 23.4.
const (
	KeyRecords = "records"
	KeyTexts   = "texts"

	SourcePath = "metadata.bough." + OwnSource
)

// minShared is the minimum length in bytes of a value that is replaced by a
// reference.
const minShared = 24

// maxSharedDepth is the maximum depth in a record of an object or array that is
// replaced by a reference. Each level costs another pass over its content.
const maxSharedDepth = 12

// maxGrowth limits the size of records that are expanded from damaged texts: a
// multiple of the size of the input, but at least minLimit.
const (
	maxGrowth = 64
	minLimit  = 64 << 10
)

func sizeLimit(content, stored int) int { return minLimit + maxGrowth*(content+stored) }

// A form is how a value replaces "".
type form uint8

const (
	asItStands form = iota
	inText          // the text of the string, which is JSON
	asASCII         // the string with non-ASCII characters escaped, as Python does
)

// A reference identifies the value that replaces "": the number of the value,
// from 1, and its form. The zero reference keeps "".
type reference struct {
	number int
	form   form
}

// Join returns records as one JSON array. Their bytes do not change.
func Join(records []json.RawMessage) []byte {
	size := 2
	for _, r := range records {
		size += len(r) + 1
	}
	array := append(make([]byte, 0, size), '[')
	for i, r := range records {
		if i > 0 {
			array = append(array, ',')
		}
		array = append(array, r...)
	}
	return append(array, ']')
}

// Split returns the records of an array made by [Join].
func Split(array []byte) []json.RawMessage {
	var records []json.RawMessage
	gjson.ParseBytes(array).ForEach(func(_, value gjson.Result) bool {
		records = append(records, json.RawMessage(value.Raw))
		return true
	})
	return records
}

// Of returns the records of raw, a message of a session file. It returns nil if
// there are none or they cannot be restored.
func Of(raw []byte) []json.RawMessage {
	stored := storedIn(raw)
	if stored.texts == nil {
		return Split(stored.records)
	}
	records, err := expandRecords(stored.content, stored.records, stored.texts)
	if err != nil {
		return nil
	}
	return records
}

// Expand returns raw, a message of a session file, with its references to
// shared values replaced by the values.
func Expand(raw []byte) []byte {
	stored := storedIn(raw)
	if stored.texts == nil {
		return raw
	}
	records := Of(raw)
	if records == nil {
		return raw
	}
	return stored.replace(raw, Join(records), nil)
}

// Share reverts [Expand]: it replaces values in the records of raw that occur
// in the message already by references.
func Share(raw []byte) []byte {
	stored := storedIn(raw)
	if stored.records == nil {
		return raw
	}
	array, texts := Shared(stored.content, Split(stored.records))
	if texts == nil {
		return raw
	}
	return stored.replace(raw, array, texts)
}

// A storedRecords has the members of a message of a session file that concern
// its records, nil where absent.
type storedRecords struct {
	content, records, texts []byte
	recordsSpan, textsSpan  rawjson.Span
}

func storedIn(raw []byte) (s storedRecords) {
	of := func(v gjson.Result) rawjson.Span { return rawjson.Span{Start: v.Index, End: v.Index + len(v.Raw)} }
	source := gjson.GetBytes(raw, SourcePath)
	records := source.Get(KeyRecords)
	if !records.IsArray() {
		return s
	}
	s.recordsSpan = of(records)
	s.records = s.recordsSpan.Of(raw)
	if texts := source.Get(KeyTexts); texts.Exists() {
		s.textsSpan = of(texts)
		s.texts = s.textsSpan.Of(raw)
	}
	if content := gjson.GetBytes(raw, "content"); content.Exists() {
		s.content = of(content).Of(raw)
	}
	return s
}

// replace returns the message with other records and texts.
func (s storedRecords) replace(raw, records, texts []byte) []byte {
	if texts == nil {
		texts = []byte("[]")
	}
	if s.texts == nil {
		records = slices.Concat(records, []byte(`,"`+KeyTexts+`":`), texts)
		return slices.Concat(raw[:s.recordsSpan.Start], records, raw[s.recordsSpan.End:])
	}
	first, second := s.recordsSpan, s.textsSpan
	if first.Start > second.Start {
		first, second, records, texts = second, first, texts, records
	}
	return slices.Concat(raw[:first.Start], records, raw[first.End:second.Start], texts, raw[second.End:])
}

// Sizes returns how many bytes of raw, a message of a session file, are
// content, and how many are records.
func Sizes(raw []byte) (text, records int) {
	stored := storedIn(raw)
	return len(gjson.GetBytes(raw, "content").Raw), len(stored.records) + len(stored.texts)
}

// SourcesSize returns the size in bytes of the records that a session has in
// addition to those of its messages. sources is the session's member of that
// name.
func SourcesSize(sources []byte) (n int) {
	gjson.GetBytes(sources, "#."+KeyRecords).ForEach(func(_, records gjson.Result) bool {
		n += len(records.Raw)
		return true
	})
	return n
}
