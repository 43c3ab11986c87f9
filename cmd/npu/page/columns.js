// The columns: the source, then the graph after each pass.
const valueName = /%(?:"(?:[^"\\]|\\.)*"|[^\s,(){}=:"]+)/g;

// words makes the text of a line, whose names of values can be clicked.
function words(text, meaning) {
  const out = make('span', 'text');
  let end = 0;
  for (const m of text.matchAll(valueName)) {
    const value = meaning(m[0]);
    if (!value) continue;
    if (m.index > end) out.append(text.slice(end, m.index));
    const word = make('span', value === choice.value ? 'name hot' : 'name', m[0]);
    word.dataset.v = value;
    out.append(word);
    end = m.index + m[0].length;
  }
  out.append(text.slice(end));
  return out;
}

class Column {
  constructor(model, title, doc, note) {
    this.model = model;
    this.absent = make('span', 'absent');
    this.head = make('div', 'head', make('h2', '', title), make('span', '', note), this.absent);
    this.head.title = doc;
    this.list = new List({
      label: title,
      draw: (i, k) => this.draw(i, k),
      pick: (i, target) => this.pick(i, target),
      leave: (way) => focusColumn(columns.indexOf(this) + way),
    });
    this.el = make('section', 'column', this.head, this.list.el);
    this.el.dataset.column = title;
  }

  // fill shows all rows, or only those that change and those that are chosen.
  fill(only) {
    const rows = [];
    for (let i = 0; i < this.model.count; i++) if (!only || this.changes(i)) rows.push(i);
    this.list.show(rows);
  }

  // follow lights up what is chosen, and brings it into view unless it was chosen
  // here: where the value is not any more, the last one of its line of the source,
  // which most often took over its work.
  follow(from) {
    const [row, here] = this.hit();
    this.absent.textContent = choice.value && !here ? 'not here' : '';
    if (from !== this && row !== undefined) {
      const k = this.list.items.indexOf(row);
      if (k >= 0) {
        this.list.at = k;
        this.list.reveal(k);
      }
    }
    this.list.later();
  }

  // gap reports whether rows above a shown one are left out.
  gap(i, k) { return k > 0 && this.list.items[k - 1] !== i - 1; }
}

class StepColumn extends Column {
  constructor(model) {
    const { pass, doc } = model.step;
    super(model, pass || 'as written', doc || 'the graph as the front end made it', StepColumn.note(model));
    if (model.index > 0) {
      const diff = make('button', 'diff', 'diff');
      diff.setAttribute('aria-label', 'what ' + pass + ' changed');
      diff.addEventListener('click', () => showDiff(model.index));
      this.head.insertBefore(diff, this.absent);
    }
  }

  static note(model) {
    const values = count(model.step.value.filter((v) => v).length, 'value');
    if (model.index === 0) return values;
    const plus = model.added.filter(Boolean).length;
    const minus = steps[model.index - 1].gone.filter(Boolean).length;
    return `${values}  +${plus} −${minus}`;
  }

  changes(i) {
    return this.model.added[i] || this.model.gone[i] || (choice.value && this.model.value(i) === choice.value);
  }

  // hit is the row to look at, and whether it is the chosen value's own.
  hit() {
    const [row] = choice.value ? this.model.rows(choice.value) : [];
    if (row !== undefined) return [row, true];
    for (let i = choice.lines.size > 0 ? this.model.count - 1 : -1; i >= 0; i--) if (this.isKin(i)) return [i, false];
    return [undefined, false];
  }

  isKin(i) {
    const p = this.model.place(i);
    return p !== null && choice.lines.has(lineOf(p));
  }

  draw(i, k) {
    const m = this.model;
    const hot = choice.value > 0 && m.value(i) === choice.value;
    const sign = make('span', 'sign', m.added[i] ? make('i', '', '+') : ' ', m.gone[i] ? make('b', '', '−') : ' ');
    const row = make('div', 'row', make('span', 'gutter', String(i + 1)), sign, words(m.text(i), (name) => m.named(i, name)));
    row.classList.toggle('added', m.added[i]);
    row.classList.toggle('gone', m.gone[i]);
    row.classList.toggle('hot', hot);
    row.classList.toggle('kin', !hot && this.isKin(i));
    row.classList.toggle('gap', this.gap(i, k));
    row.title = where(m.place(i));
    return row;
  }

  pick(i, target) {
    const value = Number(target.dataset.v) || this.model.value(i);
    value ? chooseValue(value, this) : choose(0, new Set(), this);
  }
}

class SourceColumn extends Column {
  constructor(model) {
    super(model, data.files.length > 1 ? 'source' : data.files[0].name, 'the script', count(model.count, 'line'));
    this.used = new Set(data.places.map(lineOf));
  }

  changes(i) {
    const l = this.model.lines[i];
    return l.title !== undefined || this.used.has(lineOf(l));
  }

  hit() { return [this.model.row(), true]; }

  draw(i, k) {
    const l = this.model.lines[i];
    if (l.title !== undefined) return make('div', 'row title', l.title);
    const row = make('div', 'row', make('span', 'gutter', String(l.line)), make('span', 'text', l.text));
    row.classList.toggle('hot', choice.lines.has(lineOf(l)));
    row.classList.toggle('gap', this.gap(i, k));
    return row;
  }

  // pick lights up all that comes from a line.
  pick(i) {
    const l = this.model.lines[i];
    if (l.title !== undefined) return;
    const values = new Set();
    for (const s of steps) {
      for (let k = 0; k < s.count; k++) {
        const p = s.place(k);
        if (p && lineOf(p) === lineOf(l) && s.value(k)) values.add(s.value(k));
      }
    }
    choose(values.size === 1 ? [...values][0] : 0, new Set([lineOf(l)]), this);
  }
}

const columns = [];
if (data.files.length > 0) columns.push(new SourceColumn(new SourceModel(data.files)));
for (const s of steps) columns.push(new StepColumn(s));

function focusColumn(k) {
  if (k < 0 || k >= columns.length) return;
  columns[k].list.el.focus();
  columns[k].el.scrollIntoView({ block: 'nearest', inline: 'nearest' });
}
