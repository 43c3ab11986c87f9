// A List shows rows of one height, and holds elements only for those in view.
const rowHeight = 18;
const overscan = 12;

class List {
  // draw makes the element of a row; pick is told of a click or Enter; leave of
  // arrow keys to the left (-1) and right (1).
  constructor({ label, draw, pick, leave }) {
    this.draw = draw;
    this.pick = pick;
    this.leave = leave;
    this.items = [];
    this.at = -1;
    this.size = make('div', 'size');
    this.body = make('div', 'rows');
    this.el = make('div', 'list', this.size, this.body);
    this.el.tabIndex = 0;
    this.el.setAttribute('role', 'listbox');
    this.el.setAttribute('aria-label', label);
    this.id = 'list' + List.made++;
    this.el.addEventListener('scroll', () => this.later());
    this.el.addEventListener('click', (e) => this.click(e));
    this.el.addEventListener('keydown', (e) => this.key(e));
    new ResizeObserver(() => this.later()).observe(this.el);
  }

  // show takes the rows: any list; draw gets its members.
  show(items) {
    this.items = items;
    this.at = Math.min(this.at, items.length - 1);
    this.size.style.height = items.length * rowHeight + 'px';
    this.render();
  }

  later() {
    if (this.waits) return;
    this.waits = true;
    requestAnimationFrame(() => { this.waits = false; this.render(); });
  }

  render() {
    const first = Math.max(0, Math.floor(this.el.scrollTop / rowHeight) - overscan);
    const last = Math.min(this.items.length, Math.ceil((this.el.scrollTop + this.el.clientHeight) / rowHeight) + overscan);
    const rows = [];
    for (let k = first; k < last; k++) rows.push(this.row(k));
    this.body.style.transform = `translateY(${first * rowHeight}px)`;
    this.body.replaceChildren(...rows);
    const active = this.at >= first && this.at < last;
    active ? this.el.setAttribute('aria-activedescendant', this.id + '-' + this.at) : this.el.removeAttribute('aria-activedescendant');
  }

  row(k) {
    const e = this.draw(this.items[k], k);
    e.id = this.id + '-' + k;
    e.dataset.k = k;
    e.classList.toggle('at', k === this.at);
    e.setAttribute('role', 'option');
    e.setAttribute('aria-posinset', k + 1);
    e.setAttribute('aria-setsize', this.items.length);
    e.setAttribute('aria-selected', e.classList.contains('hot'));
    return e;
  }

  // reveal brings a row into view, in the middle if it was not.
  reveal(k) {
    const top = k * rowHeight;
    if (top < this.el.scrollTop || top + rowHeight > this.el.scrollTop + this.el.clientHeight) {
      this.el.scrollTop = Math.max(0, top - this.el.clientHeight / 2);
    }
    this.later();
  }

  click(e) {
    const row = e.target.closest('.row');
    if (!row) return;
    this.at = Number(row.dataset.k);
    this.pick(this.items[this.at], e.target);
    this.later();
  }

  key(e) {
    const page = Math.max(1, Math.floor(this.el.clientHeight / rowHeight) - 1);
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (e.key in moves) {
      this.at = Math.max(0, Math.min(this.items.length - 1, this.at + moves[e.key]));
      this.reveal(this.at);
    } else if ((e.key === 'Enter' || e.key === ' ') && this.at >= 0) {
      this.pick(this.items[this.at], this.el);
    } else if ((e.key === 'ArrowLeft' || e.key === 'ArrowRight') && this.leave) {
      this.leave(e.key === 'ArrowLeft' ? -1 : 1);
    } else {
      return;
    }
    e.preventDefault();
  }
}
List.made = 0;
