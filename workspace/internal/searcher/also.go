package searcher

import (
	"hash/maphash"
	"slices"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/internal/parallel"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// A copied distinguishes messages with the same id.
type copied struct{ bytes, words uint64 }

// copiedOf returns the identity of m; text is its text.
func (s *finder) copiedOf(m session.Message, text string) copied {
	at, _ := m.Time()
	var words maphash.Hash
	words.SetSeed(s.seed)
	maphash.WriteComparable(&words, at.UnixMicro())
	words.WriteString(m.Role() + "\n" + text)
	return copied{bytes: maphash.Bytes(s.seed, m.Raw), words: words.Sum64()}
}

// isCopy reports whether m has the same bytes or the same words as of.
func (s *finder) isCopy(m session.Message, of copied) bool {
	return maphash.Bytes(s.seed, m.Raw) == of.bytes || s.copiedOf(m, messageText(content.Read(m.Raw))).words == of.words
}

// also sets Also of matches: the other conversations of the family with the
// message.
func (s *finder) also(matches []hit) error {
	if len(matches) == 0 {
		return nil
	}
	wanted := map[string]map[string][]*hit{} // by family and message
	conversations := map[string][]string{}   // in which the message was found, by family
	for i := range matches {
		m := &matches[i]
		family := s.familyOf(m.file)
		if wanted[family] == nil {
			wanted[family] = map[string][]*hit{}
		}
		wanted[family][m.ID] = append(wanted[family][m.ID], m)
		conversations[family] = append(conversations[family], m.Session)
	}
	alone := func(family, line string) bool { // the line has all relevant files of the family
		return !slices.ContainsFunc(conversations[family], func(id string) bool { return id != line })
	}
	var files []*searchFile
	for _, l := range s.everyLine(false) {
		for _, id := range l.files {
			if family := s.familyOf(id); wanted[family] != nil && !alone(family, l.id) {
				files = append(files, &searchFile{id: id, line: l, family: family})
			}
		}
	}
	slices.SortStableFunc(files, func(a, b *searchFile) int { return a.line.began.Compare(b.line.began) })
	found := make([][]*hit, len(files))
	errs := make([]error, len(files))
	parallel.Do(len(files), func(i int) {
		if s.v.Ctx.Err() == nil {
			found[i], errs[i] = s.copies(files[i], wanted[files[i].family])
		}
	})
	if err := s.v.Ctx.Err(); err != nil {
		return err
	}
	for i, f := range files {
		if err := unlessDamaged(errs[i]); err != nil {
			return store.Gone(f.id, err)
		}
		for _, m := range found[i] {
			if !slices.Contains(m.Also, f.line.id) {
				m.Also = append(m.Also, f.line.id)
			}
		}
	}
	return nil
}

// copies returns the wanted messages that a file of another conversation has.
func (s *finder) copies(f *searchFile, wanted map[string][]*hit) (found []*hit, err error) {
	look := func(file *session.Session) error {
		for _, m := range file.Messages[file.Header:] {
			for _, match := range wanted[m.ID] {
				if match.Session != f.line.id && s.isCopy(m, match.copied) {
					found = append(found, match)
				}
			}
		}
		return nil
	}
	if f.line.penguin {
		file, err := checkpoint.ReadPenguin(s.v.Root, f.id)
		if err == nil {
			err = look(file)
		}
		return found, err
	}
	err = s.v.Folder.Look(f.id, func([]byte) bool { return true }, look)
	return found, err
}

// familyOf returns the root of a session's lineage, as far as it is known.
func (s *finder) familyOf(id string) string {
	s.mu.Lock() // the index caches lineages
	defer s.mu.Unlock()
	if lineage, _ := s.v.LineageOf(id); len(lineage) > 0 {
		return lineage[0]
	}
	return id
}
