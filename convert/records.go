package convert

import (
	"encoding/json"
	"slices"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

// ownSource is the member of metadata.bough of a message that says where it was
// imported from.
const ownSource = "source"

// The members of metadata.bough.source that hold the records of a message. A string that
// stands in the content, or in an earlier record, is "" in the records; texts says for
// each "" which value takes its place. docs/format.md, 23.4, defines it.
const (
	keyRecords = "records"
	keyTexts   = "texts"

	sourcePath = "metadata.bough." + ownSource
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

// Records returns records as one JSON array, each as it is.
func Records(records []json.RawMessage) []byte {
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

// SplitRecords returns the records of an array that [Records] made.
func SplitRecords(array []byte) []json.RawMessage {
	var records []json.RawMessage
	gjson.ParseBytes(array).ForEach(func(_, value gjson.Result) bool {
		records = append(records, json.RawMessage(value.Raw))
		return true
	})
	return records
}

// RecordsOf returns the records of a message of a session file, raw its bytes: nil if it
// has none, or if they cannot be put together again.
func RecordsOf(raw []byte) []json.RawMessage {
	stored := storedIn(raw)
	if stored.texts == nil {
		return SplitRecords(stored.records)
	}
	records, err := expandRecords(stored.content, stored.records, stored.texts)
	if err != nil {
		return nil
	}
	return records
}

// WithRecords returns a message of a session file, raw its bytes, with more records before
// its own. One without any stays as it is.
func WithRecords(raw []byte, more []json.RawMessage) []byte {
	stored := storedIn(raw)
	if len(more) == 0 || stored.records == nil {
		return raw
	}
	records := RecordsOf(raw)
	if records == nil {
		records = SplitRecords(stored.records)
	}
	array, texts := sharedRecords(stored.content, append(slices.Clip(more), records...))
	return stored.replace(raw, array, texts)
}

// WholeRecords returns a message of a session file, raw its bytes, with records that say
// everything themselves.
func WholeRecords(raw []byte) []byte {
	stored := storedIn(raw)
	if stored.texts == nil {
		return raw
	}
	records := RecordsOf(raw)
	if records == nil {
		return raw
	}
	return stored.replace(raw, Records(records), nil)
}

// SharedRecords returns a message of a session file, raw its bytes, whose records say
// everything themselves, with records that name what stands in the message already. It
// undoes [WholeRecords].
func SharedRecords(raw []byte) []byte {
	stored := storedIn(raw)
	if stored.records == nil {
		return raw
	}
	array, texts := sharedRecords(stored.content, SplitRecords(stored.records))
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
	source := gjson.GetBytes(raw, sourcePath)
	records := source.Get(keyRecords)
	if !records.IsArray() {
		return s
	}
	s.recordsSpan = of(records)
	s.records = s.recordsSpan.Of(raw)
	if texts := source.Get(keyTexts); texts.Exists() {
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
		records = slices.Concat(records, []byte(`,"`+keyTexts+`":`), texts)
		return slices.Concat(raw[:s.recordsSpan.Start], records, raw[s.recordsSpan.End:])
	}
	first, second := s.recordsSpan, s.textsSpan
	if first.Start > second.Start {
		first, second, records, texts = second, first, texts, records
	}
	return slices.Concat(raw[:first.Start], records, raw[first.End:second.Start], texts, raw[second.End:])
}

// MessageBytes returns how many bytes of a message of a session file, raw, are what it
// says, and how many its records take.
func MessageBytes(raw []byte) (text, records int) {
	stored := storedIn(raw)
	return len(gjson.GetBytes(raw, "content").Raw), len(stored.records) + len(stored.texts)
}

// SourcesRecordBytes returns how many bytes the records take that a session has beside
// those of its messages, sources being what it says of where it was imported from.
func SourcesRecordBytes(sources []byte) (n int) {
	gjson.GetBytes(sources, "#."+keyRecords).ForEach(func(_, records gjson.Result) bool {
		n += len(records.Raw)
		return true
	})
	return n
}
