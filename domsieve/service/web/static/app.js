'use strict'
// The pages work without this: they then load themselves anew. Here only the parts that change are put in place.
const PAUSE_MS = 250
const POLL_MS = 2500
let source
let waiting

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

watch()
