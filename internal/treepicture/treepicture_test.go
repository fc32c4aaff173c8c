package treepicture_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/internal/treepicture"
)

// treeOf returns nodes from a list such as "a b<a c<a+". A name begins with the parent after
// "<"; "+" copies, "~" joins, "!" bookmarks, "*" is active, "@" is an automatic checkpoint,
// and "#" is a conversation.
func treeOf(list string) []treepicture.Node {
	var nodes []treepicture.Node
	byName := map[string]int{}
	for _, word := range strings.Fields(list) {
		name := strings.TrimRight(word, "+~!*@#")
		flags := word[len(name):]
		name, parent, below := strings.Cut(name, "<")
		n := treepicture.Node{Parent: -1, Label: name, Active: strings.Contains(flags, "*")}
		if below {
			n.Parent = byName[parent]
		}
		for _, f := range flags {
			switch f {
			case '+':
				n.Edge = treepicture.Copied
			case '~':
				n.Edge = treepicture.Joined
			case '!':
				n.Marks = append(n.Marks, treepicture.Mark{Kind: treepicture.Bookmark, Label: "B" + name})
			case '@':
				n.Marks = append(n.Marks, treepicture.Mark{Kind: treepicture.AutoCheckpoint})
			case '#':
				n.Kind = treepicture.Conversation
			}
		}
		byName[name] = len(nodes)
		nodes = append(nodes, n)
	}
	return nodes
}

// rows formats a layout: each row as its lane and its nodes.
func rows(nodes []treepicture.Node, l *treepicture.Layout) string {
	var list []string
	for _, r := range l.Rows {
		s := strconv.Itoa(r.Lane) + ":"
		for _, n := range r.Nodes {
			s += nodes[n].Label
		}
		if r.Omitted.Branches > 0 {
			s += fmt.Sprintf("(%d/%d)", r.Omitted.Branches, len(r.Omitted.Nodes))
		}
		list = append(list, s)
	}
	return strings.Join(list, " ")
}

func TestLay(t *testing.T) {
	for _, c := range []struct {
		name, tree string
		lanes      int
		want       string
	}{
		{"nothing", "", 0, ""},
		{"one node", "a", 0, "0:a"},
		{"a chain is folded between its ends", "a b<a c<b d<c e<d", 0, "0:a 0:bcd 0:e"},
		{"a chain of one is not folded", "a b<a c<b", 0, "0:a 0:b 0:c"},
		{"a mark is not folded", "a b<a c<b d<c! e<d f<e g<f", 0, "0:a 0:bc 0:d 0:ef 0:g"},
		{"an automatic checkpoint is", "a b<a c<b@ d<c", 0, "0:a 0:bc 0:d"},
		{"the larger branch continues the lane", "a b<a c<a d<c e<d", 0, "0:a 1:b 0:c 0:d 0:e"},
		{"of equal branches the first", "a b<a c<a", 0, "0:a 1:c 0:b"},
		{"lanes are not reused", "a b<a c<a d<c e<c f<e g<e h<g", 0, "0:a 1:b 0:c 2:d 0:e 3:f 0:g 0:h"},
		{"a copy never continues the lane", "a b<a+ c<b d<c", 0, "0:a 1:b 1:c 1:d"},
		{"a copy is below a fork", "a b<a c<b d<c e<d f<b+ g<f h<g", 0, "0:a 0:b 1:f 1:g 1:h 0:c 0:d 0:e"},
		{"a join is folded", "a b<a c<b d<c~ e<d f<e g<f", 0, "0:a 0:bcdef 0:g"},
		{"a conversation is drawn", "a# b<a c<b d<c", 0, "0:a 0:bc 0:d"},
		{"each tree has lanes of its own", "a b<a c<a d e<d f<d", 0, "0:a 1:c 0:b 0:d 1:f 0:e"},
		{"the smallest branches are omitted", "a b<a c<a d<a e<a f<e g<e h<g b2<b i<f", 2, "0:a(2/2) 1:b 1:b2 0:e(1/2) 0:f 0:i"},
		{"never a marked one", "a b<a! c<a d<c e<a f<e g<f", 1, "0:a(1/2) 1:b 0:e 0:f 0:g"},
		{"where they are omitted, chains are folded", "a b<a c<b d<c e<d x<c y<x z<b", 1, "0:a 0:bcd(2/3) 0:e"},
		{"nor an active one", "a* b<a* c<a d<c e<d", 1, "0:a 1:b 0:c 0:d 0:e"},
	} {
		nodes := treeOf(c.tree)
		if got := rows(nodes, treepicture.Lay(nodes, c.lanes)); got != c.want {
			t.Errorf("%s: the rows of %q are\n%s, want\n%s", c.name, c.tree, got, c.want)
		}
		check(t, nodes, c.lanes)
	}
}

// TestLayPanics: a node before its parent is a mistake of the caller.
func TestLayPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("Lay accepts a node before its parent")
		}
	}()
	treepicture.Lay([]treepicture.Node{{Parent: 0}}, 0)
}

// check holds the laws of a layout and of its picture.
func check(t *testing.T, nodes []treepicture.Node, lanes int) {
	t.Helper()
	l := treepicture.Lay(nodes, lanes)
	checkLayout(t, nodes, l)
	for _, inline := range []bool{false, true} {
		o := treepicture.Options{Title: "A <title>", Lanes: lanes, Inline: inline}
		var first, second bytes.Buffer
		if err := errors.Join(treepicture.Write(&first, nodes, o), treepicture.Write(&second, nodes, o)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Error("the same nodes have two pictures")
		}
		checkPicture(t, first.Bytes(), len(l.Rows), inline)
	}
}

// checkLayout: each node is on one row, in a folded chain or in an omitted branch, once; each
// row is below that of its parent; and the rows of a lane are one branch.
func checkLayout(t *testing.T, nodes []treepicture.Node, l *treepicture.Layout) {
	t.Helper()
	seen := make([]int, len(nodes))
	type place struct{ tree, lane int }
	last := map[place]int{} // the last row of each lane
	tree := -1
	merged := map[int]bool{}
	for i := range nodes {
		for _, end := range nodes[i].Merged {
			merged[end] = true
		}
	}
	for i, r := range l.Rows {
		if r.From >= i {
			t.Fatalf("row %d is below row %d", i, r.From)
		}
		parent := nodes[r.Nodes[0]].Parent
		if (parent < 0) != (r.From < 0) || parent >= 0 && parent != l.Rows[r.From].Nodes[len(l.Rows[r.From].Nodes)-1] {
			t.Errorf("row %d, with node %d, is not below the row of its parent", i, r.Nodes[0])
		}
		for k, n := range r.Nodes {
			seen[n]++
			if k > 0 && nodes[n].Parent != r.Nodes[k-1] {
				t.Errorf("row %d is not a chain: %v", i, r.Nodes)
			}
			if r.Folded() && merged[n] {
				t.Errorf("node %d is folded, and was merged", n)
			}
			if r.Folded() && (nodes[n].Kind == treepicture.Conversation || nodes[n].Edge == treepicture.Copied) {
				t.Errorf("node %d is folded", n)
			}
		}
		for _, n := range r.Omitted.Nodes {
			seen[n]++
			if merged[n] {
				t.Errorf("node %d is omitted, and was merged", n)
			}
			if nodes[n].Active {
				t.Errorf("the active node %d is omitted", n)
			}
		}
		if r.From < 0 {
			tree++
		}
		at := place{tree, r.Lane}
		if before, used := last[at]; used && (r.From != before) {
			t.Errorf("row %d uses lane %d again", i, r.Lane)
		} else if !used && r.From >= 0 && r.Lane <= l.Rows[r.From].Lane {
			t.Errorf("row %d begins lane %d to the left of its parent", i, r.Lane)
		}
		last[at] = i
		if r.Lane >= l.Lanes {
			t.Errorf("row %d has lane %d of %d", i, r.Lane, l.Lanes)
		}
	}
	for n, times := range seen {
		if times != 1 {
			t.Errorf("node %d occurs %d times", n, times)
		}
	}
}

// allowed are the elements and attributes of a picture.
var (
	allowedElements   = strings.Fields("svg title desc style rect g path circle text tspan a")
	allowedAttributes = strings.Fields("xmlns class width height viewBox role aria-label aria-hidden font-family font-size fill stroke " +
		"stroke-width stroke-linecap stroke-dasharray stroke-opacity pointer-events x y rx cx cy r d dx space unicode-bidi href tabindex")
)

// checkPicture: a picture is XML with only harmless elements and attributes, and has a text
// for each row, which do not overlap.
func checkPicture(t *testing.T, svg []byte, rows int, inline bool) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(svg))
	var rowsY []int
	inRow := false
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("the picture is not XML: %v\n%s", err, svg)
		}
		switch e := token.(type) {
		case xml.StartElement:
			if !slices.Contains(allowedElements, e.Name.Local) || inline && (e.Name.Local == "style" || e.Name.Local == "desc") {
				t.Errorf("the picture has an element %s", e.Name.Local)
			}
			for _, a := range e.Attr {
				if !slices.Contains(allowedAttributes, a.Name.Local) {
					t.Errorf("%s has an attribute %s", e.Name.Local, a.Name.Local)
				}
				if a.Name.Local == "class" && a.Value == "tp-row" {
					inRow = true
				}
				if e.Name.Local == "text" && a.Name.Local == "y" && inRow {
					y, err := strconv.Atoi(a.Value)
					if err != nil {
						t.Error(err)
					}
					rowsY = append(rowsY, y)
					inRow = false
				}
			}
		case xml.ProcInst, xml.Directive, xml.Comment:
			t.Errorf("the picture has %T", e)
		}
	}
	if len(rowsY) != rows {
		t.Errorf("%d texts on %d rows", len(rowsY), rows)
	}
	const lineHeight = 20
	for i := 1; i < len(rowsY); i++ {
		if rowsY[i]-rowsY[i-1] < lineHeight {
			t.Errorf("the texts of rows %d and %d overlap", i-1, i)
		}
	}
}

// random returns a random tree, decided by the bytes.
func random(data []byte) (nodes []treepicture.Node) {
	text := []string{"", "words", "</text><script>alert(1)</script>", "a\x00b\u202ec\uffff\"'&", "東京への旅行", strings.Repeat("long ", 100), "\xff\xfe"}
	for i := 0; i+1 < len(data); i += 2 {
		at, flags := int(data[i]), int(data[i+1])
		n := treepicture.Node{Parent: -1, Label: text[flags%len(text)], Kind: treepicture.Kind(flags % 3), Edge: treepicture.Edge(flags / 8 % 3)}
		if len(nodes) > 0 && at != 255 {
			n.Parent = len(nodes) - 1 - at%min(len(nodes), 8)
		}
		if flags%16 == 15 {
			n.Marks = []treepicture.Mark{{Kind: treepicture.MarkKind(at % 5), Label: text[at%len(text)], Link: text[at%3]}}
		}
		if flags%2 == 1 {
			n.Link, n.Note = text[at%len(text)], text[flags/2%len(text)]
		}
		if flags%16 == 14 && len(nodes) > 0 {
			n.Merged = []int{at % len(nodes), len(nodes) - 1}
		}
		n.Active = flags%32 == 31
		nodes = append(nodes, n)
	}
	return nodes
}

func TestRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range testsize.Of(10, 30, 2_000) {
		data := make([]byte, r.IntN(300))
		for i := range data {
			data[i] = byte(r.IntN(256))
		}
		check(t, random(data), r.IntN(12))
	}
}

func FuzzWrite(f *testing.F) {
	f.Add([]byte{}, 0)
	f.Add([]byte{0, 1, 0, 2, 1, 15, 0, 31, 255, 4, 2, 9}, 3)
	f.Fuzz(func(t *testing.T, data []byte, lanes int) {
		if len(data) > 2_000 {
			return
		}
		check(t, random(data), lanes)
	})
}

// TestMerges: each merge has a line to the left of all lanes, and lines that pass the same row are
// beside each other. A branch that was merged is drawn.
func TestMerges(t *testing.T) {
	merge := func(tree string, lanes int, merges ...[2]int) string {
		nodes := treeOf(tree)
		for _, m := range merges {
			nodes[m[0]].Merged = append(nodes[m[0]].Merged, m[1])
		}
		check(t, nodes, lanes)
		var svg strings.Builder
		if err := treepicture.Write(&svg, nodes, treepicture.Options{Lanes: lanes}); err != nil {
			t.Fatal(err)
		}
		return svg.String()
	}
	path := regexp.MustCompile(`class="tp-\d" d="M\d+ (\d+)H\d+Q(\d+) .*H\d+" stroke-width="1.5" stroke-dasharray`)
	const tree = "a b<a c<b d<a e<d f<e g<f"
	before := merge(tree, 0)
	if path.MatchString(before) || strings.Contains(before, ">merge<") {
		t.Errorf("without merges there are lines of some: %s", before)
	}
	svg := merge(tree, 0, [2]int{4, 2}, [2]int{6, 2}, [2]int{6, 1})
	lines := path.FindAllStringSubmatch(svg, -1)
	if len(lines) != 3 {
		t.Fatalf("%d lines of merges: %s", len(lines), svg)
	}
	number := func(s string) int {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	lane := number(regexp.MustCompile(`<path class="tp-0" d="M(\d+) `).FindStringSubmatch(svg)[1])
	tracks := map[int]bool{}
	for _, l := range lines {
		x := number(l[2])
		if tracks[x] = true; x < 0 || x >= lane {
			t.Errorf("a merge is at %d, and the first lane at %d", x, lane)
		}
	}
	if len(tracks) != 3 || !strings.Contains(svg, ">merge<") {
		t.Errorf("lines over the same rows have the tracks %v; or there is no legend: %s", tracks, svg)
	}
	if svg := merge("a b<a c<a d<a e<a f<e", 1, [2]int{5, 1}); !path.MatchString(svg) {
		t.Errorf("a branch that was merged is not drawn: %s", svg)
	}
}

// large returns 10,000 messages with 1,000 forks.
func large() []treepicture.Node {
	r := rand.New(rand.NewPCG(3, 4))
	nodes := []treepicture.Node{{Parent: -1}}
	for i := 1; i < 10_000; i++ {
		n := treepicture.Node{Parent: i - 1, Label: "Message " + strconv.Itoa(i), Link: "/m/" + strconv.Itoa(i)}
		if i%10 == 0 {
			n.Parent = r.IntN(i - 1)
		}
		nodes = append(nodes, n)
	}
	return nodes
}

// TestLarge: the picture of a large tree has a limited width, and with all branches, every
// node is there.
func TestLarge(t *testing.T) {
	nodes := large()
	l := treepicture.Lay(nodes, 0)
	checkLayout(t, nodes, l)
	if l.Lanes != treepicture.DefaultLanes {
		t.Errorf("%d lanes, want %d", l.Lanes, treepicture.DefaultLanes)
	}
	all := treepicture.Lay(nodes, len(nodes))
	checkLayout(t, nodes, all)
	if all.Lanes < 900 {
		t.Errorf("only %d lanes of about 1,000", all.Lanes)
	}
}

// TestDeep: no tree is too deep.
func TestDeep(t *testing.T) {
	nodes := []treepicture.Node{{Parent: -1}}
	for i := 1; i < 50_000; i += 2 {
		nodes = append(nodes, treepicture.Node{Parent: i - 1}, treepicture.Node{Parent: i - 1, Edge: treepicture.Copied})
	}
	checkLayout(t, nodes, treepicture.Lay(nodes, len(nodes)))
}

// TestTexts holds what a reader of a picture sees.
func TestTexts(t *testing.T) {
	nodes := treeOf("a# b<a c<b~ d<c! e<d+")
	nodes[0].Label, nodes[0].Note = "Plan the trip", "5 messages"
	nodes[3].Link = "/c/s?leaf=1&x=2#m-1"
	nodes[3].Marks = append(nodes[3].Marks, treepicture.Mark{Kind: treepicture.Checkpoint, Label: "Before the budget", Link: "/k/1"}, treepicture.Mark{Kind: treepicture.Head})
	nodes[4].Marks = []treepicture.Mark{{Kind: treepicture.Title, Label: "By train"}}
	nodes[4].Kind = treepicture.Prompt
	var b bytes.Buffer
	if err := treepicture.Write(&b, nodes, treepicture.Options{Title: "Trips"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`role="list" aria-label="Trips"`, "<title>Trips</title>", "<desc>4 messages on 2 branches, 1 checkpoint, 1 bookmark</desc>",
		">Plan the trip</tspan>", ">5 messages</tspan>", ">2 messages, 1 joined</tspan>", `<a href="/c/s?leaf=1&amp;x=2#m-1">`, `<a href="/k/1"><title>Checkpoint: Before the budget</title>`,
		">head</tspan>", ">By train</tspan>", `stroke-dasharray="5 4"`, ">person</text>", ">copy</text>",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the picture does not have %s\n%s", want, b.String())
		}
	}
	b.Reset()
	if err := treepicture.Write(&b, nil, treepicture.Options{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), ">No conversations yet</text>") {
		t.Errorf("the picture of nothing is\n%s", b.String())
	}
	b.Reset()
	if err := treepicture.Write(&b, treeOf("a"), treepicture.Options{}); err != nil {
		t.Fatal(err)
	}
	if s := b.String(); !strings.Contains(s, `role="img" aria-label="Conversations"`) || strings.Contains(s, ">bookmark<") {
		t.Errorf("the picture of one node is\n%s", s)
	}
}

// TestStyle: the policy allows exactly the style sheet of a file.
func TestStyle(t *testing.T) {
	var b bytes.Buffer
	if err := treepicture.Write(&b, treeOf("a"), treepicture.Options{}); err != nil {
		t.Fatal(err)
	}
	var sheet struct {
		Style string `xml:"style"`
	}
	if err := xml.Unmarshal(b.Bytes(), &sheet); err != nil {
		t.Fatal(err)
	}
	if sheet.Style != treepicture.Style || !strings.HasPrefix(treepicture.StyleSource(), "'sha256-") {
		t.Errorf("the style sheet is\n%s", sheet.Style)
	}
}

// TestWriteError: Write returns the error of its writer.
func TestWriteError(t *testing.T) {
	full := errors.New("full")
	if err := treepicture.Write(failing{full}, treeOf("a"), treepicture.Options{}); !errors.Is(err, full) {
		t.Errorf("Write returns %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func BenchmarkWrite(b *testing.B) {
	nodes := large()
	for _, lanes := range []int{0, len(nodes)} {
		b.Run("lanes="+strconv.Itoa(lanes), func(b *testing.B) {
			for b.Loop() {
				if err := treepicture.Write(io.Discard, nodes, treepicture.Options{Lanes: lanes}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestContrast: text and lines differ enough from their background, in light and dark.
func TestContrast(t *testing.T) {
	themes := regexp.MustCompile(`\.tp\{([^}]*#[^}]*)\}`).FindAllStringSubmatch(treepicture.Style, -1)
	if len(themes) != 2 {
		t.Fatalf("found %d themes", len(themes))
	}
	for _, theme := range themes {
		colors := map[string]float64{}
		for _, m := range regexp.MustCompile(`--tp-?([a-z0-9]+):#([0-9a-f]+)`).FindAllStringSubmatch(theme[1], -1) {
			colors[m[1]] = luminance(t, m[2])
		}
		for name, color := range colors {
			least := 4.5
			switch {
			case name == "page", name == "row", name == "edge":
				continue
			case len(name) == 1:
				least = 3 // a line
			}
			for _, behind := range []string{"page", "row"} {
				if got := contrast(color, colors[behind]); got < least {
					t.Errorf("%s on %s has a contrast of %.2f, want %.1f", name, behind, got, least)
				}
			}
		}
		if len(colors) != 14 {
			t.Errorf("found %d colors", len(colors))
		}
	}
}

// luminance returns the relative luminance of a color, as WCAG defines it.
func luminance(t *testing.T, hex string) float64 {
	if len(hex) == 3 {
		hex = hex[:1] + hex[:1] + hex[1:2] + hex[1:2] + hex[2:] + hex[2:]
	}
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, err := strconv.ParseUint(hex[2*i:2*i+2], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		c := float64(n) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}

func contrast(a, b float64) float64 { return (max(a, b) + 0.05) / (min(a, b) + 0.05) }
