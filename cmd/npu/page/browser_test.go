package page_test

import (
	"context"
	"fmt"
	"math"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/npulang/npu"
)

// browsers are the names under which the browser is looked for.
var browsers = []string{"chromium", "chromium-browser", "google-chrome", "chrome", "headless-shell"}

// A tab is a page in a browser without a window.
type tab struct {
	*testing.T
	ctx context.Context

	mu     sync.Mutex
	faults []string // what went out, and what went wrong
}

// open writes a report into a file and opens it.
func open(t *testing.T, e *npu.Exploration) *tab {
	t.Helper()
	browser := ""
	for _, name := range browsers {
		if path, err := exec.LookPath(name); err == nil {
			browser = path
			break
		}
	}
	if browser == "" {
		t.Skip("needs a browser: " + strings.Join(browsers, ", "))
	}
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, []byte(write(t, e)), 0o666); err != nil {
		t.Fatal(err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(browser), chromedp.NoSandbox, chromedp.WindowSize(1600, 1000))
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &tab{T: t, ctx: ctx}
	address := (&url.URL{Scheme: "file", Path: filepath.ToSlash(file)}).String()
	b.must(chromedp.Listen(ctx, func(event any) { b.listen(event, address) }))
	_, err := chromedp.Call(ctx, network.Enable, network.EnableParams{})
	b.must(err)
	_, err = chromedp.Call(ctx, log.Enable, cdp.Empty{})
	b.must(err)
	b.do(chromedp.Navigate(address))
	return b
}

func (b *tab) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// listen notes requests other than for the page itself, and errors.
func (b *tab) listen(event any, address string) {
	fault := ""
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if e.Request.URL != address {
			fault = "a request for " + e.Request.URL
		}
	case *runtime.EventExceptionThrown:
		fault = "an exception: " + e.ExceptionDetails.Text
	case *runtime.EventConsoleAPICalled:
		fault = "on the console: " + string(e.Type)
	case *log.EventEntryAdded:
		fault = "in the log: " + e.Entry.Text
	}
	if fault != "" {
		b.mu.Lock()
		b.faults = append(b.faults, fault)
		b.mu.Unlock()
	}
}

// check fails for all that was noted.
func (b *tab) check() {
	b.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.faults {
		b.Error(f)
	}
}

// patience bounds how long a page may take for one step.
const patience = time.Minute

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	b.must(chromedp.Do(ctx, actions...))
}

// eval runs a script after the next two frames, when what was chosen is drawn.
func eval[T any](b *tab, script string) T {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	wait := "new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(() => r(" + script + "))))"
	out, err := chromedp.Run(ctx, chromedp.Evaluate[T](wait, chromedp.EvalAwaitPromise))
	b.must(err)
	return out
}

// click clicks with the mouse on the middle of an element. Lists make their rows
// anew at any time, so that a place is clicked rather than a node.
func (b *tab) click(selector string) {
	b.Helper()
	at := eval[[]float64](b, fmt.Sprintf(`(() => {
		const e = document.querySelector(%q);
		if (!e) return [];
		e.scrollIntoView({ block: 'nearest', inline: 'nearest' });
		const r = e.getBoundingClientRect();
		return [r.x + r.width / 2, r.y + r.height / 2];
	})()`, selector))
	if len(at) == 0 {
		b.Fatalf("there is no %s", selector)
	}
	b.do(chromedp.MouseClickXY(at[0], at[1]))
}

// lit lists the texts of the rows that are lit up, by column.
func (b *tab) lit() map[string][]string {
	b.Helper()
	return eval[map[string][]string](b, `Object.fromEntries([...document.querySelectorAll('.column')].map((c) =>
		[c.dataset.column, [...c.querySelectorAll('.row.hot')].map((r) => r.textContent)]))`)
}

// row is a selector for a line of a column, which must be in view.
func (b *tab) row(column, text string) string {
	b.Helper()
	id := eval[string](b, fmt.Sprintf(`[...document.querySelectorAll('.column')].filter((c) => c.dataset.column === %q)
		.flatMap((c) => [...c.querySelectorAll('.row')]).find((r) => r.textContent.includes(%q))?.id || ''`, column, text))
	if id == "" {
		b.Fatalf("column %s has no line in view with %q", column, text)
	}
	return "#" + id
}

// TestBrowser goes through a report as a reader does.
func TestBrowser(t *testing.T) {
	e := explore(t, small)
	b := open(t, e)

	b.click(b.row("as written", "%h = relu") + " .sign")
	lit := b.lit()
	for _, s := range e.Steps[1:] {
		if rows := lit[s.Pass]; len(rows) == 0 || !strings.Contains(rows[0], "%h") {
			t.Errorf("column %s lights up %q, not the line of %%h", s.Pass, rows)
		}
	}
	if rows := lit["in.npu"]; len(rows) != 1 || !strings.Contains(rows[0], "h = relu(x @ w + b)") {
		t.Errorf("of the source %q lights up", rows)
	}
	if text := eval[string](b, `document.getElementById('chosen').textContent`); !strings.Contains(text, "%h = relu") || !strings.Contains(text, "in.npu:4:9") {
		t.Errorf("the value is described as %q", text)
	}

	b.click(b.row("in.npu", "h = relu") + " .gutter") // a line of the source
	if kin := eval[int](b, `document.querySelectorAll('[data-column="as written"] .row.kin').length`); kin < 3 {
		t.Errorf("the line of the source lights up %d values, want those of matmul, add and relu", kin)
	}

	b.click(`[data-column="canonicalise"] .diff`)
	if signs := eval[string](b, `[...document.querySelectorAll('#sheet-diff .row')].map((r) => r.querySelector('.sign').textContent.trim()).join('')`); !strings.Contains(signs, "−+") {
		t.Errorf("the difference has the signs %q", signs)
	}

	before := eval[int](b, `document.querySelectorAll('.column .row').length`)
	b.click("#only")
	if after := eval[int](b, `document.querySelectorAll('.column .row').length`); after >= before || after == 0 {
		t.Errorf("%d rows, and %d of them are changes", before, after)
	}
	b.click("#only")

	b.click("#tab-rewrites")
	b.do(chromedp.SendKeys(chromedp.CSS("#sheet-rewrites input"), "merge-equal"))
	b.click("#sheet-rewrites .row")
	if name := eval[string](b, `document.querySelector('#sheet-rewrites .row.hot')?.textContent || ''`); !strings.Contains(name, "merge-equal") {
		t.Errorf("a rewrite that was clicked shows %q", name)
	}

	b.click("#tab-fusion")
	b.click("#sheet-fusion input")
	b.click("#tab-time")
	if bars := eval[int](b, `document.querySelectorAll('#sheet-time .bar').length`); bars != len(e.Record.Passes) {
		t.Errorf("%d bars for %d passes", bars, len(e.Record.Passes))
	}
	b.check()
}

// TestBrowserPicture looks at the pictures.
func TestBrowserPicture(t *testing.T) {
	b := open(t, explore(t, small))
	b.click("#tab-after")
	seen := func() string {
		return eval[string](b, `document.querySelector('#sheet-after svg').getAttribute('viewBox')`)
	}
	all := seen()
	b.click(`#sheet-after [aria-label="Zoom in"]`)
	if now := seen(); now == all {
		t.Error("zooming changes nothing")
	}
	b.click("#tab-before")
	b.click(`#sheet-before .node.cube`)
	if rows := b.lit()["as written"]; len(rows) != 1 || !strings.Contains(rows[0], "matmul") {
		t.Errorf("the node of a product lights up %q", rows)
	}
	if n := eval[int](b, `document.querySelectorAll('#sheet-before .node.hot').length`); n != 1 {
		t.Errorf("%d nodes light up", n)
	}
	fill := `getComputedStyle(document.querySelector('#sheet-before .node.cube rect')).fill`
	if color := eval[string](b, fill); color == "rgb(0, 0, 0)" {
		t.Error("the style sheet of pictures is not there")
	}
	b.check()
}

// TestBrowserKeyboard does without a mouse.
func TestBrowserKeyboard(t *testing.T) {
	b := open(t, explore(t, small))
	list := chromedp.CSS(`[data-column="as written"] .list`)
	b.do(chromedp.Focus(list), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.Enter))
	if rows := b.lit()["as written"]; len(rows) == 0 || !strings.Contains(rows[0], "param") {
		t.Errorf("two times down and Enter light up %q", rows)
	}
	b.do(chromedp.KeyEvent(kb.ArrowRight))
	if at := eval[string](b, `document.activeElement.closest('.column').dataset.column`); at == "as written" {
		t.Error("the arrow to the right does not lead to the next column")
	}
	b.do(chromedp.KeyEvent(kb.Escape))
	for column, rows := range b.lit() {
		if len(rows) > 0 {
			t.Errorf("after Escape column %s lights up %q", column, rows)
		}
	}
	b.check()
}

// clickFar scrolls the first column of the graph down to a row, clicks the next
// tanh, which no pass changes, and returns its name and how many milliseconds it
// took until all columns were drawn.
func (b *tab) clickFar(row int) (name string, ms float64) {
	b.Helper()
	click := eval[struct {
		Name string
		Took float64
	}](b, fmt.Sprintf(`(() => {
		const list = document.querySelector('[data-column="as written"] .list');
		list.scrollTop = %d * 18;
		return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => {
			const row = [...list.querySelectorAll('.row')].find((r) => /%%h\d+ = tanh/.test(r.textContent));
			const start = performance.now();
			row.click();
			requestAnimationFrame(() => setTimeout(() => done({ name: row.textContent.match(/%%h\d+ =/)[0], took: performance.now() - start })));
		})));
	})()`, row))
	return click.Name, click.Took
}

// TestBrowserLarge opens a graph of 3,000 nodes, and clicks.
func TestBrowserLarge(t *testing.T) {
	e := explore(t, large(3000))
	b := open(t, e)
	b.do(chromedp.WaitVisible(chromedp.CSS(".row")))
	opened := eval[float64](b, `performance.getEntriesByType('navigation')[0].domComplete`)
	elements := eval[int](b, `document.querySelectorAll('*').length`)
	name, took := "", math.Inf(1)
	for _, row := range []int{500, 1000, 1500, 2000, 2500} {
		var ms float64
		name, ms = b.clickFar(row)
		took = min(took, ms)
	}
	t.Logf("opened in %.0f ms, %d elements, a click in %.0f ms", opened, elements, took)
	// The machine may be busy with other tests: alone, both take a tenth of this.
	if opened > 10_000 || took > 2000 || elements > 20_000 {
		t.Error("too slow, or too many elements")
	}
	lit := b.lit()
	if len(lit) != len(e.Steps)+1 {
		t.Errorf("%d columns, want %d", len(lit), len(e.Steps)+1)
	}
	for column, rows := range lit {
		if len(rows) == 0 || column != "in.npu" && !strings.Contains(rows[0], name) {
			t.Errorf("column %s lights up %q", column, rows)
		}
	}
	b.click(`[data-column="` + e.Steps[1].Pass + `"] .diff`)
	start := time.Now()
	b.click("#tab-after")
	nodes := eval[int](b, `document.querySelectorAll('#sheet-after .node.hot').length`)
	t.Logf("the picture is there after %v", time.Since(start).Round(time.Millisecond))
	if nodes == 0 {
		t.Error("the value does not light up in the picture")
	}
	b.check()
}
