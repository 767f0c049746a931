// The line of an example: what a person names on this page, as `domsieve fields learn` reads it. And the product of the page.

const MOST_NAMED = 50, LONGEST_NAMED = 2000
const named = new Map()  // by page: the fields that were named, each with its values

const fieldsHere = () => named.get(now.page) ?? new Map()

function addToExample(name, value) {
  const fields = named.get(now.page) ?? new Map(), values = fields.get(name) ?? []
  if (!name || !value || values.includes(value) || fields.size >= MOST_NAMED || values.length >= MOST_NAMED) return
  fields.set(name, [...values, value])
  named.set(now.page, fields)
}

/** One line of JSON: a field with several values is a list. */
function exampleLine() {
  const fields = Object.fromEntries([...fieldsHere()].map(([name, values]) =>
    [name, values.length > 1 ? values : values[0]]))
  return JSON.stringify({ [/^https?:/.test(view.url) ? 'url' : 'file']: view.url, fields })
}

function exampleSection(i) {
  const name = el('input', { type: 'text', id: 'field-name', autocomplete: 'off', spellcheck: 'false', maxlength: '100',
    value: `field_${fieldsHere().size + 1}` })
  const value = el('input', { type: 'text', id: 'field-value', autocomplete: 'off', spellcheck: 'false', dir: 'auto',
    maxlength: String(LONGEST_NAMED), value: plain(view.text[i].replace(/\s+/g, ' ').trim(), LONGEST_NAMED) })
  const add = () => {
    addToExample(name.value.trim(), value.value.trim())
    showBlock()
    id('copy-example')?.focus()
  }
  const onEnter = { keydown: (event) => { if (event.key === 'Enter') add() } }
  for (const input of [name, value]) input.addEventListener('keydown', onEnter.keydown)
  return el('div', { class: 'example' },
    el('p', { class: 'fine' }, 'Give a value of this block a name. The line below is an example to learn the field from; shorten the value to the part that you want.'),
    el('div', { class: 'naming' },
      el('label', {}, 'Name', name), el('label', { class: 'grow' }, 'Value', value),
      el('button', { type: 'button', on: { click: add } }, 'Add to the example')),
    lineOfExample())
}

function lineOfExample() {
  const fields = [...fieldsHere()]
  if (!fields.length) return null
  const line = exampleLine()
  const said = el('span', { class: 'fine', role: 'status' })
  const shown = el('textarea', { id: 'example-line', readonly: '', rows: '3', 'aria-label': 'Line of the example' })
  shown.value = line
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(line)
      said.replaceChildren('Copied.')
    } catch {  // not allowed here
      shown.select()
      said.replaceChildren('Selected; copy it with your keyboard.')
    }
  }
  return el('div', {},
    el('ul', { class: 'pages-of' }, ...fields.map(([name, values]) => el('li', {}, captured(name, 'b'), ': ',
      captured(values.join(', ')), ' ', el('button', { type: 'button', class: 'link', 'aria-label': `Remove ${plain(name)}`,
        on: { click: () => { fieldsHere().delete(name); showTab() } } }, 'remove')))),
    shown,
    el('p', {}, el('button', { type: 'button', id: 'copy-example', on: { click: copy } }, 'Copy the line'), ' ', said))
}

/** The values of learned fields, or what metadata say of the product of the page, each with its block. */
function productSection() {
  if (!view.values.length) return null
  const rows = view.values.map(({ name, text, source, block }) => el('tr', {},
    el('th', { scope: 'row' }, name.replaceAll('_', ' ')),
    el('td', {}, block < 0 ? captured(text) : el('button', { type: 'button', class: 'link',
      on: { click: () => selectBlock(block) } }, captured(text))),
    el('td', { class: 'fine' }, captured(source))))
  return el('div', {}, el('h2', {}, view.learned ? 'Fields of the page' : 'Product of the page'), el('table', { class: 'values' },
    el('thead', {}, el('tr', {}, ...['Field', 'Value', view.learned ? 'Confidence and place' : 'Found in'].map((head) => el('th', { scope: 'col' }, head)))),
    el('tbody', {}, ...rows)))
}
