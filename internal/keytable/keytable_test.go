package keytable

import "testing"

// TestKeys: each key and each act of the table is there once, with what it does.
func TestKeys(t *testing.T) {
	keys, acts := map[string]bool{}, map[string]bool{}
	for _, k := range Keys() {
		if k.Key == "" || k.Act == "" || k.What == "" {
			t.Errorf("%+v lacks something", k)
		}
		if keys[k.Key] || acts[k.Act] {
			t.Errorf("%+v is there twice", k)
		}
		keys[k.Key], acts[k.Act] = true, true
	}
	if len(keys) < 20 {
		t.Errorf("found only %d keys", len(keys))
	}
}
