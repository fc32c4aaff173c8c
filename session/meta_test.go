package session_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/bough-dev/bough/session"
)

func TestMeta(t *testing.T) {
	for _, c := range []struct {
		name, metadata string
		kind           session.Kind
		origin         string
		dialect        session.Dialect
		want           session.Meta // kind and seal apart
	}{
		{"nothing", ``, session.Root, "", session.Penguin, session.Meta{}},
		{"a root of bough", `"title":"T","continued_from":[],"continued_to":[]`, session.Root, "", session.Bough,
			session.Meta{Title: "T", ListLinks: true}},
		{"a continuation of bough", `"continued_from":["p"],"continued_to":["a","b"]`, session.Continuation, "p", session.Bough,
			session.Meta{ContinuedFrom: []string{"p"}, ContinuedTo: []string{"a", "b"}, ListLinks: true}},
		{"a continuation of Penguin", `"continued_from":"p","continued_to":"a"`, session.Continuation, "p", session.Penguin,
			session.Meta{ContinuedFrom: []string{"p"}, ContinuedTo: []string{"a"}}},
		{"a snapshot of bough", `"continued_from":["s"],"branched_from":"s","branch_point":"m","lineage":["r","s"],"flattened_snapshot":true`,
			session.Branch, "s", session.Bough,
			session.Meta{ContinuedFrom: []string{"s"}, BranchedFrom: "s", BranchPoint: "m", Lineage: []string{"r", "s"}, Snapshot: true, ListLinks: true}},
		{"a snapshot in Penguin's dialect", `"branched_from":"s","branch_point":"m","lineage":["r","s"],"flattened_snapshot":true`,
			session.Branch, "s", session.Penguin,
			session.Meta{BranchedFrom: "s", BranchPoint: "m", Lineage: []string{"r", "s"}, Snapshot: true}},
		{"a checkpoint", `"flattened_snapshot":true,"branched_from":"s","bough":{"kind":"checkpoint","auto":true}`,
			session.Checkpoint, "s", session.Penguin, session.Meta{BranchedFrom: "s", Snapshot: true, Auto: true}},
		{"bough.kind alone", `"bough":{"kind":"checkpoint"}`, session.Checkpoint, "", session.Penguin, session.Meta{Snapshot: true}},
		{"an unknown bough.kind", `"continued_from":"p","bough":{"kind":"sketch"}`, session.Continuation, "p", session.Penguin,
			session.Meta{ContinuedFrom: []string{"p"}}},
		{"bough.kind root in a snapshot", `"branch_point":"m","bough":{"kind":"root"}`, session.Branch, "", session.Penguin,
			session.Meta{BranchPoint: "m", Snapshot: true}},
		{"a branch point alone", `"continued_from":"r","branch_point":"m"`, session.Branch, "r", session.Penguin,
			session.Meta{ContinuedFrom: []string{"r"}, BranchPoint: "m", Snapshot: true}},
		{"nulls", `"title":null,"continued_from":null,"branched_from":null,"branch_point":null,"lineage":null,"flattened_snapshot":null,"bough":null`,
			session.Root, "", session.Penguin, session.Meta{}},
		{"other types", `"title":7,"branched_from":[1],"branch_point":{},"lineage":[1,"r",null,"r"],"flattened_snapshot":"true","bough":7,"continued_to":{"a":1}`,
			session.Root, "", session.Penguin, session.Meta{Lineage: []string{"r"}}},
		{"escaped names", `"title":"\u5206\u5c90","\u0063ontinued_from":"p"`, session.Continuation, "p", session.Penguin,
			session.Meta{Title: "分岐", ContinuedFrom: []string{"p"}}},
		{"names deeper down", `"other":{"continued_from":"p","branched_from":"s"}`, session.Root, "", session.Penguin, session.Meta{}},
	} {
		m := decode(t, "s", file(c.metadata)).Meta
		if m.Kind() != c.kind || m.Origin() != c.origin || m.Dialect() != c.dialect {
			t.Errorf("%s: %s from %q in the dialect %s, want %s from %q in %s", c.name, m.Kind(), m.Origin(), m.Dialect(), c.kind, c.origin, c.dialect)
		}
		got := session.Meta{Title: m.Title, ContinuedFrom: m.ContinuedFrom, ContinuedTo: m.ContinuedTo, ListLinks: m.ListLinks,
			BranchedFrom: m.BranchedFrom, BranchPoint: m.BranchPoint, Lineage: m.Lineage, Snapshot: m.Snapshot, Auto: m.Auto}
		if len(got.ContinuedTo) == 0 {
			got.ContinuedTo = nil
		}
		if len(got.ContinuedFrom) == 0 {
			got.ContinuedFrom = nil
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestMetaSeal(t *testing.T) {
	m := decode(t, "s", file(`"bough":{"kind":"checkpoint","sealed":{"messages":3,"crc32c":"0012abcd"}}`)).Meta
	if m.Sealed == nil || *m.Sealed != (session.Seal{Messages: 3, CRC32C: "0012abcd"}) {
		t.Errorf("the seal is %+v", m.Sealed)
	}
	if m := decode(t, "s", file(`"bough":{"kind":"checkpoint","sealed":true}`)).Meta; m.Sealed != nil {
		t.Errorf("the seal is %+v, want none", m.Sealed)
	}
}

// inZone sets the local time zone for a test.
func inZone(t *testing.T, hours int) {
	local := time.Local
	time.Local = time.FixedZone("test", hours*60*60)
	t.Cleanup(func() { time.Local = local })
}

func TestParseTime(t *testing.T) {
	inZone(t, -5)
	for s, want := range map[string]string{
		"2026-11-20T07:29:04.980213+00:00":         "2026-11-20T07:29:04.980213+00:00",
		"2026-11-20T07:29:04.980213":               "2026-11-20T12:29:04.980213+00:00",
		"2026-11-20T07:29:04":                      "2026-11-20T12:29:04.000000+00:00",
		"2026-11-20T07:29:04.98":                   "2026-11-20T12:29:04.980000+00:00",
		"2026-11-20T07:29:04Z":                     "2026-11-20T07:29:04.000000+00:00",
		"2026-11-20T07:29:04.980213999Z":           "2026-11-20T07:29:04.980213+00:00",
		"2026-11-20T07:29:04.98-05:30":             "2026-11-20T12:59:04.980000+00:00",
		"2026-11-20T07:29:04+0900":                 "2026-11-19T22:29:04.000000+00:00",
		"2026-11-20 07:29:04.980213+00:00":         "2026-11-20T07:29:04.980213+00:00",
		"2026-11-20 07:29:04.980213":               "2026-11-20T12:29:04.980213+00:00",
		"2026-11-20T07:29Z":                        "2026-11-20T07:29:00.000000+00:00",
		"2026-11-20T07:29":                         "2026-11-20T12:29:00.000000+00:00",
		"2026-11-20":                               "2026-11-20T05:00:00.000000+00:00",
		" 2026-11-20T07:29:04Z\n":                  "2026-11-20T07:29:04.000000+00:00",
		"2026\u201105\u201125T15:32:00\u201105:00": "2026-05-25T20:32:00.000000+00:00",
		"2026\u201005\u201225T15:32:00\u221205:00": "2026-05-25T20:32:00.000000+00:00",
		"2026\u201305\u201325T15:32:00":            "2026-05-25T20:32:00.000000+00:00",
		"0001-01-01T00:00:00Z":                     "0001-01-01T00:00:00.000000+00:00",
		"9999-12-31T23:59:59.999999Z":              "9999-12-31T23:59:59.999999+00:00",
		"":                                         "", "now": "", "2026-13-01": "", "2026-11-20T25:00:00": "", "1795165602": "", "20.11.2026": "", "2026-02-30T00:00:00Z": "",
	} {
		got, ok := session.ParseTime(s)
		if ok != (want != "") || ok && session.Bough.Time(got) != want {
			t.Errorf("ParseTime(%q) = %v, %v, want %q", s, got, ok, want)
		}
	}
}

func TestDialectTime(t *testing.T) {
	inZone(t, 9)
	for _, c := range []struct {
		at             time.Time
		bough, penguin string
	}{
		{time.Date(2026, 11, 20, 7, 29, 4, 980213999, time.UTC), "2026-11-20T07:29:04.980213+00:00", "2026-11-20T16:29:04.980213"},
		{time.Date(2026, 11, 20, 7, 29, 4, 0, time.FixedZone("", 3600)), "2026-11-20T06:29:04.000000+00:00", "2026-11-20T15:29:04.000000"},
	} {
		if got := session.Bough.Time(c.at); got != c.bough {
			t.Errorf("bough writes %q, want %q", got, c.bough)
		}
		if got := session.Penguin.Time(c.at); got != c.penguin {
			t.Errorf("Penguin writes %q, want %q", got, c.penguin)
		}
		for _, s := range []string{c.bough, c.penguin} {
			if got, ok := session.ParseTime(s); !ok || !got.Equal(c.at.Truncate(time.Microsecond)) {
				t.Errorf("ParseTime(%q) = %v, %v, want %v", s, got, ok, c.at)
			}
		}
	}
}
