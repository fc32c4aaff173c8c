package sessions

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/bough-dev/bough/internal/crc32c"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/session"
)

// PackedDir is the folder of the packed checkpoints of a workspace: their recipes, and the
// packs with their messages.
const PackedDir = "packed"

const packExt = ".zst"

// RecipeFile returns the path of the recipe of a packed checkpoint, relative to the
// workspace.
func RecipeFile(id string) string { return PackedDir + "/" + id + ext }

// PackFile returns the path of the pack of a line, which is named after its first session.
func PackFile(line string) string { return PackedDir + "/" + line + packExt }

// A Recipe describes a packed checkpoint: a session whose messages are items of packs.
type Recipe struct {
	Runs     []PackRun // the messages, in order
	Messages int
	Bytes    int64  // size of the plain session file
	Opening  string // the first words of the first user message, "" if there are none

	sum     string           // CRC-32C of the items, eight hexadecimal digits
	frame   []byte           // the plain file with an empty array of messages
	array   int              // offset in frame of the end of that array
	outline *session.Outline // of frame
}

// A PackRun is the items From up to but not including To of a pack.
type PackRun struct {
	Line     string // the first session of the line that the pack is named after
	From, To int
}

// maxItems is the number of items of a pack that recipes can name. Memory is allocated for
// all items up to the last one that a recipe names, even if the pack does not have them, so
// a corrupt number must not be arbitrarily large. Items of 1 KiB would fill 4 GiB.
const maxItems = 1 << 22

// minItem is the size of the smallest item in bytes.
const minItem = len(`,{"id":""}`)

// recipeHead is the member packed of the file of a recipe. The member session is the frame,
// byte for byte.
type recipeHead struct {
	Runs     []PackRun `json:"runs"`
	Messages int       `json:"messages"`
	Bytes    int64     `json:"bytes"`
	CRC32C   string    `json:"crc32c"` // of the items, one after the other
	Opening  string    `json:"opening"`
	Recipe   string    `json:"recipe_crc32c"` // of the file, with noSum as this value
}

// noSum is in place of the checksum of a recipe while that is computed.
const noSum = "00000000"

// MarshalJSON implements json.Marshaler: ["LINE.zst", FROM, COUNT].
func (r PackRun) MarshalJSON() ([]byte, error) {
	return rawjson.Compact([]any{r.Line + packExt, r.From, r.To - r.From}), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (r *PackRun) UnmarshalJSON(data []byte) error {
	var name string
	var count int
	if err := json.Unmarshal(data, &[]any{&name, &r.From, &count}); err != nil {
		return err
	}
	line, ok := strings.CutSuffix(name, packExt)
	if !ok || !sessionid.Valid(line) || r.From < 0 || r.From > maxItems || count <= 0 || count > maxItems-r.From {
		return fmt.Errorf("invalid run %s", data)
	}
	r.Line, r.To = line, r.From+count
	return nil
}

// newRecipe returns the recipe of a session with the frame, whose outline has id.
func newRecipe(id string, head recipeHead, frame []byte) (*Recipe, error) {
	r := &Recipe{Runs: head.Runs, Messages: head.Messages, Bytes: head.Bytes, Opening: head.Opening, sum: head.CRC32C, frame: frame}
	o, err := decode(id, frame)
	if err != nil {
		return nil, err
	}
	r.outline = o
	members, err := rawjson.Members(frame, rawjson.Root(frame))
	if err != nil {
		return nil, err
	}
	array, _ := rawjson.Find(members, "messages")
	if string(array.Of(frame)) != "[]" {
		return nil, errors.New("its session has messages")
	}
	r.array = array.End - 1
	return r, nil
}

// Edited returns the recipe of the edited session. The edit must not change messages.
func (r *Recipe) Edited(e *session.Edit) (*Recipe, error) {
	var frame []byte
	at := 0
	shift := int(r.Bytes) - len(r.frame) // of the bytes after the messages
	err := e.Changes(func(start, end int, with []byte) error {
		switch {
		case end < r.array:
		case start > r.array+shift:
			start, end = start-shift, end-shift
		default:
			return errors.New("the messages of a packed checkpoint cannot be changed")
		}
		frame = append(append(frame, r.frame[at:start]...), with...)
		at = end
		return nil
	})
	if err != nil {
		return nil, err
	}
	frame = append(frame, r.frame[at:]...)
	head := r.head()
	head.Bytes += int64(len(frame) - len(r.frame))
	return newRecipe(r.outline.ID, head, frame)
}

func (r *Recipe) head() recipeHead {
	runs := append([]PackRun{}, r.Runs...) // [] if there are none
	return recipeHead{runs, r.Messages, r.Bytes, r.sum, r.Opening, noSum}
}

// Encode returns the content of the file of the recipe.
func (r *Recipe) Encode() []byte {
	data := append([]byte(`{"packed": `), rawjson.Compact(r.head())...)
	at := len(data) - len(noSum+`"}`)
	data = append(append(data, ",\n\"session\": "...), r.frame...)
	data = append(data, "}\n"...)
	copy(data[at:], hexSum(crc32c.Of(data)))
	return data
}

// frameIn returns the frame in the file of a recipe, which has the session at s: with the
// white space around it, which is of the plain file, except for one space after the colon.
func frameIn(data []byte, s rawjson.Span) []byte {
	const white = " \t\r\n"
	before := bytes.TrimRight(data[:s.Start], white)
	after := bytes.TrimLeft(data[s.End:], white)
	frame := data[len(before) : len(data)-len(after)]
	return bytes.TrimPrefix(frame, []byte(" "))
}

// recipeSum returns the checksum of the file of a recipe, which has the value at sum.
func recipeSum(data []byte, sum rawjson.Span) string {
	var of crc32c.Sum
	of.Add(data[:sum.Start])
	of.Add([]byte(`"` + noSum + `"`))
	of.Add(data[sum.End:])
	return hexSum(of.CRC)
}

// DecodeRecipe decodes the content of the file of a recipe. The error is a
// *[session.DamageError] with its path.
func DecodeRecipe(id string, data []byte) (*Recipe, error) {
	damaged := func(problem string) error {
		return &session.DamageError{Path: RecipeFile(id), Problem: problem}
	}
	if err := rawjson.Check(data); err != nil {
		return nil, damaged(err.Error())
	}
	members, err := rawjson.Members(data, rawjson.Root(data))
	if err != nil {
		return nil, damaged(err.Error())
	}
	packed, hasHead := rawjson.Find(members, "packed")
	value, hasFrame := rawjson.Find(members, "session")
	if !hasHead || !hasFrame {
		return nil, damaged("not a recipe of a packed checkpoint")
	}
	frame := frameIn(data, value)
	if members, err = rawjson.Members(data, packed); err != nil {
		return nil, damaged(err.Error())
	}
	sum, _ := rawjson.Find(members, "recipe_crc32c")
	if string(sum.Of(data)) != `"`+recipeSum(data, sum)+`"` {
		return nil, damaged("its checksum is wrong")
	}
	var head recipeHead
	if err := json.Unmarshal(packed.Of(data), &head); err != nil {
		return nil, damaged("not a recipe: " + err.Error())
	}
	messages := int64(0)
	for _, run := range head.Runs {
		messages += int64(run.To - run.From)
	}
	if messages != int64(head.Messages) || head.Bytes < int64(len(frame)) || head.Bytes > session.MaxFile || messages > head.Bytes/int64(minItem) {
		return nil, damaged("the number of messages or bytes is wrong")
	}
	r, err := newRecipe(id, head, bytes.Clone(frame))
	var damage *session.DamageError
	if errors.As(err, &damage) {
		return nil, damaged("its session: " + damage.Problem)
	}
	if err != nil {
		return nil, damaged(err.Error())
	}
	return r, nil
}

// Items returns the items that the recipe uses of the pack of each line: the first of each
// run, and the end of the run.
func (r *Recipe) Items() map[string][][2]int {
	items := map[string][][2]int{}
	for _, run := range r.Runs {
		items[run.Line] = append(items[run.Line], [2]int{run.From, run.To})
	}
	return items
}

// Summary returns the summary of the packed checkpoint, as of its plain file.
func (r *Recipe) Summary() session.Summary {
	s := r.outline.Summary()
	s.Messages = r.Messages
	s.Opening = &r.Opening
	return s
}

// plainSize returns the size of the plain file of a session with a frame and items of size
// bytes: without the comma before the first item, and with a line break after the last.
func plainSize(frame int, items int64) int64 {
	if items == 0 {
		return int64(frame)
	}
	return int64(frame) + items - 1 + int64(len(afterMessages))
}

// afterMessages is what a plain file has between the last message and the end of the array.
const afterMessages = "\n" + rawjson.Indent
