'use strict';
const { plan, steps } = JSON.parse(document.getElementById('data').textContent);

const GB = bytes => (bytes / 1e9).toFixed(bytes < 1e10 ? 2 : 1);
const ms = seconds => { const t = seconds * 1e3; return t >= 100 ? t.toFixed(0) : t >= 10 ? t.toFixed(1) : t.toFixed(2); };
const count = n => Math.round(n).toLocaleString('en');
const at = id => document.getElementById(id);

// Okabe and Ito's colours: distinct with any kind of colour vision.
const MEMORY_ROWS = [
  ['parameters', '#0072b2', 'parameters'], ['master_parameters', '#56b4e9', 'master parameters'],
  ['gradients', '#009e73', 'gradients'], ['optimizer', '#7b4ea3', 'optimizer states'],
  ['activations', '#e69f00', 'activations'], ['logits', '#f0d54a', 'logits'],
  ['communication', '#d55e00', 'communication'], ['workspace', '#cc79a7', 'workspace'],
  ['fragmentation', '#b9c2c9', 'fragmentation'], ['runtime', '#66717d', 'CUDA context, NCCL']];
const TIME_ROWS = [
  ['gemm', '#0072b2', 'matrix products'], ['attention', '#56b4e9', 'attention'],
  ['other', '#e69f00', 'other kernels, slowed by communication'], ['optimizer', '#7b4ea3', 'optimizer'],
  ['exposed', '#d55e00', 'exposed communication'], ['idle', '#b9c2c9', 'GPU idle (host)']];
const SECTION = { forward: '#0072b2', backward: '#e69f00', update: '#7b4ea3' };

const SVG = 'http://www.w3.org/2000/svg';
function node(name, attributes, parent, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  if (parent) parent.appendChild(made);
  return made;
}
function element(name, parent, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  if (parent) parent.appendChild(made);
  return made;
}
const canvas = (parent, height) => node('svg', { viewBox: `0 0 1040 ${height}`, width: 1040, height, role: 'img' }, parent);

function nice(most) {
  const power = 10 ** Math.floor(Math.log10(most / 5 || 1));
  return [1, 2, 5, 10].map(k => k * power).find(step => most / step <= 6);
}
function axis(svg, left, right, top, bottom, most, unit) {
  for (let value = 0; value <= most * 1.0001; value += nice(most)) {
    const x = left + (right - left) * value / most;
    node('line', { x1: x, x2: x, y1: top, y2: bottom, stroke: '#d7dde2' }, svg);
    node('text', { x, y: bottom + 17, 'text-anchor': 'middle', fill: '#5b6670', 'font-size': 12 }, svg,
         `${+value.toPrecision(6)}${value ? '' : ' ' + unit}`);
  }
}
function legend(parent, rows) {
  const box = element('div', parent, undefined, 'legend');
  for (const [, colour, name] of rows) {
    const entry = element('span', box);
    element('i', entry).style.background = colour;
    entry.append(name);
  }
}

// Stacked horizontal bars with a whisker and, when given, a limit.
function bars(parent, rows, data, unit, limit) {
  const left = 170, right = 900, pitch = 34, most = Math.max(limit || 0, ...data.map(d => Math.max(d.total, d.hi))) * 1.04;
  const svg = canvas(parent, data.length * pitch + 34), bottom = data.length * pitch + 6;
  const x = value => left + (right - left) * value / most;
  axis(svg, left, right, 4, bottom, most, unit);
  data.forEach((d, i) => {
    const y = 8 + i * pitch;
    node('text', { x: left - 12, y: y + 17, 'text-anchor': 'end', 'font-weight': d.chosen ? 700 : 400 }, svg, d.name);
    let from = 0;
    for (const [key, colour, name] of rows) {
      const value = d.rows[key] || 0;
      if (value <= 0) continue;
      const bar = node('rect', { x: x(from), y, width: Math.max(x(from + value) - x(from), 0.5), height: 22, fill: colour }, svg);
      node('title', {}, bar, `${d.name}: ${name} ${d.text(value)}`);
      from += value;
    }
    node('path', { d: `M${x(d.lo)} ${y + 7}v8M${x(d.lo)} ${y + 11}H${x(d.hi)}M${x(d.hi)} ${y + 7}v8`, stroke: '#1d2730', 'stroke-width': 1.4, fill: 'none' }, svg);
    node('text', { x: right + 12, y: y + 16, class: d.className || '', fill: d.fill || '#1d2730' }, svg, d.label);
  });
  if (limit) node('line', { x1: x(limit), x2: x(limit), y1: 2, y2: bottom, stroke: '#d11f2e', 'stroke-width': 2, 'stroke-dasharray': '5 3' }, svg);
  legend(parent, rows.filter(([key]) => data.some(d => d.rows[key] > 0)));
}

const FIT = { yes: '#00795a', tight: '#9a6a00', no: '#d11f2e' };
const isChosen = i => i === plan.recommended;
const named = (c, i) => c.strategy + (isChosen(i) ? ' ★' : '');

function verdict() {
  const box = at('verdict'), best = plan.candidates[plan.recommended];
  if (!best) box.className = 'none';
  element('strong', element('div', box), best ? `Recommended: ${best.strategy}` : 'Nothing fits');
  element('div', box, plan.why);
}

function memory() {
  bars(at('memory'), MEMORY_ROWS, plan.candidates.map((c, i) => {
    const m = c.memory;
    const rows = Object.fromEntries(Object.entries(m.breakdown).map(([k, v]) => [k, v / 1e9]));
    return { name: named(c, i), chosen: isChosen(i), rows, total: m.peak_bytes / 1e9, lo: m.interval_bytes[0] / 1e9,
             hi: m.interval_bytes[1] / 1e9, text: v => `${v.toFixed(2)} GB`, fill: FIT[c.fits],
             label: `${GB(m.peak_bytes)} GB ${c.fits === 'yes' ? 'fits' : c.fits === 'tight' ? 'tight' : 'too much'}` };
  }), 'GB', plan.candidates[0].memory.limit_bytes / 1e9);
}

function time() {
  bars(at('time'), TIME_ROWS, plan.candidates.map((c, i) => {
    const t = c.time, known = t.gemm_seconds + t.attention_seconds;
    const rows = { gemm: t.gemm_seconds, attention: t.attention_seconds, other: Math.max(t.compute_seconds - known, 0),
                   optimizer: t.optimizer_seconds, exposed: t.exposed_communication_seconds, idle: t.idle_seconds };
    for (const key of Object.keys(rows)) rows[key] *= 1e3;
    return { name: named(c, i), chosen: isChosen(i), rows, total: t.step_seconds * 1e3, lo: t.interval_seconds[0] * 1e3,
             hi: t.interval_seconds[1] * 1e3, text: v => `${v.toFixed(2)} ms`, label: `${ms(t.step_seconds)} ms` };
  }), 'ms');
}

function table() {
  const head = element('tr', element('thead', at('table')));
  for (const [name, className] of [['strategy'], ['fits'], ['memory GB'], ['step ms'], ['tokens/s'], ['per GPU'], ['MFU %'], ['what limits it', 'words']])
    element('th', head, name, className);
  const body = element('tbody', at('table'));
  plan.candidates.forEach((c, i) => {
    const row = element('tr', body, undefined, isChosen(i) ? 'chosen' : '');
    element('td', row, named(c, i));
    element('td', row, c.fits, c.fits);
    for (const text of [GB(c.memory.peak_bytes), ms(c.time.step_seconds), count(c.throughput.tokens_per_second),
                        count(c.throughput.tokens_per_second_per_gpu), (c.throughput.mfu * 100).toFixed(1)])
      element('td', row, text);
    element('td', row, c.bottleneck, 'words');
  });
}

function drawStep(step) {
  const parent = at('step');
  parent.replaceChildren();
  const used = step.streams.map((name, i) => ({ name, i })).filter(s => step.bars.some(b => b[0] === s.i));
  const left = 170, right = 1020, lane = 30, top = 150, height = top + used.length * lane;
  const svg = canvas(parent, height + 30), x = t => left + (right - left) * t / step.milliseconds;
  axis(svg, left, right, 8, height, step.milliseconds, 'ms');
  const most = Math.max(...step.memory.map(p => p[1])) || 1, y = v => 128 - 112 * v / most;
  const path = step.memory.map(([t, v], i) => `${i ? 'H' : 'M'}${x(t).toFixed(1)}${i ? 'V' : ' '}${y(v).toFixed(1)}`).join('');
  node('path', { d: `${path}H${right}V128H${x(step.memory[0][0])}Z`, fill: '#e8f2f9' }, svg);
  node('path', { d: path, stroke: '#0072b2', 'stroke-width': 1.5, fill: 'none' }, svg);
  node('text', { x: left - 12, y: 20, 'text-anchor': 'end', fill: '#5b6670' }, svg, `${GB(most)} GB allocated`);
  used.forEach((s, row) => {
    const y0 = top + row * lane;
    node('text', { x: left - 12, y: y0 + 15, 'text-anchor': 'end' }, svg, s.name);
    for (const [, begin, end, section, name, busy, ops] of step.bars.filter(b => b[0] === s.i)) {
      const bar = node('rect', { x: x(begin), y: y0, width: Math.max(x(end) - x(begin), 0.4), height: 20, fill: SECTION[section],
                                 stroke: '#fff', 'stroke-width': 0.5 }, svg);
      node('title', {}, bar, `${name}\n${begin.toFixed(3)} to ${end.toFixed(3)} ms, busy ${busy.toFixed(3)} ms, ${ops} op${ops > 1 ? 's' : ''}`);
    }
  });
  legend(parent, Object.entries(SECTION).map(([name, colour]) => [name, colour, name]));
}

function chooser() {
  const buttons = steps.map(step => {
    const button = element('button', at('choice'), step.strategy);
    button.onclick = () => {
      buttons.forEach(b => b.setAttribute('aria-pressed', b === button));
      drawStep(step);
    };
    return button;
  });
  buttons[plan.recommended ?? 0].click();
}

function help() {
  const rows = plan.candidates.flatMap(c => (c.remedies || []).map(r => [c.strategy, r]));
  if (!rows.length) return;
  element('h2', at('help'), 'What would help');
  const made = element('table', at('help'));
  const head = element('tr', element('thead', made));
  for (const name of ['instead of', 'option', 'memory GB', 'step ms', 'fits']) element('th', head, name);
  const body = element('tbody', made);
  for (const [strategy, r] of rows) {
    const row = element('tr', body);
    element('td', row, strategy);
    element('code', element('td', row), r.option);
    element('td', row, GB(r.peak_bytes));
    element('td', row, ms(r.step_seconds));
    element('td', row, r.fits ?? '', r.fits ?? '');
  }
}

function basis() {
  const list = element('dl', at('basis')), row = (name, text) => { element('dt', list, name); element('dd', list, text); };
  row('memory interval', plan.candidates[0].memory.interval_origin);
  row('time interval', plan.candidates[0].time.interval_origin);
  for (const d of plan.model.defaulted_keys) row(`config: ${d.key}`, `absent, taken as ${d.value} (${d.from})`);
  for (const [key, value] of Object.entries(plan.inputs))
    if (value !== null && value !== '') row(key.replaceAll('_', ' '), Array.isArray(value) ? value.join(', ') : String(value));
}

const i = plan.inputs;
document.title = `${plan.model.name} on ${i.machine} - wirewise`;
at('title').textContent = `${plan.model.name} on ${i.machine}${i.nodes > 1 ? ` × ${i.nodes}` : ''}`;
at('question').textContent = `${count(plan.model.parameters)} parameters · ${plan.inputs.placement} · sequence ${count(i.sequence_length)}, micro-batch ${i.micro_batch}, accumulation ${i.gradient_accumulation} · ${i.runtime} runtime`;
verdict(); memory(); time(); table(); chooser(); help(); basis();
