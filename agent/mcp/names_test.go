package mcp

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	long := strings.Repeat("long", 20)
	for _, c := range []struct {
		in   []origin
		want []string
	}{
		{nil, []string{}},
		{[]origin{{"files", "read"}, {"my server", "a.b"}}, []string{"files__read", "my_server__a_b"}},
		{[]origin{{"a", "b__c"}, {"a__b", "c"}}, []string{"a__b__c_ed6a0459", "a__b__c_1900b258"}},
		{[]origin{{"ä", "x"}}, []string{"___x"}},
		{[]origin{{"s", long}}, []string{"s__" + long[:52] + "_8200be10"}},
	} {
		if got := names(c.in); !slices.Equal(got, c.want) {
			t.Errorf("names(%v) = %q, want %q", c.in, got, c.want)
		}
	}
}

// FuzzNames: every provider accepts all names, no two are the same, and a tool keeps its
// name when tools with other names are added.
func FuzzNames(f *testing.F) {
	f.Add("a", "b__c", "a__b", "c")
	f.Add("s", strings.Repeat("x", 80), "s", strings.Repeat("x", 81))
	f.Add("s", "a.b", "s", "a_b")
	allowed := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	f.Fuzz(func(t *testing.T, s1, t1, s2, t2 string) {
		tools := []origin{{s1, t1}, {s2, t2}, {"other", "one"}}
		got := names(tools)
		for i, name := range got {
			if !allowed.MatchString(name) || slices.Index(got, name) != i {
				t.Fatalf("names(%q) = %q", tools, got)
			}
		}
		if alone := names(tools[:1])[0]; got[0] != alone && clean(s1)+"__"+clean(t1) != clean(s2)+"__"+clean(t2) && clean(s1)+"__"+clean(t1) != "other__one" {
			t.Errorf("the name is %q, and alone %q", got[0], alone)
		}
	})
}
