'use strict'
// The pages work without this: then they reload themselves, show times in UTC, and users copy text by hand.
// Here the parts that change are put in place, times become those of the place, and a button copies a result.
const PAUSE_MS = 250
const POLL_MS = 2500
const COPIED_MS = 4000
const PLACE_TIME = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', second: '2-digit' })
let source
let waiting

function localise(root) {
  for (const time of root.querySelectorAll('time[datetime]')) {
    const at = new Date(time.dateTime)
    if (Number.isNaN(at.getTime())) continue
    time.title = time.textContent
    time.textContent = PLACE_TIME.format(at).replace(',', '')
  }
  for (const button of root.querySelectorAll('[data-copy]')) button.hidden = false
}

async function copy(button) {
  const text = document.getElementById(button.dataset.copy)?.textContent ?? ''
  let said = 'Copied.'
  try {
    await navigator.clipboard.writeText(text)
  } catch {
    // Without TLS there is no clipboard for scripts but this.
    const area = document.createElement('textarea')
    area.value = text
    document.body.append(area)
    area.select()
    if (!document.execCommand('copy')) said = 'The browser does not allow copying. Select the text instead.'
    area.remove()
    button.focus()
  }
  const status = button.parentElement.querySelector('[data-copied]')
  status.textContent = said
  setTimeout(() => { status.textContent = '' }, COPIED_MS)
}

function later(delay) {
  waiting ??= setTimeout(refresh, delay)
}

async function refresh() {
  waiting = undefined
  let fresh
  try {
    const answer = await fetch(location.href, { headers: { Accept: 'text/html' } })
    if (!answer.ok || answer.redirected) return location.reload()
    fresh = new DOMParser().parseFromString(await answer.text(), 'text/html')
  } catch {
    return later(POLL_MS) // the service is away for a moment
  }
  localise(fresh)
  document.title = fresh.title
  for (const old of document.querySelectorAll('[data-live]')) {
    const part = fresh.getElementById(old.id)
    if (!part || part.isEqualNode(old)) continue
    const hadFocus = old.contains(document.activeElement)
    // What says how it stands is changed, not replaced: a screen reader reads changes of what it knows.
    const said = old.querySelector('[role=status]')
    const next = part.querySelector('[role=status]')
    if (said && next) {
      if (!said.isEqualNode(next)) said.replaceChildren(...next.childNodes)
      next.replaceWith(said)
    }
    for (const { name } of [...old.attributes]) if (!part.hasAttribute(name)) old.removeAttribute(name)
    old.replaceChildren(...part.childNodes)
    if (hadFocus) (old.querySelector('a, button') ?? document.getElementById('content')).focus()
  }
  watch()
}

function watch() {
  const live = document.querySelector('[data-events]')
  if (!live) source?.close()
  else if (!source) {
    source = new EventSource(live.dataset.events)
    source.onmessage = () => later(PAUSE_MS)
    source.onerror = () => source.readyState === EventSource.CLOSED && later(POLL_MS)
  } else if (source.readyState === EventSource.CLOSED) later(POLL_MS)
  if (document.querySelector('[data-poll]')) later(POLL_MS)
}

/** Take a value that was chosen in the frame of a page, which has no origin: its window says which frame it is. */
function pick(event) {
  const form = document.querySelector('[data-picking]')
  const frame = form && document.getElementById(form.dataset.picking)
  const text = event.data?.picked
  if (!frame || event.source !== frame.contentWindow || typeof text !== 'string') return
  const status = form.querySelector('[data-picked]')
  const row = [...form.querySelectorAll('.taught')].find((one) => !one.querySelector('[name^=value]').value)
  if (!row) {
    status.textContent = 'All rows are filled in. Empty one first.'
    return
  }
  row.querySelector('[name^=value]').value = text.slice(0, 2000)
  status.textContent = 'The value is in the form. Give it a name.'
  row.querySelector('[name^=name]').focus()
}

window.addEventListener('message', pick)
document.addEventListener('click', (event) => {
  const button = event.target.closest('[data-copy]')
  if (button) copy(button)
})
localise(document)
watch()
