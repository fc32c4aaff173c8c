package mcp

import (
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// maxLeft is how many paths that a state does not hold are listed with it.
const maxLeft = 20

// omittedLeft is the member of a state with the number of the others.
const omittedLeft = "left_omitted"

// withOmittedLeft returns the schema of a result whose states have the number of the paths that
// are not listed.
func withOmittedLeft(s *jsonschema.Schema) *jsonschema.Schema {
	s = s.CloneSchemas()
	s.Defs["State"].Properties[omittedLeft] = &jsonschema.Schema{Type: "integer", Description: "how many elements of left are not listed, by default 0"}
	return s
}

// trimLeft returns a state with the beginning of its list left.
func trimLeft(state []byte) []byte {
	left := gjson.GetBytes(state, "left").Array()
	if len(left) <= maxLeft {
		return state
	}
	part := []byte{'['}
	for i, l := range left[:maxLeft] {
		if i > 0 {
			part = append(part, ',')
		}
		part = append(part, l.Raw...)
	}
	state = set(state, "left", append(part, ']'))
	state, _ = sjson.SetBytes(state, omittedLeft, len(left)-maxLeft) // of JSON that bough wrote
	return state
}

// trimStates is trimLeft for each state of a list.
func trimStates(doc []byte) []byte {
	part := []byte{'['}
	for i, st := range gjson.GetBytes(doc, "states").Array() {
		if i > 0 {
			part = append(part, ',')
		}
		part = append(part, trimLeft([]byte(st.Raw))...)
	}
	return set(doc, "states", append(part, ']'))
}

// trimSides is trimLeft for both sides of a comparison.
func trimSides(doc []byte) []byte {
	for _, side := range []string{"from", "to"} {
		if st := gjson.GetBytes(doc, side); st.IsObject() {
			doc = set(doc, side, trimLeft([]byte(st.Raw)))
		}
	}
	return doc
}

// set replaces a member of JSON that bough wrote.
func set(doc []byte, name string, value []byte) []byte {
	doc, _ = sjson.SetRawBytes(doc, name, value)
	return doc
}
