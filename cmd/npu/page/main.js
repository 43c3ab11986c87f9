// The page as a whole.
document.getElementById('title').textContent = data.graph;
const written = steps[0].step.value.filter((v) => v).length;
const ran = data.passes;
document.getElementById('summary').textContent = [
  ran.length > 0 ? `${ran[0].before} → ${ran[ran.length - 1].after} values` : count(written, 'value'),
  count(data.rewrites.length, 'rewrite'),
  duration(ran.reduce((sum, p) => sum + p.ns, 0)),
  data.within > 0 ? 'results ' + within(data.within) : 'results keep their bits',
].join(' · ');
document.getElementById('columns').append(...columns.map((c) => c.el));

const only = document.getElementById('only');
const fillColumns = () => columns.forEach((c) => c.fill(only.checked));
only.addEventListener('change', fillColumns);

const chosen = document.getElementById('chosen');
listeners.push((from) => {
  chosen.textContent = choice.value ? describe(choice.value) : [...choice.lines].map((l) => l.replace('\n', ':')).join(', ');
  chosen.title = chosen.textContent;
  if (only.checked) fillColumns();
  columns.forEach((c) => c.follow(from));
  rewriteList.later();
  diffList.later();
});
document.addEventListener('keydown', (e) => {
  if (e.key === 'Escape') choose(0, new Set(), null);
});

// The splitter shares the height between columns and sheets.
const splitter = document.getElementById('splitter');
let split = 58;
const setSplit = (percent) => {
  split = Math.min(85, Math.max(15, percent));
  document.documentElement.style.setProperty('--split', split + 'vh');
  splitter.setAttribute('aria-valuenow', Math.round(split));
};
splitter.addEventListener('pointerdown', (e) => splitter.setPointerCapture(e.pointerId));
splitter.addEventListener('pointermove', (e) => {
  if (splitter.hasPointerCapture(e.pointerId)) setSplit((100 * (e.clientY - columns[0].el.getBoundingClientRect().top)) / innerHeight);
});
splitter.addEventListener('keydown', (e) => {
  if (e.key === 'ArrowUp') setSplit(split - 4);
  if (e.key === 'ArrowDown') setSplit(split + 4);
});
setSplit(split);

fillColumns();
openSheet('Rewrites');
