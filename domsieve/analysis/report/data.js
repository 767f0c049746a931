// What the file holds, read when it is looked at, and what is shown at the moment.

const read = (id) => JSON.parse(document.getElementById(id).textContent)
const index = read('index')
const parts = new Map()

/** One page in one edition: its view and tiles; or the tree of a site. */
function part(name) {
  if (!parts.has(name)) {
    if (parts.size > 12) parts.delete(parts.keys().next().value)
    parts.set(name, read(`part-${name}`))
  }
  return parts.get(name)
}

const tileSource = (name, number, media) =>
  `data:${media};base64,${document.getElementById(`tile-${name}-${number}`).textContent}`

const at = (column, i) => (Array.isArray(column) ? column[i] : column)

const STATES = ['dropped', 'kept', 'partly']
const FILTERS = ['all', 'kept', 'dropped', 'hidden']
const EDITIONS = { rendered: 'Rendered', raw: 'Raw source' }

const now = {
  page: 0, edition: '', method: '', filter: 'all', block: -1, records: '', tab: 'block',
  hits: new Set(), query: '',
}
let view = null

const page = () => index.pages[now.page]
const site = () => index.sites[page().site]
const partName = () => page().editions[now.edition]
const method = () => view.methods[now.method]
const blockCount = () => view.text.length
const isHidden = (i) => at(view.hidden, i) > 0

/** The state of a block by which it is coloured. */
const stateOf = (i, name = now.method) => STATES[at(view.methods[name].state, i)]
const lookOf = (i) => (isHidden(i) ? 'hidden' : stateOf(i))

function isShown(i) {
  if (now.filter === 'all') return true
  if (now.filter === 'hidden') return isHidden(i)
  return stateOf(i) === now.filter || stateOf(i) === 'partly'
}

/** The tree of the site of this page, or null. */
const siteTree = () => {
  const name = site().editions[now.edition]?.tree
  return name ? part(name).view : null
}
