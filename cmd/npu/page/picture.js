// The pictures: one at a time, made when it is looked at first.
const views = [['Before', data.before], ['After', data.after]].map(([name, svg]) => new View(name, svg));

function View(name, svg) {
  const canvas = make('div', 'canvas');
  canvas.tabIndex = 0;
  canvas.setAttribute('role', 'group');
  canvas.setAttribute('aria-label', 'Graph ' + name.toLowerCase() + ': drag or use the arrow keys to move, + and - to zoom, 0 to see all');
  const tools = make('div', 'tools');
  let root = null;
  let whole = null;
  let box = null; // what is seen: x, y, width, height in units of the picture
  let nodes = new Map();

  const apply = () => root && root.setAttribute('viewBox', [box.x, box.y, box.w, box.h].join(' '));
  const fit = () => { box = { ...whole }; apply(); };

  // start shows the width, and as much of the height as fits: long graphs begin
  // at their top.
  const start = () => {
    const r = canvas.getBoundingClientRect();
    const scale = Math.min(1.2, Math.max(0.35, r.width / whole.w));
    box = { w: r.width / scale, h: r.height / scale, x: 0, y: 0 };
    box.x = (whole.w - box.w) / 2;
    apply();
  };

  // zoom keeps a point of the picture where it is.
  const zoom = (factor, px = 0.5, py = 0.5) => {
    const w = Math.min(Math.max(box.w * factor, 60), Math.max(whole.w, whole.h) * 8);
    const f = w / box.w;
    box = { x: box.x + box.w * px * (1 - f), y: box.y + box.h * py * (1 - f), w, h: box.h * f };
    apply();
  };
  const move = (dx, dy) => { box.x += dx * box.w; box.y += dy * box.h; apply(); };

  const build = () => {
    if (root || !svg) return;
    canvas.innerHTML = svg; // npu wrote it, with every text escaped
    root = canvas.querySelector('svg');
    const b = root.viewBox.baseVal;
    whole = { x: b.x, y: b.y, w: b.width, h: b.height };
    root.removeAttribute('width');
    root.removeAttribute('height');
    for (const e of canvas.querySelectorAll('[data-v]')) {
      nodes.has(e.dataset.v) ? nodes.get(e.dataset.v).push(e) : nodes.set(e.dataset.v, [e]);
    }
    start();
    light();
  };

  let lit = [];
  const light = () => {
    lit.forEach((e) => e.classList.remove('hot'));
    lit = nodes.get(String(choice.value)) || [];
    lit.forEach((e) => e.classList.add('hot'));
  };

  // center moves the chosen node into view.
  const center = () => {
    const node = lit.find((e) => e.classList.contains('node'));
    if (!node || !canvas.offsetParent) return;
    const c = canvas.getBoundingClientRect();
    const n = node.getBoundingClientRect();
    if (n.left >= c.left && n.right <= c.right && n.top >= c.top && n.bottom <= c.bottom) return;
    move((n.left + n.width / 2 - c.left) / c.width - 0.5, (n.top + n.height / 2 - c.top) / c.height - 0.5);
  };
  listeners.push((from) => {
    light();
    if (root && from !== canvas) center();
  });

  canvas.addEventListener('wheel', (e) => {
    if (!root) return;
    e.preventDefault();
    const r = canvas.getBoundingClientRect();
    zoom(Math.exp(e.deltaY * 0.002), (e.clientX - r.left) / r.width, (e.clientY - r.top) / r.height);
  }, { passive: false });

  let drag = null;
  canvas.addEventListener('pointerdown', (e) => { drag = { x: e.clientX, y: e.clientY, far: false }; });
  canvas.addEventListener('pointermove', (e) => {
    if (!drag || !root) return;
    const far = Math.abs(e.clientX - drag.x) + Math.abs(e.clientY - drag.y) > 4;
    if (!drag.far && !far) return;
    if (!drag.far) canvas.setPointerCapture(e.pointerId);
    const r = canvas.getBoundingClientRect();
    const scale = Math.max(box.w / r.width, box.h / r.height);
    box.x -= (e.clientX - drag.x) * scale;
    box.y -= (e.clientY - drag.y) * scale;
    drag = { x: e.clientX, y: e.clientY, far: true };
    apply();
  });
  let dragged = false;
  canvas.addEventListener('pointerup', () => { dragged = !!drag && drag.far; drag = null; });
  canvas.addEventListener('pointercancel', () => { drag = null; });
  canvas.addEventListener('click', (e) => {
    const node = e.target.closest('.node[data-v]');
    if (node && !dragged) chooseValue(Number(node.dataset.v), canvas);
    dragged = false;
  });
  canvas.addEventListener('keydown', (e) => {
    const keys = {
      ArrowLeft: () => move(-0.1, 0), ArrowRight: () => move(0.1, 0), ArrowUp: () => move(0, -0.1), ArrowDown: () => move(0, 0.1),
      '+': () => zoom(0.8), '=': () => zoom(0.8), '-': () => zoom(1.25), 0: fit,
    };
    if (!root || !keys[e.key]) return;
    keys[e.key]();
    e.preventDefault();
  });

  for (const [text, label, act] of [['+', 'Zoom in', () => zoom(0.8)], ['−', 'Zoom out', () => zoom(1.25)], ['All', 'See all', fit]]) {
    const b = make('button', '', text);
    b.setAttribute('aria-label', label);
    b.addEventListener('click', () => root && act());
    tools.append(b);
  }
  tools.append(make('span', '', svg ? 'orange cube, blue vector, violet scalar, green dma; weights are small' : ''));
  addSheet(name, make('div', '', tools, svg ? canvas : make('p', 'note', 'The graph is too large for a picture: npu emit graph --format svg draws it.')), () => {
    build();
    center();
  });
}
