// Elements and text. Captured text comes in through `captured` and `plain` only, and both set it as text.

const SVG_FREE_TAGS = new Set(['a', 'iframe', 'img', 'link', 'object', 'script', 'style'])

// What would not be seen, or would move other characters: controls, marks of direction, invisible letters.
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}\p{Cs}]/gu
const MOST_MARKS = 300

function el(tag, props = {}, ...children) {
  if (SVG_FREE_TAGS.has(tag)) throw new Error(`no ${tag} is made here`)
  const node = document.createElement(tag)
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null) continue
    if (name === 'on') for (const [event, run] of Object.entries(value)) node.addEventListener(event, run)
    else if (name === 'class') node.className = value
    else if (name in node && name !== 'role' && typeof value !== 'string') node[name] = value
    else node.setAttribute(name, value)
  }
  node.append(...children.filter((child) => child !== null && child !== undefined))
  return node
}

const codeName = (letter) => 'U+' + letter.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')

/** An element with captured text that cannot reorder what stands around it; what is not seen is named. */
function captured(text, tag = 'bdi', className = '') {
  const node = el(tag, { class: `captured ${className}`, dir: 'auto' })
  let from = 0, marks = 0
  for (const found of text.matchAll(UNSEEN)) {
    if (++marks > MOST_MARKS) break
    if (found.index > from) node.append(text.slice(from, found.index))
    node.append(el('span', { class: 'unseen-character', title: 'invisible character' }, codeName(found[0])))
    from = found.index + found[0].length
  }
  node.append(text.slice(from).replace(UNSEEN, '\ufffd'))
  return node
}

/** Captured text for places that take no elements, such as names for screen readers. */
function plain(text, longest = 120) {
  const flat = text.slice(0, longest + 1).replace(UNSEEN, '\ufffd')
  return flat.length > longest ? flat.slice(0, longest) + '…' : flat
}

const figure = (value) => (value === null || value === undefined ? '–'
  : Number.isInteger(value) ? value.toLocaleString('en')
    : Math.abs(value) < 0.01 ? value.toPrecision(2) : value.toFixed(value < 10 ? 3 : 1))
const percent = (share) => `${(100 * share).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`
const count = (number, one, many = one + 's') => `${number.toLocaleString('en')} ${number === 1 ? one : many}`
