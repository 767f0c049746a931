// The panels on the site tree and on the pages of the report.

const MOST_CHILDREN = 200
const MARKS = ['', 'noisy', 'meaningful']
let branches = { tree: null, children: [] }

function showTree(open = -1) {
  const panel = document.getElementById('panel-tree'), tree = siteTree()
  if (!tree || !tree.parent.length) {
    panel.replaceChildren(el('p', { class: 'hint' }, 'No site tree was learned of these pages.'))
    return
  }
  if (branches.tree !== tree) {
    branches = { tree, children: tree.parent.map(() => []) }
    tree.parent.forEach((above, node) => { if (above >= 0) branches.children[above].push(node) })
  }
  const way = new Set()
  for (let node = open; node >= 0; node = tree.parent[node]) way.add(node)
  if (!way.size) openWay(tree, way)
  panel.replaceChildren(
    el('p', { class: 'fine' }, `The simplified tree of ${count(tree.pages, 'page')}: ${count(tree.parent.length, 'place')} `
      + `of ${tree.nodes.toLocaleString('en')}. Importance up to ${tree.threshold.toFixed(2)} is noise. `
      + 'A place with a name shows its blocks on this page when it is chosen.'),
    el('div', { class: 'tree' }, branch(tree, 0, way, open)))
  panel.querySelector('.current')?.scrollIntoView({ block: 'center' })
}

/** Open the tree from the root as far as there is one way to go, and one step more. */
function openWay(tree, way) {
  let node = 0
  for (;;) {
    way.add(node)
    const inner = branches.children[node].filter((child) => branches.children[child].length)
    if (inner.length !== 1) return
    node = inner[0]
  }
}

function branch(tree, node, way, current) {
  const children = branches.children[node]
  const row = treeRow(tree, node, node === current)
  if (!children.length) return el('div', { class: 'leaf' }, row)
  const below = el('div', { class: 'below' })
  let filled = false
  const fill = () => {
    if (filled) return
    filled = true
    addChildren(tree, below, children, 0, way, current)
  }
  // The row stands beside the summary and not in it, since a button in a button is none to a screen reader.
  const name = `Below ${plain(tree.label[node], 40) || 'this place'}`
  const details = el('details', { on: { toggle: () => details.open && fill() } }, el('summary', { 'aria-label': name }), below)
  if (way.has(node)) {
    fill()
    details.open = true
  }
  return el('div', { class: 'branch' }, row, details)
}

function addChildren(tree, below, children, from, way, current) {
  let until = from + MOST_CHILDREN
  const wanted = children.findIndex((child) => way.has(child))
  if (wanted >= until) until = wanted + 1
  below.append(...children.slice(from, until).map((child) => branch(tree, child, way, current)))
  if (until < children.length) {
    const more = el('button', { type: 'button', class: 'plain', on: { click: () => {
      more.remove()
      addChildren(tree, below, children, until, way, current)
    } } }, `${children.length - until} more`)
    below.append(more)
  }
}

function treeRow(tree, node, isCurrent) {
  const value = tree.importance[node], mark = MARKS[tree.mark[node]]
  const look = tree.mark[node] === 1 ? 'dropped' : tree.mark[node] === 2 ? 'kept' : 'neither'
  const label = captured(tree.label[node] || '(not on these pages)', 'bdi')
  return el('span', { class: `tree-row${isCurrent ? ' current' : ''}` },
    el('button', { type: 'button', class: 'link', on: { click: (event) => {
      event.preventDefault()
      showPlaces(tree, node)
    } } }, label),
    bar(value, look), el('span', { class: 'number' }, value.toFixed(3)),
    el('span', { class: 'fine' }, [`${tree.count[node]}/${tree.pages} pages`, mark,
      tree.below[node] ? `${tree.below[node]} below` : ''].filter(Boolean).join(' · ')))
}

/** Mark the blocks of this page that stand at a place of the tree or below it, and select the first. */
function showPlaces(tree, node) {
  const under = new Set([node])
  tree.parent.forEach((above, child) => { if (under.has(above)) under.add(child) })
  now.hits = new Set()
  for (let i = 0; i < blockCount(); i++) if (under.has(at(view.tree, i))) now.hits.add(i)
  now.query = ''
  for (const node of elements.values()) colour(node)
  if (now.hits.size) selectBlock(now.hits.values().next().value, { keepTab: true })
  say(now.hits.size ? `${count(now.hits.size, 'block')} of this page stand there; n goes to the next.`
    : 'No block of this page stands there.')
}

function openTree(node) {
  chooseTab('tree')
  showTree(node)
}

function showPages() {
  const panel = document.getElementById('panel-pages')
  let last = -1
  const rows = []
  index.pages.forEach((entry, k) => {
    if (entry.site !== last) {
      last = entry.site
      const of = index.sites[entry.site]
      rows.push(el('li', { class: 'site' }, captured(of.name, 'bdi'),
        el('span', { class: 'fine' }, ` ${count(of.known, 'page')} known`)))
    }
    const edition = now.edition in entry.editions ? now.edition : Object.keys(entry.editions)[0]
    const words = entry.words[edition], expected = entry.expected_f1[edition]
    const [kept, dropped] = words[now.method] ?? Object.values(words)[0]
    rows.push(el('li', {}, el('button', { type: 'button', class: `page-row${k === now.page ? ' current' : ''}`,
      'aria-current': k === now.page ? 'page' : null, on: { click: () => choosePage(k) } },
    captured(index.labels[entry.number], 'bdi'), split(kept / Math.max(kept + dropped, 1)),
    el('span', { class: 'number' }, `${kept.toLocaleString('en')} of ${count(kept + dropped, 'word')} kept`
      + (expected == null ? '' : `, expected F1 ${expected.toFixed(2)}`)))))
    for (const problem of entry.problems) rows.push(el('li', { class: 'fine' }, captured(problem, 'bdi')))
  })
  panel.replaceChildren(
    el('p', { class: 'fine' }, `${count(index.pages.length, 'page')} in this report. Green is what is kept by ${now.method}. `
      + 'Of each site the pages come first whose result is least sure.'),
    el('ul', { class: 'page-list' }, ...rows))
}
