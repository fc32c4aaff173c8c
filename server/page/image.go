package page

import (
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/bough-dev/bough/convert/html"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/lines"
)

// attachmentPolicy is the content security policy of images and attachments: if a browser
// shows one as a document, it can do nothing.
const attachmentPolicy = "default-src 'none'; sandbox"

// showImage sends an image that a message contains. Only PNG, JPEG, GIF and WebP are images.
func showImage(c *request) (view, error) {
	n, err := c.number("n", 0)
	if err != nil {
		return view{}, err
	}
	session, id := c.r.FormValue("session"), c.r.FormValue("message")
	found, err := c.workspace.Show(c.r.Context(), refOf(session, id), partial())
	if err != nil {
		return view{}, err
	}
	none := &fault.Error{Code: fault.NotFound, Message: "the message has no such image"}
	if len(found.Messages) == 0 {
		return view{}, none
	}
	m := html.MessageOf(transcript.FromSession(found.Messages[len(found.Messages)-1], ""))
	var images []string
	r := html.Renderer{Image: func(dataURL string) string {
		images = append(images, dataURL)
		return ""
	}}
	r.Body(&m)
	if n >= len(images) {
		return view{}, none
	}
	data, kind, ok := html.DecodeImage(images[n])
	if !ok {
		return view{}, none
	}
	c.w.Header().Set("Content-Security-Policy", attachmentPolicy)
	return view{Body: data, Type: kind}, nil
}

// maxFile is the size of the largest attachment that the page sends.
const maxFile = 64 << 20

// showFile sends an attachment: an image as an image, everything else as a file to save.
func showFile(c *request) (view, error) {
	sum := c.r.PathValue("sha256")
	if !lines.ValidSum(sum) {
		return view{}, &fault.Error{Code: fault.NotFound, Message: "there is no such attachment"}
	}
	f, err := c.workspace.OpenFile(c.r.Context(), sum)
	if err != nil {
		return view{}, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return view{}, err
	}
	if len(data) > maxFile {
		return view{}, &fault.Error{Code: fault.Refused, Message: "the attachment is too large for the page"}
	}
	kind := attachmentType(data)
	h := c.w.Header()
	h.Set("Content-Security-Policy", attachmentPolicy)
	if !strings.HasPrefix(kind, "image/") {
		h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": sum[:8]}))
	}
	return view{Body: data, Type: kind}, nil
}

// attachmentType returns the media type with which an attachment is sent. It depends on the
// content, not on what the conversation says about it.
func attachmentType(data []byte) string {
	switch kind := http.DetectContentType(data); kind {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return kind
	}
	return "application/octet-stream"
}
