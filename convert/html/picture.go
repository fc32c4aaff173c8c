package html

import "github.com/bough-dev/bough/internal/treepicture"

// picture writes the picture of the tree. Its nodes link to their messages.
func (w *writer) picture(t *tree) {
	var nodes []treepicture.Node
	of := make([]int, len(w.messages)) // the node of each message
	for k, l := range t.lines {
		parent := -1
		if l.from >= 0 {
			parent = of[l.from]
		}
		for _, i := range l.nodes {
			m := &w.messages[i]
			class, who := m.Speaker()
			n := treepicture.Node{Parent: parent, Label: m.FirstWords(), Link: "#" + t.name(i), Active: k == 0}
			if n.Label == "" {
				n.Label = who
			}
			if class == "user" {
				n.Kind = treepicture.Prompt
			}
			of[i], parent = len(nodes), len(nodes)
			nodes = append(nodes, n)
		}
	}
	ids := make(map[string]int, len(w.messages))
	for i := range w.messages {
		ids[w.messages[i].ID] = of[i]
	}
	for i := range w.messages {
		if m := w.messages[i].Merged; m != nil {
			if end, ok := ids[m.Message]; ok && end != of[i] {
				nodes[of[i]].Merged = []int{end}
			}
		}
	}
	w.raw("<nav aria-label=\"Tree\"><details><summary>Tree</summary>\n<div class=\"wide\">")
	o := treepicture.Options{Title: "Tree of the messages", Inline: true}
	_ = treepicture.Write(w.w, nodes, o) // the buffer has the error
	w.raw("</div></details></nav>\n")
}
