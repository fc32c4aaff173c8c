package server

import "encoding/json"

// patchMeta changes the user's metadata of a message.
func patchMeta(c *call) (*answer, error) {
	name, err := c.session()
	if err != nil {
		return nil, err
	}
	message, err := nameOf("message_id", c.r.PathValue("message_id"))
	if err != nil {
		return nil, err
	}
	var in struct {
		Meta json.RawMessage `json:"meta"`
	}
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	meta, err := c.object("meta", in.Meta, true)
	if err != nil {
		return nil, err
	}
	all, err := c.workspace.Line(name).SetMeta(c.r.Context(), message, meta)
	if err != nil {
		return nil, err
	}
	return ok(map[string]json.RawMessage{"meta": all}), nil
}
