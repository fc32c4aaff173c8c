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

// OwnSource is the member of metadata.bough of a message that says where it was
// imported from.
const OwnSource = "source"

// The members of metadata.bough.source that hold the records of a message. A string that
// stands in the content, or in an earlier record, is "" in the records; texts says for
// each "" which value takes its place. docs/format.md, 23.4, defines it.
const (
	KeyRecords = "records"
	KeyTexts   = "texts"

	SourcePath = "metadata.bough." + OwnSource
)

// shortestShared is the length in bytes from which a value is named instead of repeated.
const shortestShared = 24

// deepestShared is how deep in a record an object or an array may stand that is named.
// Each level costs another pass over what stands there.
const deepestShared = 12

// mostGrowth limits what damaged texts can make of small records: records, put together
// again, take at most so many times the bytes that they are made from, and leastLimit.
const (
	mostGrowth = 64
	leastLimit = 64 << 10
)

func sizeLimit(content, stored int) int { return leastLimit + mostGrowth*(content+stored) }

// A form is how a value takes the place of "".
type form uint8

const (
	asItStands form = iota
	inText          // the text of a string, which is JSON
	asASCII         // a string with its characters escaped as Python escapes them
)

// A reference names the value that takes the place of "": the number of the value, from
// 1, and its form. The zero reference leaves "" as it is.
type reference struct {
	number int
	form   form
}

// Join returns records as one JSON array, each as it is.
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

// Split returns the records of an array that [Join] made.
func Split(array []byte) []json.RawMessage {
	var records []json.RawMessage
	gjson.ParseBytes(array).ForEach(func(_, value gjson.Result) bool {
		records = append(records, json.RawMessage(value.Raw))
		return true
	})
	return records
}

// Of returns the records of a message of a session file, raw its bytes: nil if it
// has none, or if they cannot be put together again.
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

// Prepend returns a message of a session file, raw its bytes, with more records before
// its own. One without any stays as it is.
func Prepend(raw []byte, more []json.RawMessage) []byte {
	stored := storedIn(raw)
	if len(more) == 0 || stored.records == nil {
		return raw
	}
	records := Of(raw)
	if records == nil {
		records = Split(stored.records)
	}
	array, texts := Shared(stored.content, append(slices.Clip(more), records...))
	return stored.replace(raw, array, texts)
}

// Expand returns a message of a session file, raw its bytes, with records that say
// everything themselves.
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

// Share returns a message of a session file, raw its bytes, whose records say
// everything themselves, with records that name what stands in the message already. It
// undoes [Expand].
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

// A storedRecords is what a message of a session file has to do with its records, as it
// stands there, nil for what it does not have.
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

// replace returns the message with other records, and their texts.
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

// Sizes returns how many bytes of a message of a session file, raw, are what it
// says, and how many its records take.
func Sizes(raw []byte) (text, records int) {
	stored := storedIn(raw)
	return len(gjson.GetBytes(raw, "content").Raw), len(stored.records) + len(stored.texts)
}

// SourcesSize returns how many bytes the records take that a session has beside
// those of its messages, sources being what it says of where it was imported from.
func SourcesSize(sources []byte) (n int) {
	gjson.GetBytes(sources, "#."+KeyRecords).ForEach(func(_, records gjson.Result) bool {
		n += len(records.Raw)
		return true
	})
	return n
}
