// The data, with what is looked up in it. A value has one number in all columns.
const data = JSON.parse(document.getElementById('data').textContent);

// choice is what lights up: a value, and lines of the source.
const choice = { value: 0, lines: new Set() };

// lineOf is the key of a line of the source. Places know theirs: columns ask for
// it in every row.
const lineOf = (p) => (p.key ??= p.file + '\n' + p.line);

// A StepModel answers for one step what its column asks.
class StepModel {
  constructor(step, index) {
    this.step = step;
    this.index = index;
    this.count = step.text.length;
    this.added = index > 0 ? step.same.map((s) => s < 0) : step.same.map(() => false);
    this.gone = new Array(this.count).fill(false); // what the next step lacks
  }

  text(i) { return data.texts[this.step.text[i]]; }
  value(i) { return this.step.value[i]; }
  place(i) { return this.step.place[i] < 0 ? null : data.places[this.step.place[i]]; }

  // named finds the value that a name means in a line: of its own function, else
  // of one around it, else (the parameters in a head) of one that begins there.
  named(i, name) {
    if (!this.names) this.indexNames();
    for (let s = this.step.scope[i]; s >= 0; s = this.step.scopes[s]) {
      const found = this.names[s].get(name);
      if (found) return found;
    }
    const next = i + 1 < this.count ? this.step.scope[i + 1] : 0;
    return this.names[next].get(name) || 0;
  }

  indexNames() {
    this.names = this.step.scopes.map(() => new Map());
    const { scope, name, value } = this.step.names;
    name.forEach((n, k) => this.names[scope[k]].set(data.texts[n], value[k]));
  }

  // rows lists the lines of a value.
  rows(value) {
    if (!this.byValue) {
      this.byValue = new Map();
      this.step.value.forEach((v, i) => {
        if (v) this.byValue.has(v) ? this.byValue.get(v).push(i) : this.byValue.set(v, [i]);
      });
    }
    return this.byValue.get(value) || [];
  }
}

const steps = data.steps.map((s, i) => new StepModel(s, i));
steps.forEach((s, k) => {
  if (k === 0) return;
  const kept = new Set(s.step.same);
  const before = steps[k - 1];
  for (let i = 0; i < before.count; i++) before.gone[i] = !kept.has(i);
});

// SourceModel is the first column: the files one after the other.
class SourceModel {
  constructor(files) {
    this.lines = [];
    for (const f of files) {
      if (files.length > 1) this.lines.push({ title: f.name });
      f.lines.forEach((text, k) => this.lines.push({ text, file: f.name, line: k + 1 }));
    }
    this.count = this.lines.length;
  }

  // row is the first line that is chosen.
  row() {
    const i = this.lines.findIndex((l) => !l.title && choice.lines.has(lineOf(l)));
    return i < 0 ? undefined : i;
  }
}

// placesOf gathers the lines of the source that a value comes from.
function placesOf(value) {
  const lines = new Set();
  for (const s of steps) {
    for (const i of s.rows(value)) {
      const p = s.place(i);
      if (p) lines.add(lineOf(p));
    }
  }
  return lines;
}

// describe says a value in words: its first line, and where it comes from.
function describe(value) {
  for (const s of steps) {
    const [i] = s.rows(value);
    if (i === undefined) continue;
    const p = s.place(i);
    return s.text(i).trim() + (p ? '  ' + where(p) : '');
  }
  return '';
}

const where = (p) => (p ? p.file + ':' + p.line + (p.col ? ':' + p.col : '') : '');

// chosen tells those who listen that something else lights up.
const listeners = [];
function choose(value, lines, from) {
  choice.value = value;
  choice.lines = lines;
  for (const tell of listeners) tell(from);
}
const chooseValue = (value, from) => choose(value, placesOf(value), from);

// make builds an element: texts are always text.
function make(tag, className, ...children) {
  const e = document.createElement(tag);
  if (className) e.className = className;
  e.append(...children.filter((c) => c !== null && c !== undefined));
  return e;
}
const count = (n, one) => n.toLocaleString('en') + ' ' + one + (n === 1 ? '' : 's');
const within = (x) => (x > 0 ? 'within ' + x.toExponential() : '');
function duration(ns) {
  if (ns < 1e3) return ns + ' ns';
  if (ns < 1e6) return (ns / 1e3).toFixed(0) + ' µs';
  return (ns / 1e6).toFixed(ns < 1e7 ? 2 : 1) + ' ms';
}
