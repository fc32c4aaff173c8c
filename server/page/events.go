package page

import "net/http"

// events sends the events of the workspace, with the ids and data of the native API.
func (p *Page) events(w http.ResponseWriter, r *http.Request) { p.opts.Events.ServeHTTP(w, r) }
