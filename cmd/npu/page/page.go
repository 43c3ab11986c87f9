package page

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/npulang/npu"
)

//go:embed page.html page.css *.js
var parts embed.FS

// scripts are the parts of the page's program, in the order in which they run.
var scripts = []string{"model.js", "list.js", "columns.js", "panels.js", "picture.js", "main.js"}

// The page is put together by html/template, which keeps the title in its place;
// style, scripts and data are whole elements that this package vouches for.
var layout = template.Must(template.New("page.html").ParseFS(parts, "page.html"))

// Write writes the report of an exploration as an HTML page. The error is the
// writer's.
func Write(w io.Writer, e *npu.Exploration) error {
	data, err := json.Marshal(newData(e)) // < and > come out as \u003c and \u003e
	if err != nil {
		return err
	}
	style := read("page.css") + npu.PictureStyle
	var program strings.Builder
	program.WriteString("'use strict';\n(() => {\n")
	for _, name := range scripts {
		program.WriteString(read(name))
	}
	program.WriteString("})();\n")
	return layout.Execute(w, map[string]any{
		"Title":  "npu report: " + e.Graph,
		"Policy": "default-src 'none'; base-uri 'none'; form-action 'none'; style-src " + digest(style) + "; script-src " + digest(program.String()),
		"Style":  template.HTML("<style>" + style + "</style>"),
		"Data":   template.HTML(`<script type="application/json" id="data">` + string(data) + "</script>"),
		"Script": template.HTML("<script>" + program.String() + "</script>"),
	})
}

func read(name string) string {
	b, err := parts.ReadFile(name)
	if err != nil {
		panic(err) // the names are fixed
	}
	return string(b)
}

// digest allows one style sheet or script in the page's policy.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return fmt.Sprintf("'sha256-%s'", base64.StdEncoding.EncodeToString(sum[:]))
}
