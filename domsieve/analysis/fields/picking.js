'use strict'
// Tells the window around this document what was clicked. The document has no origin, so the window checks the frame.
document.addEventListener('click', (event) => {
  const button = event.target.closest('button')
  if (!button) return
  for (const other of document.querySelectorAll('[aria-pressed]')) other.removeAttribute('aria-pressed')
  button.setAttribute('aria-pressed', 'true')
  parent.postMessage({ picked: button.textContent }, '*')
})
