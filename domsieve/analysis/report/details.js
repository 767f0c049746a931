// The panel on one block: what each method says of it, the figures behind it, its text, and where it recurs.

const MEANINGS = {
  sst: { importance: 'importance of its place', alone: 'with links counted', link_share: 'share of linked words',
    navigation: '1 where its links are navigation, 0 where content',
    pages: 'pages that show its place' },
  cst: { importance: 'importance of its place', weight: 'weight of its words', pages: 'pages that show its place' },
  entropy: { block_entropy: 'entropy of the block, bits', node_entropy: 'entropy of its words, bits',
    block_nodes: 'element nodes in the block' },
  tps: { path: 'tag path code', count: 'nodes of that tag path', position: 'place in the sequence', region: 'region' },
  features: { words: 'words of the block', link_share: 'share of linked words', words_around: 'words outside links around it' },
  template: { links: 'links in its part', words: 'words in its part', other_pages: 'other pages with this part' },
}
const meaning = (name, figureName) => MEANINGS[name]?.[figureName] ?? figureName.replaceAll('_', ' ')

const badge = (look) => el('span', { class: `badge ${look}` }, look === 'partly' ? 'partly kept' : look)

function showBlock() {
  const panel = document.getElementById('panel-block'), i = now.block
  if (i < 0) {
    panel.replaceChildren(el('p', { class: 'hint' },
      'Choose a block: click its outline, or use the arrow keys. Each method says here why it kept or dropped it.'),
      ...[productSection(), lineOfExample()].filter(Boolean))
    return
  }
  const path = view.paths[at(view.path, i)]
  const text = captured(view.text[i] + (view.cut[i] ? ' …' : ''), 'blockquote')
  panel.replaceChildren(
    el('div', { class: 'block-head' },
      isHidden(i) ? badge('hidden') : null, badge(stateOf(i)),
      el('span', { class: 'grow' }, `Block ${(i + 1).toLocaleString('en')} of ${blockCount().toLocaleString('en')}`),
      stepButton('‹', 'Block before', -1), stepButton('›', 'Next block', 1)),
    text,
    el('p', { class: 'fine' }, count(view.words[i], 'word'),
      view.cut[i] ? `, ${view.cut[i].toLocaleString('en')} characters, of which the first are shown` : '',
      isHidden(i) ? `; ${index.hiding[at(view.hidden, i)]}` : '',
      at(view.kind, i) ? `; kind: ${index.kinds[at(view.kind, i)]}` : ''),
    el('h2', {}, 'What each method says'), verdictTable(i),
    el('h2', {}, 'Example of a field'), exampleSection(i),
    el('h2', {}, `Figures of ${index.titles[now.method]}`), figureList(i, now.method),
    el('h2', {}, 'Also known'), otherFigures(i),
    el('h2', {}, 'Pages where it recurs'), recurrence(i),
    el('h2', {}, 'Where it stands'),
    el('p', { class: 'path' }, captured(path || 'document'),
      el('span', { class: 'fine' }, ` nodes ${view.node[i]} to ${view.end[i] - 1}`)),
    ...[treePlace(i), productSection()].filter(Boolean))
  panel.scrollTop = 0
}

const stepButton = (sign, label, step) =>
  el('button', { type: 'button', class: 'step', 'aria-label': label, on: { click: () => stepBlock(step) } }, sign)

function verdictTable(i) {
  const rows = Object.entries(view.methods).map(([name, said]) => {
    const score = at(said.score, i), reason = said.reasons[at(said.reason, i)]
    const choose = el('button', { type: 'button', class: 'link', on: { click: () => chooseMethod(name) } }, name)
    return el('tr', { class: name === now.method ? 'current' : '' },
      el('th', { scope: 'row' }, choose), el('td', {}, badge(stateOf(i, name))),
      el('td', { class: 'number' }, figure(score), bar(score, stateOf(i, name))), el('td', {}, reason))
  })
  return el('table', { class: 'verdicts' },
    el('thead', {}, el('tr', {}, ...['Method', 'Verdict', 'Score', 'Reason'].map((head) =>
      el('th', { scope: 'col' }, head)))),
    el('tbody', {}, ...rows))
}

function bar(share, look) {
  const inner = el('span', { class: `fill ${look}` })
  inner.style.width = `${100 * Math.max(0, Math.min(1, share ?? 0))}%`
  return el('span', { class: 'bar-of', 'aria-hidden': 'true' }, inner)
}

function figureList(i, name) {
  const said = view.methods[name]
  const rows = [['score', at(said.score, i)],
    ...inOrder(name, Object.keys(said.numbers)).map((key) => [meaning(name, key), at(said.numbers[key], i)])]
  const limit = said.threshold ?? said.parameters.threshold
  if (typeof limit === 'number') rows.push(['threshold', limit])
  if (typeof said.parameters.pages === 'number') rows.push(['pages learned', said.parameters.pages])
  return pairs(rows)
}

function inOrder(name, keys) {
  const order = Object.keys(MEANINGS[name] ?? {}), rank = (key) => (order.indexOf(key) + 99) % 99
  return keys.sort((a, b) => rank(a) - rank(b))
}

function otherFigures(i) {
  const wanted = { sst: ['importance', 'pages'], entropy: ['node_entropy', 'block_entropy'],
    tps: ['path', 'region'], template: ['other_pages'] }
  const rows = []
  for (const [name, keys] of Object.entries(wanted)) {
    if (name === now.method) continue
    for (const key of keys) {
      const column = view.methods[name]?.numbers[key]
      if (column !== undefined) rows.push([meaning(name, key), at(column, i), name])
    }
  }
  return pairs(rows)
}

function pairs(rows) {
  return el('dl', { class: 'pairs' }, ...rows.flatMap(([name, value, by]) => [
    el('dt', {}, name, by ? el('span', { class: 'by' }, ` ${by}`) : null),
    el('dd', {}, typeof value === 'number' || value === null ? figure(value) : String(value))]))
}

function recurrence(i) {
  const group = at(view.recurs, i)
  if (group < 0) return el('p', { class: 'fine' }, `On no other of the ${count(site().known, 'known page')}.`)
  const [number, members] = view.groups[group]
  const known = new Map(index.pages.map((entry, k) => [entry.number, k]))
  const rows = members.map((member) => {
    const label = captured(index.labels[member])
    if (!known.has(member)) return el('li', {}, label)
    return el('li', {}, el('button', { type: 'button', class: 'link',
      on: { click: () => goToText(known.get(member), view.text[i]) } }, label))
  })
  const more = number - members.length
  return el('div', {},
    el('p', { class: 'fine' }, `The same words stand on ${count(number, 'other page')}.`),
    el('ul', { class: 'pages-of' }, ...rows, more > 0 ? el('li', { class: 'fine' }, `and ${more} more`) : null))
}

function treePlace(i) {
  const tree = siteTree(), node = tree ? at(view.tree, i) : -1
  if (node < 0) return null
  const steps = []
  for (let at = node; at >= 0; at = tree.parent[at]) steps.unshift(at)
  const crumbs = steps.flatMap((step, k) => [k ? ' › ' : '', captured(tree.label[step] || '?', 'bdi')])
  return el('div', {}, el('p', { class: 'path' }, ...crumbs),
    el('button', { type: 'button', class: 'plain', on: { click: () => openTree(node) } }, 'Show in the site tree'))
}
