// The page: its picture, or its text where there is none, and an outline around each block. Only what is near the
// window is in the document; outlines move with the picture, since both lie on one sheet.

const stage = document.getElementById('stage'), sheet = document.getElementById('sheet')
const BAND = 500, TALL = 1600, MOST_IN_BAND = 500, MARK = 14
const LEAST_SCALE = 0.5, AIR = 3, LEAST_LETTER = 7, LARGEST_LETTER = 30, LINE = 1.3
const SPARE = 1 // windows above and below that are drawn ahead

let place = null // x, y, width, height of each block in px of the page
let bands = [], tall = [], drawn = new Map(), scale = 1, frame = 0
let elements = new Map(), tiles = new Set(), selected = null, stacked = false

const pen = document.createElement('canvas').getContext('2d')
const RULER = 100, SHRINK = 0.92, WASTE = 1.06, RIM = 7, SHOWN = 600, STACK_LETTER = 13, LEAST_STACK = 240
pen.font = `${RULER}px system-ui, sans-serif`

/** Show the blocks of `view` again, after another page or edition was chosen. */
function layPage() {
  const pictured = part(partName()).tiles.length > 0
  // Without a picture a page that is drawn small could not be read: its texts stand below each other then.
  stacked = !view.box.length || (!pictured && stage.clientWidth < LEAST_SCALE * view.width)
  place = stacked ? stackBlocks() : takeBoxes()
  stage.classList.toggle('stacked', stacked)
  stage.classList.toggle('pictured', pictured)
  bands = []
  tall = []
  for (let i = 0; i < blockCount(); i++) {
    if (place.height[i] > TALL && tall.length < 200) tall.push(i)
    else (bands[Math.max(0, Math.floor(place.y[i] / BAND))] ??= []).push(i)
  }
  const area = (i) => place.width[i] * place.height[i]
  for (const band of bands) band?.sort((a, b) => area(b) - area(a))
  stage.scrollTop = 0
  fitPage()
}

/** Draw the sheet at the width that there is. */
function fitPage() {
  scale = stage.clientWidth / place.sheetWidth
  sheet.style.width = `${Math.floor(place.sheetWidth * scale)}px`
  sheet.style.height = `${Math.ceil(place.sheetHeight * scale)}px`
  redraw()
}

/** Draw everything near the window again, after another method or filter was chosen. */
function redraw() {
  drawn.clear()
  elements.clear()
  sheet.replaceChildren()
  layTiles()
  if (!blockCount()) sheet.append(el('p', { class: 'hint' }, 'No text stands here: all of it is brought by scripts, or there is none.'))
  for (const i of tall) sheet.append(outline(i))
  drawRecords()
  drawNear()
}

function takeBoxes() {
  const n = blockCount(), found = columns(n)
  const width = view.width, height = Math.max(view.height, 1)
  let mark = 0, line = 0
  for (let i = 0; i < n; i++) {
    const [x, y, w, h] = view.box.slice(4 * i, 4 * i + 4)
    const outside = x === null || w < 2 || h < 2 || x >= width || y >= height + 200 || x + w <= 0 || y + h <= 0
    if (outside) {
      // No box on the page: a mark at the left edge, behind the text that stood before it.
      found.x[i] = 3 + MARK * (mark++ % 24)
      found.y[i] = line
      found.width[i] = found.height[i] = MARK - 2
      found.mark[i] = 1
      continue
    }
    mark = 0
    found.x[i] = Math.max(x - AIR, 0)
    found.y[i] = Math.max(y - AIR, 0)
    found.width[i] = Math.min(x + w + AIR, width) - found.x[i]
    found.height[i] = Math.min(y + h + AIR, height + 200) - found.y[i]
    line = Math.min(found.y[i] + found.height[i], height)
  }
  return { ...found, sheetWidth: width, sheetHeight: height }
}

function stackBlocks() {
  const n = blockCount(), found = columns(n), width = Math.max(stage.clientWidth, LEAST_STACK)
  let y = 12
  for (let i = 0; i < n; i++) {
    const depth = Math.min(at(view.path, i) >= 0 ? view.paths[at(view.path, i)].split('/').length - 2 : 0, 12)
    found.x[i] = 12 + 8 * Math.max(depth, 0)
    found.y[i] = y
    found.width[i] = width - 12 - found.x[i]
    const wide = pen.measureText(view.text[i].slice(0, SHOWN)).width / RULER * STACK_LETTER
    const lines = Math.min(6, Math.ceil(wide * WASTE / (found.width[i] - 16)))
    found.height[i] = 10 + 19 * Math.max(lines, 1)
    y += found.height[i] + 5
  }
  return { ...found, sheetWidth: width, sheetHeight: y + 12 }
}

const columns = (n) => ({
  x: new Float32Array(n), y: new Float32Array(n), width: new Float32Array(n), height: new Float32Array(n),
  mark: new Uint8Array(n),
})

function layTiles() {
  tiles.clear()
  const name = partName()
  part(name).tiles.forEach(([y, height, media], number) => {
    if (!media) return
    const tile = document.createElement('img')
    tile.className = 'tile'
    tile.alt = ''
    tile.decoding = 'async'
    tile.draggable = false
    setBox(tile, 0, y, place.sheetWidth, height)
    tiles.add(tile)
    tile.awaited = { name, number, media, from: y * scale, to: (y + height) * scale }
    sheet.append(tile)
  })
}

function setBox(node, x, y, width, height) {
  const { style } = node
  style.left = `${x * scale}px`
  style.top = `${y * scale}px`
  style.width = `${width * scale}px`
  style.height = `${height * scale}px`
}

function drawNear() {
  frame = 0
  const high = stage.clientHeight, top = stage.scrollTop - SPARE * high, bottom = stage.scrollTop + (1 + SPARE) * high
  const band = (y) => Math.max(0, Math.floor(y / scale / BAND))
  const first = band(top), last = band(bottom)
  for (const [number, group] of drawn) {
    if (number >= first && number <= last) continue
    for (const node of group.children) elements.delete(node.block)
    group.remove()
    drawn.delete(number)
  }
  // What is in the window comes at once, what lies around it a band per frame.
  const inside = [band(stage.scrollTop), band(stage.scrollTop + high)]
  let ahead = 1
  for (let number = first; number <= last; number++) {
    if (drawn.has(number) || !bands[number]) continue
    if ((number < inside[0] || number > inside[1]) && !ahead--) {
      frame ||= requestAnimationFrame(drawNear)
      break
    }
    const group = document.createElement('div')
    group.className = 'band'
    group.setAttribute('role', 'presentation')
    setBox(group, 0, number * BAND, place.sheetWidth, BAND)
    group.append(...bands[number].filter(isShown).slice(0, MOST_IN_BAND).map((i) => outline(i, number * BAND)))
    sheet.append(group)
    drawn.set(number, group)
  }
  for (const tile of tiles) {
    const { name, number, media, from, to } = tile.awaited
    if (to < top || from > bottom) continue
    tile.src = tileSource(name, number, media)
    tiles.delete(tile)
    if (to < stage.scrollTop || from > stage.scrollTop + high) break
  }
  markSelected()
}

function outline(i, top = 0) {
  const node = document.createElement('div')
  node.block = i
  node.id = `block-${i}`
  node.setAttribute('role', 'option')
  node.setAttribute('aria-selected', String(i === now.block))
  colour(node)
  setBox(node, place.x[i], place.y[i] - top, place.width[i], place.height[i])
  if (!stage.classList.contains('pictured') && !place.mark[i]) {
    const inside = captured(view.text[i].slice(0, SHOWN), 'span')
    if (!stacked) fitText(inside, view.text[i].slice(0, SHOWN), place.width[i] * scale, place.height[i] * scale)
    node.append(inside)
  }
  elements.set(i, node)
  return node
}

/** Write a text as large as its box holds, and cut it where even small letters do not fit. */
function fitText(node, text, width, height) {
  const words = text.split(/\s+/).map((word) => pen.measureText(word + ' ').width / RULER)
  const long = words.reduce((sum, wide) => sum + wide, 0) * WASTE, longest = Math.max(...words)
  const fits = (size) => longest * size <= width - RIM && Math.ceil(long * size / (width - RIM)) * size * LINE <= height
  let size = Math.max(LEAST_LETTER, Math.min(LARGEST_LETTER, height / LINE))
  while (size > LEAST_LETTER && !fits(size)) size = Math.max(LEAST_LETTER, size * SHRINK)
  node.style.fontSize = `${size}px`
  node.style.webkitLineClamp = String(Math.max(1, Math.floor(height / (size * LINE))))
}

function colour(node) {
  const i = node.block, extra = [place.mark[i] && 'mark', now.hits.has(i) && 'hit', i === now.block && 'selected']
  node.className = ['block', lookOf(i), stateOf(i), ...extra].filter(Boolean).join(' ')
  node.setAttribute('aria-label', `${lookOf(i)}: ${plain(view.text[i], stage.classList.contains('pictured') ? 60 : SHOWN)}`)
}

/** Show another method: the same outlines in other colours, unless the filter depends on it. */
function recolour() {
  if (now.filter === 'kept' || now.filter === 'dropped') redraw()
  else for (const node of elements.values()) colour(node)
}

function drawRecords() {
  const found = view.records[now.records]
  if (!found || stacked) return
  found.region.slice(0, 1500).forEach((region, i) => {
    const node = el('div', { class: `record region-${region % 5}`, 'aria-hidden': 'true' })
    const [x, y, width, height] = found.box.slice(4 * i, 4 * i + 4)
    setBox(node, x, y, width, height)
    sheet.append(node)
  })
}

function markSelected() {
  const node = elements.get(now.block) ?? null
  if (selected !== node) {
    selected?.classList.remove('selected')
    selected?.setAttribute('aria-selected', 'false')
  }
  selected = node
  if (node) {
    node.classList.add('selected')
    node.setAttribute('aria-selected', 'true')
    stage.setAttribute('aria-activedescendant', node.id)
  } else stage.removeAttribute('aria-activedescendant')
}

/** Scroll so that a block can be seen. */
function revealBlock(i) {
  const top = place.y[i] * scale, bottom = top + Math.min(place.height[i] * scale, stage.clientHeight / 2)
  if (top < stage.scrollTop + 8 || bottom > stage.scrollTop + stage.clientHeight - 8) {
    stage.scrollTop = Math.max(0, top - stage.clientHeight / 3)
  }
  const left = place.x[i] * scale, right = left + Math.min(place.width[i] * scale, stage.clientWidth - 16)
  if (left < stage.scrollLeft || right > stage.scrollLeft + stage.clientWidth) stage.scrollLeft = Math.max(0, left - 8)
  drawNear()
}

stage.addEventListener('scroll', () => { frame ||= requestAnimationFrame(drawNear) }, { passive: true })
stage.addEventListener('click', (event) => {
  const node = event.target.closest('.block')
  if (node) selectBlock(node.block)
})
let width = 0
new ResizeObserver(() => {
  if (!place || stage.clientWidth === width) return
  width = stage.clientWidth
  const share = stage.scrollTop / Math.max(1, sheet.clientHeight)
  layPage()
  stage.scrollTop = share * sheet.clientHeight
}).observe(stage)
