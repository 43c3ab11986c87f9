// The sheets below the columns: what each pass changed, rewrites, fusion, time.
const sheets = new Map(); // by name: { tab, el, open }

function addSheet(name, el, open) {
  const tab = make('button', '', name);
  tab.id = 'tab-' + name.toLowerCase();
  tab.setAttribute('role', 'tab');
  tab.setAttribute('aria-controls', 'sheet-' + name.toLowerCase());
  tab.addEventListener('click', () => openSheet(name));
  el.className = 'sheet';
  el.id = 'sheet-' + name.toLowerCase();
  el.setAttribute('role', 'tabpanel');
  el.setAttribute('aria-labelledby', tab.id);
  sheets.set(name, { tab, el, open });
  document.getElementById('tabs').append(tab);
  document.getElementById('sheets').append(el);
}

function openSheet(name) {
  for (const [n, s] of sheets) {
    s.tab.setAttribute('aria-selected', n === name);
    s.tab.tabIndex = n === name ? 0 : -1;
    s.el.hidden = n !== name;
  }
  const { open } = sheets.get(name);
  if (open) open();
}

// Arrow keys go from tab to tab.
document.getElementById('tabs').addEventListener('keydown', (e) => {
  const names = [...sheets.keys()];
  const at = names.findIndex((n) => sheets.get(n).tab === document.activeElement);
  const way = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
  if (at < 0 || !way) return;
  const next = names[(at + way + names.length) % names.length];
  openSheet(next);
  sheets.get(next).tab.focus();
});

// Rewrites: the list of all, or of those that a word is found in.
const found = make('span');
const filter = make('input');
filter.type = 'search';
filter.placeholder = 'pass, rule, value or place';
filter.setAttribute('aria-label', 'Filter the rewrites');
const rewriteList = new List({ label: 'Rewrites', draw: drawRewrite, pick: jump });
const placeOf = (w) => (w.place < 0 ? null : data.places[w.place]);

function drawRewrite(w) {
  const cells = [w.pass, w.rule, w.name, within(w.within), where(placeOf(w))];
  const row = make('div', 'row', make('span', 'cells rewrite', ...cells.map((c) => make('span', '', c))));
  row.classList.toggle('hot', w.value > 0 && w.value === choice.value);
  return row;
}

// jump shows the value that was rewritten in the column before the pass.
function jump(w) {
  const p = placeOf(w);
  w.value ? chooseValue(w.value, null) : choose(0, new Set(p ? [lineOf(p)] : []), null);
  const column = columns.find((c) => c.model === steps[w.step]);
  column.el.scrollIntoView({ block: 'nearest', inline: 'center' });
}

function fillRewrites() {
  const word = filter.value.trim().toLowerCase();
  const rows = data.rewrites.filter((w) => [w.pass, w.rule, w.name, where(placeOf(w))].join(' ').toLowerCase().includes(word));
  found.textContent = word ? rows.length + ' of ' + count(data.rewrites.length, 'rewrite') : count(rows.length, 'rewrite');
  rewriteList.show(rows);
}
filter.addEventListener('input', fillRewrites);
addSheet('Rewrites', make('div', '', make('div', 'tools', filter, found), rewriteList.el), fillRewrites);

// Diff: one pass against what it found.
const pick = make('select');
pick.setAttribute('aria-label', 'Pass');
steps.slice(1).forEach((s) => pick.append(new Option(s.step.pass, s.index)));
const around = make('input');
around.type = 'checkbox';
around.checked = true;
const diffList = new List({ label: 'Difference', draw: drawDiff, pick: (r) => r.value && chooseValue(r.value, null) });
const contextLines = 3;

// diffRows lists the lines of a step with those that are gone, which stand above
// what came in their place.
function diffRows(index) {
  const now = steps[index];
  const before = steps[index - 1];
  const same = now.step.same;
  const rows = [];
  let k = 0;
  const removed = (end) => { for (; k < end; k++) rows.push({ sign: '−', step: before, i: k, value: before.value(k) }); };
  for (let i = 0; i < now.count; ) {
    let next = i;
    while (next < now.count && same[next] < 0) next++;
    removed(next < now.count ? same[next] : before.count);
    for (; i < next; i++) rows.push({ sign: '+', step: now, i, value: now.value(i) });
    if (i < now.count) rows.push({ sign: ' ', step: now, i, value: now.value(i++) });
    k = Math.max(k, next < now.count ? same[next] + 1 : before.count);
  }
  removed(before.count);
  return around.checked ? nearChanges(rows) : rows;
}

function nearChanges(rows) {
  const keep = new Array(rows.length).fill(false);
  rows.forEach((r, i) => {
    if (r.sign === ' ') return;
    for (let k = Math.max(0, i - contextLines); k <= Math.min(rows.length - 1, i + contextLines); k++) keep[k] = true;
  });
  return rows.filter((r, i) => {
    if (keep[i]) r.gap = i > 0 && !keep[i - 1];
    return keep[i];
  });
}

function drawDiff(r) {
  const sign = make('span', 'sign', r.sign === '+' ? make('i', '', '+') : make('b', '', r.sign));
  const row = make('div', 'row', make('span', 'gutter', String(r.i + 1)), sign, words(r.step.text(r.i), (n) => r.step.named(r.i, n)));
  row.classList.toggle('added', r.sign === '+');
  row.classList.toggle('gone', r.sign === '−');
  row.classList.toggle('gap', !!r.gap);
  row.classList.toggle('hot', r.value > 0 && r.value === choice.value);
  return row;
}

function fillDiff() {
  if (steps.length > 1) diffList.show(diffRows(Number(pick.value)));
}
function showDiff(index) {
  pick.value = index;
  openSheet('Diff');
}
pick.addEventListener('change', fillDiff);
around.addEventListener('change', fillDiff);
const diffTools = steps.length > 1
  ? make('div', 'tools', pick, make('label', '', around, ' Only changes and what is around them'))
  : make('p', 'note', 'No pass has changed the graph.');
addSheet('Diff', make('div', '', diffTools, diffList.el), fillDiff);

// Fusion: rules, then candidates that were turned down.
function cell(text, className) { return make('td', className, text); }
function table(heads, rows) {
  const head = make('tr', '', ...heads.map(([text, c]) => make('th', c, text)));
  return make('table', '', make('thead', '', head), make('tbody', '', ...rows));
}

const allRules = make('input');
allRules.type = 'checkbox';
const ruleTable = make('div');
function fillFusion() {
  const rules = data.fusions.filter((r) => allRules.checked || r.matches > 0);
  const rows = rules.map((r) => make('tr', '', cell(r.rule), cell(make('code', '', r.pattern || '')), cell(r.required ? 'required' : r.enabled ? 'on' : 'off'),
    cell(String(r.matches), 'n'), cell(String(r.effects), 'n'), cell(r.doc || '')));
  ruleTable.replaceChildren(rules.length > 0
    ? table([['rule'], ['pattern'], ['enabled'], ['matches', 'n'], ['effects', 'n'], ['what it does']], rows)
    : make('p', 'note', 'No rule matches.'));
}
allRules.addEventListener('change', fillFusion);

const refusals = data.fusions.flatMap((r) => (r.refused || []).map((x) => ({ rule: r.rule, ...x })));
const refusalList = new List({ label: 'Refused candidates', draw: drawRefusal, pick: (x) => choosePlace(x.value, x.at) });
const why = (x) => (x.detail || '') + (x.count > 1 ? ` (and ${x.count - 1} more)` : '');
function drawRefusal(x) {
  const row = make('div', 'row', make('span', 'cells refusal', ...[x.rule, x.code, x.value, why(x), x.at].map((c) => make('span', '', c || ''))));
  row.title = data.reasons[x.code] || '';
  return row;
}

// choosePlace finds the value of a name and a place, in the latest step that has it.
function choosePlace(name, at) {
  const named = (text) => text.startsWith(name + ' =') || text.startsWith(name + ',');
  for (const s of [...steps].reverse()) {
    for (let i = 0; i < s.count; i++) {
      if (s.value(i) && named(s.text(i).trimStart()) && where(s.place(i)) === at) return chooseValue(s.value(i), null);
    }
  }
}
const refused = make('div', '', make('p', 'note', count(refusals.length, 'candidate') + ' refused'));
addSheet('Fusion', make('div', '', make('div', 'tools', make('label', '', allRules, ' Rules without matches too')), ruleTable, refused, refusalList.el), () => {
  fillFusion();
  refusalList.el.hidden = refusals.length === 0;
  refusalList.el.style.minHeight = Math.min(refusals.length, 8) * rowHeight + 'px';
  refusalList.show(refusals);
});

// Time: a bar for each pass that ran.
function fillTime() {
  const most = Math.max(1, ...data.passes.map((p) => p.ns));
  const rows = data.passes.map((p) => {
    const bar = make('div', 'bar');
    bar.style.width = (100 * p.ns) / most + '%';
    return make('tr', '', cell(p.name), cell(duration(p.ns), 'n'), cell(bar, 'wide'), cell(String(p.rewrites), 'n'), cell(String(p.before), 'n'), cell(String(p.after), 'n'));
  });
  const heads = [['pass'], ['time', 'n'], [''], ['rewrites', 'n'], ['values before', 'n'], ['values after', 'n']];
  sheets.get('Time').el.replaceChildren(table(heads, rows));
}
addSheet('Time', make('div'), fillTime);
