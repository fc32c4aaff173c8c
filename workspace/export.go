package workspace

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/outfile"
	"github.com/bough-dev/bough/internal/records"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/importer"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/bough-dev/bough/workspace/project"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// ExportOptions are the choices for an export.
type ExportOptions struct {
	Format *convert.Format
	// Tree exports all branches of the conversation. The path to ref becomes the
	// active one.
	Tree bool
	// Redact removes secrets from all text. If nil, nothing is removed.
	Redact Redact
	// Dir replaces the conversation's folder. Empty means the original one.
	Dir string
	checkpoint.CutOptions

	here    string // the folder to use if the original one does not exist, "" for none
	resumes bool   // another program continues the export

	// ready returns the reason why the transcript cannot be used. If nil, it can.
	ready func(t *transcript.Transcript, o transcript.Options) error
}

// An Export is a conversation in the format of another program, under a new id.
type Export struct {
	Format   string            `json:"format"`
	ID       string            `json:"id"`         // its id in the other program
	Session  string            `json:"session_id"` // the exported session
	Message  session.ID        `json:"message_id"` // the message after which it continues
	Messages int               `json:"messages"`
	Branches int               `json:"branches"` // how many leaves it has
	Lost     []transcript.Loss `json:"lost"`     // data that the format cannot represent
	Redacted []transcript.Loss `json:"redacted"` // removed secrets, counted by kind
	Path     session.ID        `json:"path"`     // absolute path of the file, null if there is none
	Bytes    int               `json:"bytes"`
	Data     []byte            `json:"-"`
	checkpoint.Adjustment

	project *project.Project // of the conversation's folder, nil if unknown
	away    string           // the conversation's folder, if it is not known here
	line    string           // the first file of the exported line
	t       *transcript.Transcript
	o       transcript.Options
}

// Export encodes the path to ref in the format of another program, under a new
// id. The workspace records the ids, so that importing the transcript,
// unchanged or longer, merges it into the exported conversation. Messages that
// were imported from that program are written as they were. If the path would
// separate a tool call from its result, it ends before the call if possible; in
// formats for reading it always ends at ref.
func (w *Workspace) Export(ctx context.Context, ref string, o ExportOptions) (*Export, error) {
	if !o.Format.Writes() {
		return nil, &fault.Error{Code: fault.Usage, Message: "bough reads " + o.Format.Name + " but does not write it"}
	}
	if o.Tree && !o.Format.Branches {
		return nil, &fault.Error{
			Code: fault.Usage, Message: o.Format.Name + " represents one path, not a tree",
			Next: fault.Do(fault.NameBranch),
		}
	}
	e, err := store.Read(ctx, w.store, func(v *store.View) (*Export, error) {
		p, err := v.Place(ref, o.Partial)
		if err != nil {
			return nil, err
		}
		cut, err := o.cut(p)
		if err != nil {
			return nil, err
		}
		if p.Node < 0 {
			return nil, &fault.Error{Code: fault.Refused, Message: p.SessionID() + " has no messages to export"}
		}
		e := &Export{
			Format: o.Format.Name, Session: p.SessionID(), Message: session.ID(p.MessageID()), Adjustment: cut,
			Lost: []transcript.Loss{}, Redacted: []transcript.Loss{}, line: p.Parts[0].ID,
		}
		e.t, err = transcriptOf(v, p, o, e)
		return e, err
	})
	if err != nil {
		return nil, err
	}
	e.Messages = len(e.t.Messages)
	if o.Redact != nil {
		if e.Redacted, err = redacted(e.t, o.Format, o.Redact); err != nil {
			return nil, err
		}
	}
	e.o = transcript.Options{Now: w.store.Opts.Now(), Random: w.store.Opts.Random}
	if e.o.ID, err = o.Format.NewID(e.o.Now, e.o.Random); err != nil {
		return nil, err
	}
	if o.ready != nil {
		if err := o.ready(e.t, e.o); err != nil {
			return nil, err
		}
	}
	e.ID = o.Format.Called(e.o.ID)
	written, err := o.Format.Export(e.t, e.o)
	if err != nil {
		return nil, err
	}
	e.Lost = append(e.Lost, written.Lost...)
	e.Data, e.Bytes = written.Data, len(written.Data)
	importer.RecordExport(ctx, w.store, e.line, e.Format, written)
	return e, nil
}

// cut moves p back to a message at which the export can end. A tool call
// without its result is an error only if o is strict or another program is to
// continue there.
func (o *ExportOptions) cut(p *store.Place) (checkpoint.Adjustment, error) {
	if !o.Format.Reads() || o.Tree {
		return checkpoint.Adjustment{}, nil
	}
	c, err := p.Cut(o.CutOptions)
	if err != nil && !o.Strict && !o.resumes {
		return checkpoint.Adjustment{}, nil
	}
	return c, err
}

// transcriptOf returns the transcript of the conversation at p. It adds losses
// and the number of branches to e.
func transcriptOf(v *store.View, p *store.Place, o ExportOptions, e *Export) (*transcript.Transcript, error) {
	path := p.Path(p.Node)
	nodes := path
	if o.Tree {
		nodes = p.Every()
	}
	if err := p.Unique(nodes); err != nil {
		return nil, err
	}
	stored, err := v.Messages(p.Line, nodes)
	if err != nil {
		return nil, err
	}
	ids, parents := make([]string, len(nodes)), make([]string, len(nodes))
	list := make([]*transcript.Message, len(nodes))
	missing, named := 0, 0
	for i, n := range nodes {
		if parent := p.Parent(n); parent >= 0 {
			parents[i] = p.ID(parent)
		}
		ids[i] = stored[i].ID
		list[i] = transcript.FromSession(stored[i], parents[i])
		if o.Format.Sessions {
			named += assets(list[i])
			continue
		}
		missing += inline(v, list[i])
	}
	if named > 0 {
		e.Lost = append(e.Lost, transcript.Loss{What: "contents of attachments (only their names were written)", Count: named})
	}
	if missing > 0 {
		e.Lost = append(e.Lost, transcript.Loss{What: "missing attachments", Count: missing})
	}
	e.Branches, _ = importer.EndsOf(ids, parents)
	t := &transcript.Transcript{Format: o.Format.Name}
	for _, i := range transcript.ActiveLast(ids, parents, p.MessageID()) {
		t.Messages = append(t.Messages, list[i])
	}
	t.Leaf = p.MessageID()
	if o.Format.Sessions {
		if t.Logged, err = logged(v, p, o.Tree); err != nil {
			return nil, err
		}
	}
	first := p.Parts[0]
	describeTranscript(v, t, first, o.Format.Name)
	if t.Title = entryOf(v, p.Parts[p.Named].ID).Title; o.Format.Name == t.Format && t.Title == untitled(v, p.Line) {
		t.Title = "" // as it was imported
	}
	e.place(v, t, first.ID, o)
	if t.Created.IsZero() {
		t.Created, _ = session.ParseTime(first.CreatedAt)
	}
	return t, nil
}

// place sets the folder of a transcript: the given one, else the conversation's, which another machine
// may know by another path, else that of the caller.
func (e *Export) place(v *store.View, t *transcript.Transcript, id string, o ExportOptions) {
	e.project = v.ProjectOf(id)
	_, foreign := v.From(id)
	switch {
	case o.Dir != "":
		t.Dir = o.Dir
	case foreign && e.project != nil:
		if folder := v.FolderOf(*e.project); folder != "" {
			t.Dir = folder
		} else if folder, ok := placeNear(*e.project, t.Dir, o.here); ok {
			t.Dir = folder
		} else if o.here != "" {
			t.Dir, e.away = o.here, e.project.String()
		}
	case o.here != "" && !isDir(t.Dir):
		t.Dir, e.away = o.here, t.Dir
	}
}

// placeNear returns the folder of a project if one of some folders is in its repository.
func placeNear(p project.Project, folders ...string) (folder string, ok bool) {
	for _, near := range folders {
		at, top, ok := project.Of(near, os.Getenv)
		if ok && at == p {
			return near, true
		}
		if ok && at.ID == p.ID && isDir(p.In(top)) {
			return p.In(top), true
		}
	}
	return "", false
}

// logged returns the records in the files of a conversation that belong to no
// message: all with tree, else those that a snapshot of p has.
func logged(v *store.View, p *store.Place, tree bool) (alone session.Records, err error) {
	var all session.Records
	if tree {
		for _, part := range p.Parts {
			all.Add(part.Records())
		}
	} else {
		d, err := checkpoint.View(p.Tree, p.Node, p.Parts[0], v.Reopen)
		if err != nil {
			return alone, err
		}
		all = d.Records
	}
	each := func(list []session.Record, of func(*session.Records) []session.Record) (alone []session.Record) {
		for _, r := range list {
			if r.Part == nil {
				alone = append(alone, r)
				continue
			}
			s, openErr := v.Reopen(r.Part)
			if openErr != nil {
				err = openErr
				continue
			}
			records := s.Records()
			alone = append(alone, of(&records)...)
		}
		return alone
	}
	alone.Lifecycles = each(all.Lifecycles, func(r *session.Records) []session.Record { return r.Lifecycles })
	alone.Calls = each(all.Calls, func(r *session.Records) []session.Record { return r.Calls })
	alone.Results = each(all.Results, func(r *session.Records) []session.Record { return r.Results })
	return alone, err
}

// untitled returns the title that an import derived from the first words of a
// conversation. It returns "" if the conversation had a title or was not
// imported.
func untitled(v *store.View, l *store.Line) string {
	source := gjson.GetBytes(l.Parts[0].Own(importer.OwnSources), "0")
	if !source.Exists() || source.Get("title").Str != "" {
		return ""
	}
	if said := source.Get("said").Str; said != "" {
		return said
	}
	s, err := v.Reopen(l.Parts[0])
	if err != nil {
		return ""
	}
	var of importer.Spool // an earlier version of bough, which did not record such a title, imported it
	for _, m := range s.Messages {
		of.Entitle(transcript.FromSession(m, ""))
	}
	if importer.Shortened(l.Parts[0].Meta.Title, of.Title) {
		return l.Parts[0].Meta.Title
	}
	return of.Title
}

// describeTranscript sets the properties of the conversation that were recorded at its
// import. If it was not imported from format, those of another format are used.
func describeTranscript(v *store.View, t *transcript.Transcript, first *session.Outline, format string) {
	t.Sources = first.Own(importer.OwnSources)
	sources := gjson.ParseBytes(t.Sources).Array()
	for i := range sources { // paths on this machine are private
		if without, err := sjson.DeleteBytes(t.Sources, fmt.Sprintf("%d.path", i)); err == nil {
			t.Sources = without
		}
	}
	n := slices.IndexFunc(sources, func(s gjson.Result) bool { return s.Get("format").Str == format })
	if n < 0 && len(sources) == 0 {
		return
	}
	source := sources[max(n, 0)]
	t.ID, t.Dir, t.Version, t.Model = source.Get("id").String(), source.Get("directory").String(), source.Get("version").String(), source.Get("model").String()
	t.Format = source.Get("format").String()
	if t.Format == format {
		t.Records = records.Split([]byte(source.Get("records").Raw))
	}
}

// assets returns the number of attachments of m.
func assets(m *transcript.Message) (n int) {
	for i := range m.Parts {
		if m.Parts[i].Asset != nil {
			n++
		}
	}
	return n
}

// inline embeds the attachments of m and returns how many are missing.
func inline(v *store.View, m *transcript.Message) (missing int) {
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Asset == nil {
			continue
		}
		data, err := attachment(v, p.Asset)
		if err != nil {
			missing++
			continue
		}
		meta := []byte(p.Meta)
		if len(meta) == 0 {
			meta = []byte("{}")
		}
		meta, _ = sjson.SetBytes(meta, "type", "base64")
		meta, _ = sjson.SetBytes(meta, "media_type", p.Asset.MIME)
		meta, _ = sjson.SetBytes(meta, "data", base64.StdEncoding.EncodeToString(data))
		p.Meta, p.Asset = json.RawMessage(meta), nil
	}
	return missing
}

func attachment(v *store.View, a *content.Asset) ([]byte, error) {
	if !lines.ValidSum(a.SHA256) {
		return nil, fs.ErrNotExist
	}
	f, err := store.OpenFile(v.Root, a.SHA256)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// Save writes the export to a new private file and flushes it to disk. If the
// file exists, the error has the code [fault.Refused].
func (e *Export) Save(ctx context.Context, path string) error {
	return e.saved(outfile.Create(ctx, path, e.Data))
}

// Replace is [Export.Save], but replaces a regular file and keeps its
// permissions. A symbolic link stays; its target is replaced.
func (e *Export) Replace(ctx context.Context, path string) error {
	return e.saved(outfile.Replace(ctx, path, e.Data))
}

// saved sets the path of the export, unless there is an error.
func (e *Export) saved(path string, err error) error {
	if err == nil {
		e.Path = session.ID(path)
	}
	return err
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
