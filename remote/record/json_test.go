package record_test

import (
	"encoding/json"
	"testing"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/remote/record"
)

// FuzzJSON: values keep all of their bytes through JSON, on one line.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"a":1}`, "{\n  \"a\": NaN\n}", `"<b> & \ud800"`, "null", ` {}`, `-Infinity`, "\"\u2028\"", `{"a":1,"a":2}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if rawjson.Check([]byte(s)) != nil {
			return
		}
		op := record.Op{Do: record.Set, Entity: "e", Value: json.RawMessage(s), Body: &record.Body{Items: []record.Item{{ID: "i", Raw: json.RawMessage(s)}}}}
		data, err := json.Marshal(op)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range data {
			if c == '\n' {
				t.Fatalf("%s has several lines", data)
			}
		}
		var got record.Op
		if err := json.Unmarshal(data, &got); err != nil {
			t.Fatal(err)
		}
		if string(got.Value) != s || string(got.Body.Items[0].Raw) != s {
			t.Errorf("%q came back as %q and %q", s, got.Value, got.Body.Items[0].Raw)
		}
	})
}

// TestInvalid: what could not come back as it was is neither encoded nor decoded.
func TestInvalid(t *testing.T) {
	if _, err := json.Marshal(record.Op{Value: json.RawMessage("\"\xff\"")}); err == nil {
		t.Error("a value with invalid UTF-8 was encoded")
	}
	for _, line := range []string{`{"text":"{"}`, `{"value":1,"text":"1"}`, `{"body":{"items":[{"raw":"{\"a\":}"}]}}`} {
		if err := json.Unmarshal([]byte(line), new(record.Op)); err == nil {
			t.Errorf("%s was decoded", line)
		}
	}
}
