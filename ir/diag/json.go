package diag

import (
	"encoding/json"
	"io"
)

// The form of --errors=json: one object a line, its keys in this order, all of
// them always there. Lines and columns count from 1, columns in characters; 0
// is "not known".
type jsonDiagnostic struct {
	Severity  string      `json:"severity"`
	Code      string      `json:"code"`
	File      string      `json:"file"`
	Line      int         `json:"line"`
	Col       int         `json:"col"`
	EndLine   int         `json:"end_line"`
	EndCol    int         `json:"end_col"`
	Subject   string      `json:"subject"`
	Message   string      `json:"message"`
	Label     string      `json:"label"`
	Witnesses []jsonLabel `json:"witnesses"`
	Notes     []string    `json:"notes"`
	Helps     []string    `json:"helps"`
	Within    []jsonLabel `json:"within"`
}

type jsonLabel struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Col     int    `json:"col"`
	EndLine int    `json:"end_line"`
	EndCol  int    `json:"end_col"`
	Text    string `json:"text"`
}

// WriteJSON writes all of the list, one object a line.
func (l List) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, d := range l {
		if err := enc.Encode(d.json()); err != nil {
			return err
		}
	}
	return nil
}

func (d *Diagnostic) json() jsonDiagnostic {
	at := d.Place()
	end := at
	if d.Span.Src != nil {
		end = d.Span.EndLoc()
	}
	return jsonDiagnostic{
		d.Severity.String(), d.Code, at.File, at.Line, at.Col, end.Line, end.Col,
		d.Subject, d.Message, d.Label, jsonLabels(d.Witnesses),
		append([]string{}, d.Notes...), append([]string{}, d.Helps...), jsonLabels(d.Within),
	}
}

func jsonLabels(labels []Label) []jsonLabel {
	list := make([]jsonLabel, len(labels))
	for i, l := range labels {
		at, end := l.Span.Loc(), l.Span.EndLoc()
		list[i] = jsonLabel{at.File, at.Line, at.Col, end.Line, end.Col, l.Text}
	}
	return list
}
