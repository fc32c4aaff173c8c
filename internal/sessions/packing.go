package sessions

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/bough-dev/bough/internal/crc32c"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
)

// rawFrom is the size in bytes from which new messages are added to a pack without
// compressing them, so that a first checkpoint takes no longer than a copy. The upkeep after
// the next automatic one compresses them.
const rawFrom = 1 << 20

// A PackedLine is a line whose pack may have messages of a packed checkpoint.
type PackedLine struct {
	ID    string   // its first session
	InUse [][2]int // the runs of items of the pack that recipes name, which are durable: the first item of each, and the end
}

// used returns the number of items of the pack up to the last one that a recipe names.
func (l PackedLine) used() int {
	if len(l.InUse) == 0 {
		return 0
	}
	return l.InUse[len(l.InUse)-1][1]
}

// Pack stages a new packed checkpoint in a batch. Its messages that none of the packs of
// lines has are added to that of lines[0]. Errors are those of [Folder.Create].
func (f Folder) Pack(b *durable.Batch, d *session.Document, lines []PackedLine, watch func(done, total int64) error) (*Packed, error) {
	opening, err := d.Opening()
	if err != nil {
		return nil, err
	}
	return f.pack(b, d.ID, d.Messages, lines, watch, func(messages crc32c.Sum) (recipeHead, []byte, error) {
		frame, err := d.Frame(messages.CRC, f.Open)
		return recipeHead{Opening: opening}, frame, err
	})
}

// PackFile stages the recipe of a session whose file exists, as [Folder.Pack] does. The
// recipe has all bytes of the file. The error is [ErrLayout] if a recipe cannot have them.
func (f Folder) PackFile(b *durable.Batch, o *session.Outline, lines []PackedLine, watch func(done, total int64) error) (*Packed, error) {
	s, err := f.Open(o)
	if err != nil {
		return nil, err
	}
	frame, ok := frameOf(s)
	if !ok {
		return nil, ErrLayout
	}
	runs := []session.Run{{Part: s.Outline, To: s.Len()}}
	if s.Len() == 0 {
		runs = nil
	}
	p, err := f.pack(b, o.ID, runs, lines, watch, func(messages crc32c.Sum) (recipeHead, []byte, error) {
		if messages.CRC != crc32c.Of(messagesOf(s)) {
			return recipeHead{}, nil, fmt.Errorf("%s: the packs have another message with the hash of one of its messages", session.FileName(o.ID))
		}
		return recipeHead{Opening: *cmp.Or(o.Summary().Opening, new(string))}, frame, nil
	})
	if err == nil && p.Bytes != int64(o.Size()) {
		err = ErrLayout
	}
	return p, err
}

// ErrLayout is the error for a session file that cannot be packed because the white space
// around its messages is not as bough and Penguin write it.
var ErrLayout = errors.New("its messages are not laid out as bough writes them, so packing would change bytes")

// messagesOf returns the messages of s with the bytes between them.
func messagesOf(s *session.Session) []byte {
	if s.Len() == 0 {
		return nil
	}
	last := s.Len() - 1
	return s.Bytes()[s.Offset(0) : s.Offset(last)+len(s.Messages[last].Raw)]
}

// frameOf returns the file of s with an empty array of messages. ok is false if the white
// space around the messages is not that of a plain file.
func frameOf(s *session.Session) (frame []byte, ok bool) {
	data := s.Bytes()
	members, err := rawjson.Members(data, rawjson.Root(data))
	if err != nil {
		return nil, false
	}
	array, _ := rawjson.Find(members, "messages")
	if s.Len() > 0 {
		start := s.Offset(0)
		end := start + len(messagesOf(s))
		if string(data[array.Start+1:start]) != session.Separator[1:] || string(data[end:array.End-1]) != afterMessages {
			return nil, false
		}
	}
	return slices.Concat(data[:array.Start], []byte("[]"), data[array.End:]), true
}

// pack stages a packed session with the messages of runs. finish returns the frame, and
// what the recipe has beside it, from the checksum of the messages with the bytes between
// them.
func (f Folder) pack(b *durable.Batch, id string, runs []session.Run, lines []PackedLine, watch func(done, total int64) error, finish func(crc32c.Sum) (recipeHead, []byte, error)) (*Packed, error) {
	if err := durable.MakeDir(f.root, PackedDir); err != nil {
		return nil, err
	}
	p := &packing{folder: f, batch: b, watch: watch}
	defer p.close()
	if err := p.open(lines); err != nil {
		return nil, err
	}
	if err := p.list(runs); err != nil {
		return nil, err
	}
	if err := p.add(); err != nil {
		return nil, err
	}
	sum, err := p.sum()
	if err != nil {
		return nil, err
	}
	messages := sum
	if sum.N > 0 {
		var separator crc32c.Sum
		separator.Add([]byte(session.Separator))
		messages = sum.Without(separator)
	}
	head, frame, err := finish(messages)
	if err != nil {
		return nil, err
	}
	head.Runs, head.Messages, head.Bytes, head.CRC32C = p.runs, p.count, plainSize(len(frame), int64(sum.N)), hexSum(sum.CRC)
	if head.Bytes > session.MaxFile {
		return nil, fmt.Errorf("%s would be larger than 4 GiB", session.FileName(id))
	}
	r, err := newRecipe(id, head, frame)
	if err != nil {
		return nil, err
	}
	packed := &Packed{Recipe: r, Content: r.Encode(), Raw: p.raw, Untidy: p.packs[0].pack != nil && p.packs[0].pack.Raw()}
	packed.Stored = p.added + int64(len(packed.Content))
	packed.Info, err = b.Create(RecipeFile(id), durable.Bytes(packed.Content))
	return packed, err
}

// A Packed is a packed checkpoint that was staged.
type Packed struct {
	*Recipe
	Content []byte      // of the file of the recipe
	Info    fs.FileInfo // of that file
	Stored  int64       // number of bytes that the recipe and the new messages take
	Raw     bool        // the new messages are not compressed
	Untidy  bool        // earlier messages of their pack are not compressed
}
