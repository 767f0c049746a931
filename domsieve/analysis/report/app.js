// Controls, keys and what follows from them.

const id = (name) => document.getElementById(name)
const TABS = { block: 'Block', plots: 'Plots', tree: 'Site tree', pages: 'Pages' }
const SHOW = { block: showBlock, plots: showPlots, tree: () => showTree(), pages: showPages }

function choosePage(number) {
  const edition = now.edition
  now.page = (number + index.pages.length) % index.pages.length
  now.edition = edition in page().editions ? edition : Object.keys(page().editions)[0]
  openView()
}

function chooseEdition(name) {
  if (!(name in page().editions) || name === now.edition) return
  now.edition = name
  openView()
}

function openView() {
  const { view: found } = part(partName())
  view = found
  if (!(now.method in view.methods)) {
    now.method = index.start in view.methods ? index.start : Object.keys(view.methods)[0]
  }
  now.block = -1
  now.records = now.records in view.records ? now.records : ''
  findHits()
  id('page-name').replaceChildren(el('span', { class: 'unseen' }, 'Pages of the report: '), captured(index.labels[page().number], 'bdi'),
    el('span', { class: 'fine' }, ` ${now.page + 1}/${index.pages.length}`))
  id('page-before').disabled = id('page-after').disabled = index.pages.length < 2
  layControls()
  layPage()
  showTab()
  summarise()
}

function chooseMethod(name) {
  now.method = name
  layControls()
  recolour()
  showTab()
  summarise()
}

function chooseFilter(name) {
  now.filter = name
  layControls()
  redraw()
  summarise()
}

function selectBlock(i, { keepTab = false } = {}) {
  now.block = i
  if (i >= 0 && !keepTab) foldPanel(true)
  if (i >= 0 && !isShown(i)) chooseFilter('all')
  if (i >= 0) revealBlock(i)
  if (keepTab) return
  if (now.tab !== 'plots') chooseTab('block')
  showTab()
}

function stepBlock(step, wanted = isShown) {
  const n = blockCount()
  for (let k = 1, i = now.block; k <= n; k++) {
    i = i < 0 ? (step > 0 ? 0 : n - 1) : (i + step + n) % n
    if (wanted(i)) return selectBlock(i)
  }
}

function goToText(number, text) {
  choosePage(number)
  const found = view.text.indexOf(text)
  selectBlock(found >= 0 ? found : view.text.findIndex((other) => other.toLowerCase() === text.toLowerCase()))
}

function findHits() {
  const wanted = now.query.toLowerCase()
  now.hits = new Set()
  if (wanted) view.text.forEach((text, i) => { if (text.toLowerCase().includes(wanted)) now.hits.add(i) })
}

function chooseTab(name) {
  now.tab = name
  for (const key of Object.keys(TABS)) {
    id(`panel-${key}`).hidden = key !== name
    id(`tab-${key}`).setAttribute('aria-selected', String(key === name))
    id(`tab-${key}`).tabIndex = key === name ? 0 : -1
  }
}

/** On a phone the panel lies folded below the page until it is asked for. */
function foldPanel(isOpen) {
  document.querySelector('.panel').classList.toggle('open', isOpen)
  id('fold').setAttribute('aria-expanded', String(isOpen))
}

function showTab() {
  chooseTab(now.tab)
  SHOW[now.tab]()
}

const say = (...words) => id('summary').replaceChildren(...words.filter(Boolean))

function summarise() {
  const [kept, dropped] = method().words
  let hidden = 0
  for (let i = 0; i < blockCount(); i++) if (isHidden(i)) hidden += view.words[i]
  const learned = method().parameters.pages
  const legend = [['kept', kept], ['dropped', dropped]].map(([look, words]) =>
    el('span', { class: `key ${look}` }, `${look} ${count(words, 'word')}`))
  if (hidden) legend.push(el('span', { class: 'key hidden' }, `hidden ${count(hidden, 'word')}`))
  const expected = method().expected_f1
  if (expected != null) legend.push(el('span', { class: 'fine' }, `expected F1 ${expected.toFixed(2)}`))
  for (const warning of method().warnings) legend.push(el('span', { class: 'key warning' }, warning))
  const hits = now.query ? el('span', { class: 'key hit' }, count(now.hits.size, 'hit')) : null
  say(el('b', {}, index.titles[now.method]), learned ? ` learned from ${count(learned, 'page')} ` : ' ', ...legend, hits)
}

function layControls() {
  choices('methods', Object.keys(view.methods).map((name) => [name, name, index.titles[name]]), now.method, chooseMethod)
  choices('editions', Object.entries(EDITIONS).map(([name, label]) => [name, label, label]), now.edition, chooseEdition,
    (name) => !(name in page().editions))
  choices('filters', FILTERS.map((name) => [name, name, `${name} blocks`]), now.filter, chooseFilter)
  const records = Object.entries(view.records).filter(([, found]) => found.region.length)
  id('records').replaceChildren(...[['', 'none'], ...records.map(([name, found]) =>
    [name, `${name}: ${found.region.length}`])].map(([value, label]) =>
    el('option', { value, selected: value === now.records }, label)))
  id('records').parentElement.hidden = !records.length
}

function choices(group, entries, chosen, run, isOff = () => false) {
  const focused = id(group).contains(document.activeElement) ? document.activeElement.value : null
  const buttons = entries.map(([value, label, title]) => el('button', { type: 'button', value, title,
    'aria-pressed': String(value === chosen), disabled: isOff(value), on: { click: () => run(value) } }, label))
  id(group).replaceChildren(id(group).querySelector('legend'), ...buttons)
  buttons.find((button) => button.value === focused)?.focus()
}

const THEMES = ['auto', 'light', 'dark']
function chooseTheme(name) {
  document.documentElement.dataset.theme = name
  id('theme').replaceChildren({ auto: '◐', light: '☀', dark: '☾' }[name])
  id('theme').setAttribute('aria-label', `Theme: ${name}`)
  id('theme').title = `Theme: ${name}`
  if (view && now.tab === 'plots') showPlots()
}
const nextOf = (list, entry, step = 1) => list[(list.indexOf(entry) + step + list.length) % list.length]
const nextTheme = () => chooseTheme(nextOf(THEMES, document.documentElement.dataset.theme))

const KEYS = {
  ArrowDown: () => stepBlock(1), j: () => stepBlock(1), ArrowUp: () => stepBlock(-1), k: () => stepBlock(-1),
  ArrowRight: () => chooseMethod(nextOf(Object.keys(view.methods), now.method)),
  ArrowLeft: () => chooseMethod(nextOf(Object.keys(view.methods), now.method, -1)),
  '/': () => id('search').focus(), f: () => chooseFilter(nextOf(FILTERS, now.filter)),
  n: () => stepBlock(1, (i) => now.hits.has(i)), N: () => stepBlock(-1, (i) => now.hits.has(i)),
  r: () => chooseEdition(nextOf(Object.keys(page().editions), now.edition)),
  '[': () => choosePage(now.page - 1), ']': () => choosePage(now.page + 1), t: nextTheme,
  Home: () => selectBlock(-1) ?? stepBlock(1), End: () => selectBlock(-1) ?? stepBlock(-1),
}

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return
  const { target } = event, inText = target.matches('input, select, textarea')
  if (inText && event.key === 'Escape') return stage.focus()
  const inPanel = target.closest('.panel') && /^(Arrow|Home|End)/.test(event.key)
  if (inText || inPanel || !Object.hasOwn(KEYS, event.key)) return
  event.preventDefault()
  KEYS[event.key]()
})

id('search').addEventListener('input', () => {
  now.query = id('search').value.trim()
  findHits()
  for (const node of elements.values()) colour(node)
  summarise()
})
id('search').addEventListener('keydown', (event) => {
  if (event.key === 'Enter') stepBlock(event.shiftKey ? -1 : 1, (i) => now.hits.has(i))
})
id('records').addEventListener('change', () => {
  now.records = id('records').value
  redraw()
})
id('page-before').addEventListener('click', () => choosePage(now.page - 1))
id('page-after').addEventListener('click', () => choosePage(now.page + 1))
id('page-name').addEventListener('click', () => { chooseTab('pages'); foldPanel(true); showTab() })
id('fold').addEventListener('click', () => { foldPanel(id('fold').getAttribute('aria-expanded') !== 'true'); showTab() })
id('theme').addEventListener('click', nextTheme)

const tabs = Object.entries(TABS).map(([name, label]) => el('button', { type: 'button', role: 'tab', id: `tab-${name}`,
  'aria-controls': `panel-${name}`, on: { click: () => { chooseTab(name); foldPanel(true); showTab() } } }, label))
document.querySelector('.tabs').append(...tabs)
document.querySelector('.tabs').addEventListener('keydown', (event) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
  if (!step) return
  event.stopPropagation()
  chooseTab(nextOf(Object.keys(TABS), now.tab, step))
  showTab()
  id(`tab-${now.tab}`).focus()
})
let panelWidth = 0
new ResizeObserver(([entry]) => {
  if (view && now.tab === 'plots' && Math.abs(entry.contentRect.width - panelWidth) > 4) showPlots()
  panelWidth = entry.contentRect.width
}).observe(document.querySelector('.panel'))

chooseTheme('auto')
now.edition = Object.keys(page().editions)[0]
now.method = index.start
openView()
