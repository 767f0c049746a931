// Plots where people would rather look than read, on canvases: pages may have ten thousand blocks.

const PLOT = { left: 46, right: 12, top: 12, bottom: 36 }
const HEIGHT = 210

function showPlots() {
  const panel = document.getElementById('panel-plots'), limit = threshold()
  const isTree = now.method === 'sst'
  const along = el('canvas', { class: 'plot', role: 'img', tabindex: '-1',
    'aria-label': `Score of each block along the page by ${index.titles[now.method]}` })
  const against = el('canvas', { class: 'plot', role: 'img',
    'aria-label': 'Words above each threshold; the table below has the figures' })
  panel.replaceChildren(
    el('h2', {}, isTree ? 'Importance along the page' : 'Score along the page'),
    el('p', { class: 'fine' }, 'Each block is as wide as its words are many. Click one to select it.'), along,
    el('h2', {}, 'Threshold against kept words'),
    el('p', { class: 'fine' }, limit === null
      ? 'Words of the blocks whose score is above a threshold. This method sets no threshold on its score.'
      : `Words of the blocks whose score is above a threshold; the one in use is ${limit.toFixed(2)}.`), against,
    thresholdTable(),
    el('h2', {}, 'Words kept by each method'), methodBars())
  drawAlong(along, limit)
  drawAgainst(against, limit)
  along.addEventListener('click', (event) => {
    const words = (event.offsetX - PLOT.left) / (along.clientWidth - PLOT.left - PLOT.right) * totalWords()
    let i = 0
    for (let sum = view.words[0]; sum < words && i < blockCount() - 1;) sum += view.words[++i]
    selectBlock(i)
    showPlots()
  })
}

/** The threshold on the score, or null where the method has none. */
function threshold() {
  return method().threshold ?? null
}

const totalWords = () => Math.max(1, view.words.reduce((sum, words) => sum + words, 0))

function canvasOf(canvas) {
  const wide = canvas.parentElement.clientWidth - 4, sharp = window.devicePixelRatio || 1
  canvas.style.width = `${wide}px`
  canvas.style.height = `${HEIGHT}px`
  canvas.width = wide * sharp
  canvas.height = HEIGHT * sharp
  const ink = canvas.getContext('2d')
  ink.scale(sharp, sharp)
  ink.font = '11px system-ui, sans-serif'
  return { ink, wide, inner: wide - PLOT.left - PLOT.right, tall: HEIGHT - PLOT.top - PLOT.bottom }
}

/** The colours of the theme, as they are now. */
function colours() {
  const probe = el('span'), found = {}
  document.body.append(probe)
  for (const name of ['kept', 'dropped', 'partly', 'hidden', 'ink', 'faint', 'line', 'accent']) {
    probe.className = `probe-${name}`
    found[name] = getComputedStyle(probe).color
  }
  probe.remove()
  return found
}

function axes({ ink, inner, tall }, colour, { across, up, most, mostUp, whole }) {
  const x = (value) => PLOT.left + value / most * inner, y = (value) => PLOT.top + (1 - value / mostUp) * tall
  ink.lineWidth = 1
  ink.textAlign = 'right'
  ink.textBaseline = 'middle'
  for (const value of ticks(mostUp)) {
    ink.strokeStyle = colour.line
    ink.beginPath()
    ink.moveTo(PLOT.left, Math.round(y(value)) + 0.5)
    ink.lineTo(PLOT.left + inner, Math.round(y(value)) + 0.5)
    ink.stroke()
    ink.fillStyle = colour.faint
    ink.fillText(whole ? short(value) : value.toFixed(2), PLOT.left - 6, y(value))
  }
  ink.textBaseline = 'top'
  for (const value of ticks(most)) {
    ink.textAlign = value > 0.97 * most ? 'right' : value ? 'center' : 'left'
    ink.fillText(most > 1 ? short(value) : value.toFixed(2), x(value), PLOT.top + tall + 5)
  }
  ink.textAlign = 'center'
  ink.fillStyle = colour.ink
  ink.fillText(across, PLOT.left + inner / 2, PLOT.top + tall + 20)
  ink.save()
  ink.translate(8, PLOT.top + tall / 2)
  ink.rotate(-Math.PI / 2)
  ink.textBaseline = 'middle'
  ink.fillText(up, 0, 0)
  ink.restore()
  return { x, y }
}

/** About five round numbers from 0 up to `most`. */
function ticks(most) {
  if (most <= 1) return [0, 0.25, 0.5, 0.75, 1]
  const rough = most / 4.5, power = 10 ** Math.floor(Math.log10(rough))
  const step = Math.max(1, [1, 2, 5, 10].find((n) => n * power >= rough) * power)
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, k) => k * step)
}

const short = (value) => (value >= 10000 ? `${Math.round(value / 1000)}k` : Math.round(value).toLocaleString('en'))

function drawAlong(canvas, limit) {
  const room = canvasOf(canvas), { ink, inner, tall } = room, colour = colours(), most = totalWords()
  const { x, y } = axes(room, colour, { across: 'words from the top of the page', up: now.method === 'sst'
    ? 'importance' : 'score', most, mostUp: 1, whole: false })
  let sum = 0
  for (let i = 0; i < blockCount(); i++) {
    const from = x(sum), score = at(method().score, i) ?? 0
    sum += view.words[i]
    ink.fillStyle = colour[lookOf(i)]
    ink.globalAlpha = i === now.block ? 1 : 0.75
    ink.fillRect(from, Math.min(y(score), y(0) - 1.5), Math.max(x(sum) - from - 0.4, 0.6), Math.max(y(0) - y(score), 1.5))
    if (i === now.block) {
      ink.strokeStyle = colour.accent
      ink.lineWidth = 2
      ink.strokeRect(from - 1, PLOT.top, Math.max(x(sum) - from, 3), tall)
    }
  }
  ink.globalAlpha = 1
  if (limit !== null) ruler(ink, colour, [PLOT.left, y(limit), PLOT.left + inner, y(limit)])
}

/** The words of this page whose score is above each of `steps` + 1 thresholds. */
function wordsAbove(steps) {
  const found = new Array(steps + 1).fill(0)
  for (let i = 0; i < blockCount(); i++) {
    const score = at(method().score, i) ?? 0
    for (let k = 0; k <= steps && k / steps < score; k++) found[k] += view.words[i]
  }
  return found
}

function drawAgainst(canvas, limit) {
  const room = canvasOf(canvas), { ink, tall } = room, colour = colours(), steps = 200
  const above = wordsAbove(steps)
  const { x, y } = axes(room, colour, { across: 'threshold', up: 'kept words', most: 1,
    mostUp: Math.max(totalWords(), 4), whole: true })
  ink.beginPath()
  above.forEach((words, k) => {
    if (k) ink.lineTo(x(k / steps), y(above[k - 1]))
    ink.lineTo(x(k / steps), y(words))
  })
  ink.strokeStyle = colour.accent
  ink.lineWidth = 2
  ink.stroke()
  ink.lineTo(x(1), y(0))
  ink.lineTo(x(0), y(0))
  ink.fillStyle = colour.accent
  ink.globalAlpha = 0.12
  ink.fill()
  ink.globalAlpha = 1
  if (limit !== null) ruler(ink, colour, [x(limit), PLOT.top, x(limit), PLOT.top + tall])
}

function ruler(ink, colour, [x0, y0, x1, y1]) {
  ink.setLineDash([5, 4])
  ink.strokeStyle = colour.ink
  ink.lineWidth = 1.5
  ink.beginPath()
  ink.moveTo(x0, y0)
  ink.lineTo(x1, y1)
  ink.stroke()
  ink.setLineDash([])
}

function thresholdTable() {
  const above = wordsAbove(20), total = totalWords()
  const steps = [1, 2, 3, 4, 5, 6, 7, 8]
  const cell = (tag, text) => el(tag, tag === 'th' ? { scope: 'col' } : {}, text)
  return el('div', { class: 'wide' }, el('table', { class: 'steps' },
    el('thead', {}, el('tr', {}, el('th', { scope: 'row' }, 'above'),
      ...steps.map((k) => cell('th', (k / 20).toFixed(2))))),
    el('tbody', {}, el('tr', {}, el('th', { scope: 'row' }, 'words'),
      ...steps.map((k) => cell('td', percent(above[k] / total)))))))
}

function methodBars() {
  return el('ul', { class: 'bars' }, ...Object.entries(view.methods).map(([name, said]) => {
    const [kept, dropped] = said.words, all = Math.max(kept + dropped, 1)
    return el('li', {}, el('span', { class: 'name' }, name), split(kept / all),
      el('span', { class: 'number' }, `${kept.toLocaleString('en')} of ${(kept + dropped).toLocaleString('en')}`))
  }))
}

function split(share) {
  const kept = el('span', { class: 'fill kept' })
  kept.style.width = `${100 * share}%`
  return el('span', { class: 'split', 'aria-hidden': 'true' }, kept)
}
